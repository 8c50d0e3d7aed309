"""Small files that would take much memory: refused before anything is allocated."""

import copy
import json

import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.frozen import FrozenEstimator

import localsvm
from forged_files import forge, sealed
from localsvm import ClusteredSVC
from localsvm._plain_file import write_plain_file
from localsvm.estimators import NeighborSVC
from localsvm.export import describe_file
from memory_growth import memory_growth
from model_file_data import DATA, fitted, rows_of

# What every bomb of below ten megabytes stays below; unhindered they take gigabytes.
_MOST = 300e6


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.lsvm"


def refuse(path, words, read=localsvm.load):
    assert path.stat().st_size < 10e6
    with memory_growth() as grown, pytest.raises(ValueError, match=words) as raised:
        read(path)
    assert str(raised.value).startswith(f"{path}: ")
    assert grown.n_bytes < _MOST


def report(header, key, value):
    header["model"]["fitted"]["fit_report_"]["dict"].append([key, value])


def texts(entries):
    return {"texts": {"shape": [len(entries)], "entries": entries}}


@pytest.mark.parametrize("read", [localsvm.load, describe_file])
def test_one_long_text_among_short_ones(path, read):
    localsvm.save(fitted("soft"), path)
    # As a header of one line, which holds more of them.
    header = _header_of(path)
    header["header"]["model"]["params"]["class_weight"] = texts(
        ["a"] * 1_300_000 + ["b" * 600]
    )
    _rewrite(path, header)
    refuse(path, "class_weight would take", read)


def test_many_texts_of_which_each_is_harmless(path):
    localsvm.save(fitted("soft"), path)
    header = _header_of(path)
    for i in range(300):
        entries = ["a"] * 3000 + ["b" * 1000]
        report(header["header"], f"k{i}", texts(entries))
    _rewrite(path, header)
    refuse(path, "would take")


def test_texts_of_equal_lengths_are_kept(path):
    localsvm.save(fitted("soft"), path)
    entries = [f"{i:040d}" for i in range(20_000)]
    forge(path, lambda header, _: report(header, "names", texts(entries)))
    loaded = localsvm.load(path).fit_report_["names"]
    assert loaded.tolist() == entries


def test_one_array_of_many_names_is_converted_once(path):
    localsvm.save(fitted("soft"), path)

    def refer(header, arrays):
        arrays["flags"] = np.ones(1_000_000, dtype=np.uint8)
        for i in range(40):
            report(header, f"k{i}", {"array": "flags", "dtype": "bool"})

    forge(path, refer)
    with memory_growth() as grown:
        found = localsvm.load(path).fit_report_
    assert found["k0"] is found["k39"]
    assert found["k0"].dtype == bool
    assert grown.n_bytes < 20e6


@pytest.mark.parametrize("dtype", ["bool", None])
def test_one_array_of_very_many_names(path, dtype):
    localsvm.save(fitted("soft"), path)
    reference = {"array": "flags"} | ({"dtype": dtype} if dtype else {})

    def refer(header, arrays):
        arrays["flags"] = np.ones(1_000_000, dtype=np.uint8)
        for i in range(3000):
            report(header, f"k{i}", reference)

    forge(path, refer)
    refuse(path, "would take")


def test_many_lists(path):
    localsvm.save(fitted("soft"), path)
    header = _header_of(path)
    header["header"]["notes"] = [[] for _ in range(2_000_000)]
    text = json.dumps(header, separators=(",", ":")).encode()
    path.write_bytes(sealed(text, _payload_of(path)))
    with memory_growth() as grown:
        for read in (localsvm.load, describe_file):
            with pytest.raises(ValueError, match="lists and objects"):
                read(path)
    assert grown.n_bytes < 100e6


def test_notes_that_could_not_be_loaded_are_not_saved(path):
    with pytest.raises(ValueError, match="lists and objects"):
        localsvm.save(fitted("soft"), path, notes=[[] for _ in range(300_000)])
    assert not path.exists()


def _transformer():
    return {
        "class": "TruncatedSVD",
        "params": {},
        "fitted": {
            "n_features_in_": 1,
            "components_": {"array": "components"},
            "explained_variance_": {"array": "numbers"},
            "explained_variance_ratio_": {"array": "numbers"},
            "singular_values_": {"array": "numbers"},
        },
    }


def _forget_ranges(header, arrays):
    """Leave out what would show that the number of columns was changed."""
    for name in ("feature_range_", "integer_features_"):
        reference = header["model"]["fitted"].pop(name)
        del arrays[reference["array"]]
    for known in ("_familiarity", "_calibration"):
        header["model"]["fitted"].pop(known)
        for name in [name for name in arrays if f".{known}." in name]:
            del arrays[name]


def _widen(header, arrays, n_rows):
    """Let a model of neighbours have many rows of one column."""
    fitted_part = header["model"]["fitted"]
    _forget_ranges(header, arrays)
    fitted_part["n_features_in_"] = 1
    for name in ("X", "class_index", "penalty_weight"):
        old = arrays[f"model._rows.{name}"]
        shape = (n_rows, 1) if name == "X" else n_rows
        arrays[f"model._rows.{name}"] = np.resize(old, shape)
    arrays["model.row_indices_"] = np.arange(n_rows)


def test_rows_of_a_search_that_are_mapped_to_many_columns(path):
    localsvm.save(fitted("neighbor-list"), path)

    def change(header, arrays):
        _widen(header, arrays, 30_000)
        search = header["model"]["fitted"]["search_"]
        for name in [name for name in arrays if ".search_.transformer_" in name]:
            del arrays[name]
        search["transformer"] = _transformer()
        arrays["components"] = np.ones((30_000, 1))
        arrays["numbers"] = np.ones(30_000)

    forge(path, change)
    refuse(path, "search_ would take")


def test_rows_of_a_search_that_have_many_products(path):
    localsvm.save(fitted("neighbor-poly"), path)

    def change(header, arrays):
        _widen(header, arrays, 200_000)
        header["model"]["fitted"]["_kernel"] |= {"degree": 1000, "coef0": 1.0}
        params = header["model"]["fitted"]["search_"]["params"]
        params["max_features"] = 1024
        params["kernel"]["params"] |= {"degree": 1000, "coef0": 1.0}

    forge(path, change)
    refuse(path, "search_ would take")


def test_a_support_cluster_counts_once(path):
    localsvm.save(fitted("clusters-full"), path)

    def change(_, arrays):
        support = np.zeros(100_000, dtype=np.int64)
        arrays["model._machine.support"] = support
        arrays["model._machine.duals"] = np.ones((1, len(support)))

    forge(path, change)
    refuse(path, "_machine.support must ascend")


def test_calibrators_of_one_array(path):
    localsvm.save(fitted("isotonic"), path)

    def change(header, arrays):
        pairs = header["model"]["fitted"]["calibrated_classifiers_"]
        knots = pairs[0]["calibrators"][0]["isotonic"]
        for name in ("X_thresholds_", "y_thresholds_"):
            arrays[knots[name]["array"]] = np.linspace(0, 1, 200_000)
        pairs.extend(copy.deepcopy(pairs[0]) for _ in range(500))

    forge(path, change)
    refuse(path, "would take")


def test_columns_that_nobody_stores(path):
    localsvm.save(fitted("local-csr"), path)

    def claim(header, arrays):
        _forget_ranges(header, arrays)
        found = header["model"]["fitted"]
        found["n_features_in_"] = 2**31 - 1
        found["_support_rows"]["n_columns"] = 2**31 - 1
        found["_router"]["rows"]["n_columns"] = 2**31 - 1

    forge(path, claim)
    with memory_growth() as grown:
        model = localsvm.load(path)
        with pytest.raises(ValueError, match="2147483647"):
            model.predict(rows_of("local-csr"))
    assert grown.n_bytes < 50e6


def _nested(depth, inner):
    for _ in range(depth):
        inner = {"class": "KMeans", "params": {"init": inner}}
    return inner


@pytest.mark.parametrize("depth", [30, 300])
def test_quotes_of_quotes_do_not_double(path, depth):
    localsvm.save(fitted("soft"), path)
    value = _nested(depth, "'\"" * 100)
    forge(
        path, lambda header, _: header["model"]["params"].update({"clusterer": value})
    )
    with memory_growth() as grown:
        try:
            found = describe_file(path)
            assert len(found.params["clusterer"]) < 10_000
        except ValueError:
            assert depth == 300
    assert grown.n_bytes < 50e6


def test_lists_between_objects_are_nested_too_deeply(path):
    localsvm.save(fitted("soft"), path)
    value = 1
    for _ in range(35):
        for _ in range(15):
            value = [value]
        value = {"class": "KMeans", "params": {"init": value}}
    whole = json.loads(json.dumps(_header_of(path)))
    whole["header"]["model"]["params"]["clusterer"] = value
    _rewrite(path, whole)
    for read in (localsvm.load, describe_file):
        with pytest.raises(ValueError, match=f"{path.name}: .*nested too deeply"):
            read(path)


def test_a_model_that_could_not_be_loaded_is_not_saved(path):
    X, y = DATA["two"]
    labels = np.array(["a" * 300_000, "b"])[y]
    model = ClusteredSVC(2).fit(X, labels)
    model.fit_report_ = {"labels": np.array(["x"] * 3000 + ["b" * 30_000])}
    with pytest.raises(ValueError, match=r"fit_report_\['labels'\] would take"):
        localsvm.save(model, path)
    assert not path.exists()


def test_one_model_in_several_places_is_saved_and_loaded(path):
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((3000, 2)), rng.integers(2, size=3000)
    inner = NeighborSVC(15, kernel="poly", degree=9).fit(X, y)
    frozen = FrozenEstimator(inner)
    model = CalibratedClassifierCV(frozen, cv=5, ensemble=True).fit(X[:100], y[:100])
    localsvm.save(model, path)
    loaded = localsvm.load(path)
    np.testing.assert_array_equal(loaded.predict(X[:5]), model.predict(X[:5]))


def _header_of(path):
    whole = path.read_bytes()
    first, rest = whole.split(b"\n", 1)
    return json.loads(rest[: int(first.split(b"header ")[1].split(b" ")[0])])


def _payload_of(path):
    whole = path.read_bytes()
    first, rest = whole.split(b"\n", 1)
    return rest[int(first.split(b"header ")[1].split(b" ")[0]) :]


def _rewrite(path, whole):
    """Write a header without the blanks that make it longer."""
    text = json.dumps(whole, separators=(",", ":")).encode()
    path.write_bytes(sealed(text, _payload_of(path)))


def test_headers_of_other_files_are_bounded_too(tmp_path):
    with pytest.raises(ValueError, match="lists and objects"):
        write_plain_file(tmp_path / "f", "test", 1, {"a": [[]] * 1_000_000}, {})
