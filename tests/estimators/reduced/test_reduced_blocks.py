"""ReducedSVC on rows in blocks."""

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pytest
from scipy import sparse
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC

from engine_data import (
    ROWS,
    local_client,
    make_rows,
    same_bits,
    uneven_batches,
    write_parquet,
)
from localsvm import ReducedSVC, load, save
from localsvm.engine import Batches, NotEnoughMemoryError, options
from localsvm.estimators import Reduction
from localsvm.estimators._reduced import master, result

FORMS = {
    "linear": {"kernel": "linear", "C": 1.0},
    "linear, smo": {"kernel": "linear", "C": 1.0, "solver": "smo"},
    "linear, condition 1": {
        "kernel": "linear",
        "C": 1.0,
        "reduction": Reduction(use_bounds=False),
    },
    "linear, paper": {
        "kernel": "linear",
        "C": 1.0,
        "reduction": Reduction("pseudo_center"),
    },
    "rbf": {"C": 3.0},
    "laplace": {"kernel": "laplace", "C": 3.0},
    "rbf, paper": {"C": 1.0, "reduction": Reduction("pseudo_center", band=0.0)},
    "poly": {"kernel": "poly", "C": 1.0, "degree": 2, "coef0": 1.0, "gamma": "auto"},
    "balanced": {"C": 1.0, "class_weight": "balanced"},
}
TIGHT = {"tol": 1e-6, "random_state": 0}


@pytest.fixture(params=["linear", "rbf"])
def kernel(request):
    return {"kernel": request.param, "C": 1.0}


def fit(*arguments, parameters=None, **settings):
    settings.setdefault("block_rows", ROWS)
    with options(**settings):
        return ReducedSVC(**{"random_state": 0} | (parameters or {})).fit(*arguments)


def recomputed_violation(model, X, y, weight):
    """Largest violation of the optimality conditions over all rows, in NumPy."""
    scores = model.decision_function(X).reshape(len(y), -1)
    positive = model.classes_[1:] if len(model.classes_) == 2 else model.classes_
    largest = 0.0
    for task, label in enumerate(positive):
        sign = np.where(y == label, 1.0, -1.0)
        size = np.zeros(len(y))
        size[model.support_] = sign[model.support_] * model.dual_coef_[task]
        bound = model.C_ * weight
        assert size.min() >= 0
        assert (size <= bound * (1 + 1e-9)).all()
        slack = sign * scores[:, task] - 1
        rises, falls = size < bound * (1 - 1e-9), size > bound * 1e-9
        largest = max(largest, (-slack)[rises].max(), slack[falls].max(initial=0.0))
    return largest


@pytest.mark.parametrize(
    ("form", "n_classes"), [*((form, 2) for form in FORMS), ("linear", 3), ("rbf", 3)]
)
def test_same_svm_as_in_memory(form, n_classes):
    X, y, weight = make_rows(600, n_classes=n_classes)
    whole = ReducedSVC(**FORMS[form] | {"reduction": None}, **TIGHT).fit(X, y, weight)
    parts = fit(Batches.of(X, y, weight, rows=ROWS), parameters=FORMS[form] | TIGHT)
    assert parts.exact_
    np.testing.assert_allclose(parts.gamma_, whole.gamma_, rtol=1e-13)
    np.testing.assert_allclose(parts.dual_objective_, whole.dual_objective_, rtol=1e-8)
    np.testing.assert_allclose(
        parts.decision_function(X), whole.decision_function(X), atol=2e-4
    )
    if whole.kernel == "linear":
        np.testing.assert_allclose(parts.coef_, whole.coef_, atol=1e-4)
    if n_classes == 2:
        assert len(np.setxor1d(parts.support_, whole.support_)) <= 2
    assert (np.diff(parts.support_) > 0).all()
    assert len(parts.n_rows_used_) == len(parts.passes_) == len(parts.intercept_)
    assert parts.n_rows_used_[0][0] < 100


def test_decisions_are_those_of_svc(kernel):
    X, y, weight = make_rows(600, n_classes=2)
    peer = SVC(**kernel, tol=1e-6, gamma=0.3).fit(X, y, weight)
    parameters = kernel | TIGHT | {"gamma": 0.3}
    model = fit(Batches.of(X, y, weight, rows=ROWS), parameters=parameters)
    np.testing.assert_allclose(
        model.decision_function(X), peer.decision_function(X), atol=1e-3
    )


def test_certificate_is_true(kernel):
    X, y, weight = make_rows(600)
    model = fit(Batches.of(X, y, weight, rows=ROWS), parameters=kernel)
    found = recomputed_violation(model, X, y, weight)
    assert model.exact_
    assert found <= model.tol
    assert model.violation_ == pytest.approx(found, abs=1e-6)


def test_certificate_of_a_fit_that_was_cut_short():
    X, y, weight = make_rows(600, n_classes=2)
    model = fit(
        Batches.of(X, y, weight, rows=ROWS),
        parameters={
            "kernel": "linear",
            "C": 1.0,
            "reduction": Reduction(max_passes=1),
        },
    )
    assert not model.exact_
    assert model.passes_.tolist() == [1]
    assert model.violation_ > 0.01
    assert model.violation_ == pytest.approx(recomputed_violation(model, X, y, weight))
    parameters = {"C": 1.0, "reduction": Reduction(max_passes=0)}
    stands_for_many = fit(Batches.of(X, y, rows=ROWS), parameters=parameters)
    assert stands_for_many.duality_gap_ == np.inf
    assert stands_for_many.violation_ == np.inf
    assert not stands_for_many.exact_


@pytest.mark.parametrize("form", ["linear", "rbf", "poly"])
def test_penalty_gap_and_support_are_those_of_the_fit_in_memory(form):
    X, y, weight = make_rows(600)
    parameters = {name: v for name, v in FORMS[form].items() if name != "C"} | TIGHT
    whole = ReducedSVC(**parameters).fit(X, y, weight)
    blocks = fit(Batches.of(X, y, weight, rows=ROWS), parameters=parameters)
    assert pytest.approx(whole.C_, rel=1e-12) == blocks.C_
    assert blocks.duality_gap_ == pytest.approx(whole.duality_gap_, abs=1e-5)
    np.testing.assert_array_equal(
        blocks.n_support_,
        [np.count_nonzero(y[blocks.support_] == label) for label in whole.classes_],
    )


def test_a_wrong_dual_is_found(monkeypatch):
    """A group at its bound is said to have none of it."""
    X, y, weight = make_rows(600, n_classes=2)
    original = result.with_group_duals

    def planted(places, state, solved):
        items = original(places, state, solved)
        duals = items[2][1][0]
        duals[np.argmax(np.abs(duals))] = 0.0
        return items

    for module in (master, result):
        monkeypatch.setattr(module, "with_group_duals", planted)
    parameters = {
        "kernel": "linear",
        "C": 1.0,
        "reduction": Reduction(max_passes=12),
    }
    model = fit(Batches.of(X, y, weight, rows=ROWS), parameters=parameters)
    assert model.violation_ > 0.1
    assert not model.exact_


def test_rows_of_a_linear_svm_stay_where_they_are():
    X, y, _ = make_rows(4000, n_features=2, n_classes=2)
    parameters = {"kernel": "linear", "C": 10.0}
    model = fit(Batches.of(X, y, rows=800), parameters=parameters)
    assert model.exact_
    assert model.n_rows_used_[0][-1] < 800
    assert int(model.fit_report_["active"].split()[0]) < 20
    assert len(model.support_) > 1000
    assert model._model.support_vectors.shape == (0, 2)


def test_some_of_the_rows_enter_for_other_kernels():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((2000, 2))
    y = X[:, 0] + 0.2 * rng.standard_normal(2000) > 0
    model = fit(Batches.of(X, y, rows=400), parameters={"C": 10.0})
    assert model.exact_
    n_active = int(model.fit_report_["active"].split()[0])
    assert len(model.support_) <= n_active < 800


def test_same_bits_from_every_source_and_driver(kernel, tmp_path):
    data = make_rows(400, dtype=np.float32)
    X, y, weight = data
    path = write_parquet(tmp_path / "rows.parquet", *data)
    coarse = {"parameters": kernel | {"tol": 1e-2}}
    expected = fit(Batches.of(*data, rows=ROWS), **coarse)
    assert expected.decision_function(X).dtype == np.float32
    rows = da.from_array(X, chunks=(ROWS, 2))
    frame = dd.read_parquet(path, split_row_groups=True)
    assert same_bits(fit(path, "label", "weight", **coarse), expected)
    threads = {"parameters": coarse["parameters"] | {"n_jobs": 3}}
    assert same_bits(fit(rows, y, weight, **threads), expected)
    for n_workers in (1, 2, 4):
        with local_client(n_workers) as client:
            found = fit(frame, "label", "weight", client=client, **coarse)
            assert same_bits(found, expected)
            np.testing.assert_array_equal(found.support_, expected.support_)
            np.testing.assert_array_equal(found.dual_coef_, expected.dual_coef_)


def test_blocks_without_rows_weight_or_a_class(kernel):
    batches, X, y, weight = uneven_batches(*make_rows())
    parts = fit(batches, parameters=kernel | TIGHT)
    whole = ReducedSVC(**kernel, **TIGHT).fit(X, y, weight)
    np.testing.assert_allclose(
        parts.decision_function(X), whole.decision_function(X), atol=1e-4
    )
    assert recomputed_violation(parts, X, y, weight) <= 2e-6
    with pytest.raises(ValueError, match="at least one non-zero"):
        fit(Batches.of(X, y, 0 * weight, rows=ROWS))


def test_weight_two_is_the_row_twice(kernel):
    X, y, weight = make_rows(300, n_classes=2)
    weighted = fit(Batches.of(X, y, weight, rows=ROWS), parameters=kernel | TIGHT)
    count = weight.astype(int)
    X2, y2 = np.repeat(X, count, axis=0), np.repeat(y, count)
    shuffled = np.random.default_rng(0).permutation(len(y2))
    repeated = fit(
        Batches.of(X2[shuffled], y2[shuffled], rows=ROWS), parameters=kernel | TIGHT
    )
    np.testing.assert_allclose(
        weighted.decision_function(X), repeated.decision_function(X), atol=1e-4
    )


@pytest.mark.parametrize("form", ["linear", "rbf", "poly"])
def test_sparse_rows(form):
    X, y, weight = make_rows(300)
    X *= np.abs(X) > 0.5
    parameters = FORMS[form] | TIGHT
    dense = fit(Batches.of(X, y, weight, rows=ROWS), parameters=parameters)
    csr = fit(
        Batches.of(sparse.csr_array(X), y, weight, rows=ROWS), parameters=parameters
    )
    np.testing.assert_allclose(
        csr.decision_function(X), dense.decision_function(X), atol=1e-3
    )
    with pytest.raises(ValueError, match="solver='interior_point' needs dense rows"):
        fit(
            Batches.of(sparse.csr_array(X), y, rows=ROWS),
            parameters={"kernel": "linear", "solver": "interior_point"},
        )


def test_any_clusterer_gives_the_same_svm(kernel):
    X, y, _ = make_rows(n_classes=2)
    parameters = kernel | TIGHT | {"clusterer": KMeans(4, n_init=1)}
    model = fit(Batches.of(X, y, rows=ROWS), parameters=parameters)
    assert model.n_rows_used_[0][0] == 6 * 2 * 4
    whole = ReducedSVC(**kernel, **TIGHT).fit(X, y)
    np.testing.assert_allclose(model.dual_objective_, whole.dual_objective_, rtol=1e-8)


@pytest.mark.parametrize("call", [1, 3])
def test_a_fit_that_was_stopped_goes_on(kernel, call, tmp_path, monkeypatch):
    X, y, weight = make_rows(300)
    batches = Batches.of(X, y, weight, rows=ROWS)
    expected = fit(batches, parameters=kernel)
    original, solved = master.solve_tasks, []

    def solve_tasks(blocks, plan, options, places, state):
        solved.append(state.version)
        if len(solved) == call:
            raise KeyboardInterrupt
        return original(blocks, plan, options, places, state)

    monkeypatch.setattr(master, "solve_tasks", solve_tasks)
    with pytest.raises(KeyboardInterrupt):
        fit(batches, parameters=kernel, checkpoint=tmp_path / "state")
    again = fit(batches, parameters=kernel, checkpoint=tmp_path / "state")
    assert solved == [*range(call), *range(call - 1, expected.passes_[0] + 1)]
    assert same_bits(again, expected)
    np.testing.assert_array_equal(again.dual_coef_, expected.dual_coef_)
    assert again.n_rows_used_ == expected.n_rows_used_
    assert not list((tmp_path / "state").iterdir())


def test_results_of_an_interrupted_pass_are_not_used(kernel, tmp_path, monkeypatch):
    """A time limit may have cut the solve whose duals were stored last."""
    X, y, weight = make_rows(300)
    batches = Batches.of(X, y, weight, rows=ROWS)
    expected = fit(batches, parameters=kernel)

    def cut_short(task, version, plan, deadline):
        n_rows = plan.stored.read_active(version).n_rows
        n_groups = len(plan.stored.read_groups(version, task).sign)
        plan.stored.write_duals(task, version, np.zeros(n_rows + n_groups))
        raise OSError("out of time")

    state = tmp_path / "state"
    with monkeypatch.context() as patch:
        patch.setattr(master, "solve_task", cut_short)
        with pytest.raises(OSError, match="out of time"):
            fit(batches, parameters=kernel, checkpoint=state)
    assert list(state.rglob("duals-*"))
    assert same_bits(fit(batches, parameters=kernel, checkpoint=state), expected)


def test_files_are_removed(kernel, tmp_path):
    X, y, _ = make_rows()
    fit(Batches.of(X, y, rows=ROWS), folder=tmp_path, parameters=kernel)
    assert not list(tmp_path.iterdir())


def test_limits_are_told_of(kernel):
    X, y, _ = make_rows()
    batches = Batches.of(X, y, rows=ROWS)
    with pytest.warns(
        ConvergenceWarning, match="of 3 problems stopped at max_time=1e-06"
    ):
        model = fit(batches, parameters=kernel | {"max_time": 1e-6})
    assert not model.exact_
    assert model.passes_.tolist() == [0, 0, 0]


def test_what_cannot_be_done_is_said(tmp_path):
    X, y, _ = make_rows(100)
    with pytest.raises(ValueError, match=r"reduction=None needs all rows in memory; "):
        fit(Batches.of(X, y), parameters={"reduction": None})
    with pytest.raises(ValueError, match="number of classes has to be greater"):
        fit(Batches.of(X, np.ones(100)))
    path = write_parquet(tmp_path / "rows.parquet", *make_rows())
    with pytest.raises(NotEnoughMemoryError, match=r"4 columns x 8 bytes x 9 copies"):
        fit(path, "label", "weight", memory_limit="1MB")


def test_rows_that_are_to_enter_are_counted_first(kernel, monkeypatch):
    from localsvm.engine import _blocks
    from localsvm.engine._memory import MemoryRoom

    def room(_):
        return MemoryRoom(1e9 + 50_000, 1e9, "memory_limit")

    monkeypatch.setattr(_blocks, "room_of_process", room)
    X, y, _ = make_rows(2000)
    message = r"of rows with a dual .* bytes\), but 50 kB are left"
    if kernel["kernel"] == "rbf":
        message = r"with its support vectors needs .* Use kernel='linear', with which"
    with pytest.raises(NotEnoughMemoryError, match=message):
        fit(Batches.of(X, y, rows=200), parameters=kernel)


@pytest.mark.parametrize("form", ["linear", "rbf", "laplace"])
def test_model_file_and_gradients_of_a_fit_to_blocks(form, tmp_path):
    X, y, weight = make_rows()
    model = fit(Batches.of(X, y, weight, rows=ROWS), parameters=FORMS[form])
    save(model, tmp_path / "model")
    again = load(tmp_path / "model")
    assert same_bits(again, model)
    np.testing.assert_array_equal(again.support_, model.support_)
    coef, intercept = model.local_coef(X[:5])
    np.testing.assert_allclose(
        np.einsum("ipj,ij->ip", coef, X[:5]) + intercept, model.decision_function(X[:5])
    )
