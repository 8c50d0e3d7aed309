"""Splitters, as parameters of searches."""

from __future__ import annotations

import inspect
from typing import Any

from sklearn.model_selection import (
    KFold,
    RepeatedKFold,
    RepeatedStratifiedKFold,
    ShuffleSplit,
    StratifiedKFold,
    StratifiedShuffleSplit,
)

from localsvm.state import Spec


def _attributes(value: Any) -> dict[str, Any]:
    names = inspect.signature(type(value)).parameters
    return {name: getattr(value, name) for name in names}


def _repeated(value: Any) -> dict[str, Any]:
    return {
        "n_splits": value.cvargs["n_splits"],
        "n_repeats": value.n_repeats,
        "random_state": value.random_state,
    }


SPECS = (
    *(
        Spec(cls, "splitter", params=_attributes)
        for cls in (KFold, ShuffleSplit, StratifiedKFold, StratifiedShuffleSplit)
    ),
    *(
        Spec(cls, "splitter", params=_repeated)
        for cls in (RepeatedKFold, RepeatedStratifiedKFold)
    ),
)
