import numpy as np
import pytest

from localsvm.data import load_task, odd_even, one_vs_rest, pair, task_names

CSVM_TASKS = [name for name in task_names() if name != "covtype_2_vs_rest"]


def save_split(folder, name, X, y):
    np.savez(
        folder / f"{name}.npz", X_train=X, y_train=y, X_test=X[::-1], y_test=y[::-1]
    )


@pytest.fixture
def small_mnist(npz_folder):
    X = np.array([[3, 4], [255, 0], [0, 51], [5, 12], [8, 15]], dtype=np.uint8)
    save_split(npz_folder, "mnist", X, np.array([8, 3, 4, 9, 3], dtype=np.uint8))
    return X


@pytest.fixture
def small_covtype(npz_folder):
    n_rows = 25_200
    X = np.column_stack([np.arange(n_rows), np.ones(n_rows)]).astype(np.int16)
    y = (np.arange(n_rows) % 7 + 1).astype(np.uint8)
    np.savez(npz_folder / "covtype.npz", X=X, y=y)
    return X, y


def test_odd_even_labels_odd_digits_one():
    labels = odd_even(np.arange(10, dtype=np.uint8))
    np.testing.assert_array_equal(labels, [0, 1] * 5)
    assert labels.dtype == np.int64


def test_odd_even_refuses_labels_that_are_no_integers():
    with pytest.raises(ValueError, match="dtype float64, expected integers"):
        odd_even([1.0, 2.0])


def test_one_vs_rest_labels_chosen_class_one():
    labels = one_vs_rest(np.array([-1, 1, 1], dtype=np.int8), 1)
    np.testing.assert_array_equal(labels, [0, 1, 1])
    assert labels.dtype == np.int64


@pytest.mark.parametrize("label", [4, "2"])
def test_one_vs_rest_refuses_label_that_does_not_occur(label):
    with pytest.raises(ValueError, match=rf"label {label!r}; found \[1, 2\]"):
        one_vs_rest(np.array([1, 2]), label)


def test_pair_keeps_rows_of_both_classes_in_order():
    X = np.arange(10).reshape(5, 2)
    rows, labels = pair(X, np.array([8, 1, 3, 8, 0]), 3, 8)
    np.testing.assert_array_equal(rows, X[[0, 2, 3]])
    np.testing.assert_array_equal(labels, [1, 0, 1])
    assert labels.dtype == np.int64


@pytest.mark.parametrize(
    ("first", "second", "message"),
    [
        (3, 3, "first=3 and second=3 should differ"),
        (3, 8, r"label 8; found \[3, 5\]"),
        (8, 3, r"label 8; found \[3, 5\]"),
    ],
)
def test_pair_refuses_classes_that_make_no_task(first, second, message):
    with pytest.raises(ValueError, match=message):
        pair([[1], [2]], [3, 5], first, second)


def test_mnist_pair_rows_have_unit_norm(small_mnist):
    task = load_task("mnist_3v8")
    np.testing.assert_allclose(
        task.X_train, [[0.6, 0.8], [1, 0], [8 / 17, 15 / 17]], rtol=1e-6
    )
    np.testing.assert_array_equal(task.y_train, [1, 0, 0])
    np.testing.assert_array_equal(task.X_test, task.X_train[::-1])
    np.testing.assert_array_equal(task.y_test, [0, 0, 1])


def test_mnist_pixels_are_divided_by_255_without_unit_norm(small_mnist):
    task = load_task("mnist_4v9", unit_norm=False)
    np.testing.assert_allclose(task.X_train, small_mnist[[2, 3]] / 255, rtol=1e-6)
    np.testing.assert_array_equal(task.y_train, [0, 1])


def test_mnist_odd_even_keeps_all_rows(small_mnist):
    task = load_task("mnist_odd_even")
    assert task.X_train.shape == (5, 2)
    np.testing.assert_array_equal(task.y_train, [0, 1, 0, 1, 1])


@pytest.mark.parametrize(
    ("task", "data_set", "labels"),
    [("svmguide1", "svmguide1", [0, 1, 0]), ("ijcnn1", "ijcnn1", [-1, 1, -1])],
)
def test_positive_class_of_two_class_set_is_one(npz_folder, task, data_set, labels):
    X = np.array([[3.0, 4.0], [0.0, 0.0], [0.0, 2.0]], dtype=np.float32)
    save_split(npz_folder, data_set, X, np.array(labels, dtype=np.int8))
    loaded = load_task(task)
    np.testing.assert_array_equal(loaded.y_train, [0, 1, 0])
    np.testing.assert_allclose(loaded.X_train, [[0.6, 0.8], [0, 0], [0, 1]], rtol=1e-6)


def test_task_has_its_own_name_and_source_of_data(small_mnist):
    task = load_task("mnist_3v8")
    assert (task.name, task.source) == ("mnist_3v8", "npz")


def test_covtype_split_is_documented_permutation(small_covtype):
    X, y = small_covtype
    task = load_task("covtype_2_vs_rest", seed=3)
    order = np.random.default_rng(3).permutation(len(X))
    np.testing.assert_array_equal(task.X_test, X[order[:25_000]])
    np.testing.assert_array_equal(task.X_train, X[order[25_000:]])
    np.testing.assert_array_equal(task.y_test, y[order[:25_000]] == 2)


def test_covtype_split_depends_on_seed_alone(small_covtype):
    first = load_task("covtype_2_vs_rest")
    again = load_task("covtype_2_vs_rest", seed=0)
    other = load_task("covtype_2_vs_rest", seed=1)
    np.testing.assert_array_equal(first.X_train, again.X_train)
    assert not np.array_equal(first.X_train, other.X_train)


def test_covtype_rows_get_unit_norm_on_request(small_covtype):
    task = load_task("covtype_2_vs_rest", unit_norm=True)
    np.testing.assert_allclose(np.linalg.norm(task.X_train, axis=1), 1, rtol=1e-6)


def test_covtype_with_too_few_rows_is_refused(npz_folder):
    np.savez(npz_folder / "covtype.npz", X=np.ones((5, 2)), y=np.arange(5))
    with pytest.raises(ValueError, match="n_rows=5 should be > n_test=25000"):
        load_task("covtype_2_vs_rest")


def test_task_on_set_without_test_rows_is_refused(npz_folder):
    np.savez(npz_folder / "usps.npz", X=np.ones((5, 2)), y=np.arange(5))
    with pytest.raises(
        ValueError, match="usps has no test rows, which 'usps_odd_even'"
    ):
        load_task("usps_odd_even")


def test_unknown_task_lists_known_names():
    with pytest.raises(ValueError, match=r"'mnist'.*svmguide1.*covtype_2_vs_rest\."):
        load_task("mnist")


@pytest.mark.parametrize("name", CSVM_TASKS)
def test_real_task_rows_have_unit_norm(real_task, name):
    task = real_task(name)
    for X in (task.X_train, task.X_test):
        assert X.dtype == np.float32
        assert X.flags.c_contiguous
        np.testing.assert_allclose(np.linalg.norm(X, axis=1), 1, rtol=1e-5)


@pytest.mark.parametrize(
    ("name", "n_train", "n_test", "n_features"),
    [
        ("svmguide1", 3089, 4000, 4),
        ("ijcnn1", 49990, 91701, 22),
        ("usps_odd_even", 7291, 2007, 256),
        ("mnist_3v8", 11982, 1984, 784),
        ("mnist_4v9", 11791, 1991, 784),
        ("mnist_odd_even", 60000, 10000, 784),
        ("covtype_2_vs_rest", 556012, 25000, 54),
    ],
)
def test_real_task_has_size_of_paper(real_task, name, n_train, n_test, n_features):
    task = real_task(name)
    assert task.X_train.shape == (n_train, n_features)
    assert task.X_test.shape == (n_test, n_features)
    for y, n_rows in ((task.y_train, n_train), (task.y_test, n_test)):
        assert y.shape == (n_rows,)
        assert y.dtype == np.int64
        assert set(y.tolist()) == {0, 1}


def test_real_covtype_is_left_unscaled(real_task):
    task = real_task("covtype_2_vs_rest")
    assert task.X_train[:, 0].min() > 1000
    assert task.y_train.sum() + task.y_test.sum() == 283_301
