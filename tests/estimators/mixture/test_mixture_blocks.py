"""MixtureSVC on rows in blocks."""

from dataclasses import fields, replace

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pytest
from scipy import sparse
from sklearn.cluster import Birch
from sklearn.exceptions import ConvergenceWarning

from engine_data import (
    ROWS,
    local_client,
    make_rows,
    same_bits,
    uneven_batches,
    write_parquet,
)
from localsvm import GradientMetric, MixtureSVC, load, save
from localsvm.cluster import ParallelKMeans
from localsvm.engine import (
    Batches,
    Block,
    FolderStore,
    NotEnoughMemoryError,
    options,
)
from localsvm.engine._open import open_blocks
from localsvm.estimators import PaperGate, SoftmaxGate
from localsvm.estimators._mixture import fit as _mixture_fit, survey as _mixture_survey
from localsvm.estimators._mixture.blocks import (
    START,
    StoredRows,
    expectation,
    gate_block,
)
from localsvm.estimators._mixture.em import loop as _mixture_em
from localsvm.estimators._mixture.em.expert_passes import ExpertRows, PassSolver
from localsvm.estimators._mixture.em.loop import BlockTargets, _expect_all
from localsvm.estimators._mixture.survey import HoldOut, survey_mixture
from localsvm.rows import Rows
from localsvm.solvers import GateRows, RowTargets
from mixture_models import TIGHT

TWO_LEVELS = SoftmaxGate(levels=2)
COARSE = {"n_regions": 3, "em_max_iter": 2, "random_state": 0}
CLOSE = {
    "n_regions": 5,
    "em_max_iter": 3,
    "random_state": 0,
    "tol": 1e-6,
    "max_iter": 2000,
}
FORMS = [
    (2, {}),
    (3, {"class_weight": "balanced", "C": 0.5, "fit_intercept": False}),
    (2, {"gate": PaperGate(tau=0.5)}),
    (2, {"gate": SoftmaxGate(2, reg=1e-3), "em_tol": 0.1}),
    (2, {"early_stopping": True, "validation_fraction": 0.3, "n_iter_no_change": 1}),
    (3, {"prior": 0.19}),
]


def fit(*arguments, parameters=None, **settings):
    settings.setdefault("block_rows", ROWS)
    with options(**settings):
        return MixtureSVC(**COARSE | (parameters or {})).fit(*arguments)


@pytest.mark.parametrize(("n_classes", "form"), FORMS, ids=str)
def test_same_model_as_in_memory(n_classes, form):
    X, y, weight = make_rows(2000, n_classes=n_classes)
    whole = MixtureSVC(**CLOSE | form).fit(X, y, weight)
    parts = fit(Batches.of(X, y, weight, rows=520), parameters=CLOSE | form)
    np.testing.assert_array_equal(
        parts.clusterer_.cluster_centers_, whole.clusterer_.cluster_centers_
    )
    assert parts.history_.keys() == whole.history_.keys()
    # SVMs within 1e-6 of the optimum give steps that differ by about the root of that.
    for name in ("log_likelihood", "accuracy", "validation_accuracy"):
        if name in whole.history_:
            rtol = 1e-3 if name == "log_likelihood" else 5e-3
            np.testing.assert_allclose(
                parts.history_[name], whole.history_[name], rtol=rtol
            )
    for name in ("n_regions_", "n_em_steps_", "em_step_", "converged_"):
        assert getattr(parts, name) == getattr(whole, name)
    for name in ("C_", "tau_", "intercept_scaling_"):
        np.testing.assert_allclose(getattr(parts, name), getattr(whole, name))
    assert (parts.predict(X) == whole.predict(X)).mean() > 0.998
    np.testing.assert_allclose(
        parts.decision_function(X), whole.decision_function(X), atol=0.05
    )
    np.testing.assert_allclose(parts.component_mass_, whole.component_mass_, rtol=5e-3)
    assert np.abs(parts.region_sizes_ - whole.region_sizes_).max() <= 3
    assert parts.region_sizes_.sum() == whole.region_sizes_.sum()
    assert parts.region_class_counts_.sum() == whole.region_class_counts_.sum()
    assert parts.duality_gap_ <= 1e-6
    assert parts.n_iter_ >= 1
    assert parts.coef_.shape == whole.coef_.shape


@pytest.mark.parametrize("form", [{}, {"gate": "paper"}, {"gate": TWO_LEVELS}], ids=str)
def test_expectation_and_gate_are_those_in_memory(form):
    """The same formulas: they differ by rounding alone."""
    X, y, weight = make_rows(600)
    model = MixtureSVC(**CLOSE | form | {"n_regions": 6})
    with (
        options(),
        open_blocks(model, Batches.of(X, y, weight, rows=ROWS), None, None) as rows,
    ):
        problem, start = start_of(model, rows)
        state, found = _expect_all(problem, start)
        step = replace(problem.gate_step, ridge=0.01, prior=0.5)
        targets = BlockTargets(problem, state.seen.step)
        before = start.model.gate
        gate = before.update(targets, step)
    own = training_rows(X, y, weight)
    C = problem.scales.C
    shares, expected = expectation(start.model, own, C * weight, 0.01, None)
    for each in fields(expected):
        np.testing.assert_allclose(
            getattr(found, each.name), getattr(expected, each.name), rtol=1e-12
        )
    gate_rows = GateRows(X, problem.origin, problem.gate_scale)
    in_memory = RowTargets(gate_rows, shares * weight[:, np.newaxis])
    wanted = before.update(in_memory, step)
    np.testing.assert_allclose(gate.coef, wanted.coef, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(gate.intercept, wanted.intercept, rtol=1e-7, atol=1e-9)
    assert np.abs(gate.coef - before.coef).max() > 0.01


@pytest.mark.parametrize(
    ("function", "arguments", "wanted"),
    [
        (
            gate_block,
            (START, (), np.zeros((2, 3)), np.zeros(2)),
            ["X", "penalty_weight", "values"],
        ),
        (
            lambda number, stored: ExpertRows(stored, START, 1, 0.0)(number),
            (),
            ["X", "class_index", "penalty_weight", "values"],
        ),
    ],
    ids=["gate", "svm"],
)
def test_a_pass_opens_no_file_that_it_does_not_need(
    function, arguments, wanted, tmp_path, monkeypatch
):
    """Opening a small file takes as long as the work on its rows."""
    stored = StoredRows(FolderStore(tmp_path), 1.0, 2, 1)
    X = np.random.default_rng(0).standard_normal((40, 3))
    rows = Rows.weighted(X, np.zeros(40, dtype=np.int32), np.ones(40), 2)
    stored.put_rows(0, rows, rows)
    stored.put_shares(0, START, np.full((40, 2), 0.5))
    opened, original = [], np.load

    def load(path, *options, **named):
        opened.append(path.stem)
        return original(path, *options, **named)

    monkeypatch.setattr(np, "load", load)
    function(0, stored, *arguments)
    assert sorted(opened) == wanted


def test_support_vectors_are_those_in_memory():
    X, y, weight = make_rows(600, n_classes=2)
    # Duals are not unique where the best decision is a constant, as it may be of a
    # component or of a class against the rest.
    one = CLOSE | {"n_regions": 1}
    whole = MixtureSVC(**one).fit(X, y, weight)
    parts = fit(Batches.of(X, y, weight, rows=ROWS), parameters=one)
    np.testing.assert_allclose(parts.n_support_, whole.n_support_, atol=3)
    assert whole.n_support_.min() > 10


def rows_with_a_lonely_class():
    """Rows with clusters of one class, whose SVMs start as constants."""
    X, y, weight = make_rows(300)
    X[:60] += 20
    y[:60] = "ash"
    return X, y, weight


def test_clusters_of_one_class_start_as_constants():
    X, y, weight = rows_with_a_lonely_class()
    parameters = CLOSE | {"gate": TWO_LEVELS, "n_regions": 6, "em_max_iter": 1}
    whole = MixtureSVC(**parameters).fit(X, y, weight)
    parts = fit(Batches.of(X, y, weight, rows=ROWS), parameters=parameters)
    np.testing.assert_allclose(
        parts.history_["log_likelihood"], whole.history_["log_likelihood"], rtol=1e-4
    )


def test_likelihood_never_falls_with_loose_svms_either():
    X, y, _ = make_rows(300, n_classes=2)
    loose = TIGHT | {"tol": 0.5, "max_iter": 1, "em_max_iter": 6}
    course = fit(Batches.of(X, y, rows=ROWS), parameters=loose).history_
    assert np.diff(course["log_likelihood"]).min() >= -1e-8


def test_duals_start_as_the_same_part_of_their_bounds():
    X, y, weight = rows_with_a_lonely_class()
    model = MixtureSVC(**CLOSE | {"n_regions": 4, "tol": 1e-3})
    batches = Batches.of(X, y, weight, rows=ROWS)
    with options(), open_blocks(model, batches, None, None) as rows:
        problem, state = start_of(model, rows)
        solved = state.solved
        before = [solution.problem for solution in solved.solutions]
        step = _expect_all(problem, state)[0].seen.step
        readers = [ExpertRows(problem.stored, step, each, 0.01) for each in range(4)]
        starts = solved.starts(readers)
        cold = [component for component in range(4) if len(starts[component].cold) == 3]
        assert 0 < len(cold) < 4
        assert not state.model.coef[cold].any()
        np.testing.assert_array_equal(
            state.model.intercept[cold], [[1, -1, -1]] * len(cold)
        )
        moved = 0
        for component in range(4):
            old = before[component].read.weigh(0)
            new = readers[component].weigh(0)
            found = np.zeros(len(new))
            found[new > 0] = starts[component](1, 0, readers[component](0))[0]
            duals = np.zeros(len(old))
            if component not in cold and (old > 0).any():
                duals[old > 0] = solved.solutions[component].duals(1, 0)[0]
            expected = np.divide(duals * new, old, out=0 * new, where=old > 0)
            np.testing.assert_allclose(found, expected)
            moved += np.count_nonzero((found > 0) & (found != duals))
        left = state.keep(np.array([True, False, True, True]))
        names = [solution.problem.name for solution in left.solved.solutions]
    assert moved > 10
    assert names == ["svm-start-0", "svm-start-2", "svm-start-3"]
    assert left.seen.ids.tolist() == [0, 2, 3]


class StartedError(Exception):
    """Ends a fit before its first EM step."""


def start_of(model, rows):
    """Problem and state of EM before the first step."""

    def stop(problem, state, watch):
        raise StartedError(problem, state)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_mixture_fit, "run_em", stop)
        with pytest.raises(StartedError) as raised:
            model._fit_blocks(rows)
    return raised.value.args


def training_rows(X, y, weight):
    index = np.unique(y, return_inverse=True)[1].astype(np.int32)
    return Rows.weighted(X, index, weight, int(index.max()) + 1)


def test_same_bits_from_every_source_and_driver(tmp_path):
    data = make_rows(n_classes=2, dtype=np.float32)
    X, y, weight = data
    path = write_parquet(tmp_path / "rows.parquet", *data)
    early = {"parameters": {"early_stopping": True, "n_regions": 2}}
    expected = fit(Batches.of(*data, rows=ROWS), **early)
    assert expected.gates(X).dtype == np.float32
    batches = (
        (X[i : i + ROWS], y[i : i + ROWS], weight[i : i + ROWS])
        for i in range(0, len(y), ROWS)
    )
    assert same_bits(fit(batches, **early), expected)
    threads = {"parameters": early["parameters"] | {"n_jobs": 3}}
    assert same_bits(fit(path, "label", "weight", **threads), expected)
    rows = da.from_array(X, chunks=(ROWS, 2))
    frame = dd.read_parquet(path, split_row_groups=True)
    for n_workers in (1, 2, 4):
        with local_client(n_workers) as client:
            if n_workers == 1:
                found = fit(frame, "label", "weight", **early)
            elif n_workers == 2:
                found = fit(rows, y, weight, **early)
            else:
                found = fit(path, "label", "weight", client=client, **early)
        assert same_bits(found, expected)


def test_a_fit_that_was_interrupted_goes_on(tmp_path, monkeypatch):
    X, y, weight = make_rows(300)
    batches = Batches.of(X, y, weight, rows=ROWS)
    longer = {"em_max_iter": 3, "n_regions": 4, "early_stopping": True}
    longer["gate"] = TWO_LEVELS
    expected = fit(batches, parameters=longer)
    faults = [
        (_mixture_fit, "start_em", 1),
        (_mixture_em, "maximize", 1),
        (_mixture_em, "save_em", 2),
        (PassSolver, "_experts", 2),
    ]
    for owner, name, call in faults:
        with monkeypatch.context() as patch:
            patch.setattr(owner, name, failing_at(call, getattr(owner, name)))
            with pytest.raises(InterruptedError):
                fit(batches, parameters=longer, checkpoint=tmp_path / "state")
    calls = []
    original = _mixture_em.maximize

    def counted(problem, state, found):
        calls.append(state.n_done)
        return original(problem, state, found)

    monkeypatch.setattr(_mixture_em, "maximize", counted)
    again = fit(batches, parameters=longer, checkpoint=tmp_path / "state")
    assert calls == [1, 2]
    assert same_bits(again, expected)
    for name in ("log_likelihood", "accuracy", "validation_accuracy"):
        np.testing.assert_array_equal(again.history_[name], expected.history_[name])
    np.testing.assert_array_equal(again.component_mass_, expected.component_mass_)
    assert again.duality_gap_ == expected.duality_gap_
    for name in ("n_iter_", "n_em_steps_", "em_step_"):
        assert getattr(again, name) == getattr(expected, name)
    np.testing.assert_array_equal(again.n_support_, expected.n_support_)
    assert not list((tmp_path / "state").iterdir())


def failing_at(call, original):
    count = 0

    def counted(*arguments):
        nonlocal count
        count += 1
        if count == call:
            raise InterruptedError
        return original(*arguments)

    return counted


def test_files_of_earlier_steps_are_removed(tmp_path, monkeypatch):
    X, y, weight = make_rows(n_classes=2)
    listed, original = [], _mixture_em.remove_outdated

    def listing(*arguments):
        original(*arguments)
        names = {path.name for path in tmp_path.rglob("*")}
        listed.append(
            {name for name in names if name.startswith(("svm", "shares", "."))}
        )

    monkeypatch.setattr(_mixture_em, "remove_outdated", listing)
    fit(Batches.of(X, y, weight, rows=ROWS), folder=tmp_path)
    assert [len(names) for names in listed] == [len(listed[0])] * 2
    assert not listed[0] & listed[1]
    assert "shares-1-3-0" in listed[1]
    assert not list(tmp_path.iterdir())


def test_blocks_without_rows_weight_or_a_class():
    batches, X, y, weight = uneven_batches(*make_rows())
    close = CLOSE | {"class_weight": {"ash": 0.0, "birch": 2.0, "cedar": 1.0}}
    parts = fit(batches, parameters=close)
    whole = MixtureSVC(**close).fit(X, y, weight)
    assert "ash" not in parts.predict(X)
    np.testing.assert_allclose(
        parts.decision_function(X), whole.decision_function(X), atol=0.05
    )
    with pytest.raises(ValueError, match="at least one non-zero"):
        fit(Batches.of(X, y, 0 * weight, rows=ROWS))


def test_block_of_which_all_rows_are_set_aside():
    X, y, _ = make_rows(300, n_classes=2)
    early = {"early_stopping": True, "validation_fraction": 0.4}

    def read(number):
        own = slice(0, 292) if number == 0 else slice(291 + number, 292 + number)
        return X[own], y[own]

    parts = fit(Batches(read, 9), parameters=CLOSE | early)
    whole = MixtureSVC(**CLOSE | early).fit(X, y)
    np.testing.assert_allclose(
        parts.history_["validation_accuracy"],
        whole.history_["validation_accuracy"],
        rtol=1e-12,
    )


def test_sparse_rows():
    X, y, weight = make_rows(n_classes=2)
    X *= np.abs(X) > 0.5
    dense = fit(Batches.of(X, y, weight, rows=200), parameters=CLOSE)
    csr = Batches.of(sparse.csr_array(X), y, weight, rows=200)
    np.testing.assert_allclose(
        fit(csr, parameters=CLOSE).decision_function(X),
        dense.decision_function(X),
        atol=0.05,
    )


def test_start_clusters_by_passes_do_not_see_rows_set_aside():
    X, y, _ = make_rows(n_classes=2)
    parameters = {
        "clusterer": ParallelKMeans(random_state=3),
        "early_stopping": True,
        "validation_fraction": 0.5,
        "em_max_iter": 1,
    }
    whole = MixtureSVC(**COARSE | parameters).fit(X, y)
    parts = fit(Batches.of(X, y, rows=ROWS), parameters=parameters)
    np.testing.assert_allclose(
        parts.clusterer_.cluster_centers_, whole.clusterer_.cluster_centers_
    )


def test_limits_are_told_of():
    X, y, _ = make_rows()
    batches = Batches.of(X, y, rows=200)
    with pytest.warns(ConvergenceWarning, match=r"linear SVMs of .* max_iter=1"):
        fit(batches, parameters={"max_iter": 1, "tol": 1e-9, "em_max_iter": 1})
    with pytest.warns(ConvergenceWarning, match="EM stopped after max_time=1e-06"):
        fit(batches, parameters={"max_time": 1e-6})


def test_what_cannot_be_done_is_said(tmp_path):
    X, y, weight = make_rows(200)
    batches = Batches.of(X, y, weight, rows=ROWS)
    refused = {
        "metric must be None": {"metric": GradientMetric()},
        "needs a clusterer with cluster_centers_; Birch has none": {
            "clusterer": Birch()
        },
        "n_samples=200 should be >= n_regions=201": {"n_regions": 201},
        r"leaves .* rows for training": {
            "early_stopping": True,
            "validation_fraction": 1e-9,
        },
    }
    for message, parameters in refused.items():
        with pytest.raises(ValueError, match=message):
            fit(batches, parameters=parameters, folder=tmp_path)
        assert not list(tmp_path.iterdir())
    with pytest.raises(ValueError, match="number of classes has to be greater"):
        fit(Batches.of(X, np.ones(200)))
    with pytest.raises(ValueError, match="Sums of squares are not finite"):
        fit(Batches.of(X * 1e200, y))
    path = write_parquet(tmp_path / "rows.parquet", X, y, weight)
    with pytest.raises(NotEnoughMemoryError, match=r"4 columns x 8 bytes x 3 copies"):
        fit(path, "label", "weight", memory_limit="1MB")


def test_model_file_of_a_fit_to_blocks(tmp_path):
    X, y, weight = make_rows()
    model = fit(Batches.of(X, y, weight, rows=200))
    save(model, tmp_path / "model")
    again = load(tmp_path / "model")
    assert same_bits(again, model)
    np.testing.assert_array_equal(again.responsibilities(X), model.responsibilities(X))
    assert {"scan", "cluster", "write", "expect", "gate", "solve"} == set(
        model.fit_report_
    )


def test_blocks_far_from_the_origin_have_the_scale_of_all_rows():
    rng = np.random.default_rng(0)
    X = 1e9 + rng.standard_normal((300, 2))
    y = (X[:, 0] > 1e9).astype(int)
    blocks = [
        Block(X[i : i + 100], y[i : i + 100], np.ones(100)) for i in (0, 100, 200)
    ]
    found = [survey_mixture(block, HoldOut(0.0, 0, 300), 0, 100) for block in blocks]
    merged = found[0].merge(found[1]).merge(found[2])
    expected = np.square(X - X.mean(axis=0)).sum()
    assert merged.spread == pytest.approx(expected, rel=1e-6)


def test_few_kinds_of_rows_in_blocks_need_no_rows_to_stop_by(monkeypatch):
    monkeypatch.setattr(_mixture_survey, "_EARLY_STOPPING_ROWS", 100)
    X = np.repeat([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0]], 100, axis=0)
    y = np.repeat([0, 1, 1], 100)
    order = np.random.default_rng(0).permutation(300)
    X, y = X[order], y[order]
    for seed in range(5):
        model = MixtureSVC(2, random_state=seed).fit(Batches.of(X, y, rows=100))
        assert model.score(X, y) == 1
