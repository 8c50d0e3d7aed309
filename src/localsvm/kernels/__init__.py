"""Kernels: what they are in NumPy, and what the core is told of them."""

from localsvm.kernels._kernel import (
    KERNELS as KERNELS,
    MEDIAN_ROWS as MEDIAN_ROWS,
    Kernel,
    entry_moments as entry_moments,
    gamma_of_moments as gamma_of_moments,
    gamma_of_sample as gamma_of_sample,
    median_gamma as median_gamma,
    scale_gamma,
)
from localsvm.kernels._matrix import kernel_matrix, squared_distances
from localsvm.kernels._probability_product import (
    ClusterKernel,
    Gaussians,
    expected_rbf,
    probability_product,
)
from localsvm.kernels._spans import Gram as Gram, fill_spans as fill_spans

__all__ = [
    "ClusterKernel",
    "Gaussians",
    "Kernel",
    "expected_rbf",
    "kernel_matrix",
    "probability_product",
    "scale_gamma",
    "squared_distances",
]
