"""Files that are damaged, or made to harm: a clean error, or a model that predicts."""

import contextlib
import os
import tracemalloc

import numpy as np
import pytest

import localsvm
from forged_files import forge, forge_at_random
from localsvm._plain_file import write_plain_file
from localsvm.export import describe_file
from model_file_data import CASES, FEW, answers, fitted, rows_of
from same_objects import assert_same


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.lsvm"


def test_every_truncation_is_refused(path):
    localsvm.save(fitted("metric"), path)
    whole = path.read_bytes()
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        for read in (localsvm.load, describe_file):
            with pytest.raises(ValueError, match=path.name):
                read(path)


@pytest.mark.parametrize("flip", [0x01, 0x80])
def test_every_flipped_byte_of_a_small_file_is_noticed(path, flip):
    localsvm.save(fitted("metric"), path)
    whole = path.read_bytes()
    for place in range(len(whole)):
        _write_flipped(path, whole, place, flip)
        for read in (localsvm.load, describe_file):
            with pytest.raises(ValueError, match=path.name):
                read(path)


@pytest.mark.parametrize("case", FEW)
def test_a_flipped_byte_is_noticed_or_changes_nothing(path, case):
    model, X = fitted(case), rows_of(case)[:5]
    localsvm.save(model, path)
    whole, expected = path.read_bytes(), answers(model, X)
    tracemalloc.start()
    for place in np.random.default_rng(0).integers(len(whole), size=60):
        _write_flipped(path, whole, place, 0x10)
        try:
            loaded = localsvm.load(path)
        except ValueError:
            continue
        assert_same(answers(loaded, X), expected)
    assert tracemalloc.get_traced_memory()[1] < 3 * len(whole) + 1e6
    tracemalloc.stop()


def _write_flipped(path, whole, place, flip):
    changed = bytearray(whole)
    changed[place] ^= flip
    path.write_bytes(changed)


@pytest.mark.parametrize("case", FEW)
def test_a_forged_file_is_refused_or_predicts(path, tmp_path, case):
    localsvm.save(fitted(case), path)
    forged, n_refused = tmp_path / "forged.lsvm", 0
    for seed in range(40):
        forge_at_random(path, forged, np.random.default_rng(seed))
        try:
            loaded = localsvm.load(forged)
        except ValueError:
            n_refused += 1
            continue
        # Numbers may be too large for one another.
        with contextlib.suppress(ValueError):
            answers(loaded, rows_of(case)[:3])
    assert n_refused


def set_array(name, place, value):
    def change(_, arrays):
        arrays[f"model.{name}"][place] = value

    return change


def give(name, array):
    def change(_, arrays):
        arrays[f"model.{name}"] = array

    return change


def both(first, second):
    def change(header, arrays):
        first(header, arrays)
        second(header, arrays)

    return change


def set_value(*steps, value):
    def change(header, _):
        owner = header["model"]
        for step in steps[:-1]:
            owner = owner[step]
        owner[steps[-1]] = value

    return change


SCALER = {
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
_COLUMNS = ("fitted", "steps", 0, 1, "fitted", "columns_")
_NUMBER = (*_COLUMNS, 0, "number")
FORGERIES = {
    "soft": [
        (
            set_array("feature_range_", (0, 1), 1e9),
            "feature_range_ has a low end above its high end",
        ),
        (set_array("feature_range_", (1, 1), np.nan), "feature_range_ has NaN"),
        (
            give("integer_features_", np.zeros(3)),
            "integer_features_ is stored as float64",
        ),
        (set_array("_model.coef", (0, 0, 0), np.nan), "_model.coef has NaN"),
        (give("_model.coef", np.zeros((5, 1, 2))), "_model.coef has 2 mapped columns"),
        (give("_model.coef", np.zeros((4, 1, 3))), "_model.coef has 3 regions"),
        (give("_model.coef", np.zeros((0, 1, 3))), "_model.coef is empty"),
        (give("_model.coef", np.zeros((5, 2, 3))), "_model.coef has 2 tasks"),
        (give("_model.coef", np.zeros((5, 3))), "_model.coef has 2 dimensions"),
        (give("_model.coef", np.zeros((5, 1, 3), np.int64)), "_model.coef has dtype"),
        (give("more", np.zeros(3)), "has the array 'model.more', which no part"),
        (
            set_value("fitted", "n_features_in_", value=2),
            "has 3 columns; expected 2",
        ),
        (set_value("fitted", "n_features_in_", value=0), "expected an integer from 1"),
        (set_value("fitted", "n_features_in_", value=3.0), "expected an integer"),
        (
            set_value("fitted", "more", value=1),
            "the attribute 'more', which is unknown",
        ),
        (set_value("fitted", value={}), "model.n_features_in_ is missing"),
        (
            set_value("params", "more", value=1),
            "the parameter 'more', which is unknown",
        ),
        (set_value("params", "tol", value=-1), "The 'tol' parameter of ClusteredSVC"),
        (set_value("params", "n_jobs", value=10**9), "n_jobs is 1000000000"),
        (set_value("params", "n_jobs", value=0), "n_jobs is 0"),
        (set_value("class", value="SVC"), "is of the class 'SVC'"),
        (set_value("class", value="KMeans"), "expected a known classifier"),
        (set_value("class", value="builtins.exec"), "is of the class 'builtins.exec'"),
        (set_value("class", value=["SVC"]), "is of the class"),
        (set_value("output", value="pandas"), "has the output 'pandas'"),
        (
            set_value("params", "clusterer", value={"class": "Popen", "params": {}}),
            "model.clusterer is",
        ),
        (
            set_value("params", "metric", value={"float": "1e999"}),
            "which stands for nothing",
        ),
        (
            set_value("fitted", "regions_", "soft", "tau", value={"float": "nan"}),
            "regions_.tau is nan",
        ),
        (
            set_value("fitted", "regions_", "soft", "n_nearest", value=0),
            "regions_.n_nearest is 0",
        ),
        (
            set_value("fitted", "_model", "coef", value={"array": "nothing"}),
            "which is missing",
        ),
        (
            set_value("fitted", "classes_", value=["a", "b"]),
            "model.classes_ is .*expected an array",
        ),
    ],
    "hard-pddp": [
        (set_array("regions_.clusterer._tree.content", 0, 1), "does not belong to one"),
        (set_array("regions_.clusterer._tree.content", 0, 2**40), "expected less than"),
        (set_array("regions_.clusterer._tree.content", -1, -99), "leaves of its tree"),
        (
            lambda _, arrays: arrays["model.regions_.clusterer._tree.content"].sort(),
            "a node of its tree is below itself",
        ),
    ],
    "local": [
        (set_array("_models.support", 0, 10**6), "_models.support has 1000000"),
        (set_array("_models.support", 0, -1), "_models.support has -1"),
        (
            set_array("_models.support_start", 1, 10**6),
            "_models.support_start must rise",
        ),
        (set_array("_models.support_start", 0, 1), "_models.support_start must rise"),
        (set_array("_models.pair_start", -1, 2**40), "_models.pair_start must rise"),
        (set_array("_models.coef_start", 1, 0), "has not one number per pair"),
        (set_array("_models.pairs", 0, 3), "_models.pairs has 3"),
        (set_array("_models.pairs", slice(0, 2), 1), "not in ascending order"),
        (set_array("_models.only_class", 0, 2), "_models.only_class is not that of"),
        (set_array("_models.gamma", 0, -1.0), "_models.gamma has -1.0"),
        (set_array("_models.status", 0, 4), "_models.status has 4"),
        (set_array("_router.regions", 0, 10**6), "_router.regions has 1000000"),
        (give("_models.intercept", np.zeros(3)), "_models.pairs has 6 pair ends"),
        (
            set_value("fitted", "_router", "search", "class", value="KMeans"),
            "search is of the class 'KMeans'",
        ),
        (set_value("fitted", "_kernel", "degree", value=10**9), "_kernel.degree is"),
        (set_value("fitted", "_kernel", "name", value="exp"), "_kernel.name is 'exp'"),
    ],
    "local-linear": [
        (
            set_value("fitted", "global_model_", value=SCALER),
            "global_model_ is a StandardScaler|of the class 'StandardScaler'",
        ),
        (
            set_value(
                "fitted",
                "global_model_",
                value={
                    "class": "Pipeline",
                    "params": {},
                    "fitted": {"steps": [["scale", SCALER]]},
                },
            ),
            "global_model_ is a Pipeline, which decides nothing",
        ),
        (set_array("global_model_.classes_", 0, -5), "knows other classes"),
    ],
    "local-center": [
        (
            lambda _, arrays: arrays.update(
                {"model._router.rows": arrays["model._router.rows"].astype(np.float32)}
            ),
            "_router.rows are not stored as _support_rows are",
        ),
    ],
    "stream": [
        (
            set_value("fitted", "_streams", 0, 0, value="other"),
            "_streams has labels that are not in classes_",
        ),
        (set_value("fitted", "fit_report_", value=True), "expected names and values"),
        (set_array("_streams[0].cluster_centers_", 0, np.inf), "has NaN or infinity"),
        (set_array("_streams[0].labels_", 0, 99), "has 99; expected less than"),
    ],
    "local-csr": [
        (set_array("_support_rows.indices", 0, 3), "_support_rows.indices has 3"),
        (set_array("_support_rows.indices", 0, -1), "_support_rows.indices has -1"),
        (set_array("_support_rows.indices", slice(None), 1), "not in ascending order"),
        (
            set_array("_support_rows.indptr", -1, 2**30),
            "_support_rows.indptr must rise",
        ),
        (set_array("_support_rows.indptr", 1, -5), "_support_rows.indptr has -5"),
        (set_array("_support_rows.data", 0, np.inf), "_support_rows.data has NaN"),
        (give("_support_rows.data", np.zeros(2)), "_support_rows.indices has"),
        (set_value("fitted", "_support_rows", "n_columns", value=99), "has 99 mapped"),
    ],
    "neighbor": [
        (set_array("_rows.class_index", 0, 3), "_rows.class_index has 3"),
        (
            set_array("_rows.penalty_weight", 0, -1.0),
            "_rows.penalty_weight has -1",
        ),
        (set_value("fitted", "n_neighbors_", value=91), "more than there are rows"),
        (set_value("params", "tol", value=0.0), None),
        (set_value("params", "cache_size", value=1e308), None),
        (set_value("params", "cache_size", value=2**62), None),
        (
            both(
                set_value("params", "tol", value=0.0),
                set_value("fitted", "n_neighbors_", value=90),
            ),
            "may keep predictions from ending",
        ),
    ],
    "neighbor-poly": [
        (
            set_value("fitted", "search_", "params", "max_features", value=10**9),
            "max_features is 1000000000",
        ),
    ],
    "clusters-full": [
        (set_array("summary_.weight", 0, 0.0), "weight contains 0"),
        (set_array("summary_.covariance", (0, 0, 1), 9.0), "is not symmetric"),
        (set_array("_machine.support", 0, 10**6), "_machine.support has 1000000"),
        (set_array("_machine.pairs", (0, 1), -1), "a class against itself or none"),
    ],
    "soft-single": [
        (set_array("random_state.key", 0, -1), "random_state.key has negative"),
        (
            set_value("params", "random_state", "random_state", "pos", value=625),
            "pos is",
        ),
    ],
    "staged-quantile": [
        (set_array("_preparations[0].quantiles.columns", 0, 3), "columns has 3"),
        (set_array("_preparations[0].quantiles.values.flat", 0, 1e9), "do not ascend"),
        (set_value("fitted", "_threshold", value=0.0), "do not fit together"),
        (set_value("fitted", "_terms", 1, "rows", value=0), "no preparation 0"),
        (set_value("fitted", "_terms", 1, "name", value="laplace"), "not fit together"),
    ],
    "staged-sum-codes": [
        (set_array("_weights.weights", 0, 0.0), "are those of"),
        (set_array("_preparations[0].columns.numbers", 0, 2), "each column once"),
        (set_value("fitted", "_terms", 0, "rows", value=1), "no preparation 1"),
    ],
    "table-codes": [
        (
            set_value(*_COLUMNS, 0, "raw_number", "low", value=9e9),
            "columns_ has the range 9000000000.0 to",
        ),
        (
            set_value(*_COLUMNS, 6, "ordered", "numbers", value=[0.0, 1.0]),
            "columns_ has 2 numbers of 3 levels for 'share'",
        ),
        (
            set_value(*_COLUMNS, 6, "ordered", "numbers", value=[1.0, 0.0, 2.0]),
            "expected as many, ascending",
        ),
        (
            set_value(*_COLUMNS[:-2], "params", "encoding", value="features"),
            "columns_ has a RawNumberColumn for 'größe'; encoding='features' has none",
        ),
        (
            set_value(*_COLUMNS[:-2], "params", "encoding", value="code"),
            "'encoding' parameter of TableEncoder must be",
        ),
    ],
    "table": [
        (
            set_value(*_NUMBER, "low", value=9e9),
            "columns_ has the range 9000000000.0 to",
        ),
        (set_value(*_NUMBER, "high", value=None), "expected both ends in ascending"),
        (
            set_value(*_NUMBER, "whole", value=1),
            "whole is 1; expected true or false",
        ),
        (
            set_value(
                "fitted", "steps", 0, 1, "fitted", "columns_", 5, value={"x": {}}
            ),
            "expected one of number",
        ),
        (lambda header, _: header["model"]["fitted"]["steps"].pop(), "no part refers"),
        (
            lambda header, _: header["model"]["fitted"]["steps"].reverse(),
            "model.steps.model is a ClusteredSVC; expected a transformer",
        ),
        (
            set_value("fitted", "steps", 1, 1, "fitted", "n_features_in_", value=5),
            "expected 5 as elsewhere",
        ),
    ],
}


@pytest.mark.parametrize(
    ("case", "number"),
    [(case, i) for case, forgeries in FORGERIES.items() for i in range(len(forgeries))],
)
def test_forged_content_is_named(path, case, number):
    change, words = FORGERIES[case][number]
    localsvm.save(fitted(case), path)
    forge(path, change)
    if words is None:
        answers(localsvm.load(path), rows_of(case)[:3])
        return
    with pytest.raises(ValueError, match=rf"model\.lsvm: .*{words}"):
        localsvm.load(path)


@pytest.mark.parametrize("size", [1e160, 1e200, -1e300])
def test_means_whose_squares_overflow_are_refused_or_predict(path, size):
    localsvm.save(fitted("stream"), path)

    def enlarge(_, arrays):
        arrays["model.summary_.mean"][:] = size

    forge(path, enlarge)
    loaded = localsvm.load(path)
    with contextlib.suppress(ValueError):
        answers(loaded, rows_of("stream")[:3])


@pytest.mark.parametrize(
    "header",
    [
        {},
        {"model": {}, "notes": None},
        {"model": None, "notes": None, "scikit_learn": "1.9"},
        {"model": {}, "notes": None, "scikit_learn": 1.9},
        {"model": {"class": "ClusteredSVC"}, "notes": 1, "scikit_learn": "1.9"},
        {"model": [], "notes": None, "scikit_learn": "1.9", "more": 1},
    ],
)
def test_other_headers_are_refused(path, header):
    write_plain_file(path, "model", 1, header, {})
    with pytest.raises(ValueError, match=r"model\.lsvm: "):
        localsvm.load(path)
    with pytest.raises(ValueError, match=r"model\.lsvm: "):
        describe_file(path)


def test_other_formats_and_versions_say_so(path):
    write_plain_file(path, "shared-summary", 1, {}, {})
    with pytest.raises(ValueError, match="is a localsvm shared-summary file"):
        localsvm.load(path)
    write_plain_file(path, "model", 4, {}, {})
    for read in (localsvm.load, describe_file):
        with pytest.raises(ValueError, match=r"version 4 .* versions 1 to 3\. Update"):
            read(path)


def test_deep_nesting_is_refused(path):
    localsvm.save(fitted("pipeline"), path)

    def nest(header, _):
        for _ in range(50):
            steps = [["step", header["model"]]]
            header["model"] = {
                "class": "Pipeline",
                "params": {},
                "fitted": {"steps": steps},
            }

    forge(path, nest)
    with pytest.raises(ValueError, match="nested too deeply"):
        localsvm.load(path)


def test_an_interrupted_save_leaves_the_old_file(path, monkeypatch):
    localsvm.save(fitted("soft"), path)
    old = path.read_bytes()

    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", interrupt)
    with pytest.raises(KeyboardInterrupt):
        localsvm.save(fitted("joint"), path)
    assert path.read_bytes() == old
    assert os.listdir(path.parent) == [path.name]


def test_a_model_that_cannot_be_saved_leaves_the_old_file(path):
    localsvm.save(fitted("soft"), path)
    old = path.read_bytes()
    with pytest.raises(TypeError):
        localsvm.save(object(), path)
    assert path.read_bytes() == old


@pytest.mark.parametrize("case", ["local", "soft", "staged"])
def test_loading_takes_memory_in_proportion_to_the_file(path, case):
    localsvm.save(fitted(case), path)
    localsvm.load(path)
    tracemalloc.start()
    localsvm.load(path)
    assert tracemalloc.get_traced_memory()[1] < 3 * path.stat().st_size + 3e5
    tracemalloc.stop()


def test_every_case_is_forged_somewhere():
    assert set(FEW) <= set(CASES)
    assert set(FORGERIES) <= set(CASES)
