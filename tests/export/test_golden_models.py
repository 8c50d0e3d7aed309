"""Model files of every version of the format stay readable, and answer the same."""

import importlib.util
import json
from pathlib import Path

import numpy as np
import pytest

import localsvm
from localsvm.data import row_hashes
from localsvm.export import describe_file, load_file
from model_file_data import rows_of

_SPEC = importlib.util.spec_from_file_location(
    "make_golden", Path(__file__).with_name("make_golden.py")
)
make_golden = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(make_golden)

EXPECTED = json.loads(make_golden.EXPECTED.read_text())
_SINGLE = {"soft-single", "neighbor-list", "mixture-paper"}


@pytest.mark.parametrize("case", EXPECTED)
def test_a_golden_file_answers_as_it_did(case):
    model = localsvm.load(make_golden.golden_path(case))
    expected = EXPECTED[case]
    n_rows = len(next(iter(expected.values())))
    found = make_golden.plain_answers(model, rows_of(case)[:n_rows])
    assert list(found) == list(expected)
    for name, values in expected.items():
        if name == "predict":
            assert found[name] == values
        else:
            # Other processors sum in another order.
            tolerance = 1e-4 if case in _SINGLE else 1e-7
            np.testing.assert_allclose(
                found[name], values, rtol=tolerance, atol=tolerance
            )


@pytest.mark.parametrize("case", EXPECTED)
def test_a_golden_file_is_described(case):
    described = describe_file(make_golden.golden_path(case))
    assert described.version == make_golden.VERSION
    assert described.notes == {"case": case}


@pytest.mark.parametrize("case", ["soft-classes", "local", "additive", "reduced"])
def test_a_file_of_before_has_no_probabilities_and_says_why(case):
    model = localsvm.load(make_golden.golden_path(case))
    assert not hasattr(model, "predict_proba")
    with pytest.raises(AttributeError) as error:
        model.predict_proba(rows_of(case))
    assert "calibrate(X, y)" in str(error.value.__cause__)


def test_a_golden_file_recognises_its_rows():
    sketch = load_file(make_golden.ROWS).fitted_rows
    model, X, y = make_golden.model_of_rows()
    assert (sketch.n_rows, sketch.n_repeated) == (40, 2)
    assert sketch.contains(row_hashes(X, y, model[0])).all()
    assert not sketch.contains(row_hashes(X, y[::-1], model[0]))[y != y[::-1]].any()


def test_golden_files_are_complete_and_small():
    assert set(EXPECTED) == set(make_golden.CASES)
    files = list(make_golden.FOLDER.iterdir())
    assert len(files) == len(EXPECTED) + 2
    assert sum(file.stat().st_size for file in files) < 600_000
