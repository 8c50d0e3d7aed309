"""Pickle, joblib and skops keep every estimator as it is."""

import io
import pickle

import joblib
import pytest

from model_file_data import FEW, answers, fitted, rows_of
from same_objects import assert_same

skops_io = pytest.importorskip("skops.io")


def by_pickle(model):
    return pickle.loads(pickle.dumps(model))


def by_joblib(model):
    file = io.BytesIO()
    joblib.dump(model, file)
    file.seek(0)
    return joblib.load(file)


def by_skops(model):
    data = skops_io.dumps(model)
    return skops_io.loads(data, trusted=skops_io.get_untrusted_types(data=data))


@pytest.mark.parametrize("back", [by_pickle, by_joblib, by_skops])
@pytest.mark.parametrize("case", FEW)
def test_a_model_answers_the_same(case, back):
    model, X = fitted(case), rows_of(case)
    assert_same(answers(back(model), X), answers(model, X))
