import numpy as np
import pytest
from sklearn.utils import Bunch

from localsvm.data import (
    benchmark_file,
    benchmark_names,
    load_benchmark,
)
from localsvm.data._sets import _openml

X = np.arange(12, dtype=np.float32).reshape(6, 2)
Y = np.array([0, 1, 2, 0, 1, 2], dtype=np.uint8)


@pytest.fixture
def fake_openml(monkeypatch):
    """Let OpenML answer with the given Bunch; returns the calls it got."""

    def answer_with(bunch):
        calls = []

        def fetch(name, **options):
            calls.append((name, options))
            return bunch

        monkeypatch.setattr(_openml, "fetch_openml", fetch)
        return calls

    return answer_with


def iris_bunch(classes=("Iris-setosa", "Iris-versicolor", "Iris-virginica"), rows=150):
    return Bunch(
        data=np.arange(rows * 4, dtype=np.float64).reshape(rows, 4),
        target=np.repeat(np.array(classes, dtype=object), rows // len(classes)),
        feature_names=["a", "b", "c", "d"],
    )


def test_unsplit_npz_gives_all_rows_as_train_rows(npz_folder):
    np.savez(npz_folder / "iris.npz", X=X, y=Y)
    iris = load_benchmark("iris")
    np.testing.assert_array_equal(iris.X_train, X)
    np.testing.assert_array_equal(iris.y_train, Y)
    assert iris.X_train.dtype == np.float32
    assert iris.X_test is None
    assert iris.y_test is None
    assert iris.feature_names is None
    assert (iris.name, iris.source) == ("iris", "npz")


def test_split_npz_keeps_its_split_and_feature_names(npz_folder):
    np.savez(
        npz_folder / "adult.npz",
        X_train=X,
        y_train=Y,
        X_test=X[:2],
        y_test=Y[:2],
        feature_names=np.array(["age", "hours"]),
    )
    adult = load_benchmark("adult")
    np.testing.assert_array_equal(adult.X_train, X)
    np.testing.assert_array_equal(adult.y_train, Y)
    np.testing.assert_array_equal(adult.X_test, X[:2])
    np.testing.assert_array_equal(adult.y_test, Y[:2])
    assert adult.feature_names == ("age", "hours")


def test_no_label_value_is_kept(npz_folder):
    np.savez(npz_folder / "indian_pines.npz", X=X, y=Y, shape=np.array([2, 3]))
    assert (load_benchmark("indian_pines").y_train == 0).sum() == 2


def test_no_other_folder_is_searched(npz_folder, monkeypatch):
    """What a program finds must not depend on where it runs."""
    beside = npz_folder.parent / "shared" / "data"
    for folder in (npz_folder, beside):
        folder.mkdir(parents=True, exist_ok=True)
        np.savez(folder / "usps.npz", X=X, y=Y)
    monkeypatch.chdir(npz_folder)
    monkeypatch.delenv("LOCALSVM_DATA")
    with pytest.raises(FileNotFoundError, match="now not set"):
        load_benchmark("usps")


@pytest.mark.parametrize("name", ["mnist", "mnist_3v8"])
def test_file_of_a_data_set_and_of_a_task(npz_folder, name):
    assert benchmark_file(name) is None
    np.savez(npz_folder / "mnist.npz", X=X, y=Y)
    assert benchmark_file(name) == npz_folder / "mnist.npz"


def test_file_of_an_unknown_name_is_refused():
    with pytest.raises(ValueError, match=r"'mnits'.*adult, .*mnist_3v8"):
        benchmark_file("mnits")


def test_npz_is_preferred_to_openml(npz_folder, fake_openml):
    calls = fake_openml(iris_bunch())
    np.savez(npz_folder / "iris.npz", X=X, y=Y)
    assert load_benchmark("iris").source == "npz"
    assert calls == []


def test_repr_shows_shapes_and_no_path(npz_folder):
    np.savez(npz_folder / "iris.npz", X=X, y=Y)
    assert repr(load_benchmark("iris")) == (
        "Benchmark(name='iris', train=(6, 2), test=None, source='npz')"
    )


def test_openml_labels_become_codes_of_npz(npz_folder, fake_openml, tmp_path):
    calls = fake_openml(iris_bunch())
    iris = load_benchmark("iris", data_home=tmp_path)
    ((name, options),) = calls
    assert (name, options["version"], options["data_home"]) == ("iris", 1, tmp_path)
    np.testing.assert_array_equal(iris.y_train, np.repeat([0, 1, 2], 50))
    np.testing.assert_array_equal(iris.X_train, iris_bunch().data)
    assert iris.X_train.dtype == np.float32
    assert iris.X_test is None
    assert iris.feature_names == ("a", "b", "c", "d")
    assert iris.source == "openml"


def test_quotes_around_openml_class_names_are_ignored(npz_folder, fake_openml):
    fake_openml(iris_bunch(["'Iris-setosa'", "'Iris-versicolor'", "'Iris-virginica'"]))
    np.testing.assert_array_equal(
        load_benchmark("iris").y_train, np.repeat([0, 1, 2], 50)
    )


def test_mnist_from_openml_is_split_after_60000_rows(npz_folder, fake_openml):
    digits = np.arange(70000) % 10
    data = np.zeros((70000, 784), dtype=np.uint8)
    data[60000, 0] = 255
    target = digits.astype(str).astype(object)
    names = [f"pixel{i}" for i in range(1, 785)]
    calls = fake_openml(Bunch(data=data, target=target, feature_names=names))
    mnist = load_benchmark("mnist")
    assert calls[0][0] == "mnist_784"
    assert mnist.X_train.shape == (60000, 784)
    assert mnist.X_test.shape == (10000, 784)
    assert mnist.X_train.max() == 0
    assert mnist.X_test[0, 0] == 255
    assert mnist.X_train.dtype == np.uint8
    np.testing.assert_array_equal(mnist.y_test, digits[60000:])


def test_openml_rows_that_are_not_expected_are_refused(npz_folder, fake_openml):
    fake_openml(iris_bunch(rows=30))
    with pytest.raises(ValueError, match=r"iris has shape \(30, 4\), expected \(150"):
        load_benchmark("iris")


def test_openml_class_that_is_not_expected_is_refused(npz_folder, fake_openml):
    fake_openml(iris_bunch(["Iris-setosa", "Iris-versicolor", "rose"]))
    with pytest.raises(ValueError, match=r"classes \['rose'\], expected only"):
        load_benchmark("iris")


def test_failed_download_names_both_ways_and_reason(npz_folder, monkeypatch):
    monkeypatch.delenv("LOCALSVM_DATA")
    with pytest.raises(
        FileNotFoundError,
        match=r"'iris' was not found.*LOCALSVM_DATA.*iris\.npz \(now not set\).*OpenML"
        r".*OSError: tests do not use the network",
    ):
        load_benchmark("iris")


def test_not_found_error_says_which_folder_was_set(npz_folder):
    with pytest.raises(FileNotFoundError, match="npz', without that file"):
        load_benchmark("iris")


def test_set_without_openml_counterpart_says_so(npz_folder):
    with pytest.raises(
        FileNotFoundError, match=r"'usps'.*usps\.npz.*not available on OpenML"
    ):
        load_benchmark("usps")


def test_unknown_name_lists_known_names():
    with pytest.raises(ValueError, match=r"'irises'.*adult, breast.*wine\."):
        load_benchmark("irises")


@pytest.mark.parametrize(
    ("arrays", "missing"),
    [
        ({"X": X}, "y; found X, expected X, y"),
        ({"X_train": X, "y_train": Y, "X_test": X}, "y_test; found"),
        ({}, "X, y; found none"),
    ],
)
def test_npz_with_missing_array_names_file_and_array(npz_folder, arrays, missing):
    np.savez(npz_folder / "wine.npz", **arrays)
    with pytest.raises(ValueError, match=rf"wine\.npz has no array {missing}"):
        load_benchmark("wine")


@pytest.mark.parametrize(("rows", "labels"), [(X, Y[:4]), (X[:, 0], Y)])
def test_npz_without_one_label_per_row_is_refused(npz_folder, rows, labels):
    np.savez(npz_folder / "wine.npz", X=rows, y=labels)
    with pytest.raises(ValueError, match=r"wine\.npz: X has shape .* one label per"):
        load_benchmark("wine")


def test_pickled_arrays_are_refused(npz_folder):
    np.savez(npz_folder / "wine.npz", X=X, y=np.array([None] * 6, dtype=object))
    with pytest.raises(ValueError, match=r"wine\.npz is not an npz file of plain"):
        load_benchmark("wine")


@pytest.mark.parametrize("content", [b"", b"no archive", b"PK\x03\x04 cut short"])
def test_file_that_is_no_archive_is_refused(npz_folder, content):
    (npz_folder / "wine.npz").write_bytes(content)
    with pytest.raises(ValueError, match=r"wine\.npz is not an npz file of plain"):
        load_benchmark("wine")


def test_single_array_file_is_refused(npz_folder):
    with open(npz_folder / "wine.npz", "wb") as file:
        np.save(file, X)
    with pytest.raises(ValueError, match=r"wine\.npz is not an npz file of plain"):
        load_benchmark("wine")


def test_every_openml_counterpart_is_a_known_benchmark():
    assert set(_openml.COUNTERPARTS) <= set(benchmark_names())


@pytest.mark.parametrize("name", sorted(_openml.COUNTERPARTS))
def test_openml_table_agrees_with_real_data(real_benchmark, name):
    counterpart = _openml.COUNTERPARTS[name]
    data = real_benchmark(name)
    n_test = 0 if data.X_test is None else len(data.X_test)
    n_train, n_features = data.X_train.shape
    assert (n_train + n_test, n_features) == counterpart.shape
    assert data.X_test is None or n_train == counterpart.n_train
    assert set(np.unique(data.y_train)) <= set(counterpart.codes.values())


@pytest.mark.parametrize(
    ("name", "train", "test", "labels"),
    [
        ("adult", (30162, 104), (15060, 104), {0, 1}),
        ("ijcnn1", (49990, 22), (91701, 22), {-1, 1}),
        ("usps", (7291, 256), (2007, 256), set(range(10))),
        ("vowel", (528, 10), (462, 10), set(range(1, 12))),
        ("indian_pines", (21025, 200), None, set(range(17))),
    ],
)
def test_real_data_has_published_shape(real_benchmark, name, train, test, labels):
    data = real_benchmark(name)
    assert data.X_train.shape == train
    assert (None if data.X_test is None else data.X_test.shape) == test
    assert set(data.y_train.tolist()) == labels
