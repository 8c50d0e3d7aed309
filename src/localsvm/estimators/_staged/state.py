"""What a model file keeps of the staged SVM: its terms, and the rows that they see."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from localsvm.estimators._additive import AdditiveSVC
from localsvm.estimators._held_out.state import HELD_OUT
from localsvm.estimators._join import Join
from localsvm.estimators._local import LocalSVC
from localsvm.estimators._regional import ClusteredSVC
from localsvm.estimators._staged.estimator import StagedSVC
from localsvm.estimators._staged.preparation import Preparation
from localsvm.estimators._staged.preparation.state import PREPARATION, check_preparation
from localsvm.estimators._staged.sum.model import RegionAnswer, SumModel, SumTerm
from localsvm.estimators._staged.sum.weights import TERMS, SumWeights
from localsvm.estimators._staged.switch.model import SwitchModel
from localsvm.state import (
    CLASSIFIER,
    REGIONS,
    Dims,
    Maybe,
    Number,
    Part,
    Record,
    Report,
    Several,
    Sometimes,
    Spec,
    Whole,
    Word,
    doubles,
    indices,
)

_CLASSES = dict(
    zip(TERMS, (AdditiveSVC, ClusteredSVC, LocalSVC, LocalSVC), strict=True)
)


@dataclass(frozen=True)
class _KeptTerm:
    """A term, and the number of its preparation; 0 is the rows as they are."""

    name: str
    rows: int
    estimator: Any


def _check(model: Any, values: Mapping[str, Any], dims: Dims) -> None:
    del model
    preparations = values["_preparations"]
    for preparation in preparations:
        check_preparation(preparation, dims)
    for term in values["_terms"]:
        _check_term(term, preparations, values, dims)
    names = [term.name for term in values["_terms"]]
    if names != [name for name in TERMS if name in names] or not names:
        raise ValueError(f"_terms are {names}; expected some of {TERMS}.")
    if values["_weights"] is None:
        expected = ["regions"] if values["_threshold"] == 0 else ["regions", "rbf"]
        if names != expected:
            raise ValueError("_terms and _threshold do not fit together.")
    elif values["_typical"] is None:
        raise ValueError("_typical is missing.")
    else:
        _check_weights(values["_weights"], names, len(values["classes_"]))


def _check_term(
    term: _KeptTerm,
    preparations: Sequence[Preparation],
    values: Mapping[str, Any],
    dims: Dims,
) -> None:
    estimator = term.estimator
    if type(estimator) is not _CLASSES[term.name]:
        raise ValueError(f"{term.name} is a {type(estimator).__name__}.")
    if getattr(estimator, "metric_", None) is not None:
        raise ValueError(f"{term.name} has a metric of its own.")
    if not np.array_equal(estimator.classes_, values["classes_"]):
        raise ValueError(f"{term.name} has other classes.")
    if (term.rows == 0) != (term.name == "additive") or term.rows > len(preparations):
        raise ValueError(f"{term.name} has no preparation {term.rows}.")
    width = dims["columns"]
    if term.rows:
        width = len(preparations[term.rows - 1].offset)
    if estimator.n_features_in_ != width:
        raise ValueError(
            f"{term.name} has {estimator.n_features_in_} columns; expected {width}."
        )


def _check_weights(join: Join, names: Sequence[str], n_classes: int) -> None:
    added = [
        name for name, weight in zip(TERMS, join.weights, strict=True) if weight > 0
    ]
    if added != list(names):
        raise ValueError(f"_weights are those of {added}; expected {list(names)}.")
    if len(join.bias) != (1 if n_classes == 2 else n_classes):
        raise ValueError("_weights.bias does not fit the classes.")


def _take(values: dict[str, Any]) -> dict[str, Any]:
    """Write the terms and their preparations, each preparation once."""
    model, kept = values["_model"], dict(values)
    for name in ("_model", "terms_", "first_stage_", "second_stage_"):
        del kept[name]
    preparations: list[Preparation] = []
    terms = []
    for name, estimator in values["terms_"].items():
        preparation = _preparation_of(model, name)
        if preparation is not None and not any(
            preparation is known for known in preparations
        ):
            preparations.append(preparation)
        rows = 0
        if preparation is not None:
            rows = 1 + [each is preparation for each in preparations].index(True)
        terms.append(_KeptTerm(name, rows, estimator))
    is_sum = isinstance(model, SumModel)
    weights = None
    if is_sum:
        weights = Join(np.array(model.weights.weights), np.array(model.weights.bias))
    return kept | {
        "_terms": tuple(terms),
        "_preparations": tuple(preparations),
        "_weights": weights,
        "_threshold": 0.0 if is_sum else model.threshold,
        "_typical": model.typical if is_sum else None,
    }


def _preparation_of(model: SwitchModel | SumModel, name: str) -> Preparation | None:
    if isinstance(model, SwitchModel):
        return model.preparation
    return None if name == "additive" else model.terms[name].preparation


def _make(unfitted: Any, values: Mapping[str, Any], dims: Dims) -> Any:
    del dims
    kept = dict(values)
    terms, preparations = kept.pop("_terms"), kept.pop("_preparations")
    weights, threshold = kept.pop("_weights"), kept.pop("_threshold")
    typical = kept.pop("_typical")
    vars(unfitted).update(kept)
    unfitted.terms_ = {term.name: term.estimator for term in terms}
    if weights is None:
        unfitted._model = _switch(unfitted.terms_, preparations[0], threshold)
    else:
        unfitted._model = _sum(terms, preparations, weights, typical)
    unfitted._set_stages()
    return unfitted


def _switch(
    terms: Mapping[str, Any], preparation: Preparation, threshold: float
) -> SwitchModel:
    first, second = terms["regions"], terms.get("rbf")
    return SwitchModel(
        preparation,
        first.regions_,
        first._model,
        None if second is None else second._model,
        threshold,
    )


def _sum(
    terms: Sequence[_KeptTerm],
    preparations: Sequence[Preparation],
    join: Join,
    typical: NDArray[np.float64],
) -> SumModel:
    additive = None
    others: dict[str, SumTerm] = {}
    for term in terms:
        answer = term.estimator._model
        if term.name == "additive":
            additive = answer
            continue
        if term.name == "regions":
            answer = RegionAnswer(term.estimator.regions_, answer)
        others[term.name] = SumTerm(preparations[term.rows - 1], answer)
    weights = SumWeights(tuple(join.weights.tolist()), tuple(join.bias.tolist()))
    return SumModel(weights, additive, others, typical)


SPECS = (
    Spec(
        StagedSVC,
        "classifier",
        {
            **CLASSIFIER,
            **HELD_OUT,
            **REGIONS,
            "n_regions_": Whole(0, dim="regions"),
            "_preparations": Several(PREPARATION, "columns"),
            "_terms": Several(
                Record(
                    _KeptTerm,
                    name=Word(*TERMS),
                    rows=Whole(0, len(TERMS)),
                    estimator=Part("classifier"),
                )
            ),
            "_weights": Maybe(
                Record(Join, weights=doubles(len(TERMS), low=0), bias=doubles("tasks"))
            ),
            "_threshold": Number(0.0, finite=False),
            "_typical": Maybe(doubles("columns", finite=False)),
            "n_hard_": Sometimes(Whole(0)),
            "stage_": Sometimes(indices("training_rows", low=0, below=3)),
            "stage_shares_": Sometimes(doubles(2, low=0)),
            "region_stage_": indices("regions", low=1, below=3),
            "C_": Maybe(Number(0.0)),
            "n_support_": indices("classes"),
            "duality_gap_": Number(finite=False),
            "n_iter_": Whole(1),
            "best_params_": Report(),
            "selection_": Report(),
        },
        left_out=frozenset(
            {
                "_model",
                "gradient_metric_",
                "terms_",
                "first_stage_",
                "second_stage_",
            }
        ),
        take=_take,
        check=_check,
        make=_make,
    ),
)
