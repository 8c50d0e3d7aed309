"""A C file in the making: constant arrays, and functions of one row."""

from __future__ import annotations

from string import Template
from typing import Any

import numpy as np
from numpy.typing import NDArray

_NUMBERS_PER_LINE = 8


class Source:
    """Arrays and functions under one name.

    Parameters
    ----------
    name : str
        Prefix of all that is in the file.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self._parts: list[str] = []
        self._n_names = 0
        self._shared: set[str] = set()

    @property
    def text(self) -> str:
        """All that was added, in order."""
        return "\n".join(self._parts)

    def array(self, values: Any) -> str:
        """Add a constant array, flat in C order, and return its name."""
        flat = np.asarray(values).ravel()
        kind = "double" if flat.dtype.kind == "f" else "int"
        # C has no empty arrays.
        written = _numbers(flat) if len(flat) else ["0"]
        lines = [
            "    " + ", ".join(written[start : start + _NUMBERS_PER_LINE])
            for start in range(0, len(written), _NUMBERS_PER_LINE)
        ]
        name = self._new_name("a")
        head = f"static const {kind} {name}[{len(written)}] = {{"
        self._parts.append("\n".join([head, ",\n".join(lines), "};"]))
        return name

    def decision(self, body: str, **values: Any) -> str:
        """Add a function of a row that sets ``out``, and return its name.

        In ``body``, $words stand for ``values`` and $name for the prefix.
        """
        name = self._new_name("f")
        filled = Template(body).substitute(name=self.name, **values)
        self._parts.append(
            f"static inline void {name}(const double *row, double *out)\n"
            f"{{\n{filled.strip(chr(10))}\n}}\n"
        )
        return name

    def share(self, function: str) -> None:
        """Add a function that others call, once."""
        if function not in self._shared:
            self._shared.add(function)
            self._parts.append(Template(function).substitute(name=self.name))

    def _new_name(self, kind: str) -> str:
        self._n_names += 1
        return f"{self.name}_{kind}{self._n_names}"


def _numbers(flat: NDArray[Any]) -> list[str]:
    """Write numbers so that a compiler reads the same ones."""
    if flat.dtype.kind != "f":
        return [str(int(value)) for value in flat]
    if not np.isfinite(flat).all():
        raise ValueError("a model of finite numbers was expected")
    return [repr(float(value)) for value in flat]
