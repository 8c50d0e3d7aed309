"""Kernels: what they are in NumPy, and what the core is told of them."""

from localsvm.kernels._kernel import Kernel, scale_gamma

__all__ = ["Kernel", "scale_gamma"]
