"""What a model file keeps of a kernel."""

from __future__ import annotations

import dataclasses
from typing import Any

from localsvm.kernels import KERNELS, Kernel
from localsvm.state import Number, Record, Spec, Whole, Word

# A higher power takes its time, and is of no use.
KERNEL = Record(
    Kernel,
    name=Word(*KERNELS),
    gamma=Number(0.0),
    degree=Whole(1, 1000),
    coef0=Number(),
)


def kernel_params(kernel: Kernel) -> dict[str, Any]:
    """Parameters of a kernel by name."""
    return {
        item.name: getattr(kernel, item.name) for item in dataclasses.fields(kernel)
    }


SPECS = (Spec(Kernel, "kernel", params=kernel_params),)
