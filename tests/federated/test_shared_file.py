import contextlib
import os
import tracemalloc

import numpy as np
import pandas as pd
import pytest
from sklearn.cluster import KMeans

from federated_data import assert_same, blobs, forge, share
from localsvm.federated import SharedSummary, merge, min_size, none, random_centers

CENTERS = random_centers((0.0, 1.0), 5, n_features=3)


def small_share(**parameters):
    X, y = blobs(60)
    parameters = {"clusterer": KMeans(2), "covariance": "full"} | parameters
    return share("a", X, y, **parameters)


@pytest.fixture
def path(tmp_path):
    small_share().save(tmp_path / "a.scm")
    return tmp_path / "a.scm"


@pytest.mark.parametrize("covariance", ["diag", "full", "none"])
@pytest.mark.parametrize(
    "classes", [("ash", "bücher"), (-3, 2**40), (False, True), (1.0, 2.0)]
)
@pytest.mark.parametrize("centers", [None, CENTERS])
def test_what_is_saved_is_loaded(tmp_path, covariance, classes, centers):
    X, y = blobs(100, classes=classes)
    shared = share("a", X, y, covariance=covariance, centers=centers, n_clusters=4)
    shared.save(tmp_path / "f")
    loaded = SharedSummary.load(tmp_path / "f")
    assert_same(loaded, shared)
    assert str(loaded) == str(shared)
    assert type(loaded.summary.label.tolist()[0]) is type(classes[0])


def test_merged_summaries_and_column_names_are_kept(tmp_path):
    X, y = blobs(200)
    frame = pd.DataFrame(X, columns=["age", "größe", "x\n"])
    parts = [
        share("a", frame[:100], y[:100], min_size(5, 2), n_clusters=4),
        share("b", frame[100:], y[100:], none(), n_clusters=4),
    ]
    merged = merge(parts, max_share=0.51)
    merged.save(tmp_path / "f")
    loaded = SharedSummary.load(tmp_path / "f")
    assert_same(loaded, merged)
    assert loaded.summary.feature_names == ("age", "größe", "x\n")
    assert "columns: 'age', 'größe', 'x\\n'" in str(loaded)


def test_an_interrupted_save_leaves_the_old_file(path, monkeypatch):
    old = path.read_bytes()

    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", interrupt)
    with pytest.raises(KeyboardInterrupt):
        small_share(covariance="none").save(path)
    assert path.read_bytes() == old
    assert os.listdir(path.parent) == [path.name]


def test_the_text_says_what_leaves_and_what_it_promises():
    X, y = blobs(200)
    parts = [
        share("clinic", X, y, min_size(20, 5), n_clusters=3),
        share("bank", X, y, none(), n_clusters=3),
    ]
    n_clusters = sum(part.summary.n_clusters for part in parts)
    text = str(merge(parts))
    assert f"2 parties, {n_clusters} clusters of 3 columns, covariance diag" in text
    assert "smallest weight" in text
    assert " rows, privacy min_size, not a formal guarantee" in text
    assert "No protection, for trusted partners only" in text
    assert "k = 20, round_to = 5" in text


def test_every_truncation_is_refused(path):
    whole = path.read_bytes()
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        with pytest.raises(ValueError, match=path.name):
            SharedSummary.load(path)


@pytest.mark.parametrize("flip", [0x01, 0x20, 0x80])
def test_a_flipped_byte_is_noticed_or_changes_nothing(path, flip):
    whole, shared = path.read_bytes(), SharedSummary.load(path)
    tracemalloc.start()
    for place in range(len(whole)):
        changed = bytearray(whole)
        changed[place] ^= flip
        path.write_bytes(changed)
        with contextlib.suppress(ValueError):
            assert_same(SharedSummary.load(path), shared)
    assert tracemalloc.get_traced_memory()[1] < 5e6
    tracemalloc.stop()


def set_array(name, place, value):
    def change(_, arrays):
        arrays[name][place] = value

    return change


def give(name, array):
    def change(_, arrays):
        arrays[name] = array

    return change


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (set_array("weight", 0, np.nan), "weight contains NaN"),
        (set_array("weight", 0, -1.0), "weight contains -1"),
        (set_array("weight", 0, 0.0), "weight contains 0"),
        (set_array("weight", 0, 1e200), "above 1e\\+100"),
        (set_array("mean", (0, 0), np.inf), "mean contains NaN"),
        (set_array("covariance", (0, 0, 0), -1.0), "variance -1"),
        (set_array("covariance", (0, 0, 1), 9.0), "not symmetric"),
        (set_array("covariance", (0,), -np.eye(3) + 1), "eigenvalue"),
        (set_array("class_index", 0, 2), "class_index has numbers from 0 to 2"),
        (set_array("class_index", 0, -1), "class_index has numbers from -1"),
        (give("class_index", np.zeros((4, 1), dtype=np.int32)), "class_index"),
        (give("class_index", np.zeros(3, dtype=np.int32)), "label has shape"),
        (give("class_index", np.zeros(0, dtype=np.int32)), "class_index"),
        (give("class_index", np.zeros(4)), "class_index has dtype"),
        (give("weight", np.ones(3)), "mean has shape"),
        (give("weight", np.ones((4, 1))), "weight has shape"),
        (give("weight", np.ones(0)), "weight has shape"),
        (give("mean", np.ones((4, 2))), "covariance has shape"),
        (give("mean", np.ones((4, 3), dtype=np.float32)), "mean has dtype"),
        (give("covariance", np.ones((4, 3, 4))), "covariance has shape"),
        (give("cells", np.arange(4)), "partition and cells"),
        (give("other", np.arange(4)), "it has the arrays"),
        (lambda _, arrays: arrays.pop("mean"), "it has the arrays"),
        (lambda header, _: header.pop("classes"), "has the fields"),
        (lambda header, _: header.update(more=1), "has the fields"),
    ],
)
def test_forged_arrays_are_refused(path, change, words):
    forge(path, change)
    with pytest.raises(ValueError, match=f"a.scm: .*{words}"):
        SharedSummary.load(path)


WRONG = [None, True, 3, -1.5, "text", "\x1b[2J", [], [[]], [None], {}, {"a": []}]
RIGHT = {
    ("classes", 0): ["\x1b[2J"],
    ("feature_names",): [None],
    ("partition",): [None],
    ("parties", 0, "name"): ["text"],
    ("parties", 0, "promise"): WRONG,
    ("parties", 0, "parameters"): [{}],
    ("parties", 0, "rows"): [3],
    ("parties", 0, "dropped_rows"): [None, 3],
    ("parties", 0, "dropped_share"): [None, 3],
    ("parties", 0, "accounting"): [{}],
    ("parties", 0, "accounting", "release"): [3],
}
FIELDS = [
    *[(name,) for name in ("parties", "classes", "class_type")],
    *[(name,) for name in ("feature_names", "partition")],
    ("classes", 0),
    ("parties", 0),
    *[
        ("parties", 0, name)
        for name in (
            *("name", "privacy", "promise", "is_guarantee", "parameters", "rows"),
            *("dropped_rows", "dropped_share", "accounting", "weight_factor"),
        )
    ],
    ("parties", 0, "accounting", "release"),
]


@pytest.mark.parametrize("field", FIELDS, ids=lambda field: "/".join(map(str, field)))
def test_fields_of_the_wrong_type_are_refused(path, field):
    whole = path.read_bytes()
    right = [repr(value) for value in RIGHT.get(field, [])]
    for value in (value for value in WRONG if repr(value) not in right):
        path.write_bytes(whole)

        def change(header, _, value=value):
            place = header
            for step in field[:-1]:
                place = place[step]
            place[field[-1]] = value

        forge(path, change)
        with pytest.raises(ValueError, match=r"a\.scm: "):
            SharedSummary.load(path)


def test_the_promise_is_not_taken_from_the_file(path):
    def boast(header, _):
        header["parties"][0]["promise"] = "perfectly safe"

    forge(path, boast)
    assert "perfectly safe" not in str(SharedSummary.load(path))

    def lie(header, _):
        header["parties"][0]["is_guarantee"] = True

    forge(path, lie)
    with pytest.raises(ValueError, match="is_guarantee"):
        SharedSummary.load(path)


def test_levels_are_checked_like_those_of_a_caller(path):
    whole = path.read_bytes()
    for privacy, parameters in (
        ("dp", {"epsilon": -1, "delta": 1e-6, "bounds": [0, 1], "radius": None}),
        ("dp", {"epsilon": 1, "delta": 1e-6, "bounds": [1, 0], "radius": None}),
        ("dp", {"epsilon": 1, "delta": 1e-6, "bounds": [[0], [1, 2, 3]]}),
        ("dp", {"epsilon": 1, "delta": 1e-6, "bounds": [{}, {}]}),
        ("min_size", {"k": 1, "round_to": 5}),
        ("min_size", {"k": 10, "round_to": 5, "more": 1}),
        ("none", {"k": 10}),
        ("__class__", {}),
    ):

        def change(header, _, privacy=privacy, parameters=parameters):
            record = header["parties"][0]
            record.update(
                privacy=privacy, parameters=parameters, is_guarantee=privacy == "dp"
            )

        forge(path, change)
        with pytest.raises(ValueError, match=r"a\.scm: "):
            SharedSummary.load(path)
        path.write_bytes(whole)


def test_a_long_label_cannot_make_a_huge_array(path):
    def change(header, arrays):
        header["classes"] = ["a" * 10**6, *(f"b{i:05}" for i in range(20_000))]

    forge(path, change)
    tracemalloc.start()
    with pytest.raises(ValueError, match="at most 200 characters"):
        SharedSummary.load(path)
    assert tracemalloc.get_traced_memory()[1] < 50e6
    tracemalloc.stop()


@pytest.mark.parametrize("labels", [["b", "a"], ["a", "a"], ["a\0", "b"]])
def test_labels_out_of_order_are_refused(path, labels):
    def change(header, _):
        header["classes"] = labels

    forge(path, change)
    with pytest.raises(ValueError, match="distinct and sorted"):
        SharedSummary.load(path)


@pytest.mark.parametrize(
    ("labels", "type_name"),
    [([False, True], "int"), ([0, 1], "bool"), ([0, 1], "float"), ([0.0, 1.0], "int")],
)
def test_labels_of_another_type_are_refused(path, labels, type_name):
    def change(header, _):
        header.update(classes=labels, class_type=type_name)

    forge(path, change)
    with pytest.raises(ValueError, match=f"expected {type_name}"):
        SharedSummary.load(path)


def test_cells_and_partition_belong_together(tmp_path):
    path = tmp_path / "a.scm"
    for change, words in (
        (set_array("cells", 0, -1), "cells contains -1"),
        (give("cells", np.arange(3)), "cells has dtype"),
        (lambda header, _: header.update(partition=None), "partition and cells"),
        (lambda header, _: header.update(partition="abc"), "SHA-256"),
        (lambda _, arrays: arrays.pop("cells"), "partition and cells"),
    ):
        small_share(centers=CENTERS).save(path)
        forge(path, change)
        with pytest.raises(ValueError, match=f"a.scm: .*{words}"):
            SharedSummary.load(path)
