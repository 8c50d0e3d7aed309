"""Forged transformers of columns and encoders of categories."""

import numpy as np
import pytest
from sklearn.compose import ColumnTransformer

import localsvm
from forged_files import forge
from memory_growth import memory_growth
from model_file_data import fitted

_SCALER = {
    "class": "StandardScaler",
    "params": {},
    "fitted": {
        "n_features_in_": 3,
        "mean_": None,
        "var_": None,
        "scale_": None,
        "n_samples_seen_": 1,
    },
}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.lsvm"


def columns_of(header):
    return header["model"]["fitted"]["steps"][0][1]


def set_columns(kind, name, value):
    def change(header, _):
        columns_of(header)[kind][name] = value

    return change


def set_part(number, place, value):
    def change(header, _):
        columns_of(header)["fitted"]["transformers_"][number][place] = value

    return change


def set_encoder(kind, name, value):
    def change(header, _):
        encoder = columns_of(header)["fitted"]["transformers_"][1][1]
        encoder[kind][name] = value

    return change


def set_categories(*entries):
    category = {"objects": {"shape": [len(entries)], "entries": list(entries)}}
    return set_encoder("fitted", "categories_", [category])


def shorten_the_rest(header, _):
    part = columns_of(header)["fitted"]["transformers_"][-1]
    part[2], part[3] = part[2][:1], part[3][:1]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (set_part(0, 3, [6]), "columns that are not there"),
        (set_part(0, 3, [1]), "'numbers' has the columns"),
        (set_part(0, 3, [0, 0]), "a column twice"),
        (set_part(0, 3, [0, 3]), "takes 1 columns, but is given 2"),
        (set_part(0, 3, ["0"]), "expected integers"),
        (set_part(0, 2, 7), "has the column 7; expected a list"),
        (set_part(0, 2, [10**6]), "'numbers' has the columns"),
        (set_part(1, 2, [["kind"]]), "'kinds' has the columns"),
        (set_part(1, 0, "numbers"), "several parts of one name"),
        (set_part(1, 0, "other"), "other names than transformers"),
        (shorten_the_rest, "remainder has other columns than those"),
        (set_part(1, 1, "sum"), "expected an object"),
        (set_part(1, 1, _SCALER), "takes 3 columns, but is given 1"),
        (set_columns("params", "transformer_weights", "a"), "expected numbers"),
        (set_columns("params", "transformers", 5), "expected triples"),
        (set_columns("params", "remainder", "sum"), "remainder is 'sum'"),
        (set_columns("params", "n_jobs", 4000), "n_jobs is 4000"),
        (set_columns("params", "verbose_feature_names_out", 5), "neither a bool"),
        (set_columns("fitted", "n_features_in_", 2**31 - 1), "has 6 columns"),
        (set_encoder("params", "min_frequency", 2), "group rare categories"),
        (set_encoder("fitted", "categories_", []), "has 0 columns"),
        (set_encoder("fitted", "categories_", [[]]), "expected an array"),
        (set_categories(), "expected some values"),
        (set_categories("a", 1), "either texts or numbers"),
        (set_categories(True, {"float": "nan"}, ["a"]), "either texts or numbers"),
        (set_categories("a", "a"), "duplicate"),
    ],
)
def test_forged_columns_are_named(path, change, words):
    localsvm.save(fitted("columns"), path)
    forge(path, change)
    with pytest.raises(ValueError, match=rf"model\.lsvm: .*{words}"):
        localsvm.load(path)


def test_columns_that_nobody_stores_take_no_memory(path):
    model = ColumnTransformer([("a", "passthrough", [0])])
    localsvm.save(model.fit(np.zeros((2, 3))), path)

    def claim(header, _):
        fitted_part = header["model"]["fitted"]
        fitted_part["n_features_in_"] = 2**31 - 1

    forge(path, claim)
    with memory_growth() as grown, pytest.raises(ValueError, match="would take"):
        localsvm.load(path)
    assert grown.n_bytes < 50e6
