"""C source of fitted models."""

from localsvm.export._c._write import to_c, write_c

__all__ = ["to_c", "write_c"]
