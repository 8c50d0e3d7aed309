"""What defines a run: rows, method, split, and how settings are chosen."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, field, fields, is_dataclass
from importlib import import_module
from typing import Any, Literal

# A field with this mark names something for readers and does not define it.
_LABEL = {"label": True}


@dataclass(frozen=True)
class Part:
    """An estimator or a transformer, named by the path of its class.

    The class is looked up when it is used, so that a definition can name one that is
    not installed.

    Parameters
    ----------
    path : str
        Such as "localsvm.ClusteredSVC".
    params : mapping, default={}
        Its parameters; a parameter that is a part is made first.
    """

    path: str
    params: Mapping[str, Any] = field(default_factory=dict)

    def is_available(self) -> bool:
        """Whether the class and those of its parameters can be imported."""
        inner = [value for value in self.params.values() if isinstance(value, Part)]
        return self._find() is not None and all(part.is_available() for part in inner)

    def make(self, seed: int | None = None, **changes: Any) -> Any:
        """Make the object; ``changes`` are further parameters, by ``set_params``.

        The seed goes to ``random_state`` where there is one that is not set.
        """
        found = self._find()
        if found is None:
            raise ModuleNotFoundError(f"{self.path} is not installed.")
        params = {
            name: value.make(seed) if isinstance(value, Part) else value
            for name, value in self.params.items()
        }
        made = found(**params).set_params(**changes)
        # A seed that the definition sets stays as it is.
        if seed is not None and getattr(made, "random_state", seed) is None:
            made.set_params(random_state=seed)
        return made

    def _find(self) -> Any:
        module, _, name = self.path.rpartition(".")
        # Records name the library alone; not all of its classifiers are in its top.
        module = "localsvm.estimators" if module == "localsvm" else module
        try:
            return getattr(import_module(module), name, None)
        except ModuleNotFoundError:
            return None


@dataclass(frozen=True)
class Data:
    """Rows, and what is done to them before any method sees them.

    Parameters
    ----------
    load : callable
        Returns a :class:`~localsvm.data.Benchmark`, or a pair of rows and labels. A
        function of a module, so that its name says what it is.
    options : mapping, default={}
        Its arguments.
    prepare : sequence of Part, default=()
        Transformers, fitted in this order to training rows only.
    """

    load: Callable[..., Any]
    options: Mapping[str, Any] = field(default_factory=dict)
    prepare: Sequence[Part] = ()


@dataclass(frozen=True)
class Split:
    """Which rows train and which test.

    Parameters
    ----------
    kind : {"given", "random", "folds"}, default="given"
        "given" is the split of the data set; "random" draws test rows, then training
        rows, from all rows; "folds" is stratified cross-validation: seed s tests on
        fold s modulo ``n_folds``, with the shuffle s // n_folds.
    n_train, n_test : int or None, default=None
        Rows of each part, drawn by the seed of the run; None is all there are.
    n_folds : int, default=10
    """

    kind: Literal["given", "random", "folds"] = "given"
    n_train: int | None = None
    n_test: int | None = None
    n_folds: int = 10

    @property
    def is_drawn(self) -> bool:
        """Whether it depends on the seed of the run."""
        return self.kind != "given" or (self.n_train, self.n_test) != (None, None)


@dataclass(frozen=True)
class Selection:
    """How a setting is chosen from a method's grid, on training rows only.

    Parameters
    ----------
    n_folds : int, default=5
        Folds of the cross-validation; 1 is one held-out part.
    held_out : float, default=0.2
        Share of the rows that is held out if ``n_folds`` is 1.
    max_rows : int or None, default=None
        Use at most so many of the training rows.
    seed : int, default=0
        Of the folds, the sub-sample and the models.
    """

    n_folds: int = 5
    held_out: float = 0.2
    max_rows: int | None = None
    seed: int = 0


@dataclass(frozen=True)
class Method:
    """An estimator and the settings to choose from.

    Parameters
    ----------
    name : str
        As the paper calls it.
    estimator : Part
    grid : mapping, default={}
        Values per parameter. Of settings that are equally good the first in the order
        of the grid is taken: put simple ones first.
    search : callable or None, default=None
        Chooses from the grid in a faster way than trying each setting; see
        :func:`papers._selection.grid_search`, the default, for its arguments.
    """

    name: str = field(metadata=_LABEL)
    estimator: Part
    grid: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    search: Callable[..., Any] | None = None


@dataclass(frozen=True)
class Run:
    """One fit and its measurements.

    Parameters
    ----------
    group : str
        Runs of one group are repetitions: a cell of a table is their mean.
    data : Data
    method : Method
    split : Split, default=Split()
    selection : Selection or None, default=None
        None fits the method as it is, without its grid.
    seed : int, default=0
        Of the split, if it is drawn, and of the model.
    measures : sequence of callable, default=()
        Further measurements than the accuracy; see :mod:`papers._measures`.
    """

    group: str = field(metadata=_LABEL)
    data: Data
    method: Method
    split: Split = Split()
    selection: Selection | None = None
    seed: int = 0
    measures: Sequence[Callable[..., Any]] = ()

    @property
    def key(self) -> str:
        """Name of the run in the store; changes with all that defines it."""
        return _digest(describe(self))

    @property
    def selection_key(self) -> str | None:
        """The same for runs that share the choice of a setting; None without one."""
        if self.selection is None or not self.method.grid:
            return None
        seed = self.seed if self.split.is_drawn else None
        parts = (self.data, self.method, self.split, self.selection, seed)
        return _digest([describe(part) for part in parts])

    def is_available(self) -> bool:
        """Whether all classes that it names can be imported."""
        parts = [self.method.estimator, *self.data.prepare]
        return all(part.is_available() for part in parts)

    def __str__(self) -> str:
        return f"{self.group}, seed {self.seed}"


def describe(value: Any) -> Any:
    """Plain data that say what a value is: for keys and records.

    Labels are left out, and so are fields that have their default, so that a new field
    does not change what older definitions are called.
    """
    if is_dataclass(value) and not isinstance(value, type):
        shown = [f for f in fields(value) if not _is_silent(f, getattr(value, f.name))]
        return {f.name: describe(getattr(value, f.name)) for f in shown}
    if isinstance(value, Mapping):
        return {str(name): describe(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [describe(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if value is None or isinstance(value, str | bool | int | float):
        return value
    if callable(value) and "<" not in getattr(value, "__qualname__", "<"):
        return f"{_public_module(value.__module__)}.{value.__qualname__}"
    raise TypeError(
        f"A definition holds {value!r}; expected numbers, strings, lists, mappings, "
        "parts or functions of a module."
    )


def _public_module(module: str) -> str:
    """Return the module that a user imports from, wherever the file is."""
    package, *rooms = module.split(".")
    if package != "localsvm":
        return module
    return ".".join([package, *(room for room in rooms if not room.startswith("_"))])


def _is_silent(declared: Field[Any], value: Any) -> bool:
    if declared.metadata.get("label"):
        return True
    if declared.default_factory is not MISSING:
        return bool(value == declared.default_factory())
    return bool(declared.default is not MISSING and value == declared.default)


def _digest(description: Any) -> str:
    text = json.dumps(description, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:16]
