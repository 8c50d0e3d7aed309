"""The record of the fitted rows in a model file."""

import numpy as np
import pytest

import localsvm
from localsvm import ClusteredSVC
from localsvm._plain_file import read_plain_file, write_plain_file
from localsvm.data import RowSketch, row_hashes
from localsvm.export import describe_file, load_file


@pytest.fixture
def saved(tmp_path, two_moons):
    model = ClusteredSVC(4, random_state=0).fit(*two_moons)
    path = tmp_path / "model.lsvm"
    sketch = RowSketch.of(row_hashes(*two_moons))
    localsvm.save(model, path, notes={"a": 1}, fitted_rows=sketch)
    return path


def test_the_record_is_kept(saved, two_moons):
    found = load_file(saved)
    X, y = two_moons
    assert found.notes == {"a": 1}
    assert found.fitted_rows.n_rows == len(y)
    assert found.fitted_rows.contains(row_hashes(X, y)).all()
    assert not found.fitted_rows.contains(row_hashes(X, 1 - y)).any()
    assert (localsvm.load(saved).predict(X) == found.model.predict(X)).all()
    assert describe_file(saved).version == 2


def test_a_file_without_a_record_stays_of_the_first_version(tmp_path, two_moons):
    """So that earlier versions of the library read it."""
    path = tmp_path / "model.lsvm"
    localsvm.save(ClusteredSVC(4, random_state=0).fit(*two_moons), path)
    assert describe_file(path).version == 1
    assert load_file(path).fitted_rows is None


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("n_rows", 0, r"fitted_rows\.n_rows is 0"),
        ("n_rows", "many", r"fitted_rows\.n_rows"),
        ("n_repeated", -1, r"fitted_rows\.n_repeated"),
        ("n_repeated", 10**6, "expected at most"),
        ("n_probes", 0, r"fitted_rows\.n_probes"),
        ("n_probes", 10**9, r"fitted_rows\.n_probes"),
        ("salt", -1, r"fitted_rows\.salt"),
        ("salt", 2**63, "64 bits"),
        ("bits", 7, "expected an array"),
        ("bits", {"array": "nothing"}, "which is missing"),
        ("bits", np.zeros(0, np.uint8), "expected 1 to"),
        ("bits", np.zeros((2, 2), np.uint8), "2 dimensions"),
        ("bits", np.zeros(4, np.int32), "dtype int32"),
        ("bits", np.zeros(2**24 + 1, np.uint8), "expected 1 to"),
        ("more", 1, "which is unknown"),
    ],
)
def test_what_no_record_has_is_refused(saved, name, value, message):
    header, arrays = read_plain_file(saved, "model", 2)
    if isinstance(value, np.ndarray):
        arrays[header["fitted_rows"][name]["array"]] = value
    else:
        header["fitted_rows"][name] = value
    write_plain_file(saved, "model", 2, header, arrays)
    with pytest.raises(ValueError, match=message):
        load_file(saved)


@pytest.mark.parametrize("value", [None, [], "text", {}])
def test_a_record_is_an_object(saved, value):
    header, arrays = read_plain_file(saved, "model", 2)
    header["fitted_rows"] = value
    write_plain_file(saved, "model", 2, header, arrays)
    with pytest.raises(ValueError, match="fitted_rows"):
        load_file(saved)


@pytest.mark.parametrize("bits", [0, 255])
def test_a_record_of_nothing_or_everything_is_only_that(saved, two_moons, bits):
    header, arrays = read_plain_file(saved, "model", 2)
    arrays[header["fitted_rows"]["bits"]["array"]] = np.full(8, bits, np.uint8)
    write_plain_file(saved, "model", 2, header, arrays)
    sketch = load_file(saved).fitted_rows
    overlap = sketch.compare(row_hashes(*two_moons))
    assert overlap.n_seen == (bits > 0) * len(two_moons[1])
    assert overlap.is_chance  # a filter that is full tells nothing
