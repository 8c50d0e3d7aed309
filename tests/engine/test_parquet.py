"""Parquet files that do not agree, that are broken, and that are predicted."""

import os
import subprocess
import sys

import numpy as np
import pandas as pd
import pyarrow
import pyarrow.dataset
import pyarrow.parquet
import pytest

from engine_data import ROWS, make_rows, with_names_of, write_parquet
from localsvm import ClusteredSVC, MixtureSVC, StagedSVC, SupportClusterSVC
from localsvm.engine import (
    Batches,
    NotEnoughMemoryError,
    UnreadableBlockError,
    options,
)

MODEL = SupportClusterSVC(6, random_state=0)


def table_of(X, y, **changes):
    columns = {"a": X[:, 0], "b": X[:, 1], "label": y} | changes
    return {name: column for name, column in columns.items() if column is not None}


def write_two(folder, first, second):
    """A folder of two files."""
    for name, columns in (("one", first), ("two", second)):
        table = pyarrow.table(columns)
        pyarrow.parquet.write_table(table, folder / f"{name}.parquet")
    return folder


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"b": lambda X, y: X[:, 1].astype(str)},
            r"two\.parquet: Column 'b' has the type string; expected numbers\.",
        ),
        (
            {"label": lambda X, y: (y == "ash").astype(int)},
            r"two\.parquet: Column 'label' has the type int64; expected string, as in "
            r".*one\.parquet",
        ),
        (
            {"c": lambda X, y: X[:, 2]},
            r"two\.parquet has a column 'c', which .*one\.parquet has not",
        ),
        (
            {"b": lambda X, y: None},
            r"two\.parquet has no column 'b'; expected the columns of .*one\.parquet",
        ),
        (
            {"b": lambda X, y: None, "B": lambda X, y: X[:, 1]},
            r"two\.parquet has no column 'b'",
        ),
        (
            {"label": lambda X, y: None},
            r"two\.parquet has no column 'label'",
        ),
    ],
    ids=["strings", "labels", "more", "fewer", "renamed", "unlabelled"],
)
def test_a_file_that_does_not_agree_is_named(changes, message, tmp_path):
    X, y, _ = make_rows(100)
    changed = {name: change(X, y) for name, change in changes.items()}
    folder = write_two(tmp_path, table_of(X, y), table_of(X, y, **changed))
    with pytest.raises(ValueError, match=message):
        MODEL.fit(folder, "label")


def test_weights_of_another_kind_are_named(tmp_path):
    X, y, weight = make_rows(100)
    folder = write_two(
        tmp_path,
        table_of(X, y, weight=weight),
        table_of(X, y, weight=weight.astype(str)),
    )
    with pytest.raises(ValueError, match=r"two\.parquet: Column 'weight' has .* str"):
        MODEL.fit(folder, "label", "weight")


@pytest.mark.parametrize("labels", [("i4", "i8"), ("u1", "i8"), ("f4", "f8")])
def test_numbers_of_other_widths_agree(labels, tmp_path):
    X, y, _ = make_rows(200)
    code, X = (y == "ash").astype(int), np.round(X, 2)
    tables = [
        table_of(X[own], code[own].astype(kind), b=column)
        for own, kind, column in (
            (slice(100), labels[0], (100 * X[:100, 1]).round().astype("i4")),
            (slice(100, 200), labels[1], 100 * X[100:, 1]),
        )
    ]
    folder = write_two(tmp_path, *tables)
    model = MODEL.fit(folder, "label")
    rows = np.column_stack([X[:, 0], (100 * X[:, 1]).round()])
    rows[100:, 1] = 100 * X[100:, 1]
    whole = SupportClusterSVC(6, random_state=0).fit(
        Batches.of(pd.DataFrame(rows, columns=["a", "b"]).to_numpy(), code, rows=100)
    )
    np.testing.assert_array_equal(model.summary_.mean, whole.summary_.mean)
    assert model.classes_.tolist() == [0, 1]


def test_the_widest_numbers_decide_the_type(tmp_path):
    X, y, _ = make_rows(200)
    narrow = table_of(X[:100].astype(np.float32), y[:100])
    folder = write_two(tmp_path, narrow, table_of(X[100:], y[100:]))
    batches = Batches.of(
        np.vstack([X[:100, :2].astype(np.float32), X[100:, :2]]), y, rows=100
    )
    found, expected = MODEL.fit(folder, "label").summary_.mean, MODEL.fit(batches)
    np.testing.assert_array_equal(found, expected.summary_.mean)


def test_strings_in_all_encodings_agree(tmp_path):
    X, y, _ = make_rows(200)
    folder = write_two(
        tmp_path,
        table_of(X[:100], pyarrow.array(y[:100]).dictionary_encode()),
        table_of(X[100:], pyarrow.array(y[100:], pyarrow.large_string())),
    )
    model = SupportClusterSVC(6, random_state=0).fit(folder, "label")
    expected = SupportClusterSVC(6, random_state=0).fit(
        Batches.of(X[:, :2], y, rows=100)
    )
    assert model.classes_.tolist() == ["ash", "birch", "cedar"]
    np.testing.assert_array_equal(model.summary_.mean, expected.summary_.mean)


def test_columns_are_found_whatever_their_order(tmp_path):
    X, y, _ = make_rows(200)
    second = table_of(X[100:], y[100:])
    second = {name: second[name] for name in ("label", "b", "a")}
    folder = write_two(tmp_path, table_of(X[:100], y[:100]), second)
    model = SupportClusterSVC(6, random_state=0).fit(folder, "label")
    expected = SupportClusterSVC(6, random_state=0).fit(
        Batches.of(X[:, :2], y, rows=100)
    )
    np.testing.assert_array_equal(model.summary_.mean, expected.summary_.mean)


def test_columns_can_be_left_out_of_a_dataset(tmp_path):
    X, y, _ = make_rows(100)
    text = table_of(X, y, text=y)
    folder = write_two(tmp_path, text, text)
    schema = pyarrow.schema(
        [("a", "double"), ("b", "double"), ("label", "string")]  # type: ignore[list-item]
    )
    dataset = pyarrow.dataset.dataset(folder, schema=schema)
    assert MODEL.fit(dataset, "label").feature_names_in_.tolist() == ["a", "b"]


def test_columns_that_only_a_dataset_names_are_refused(tmp_path):
    X, y, _ = make_rows(100)
    (tmp_path / "year=2020").mkdir()
    pyarrow.parquet.write_table(
        pyarrow.table(table_of(X, y)), tmp_path / "year=2020" / "rows.parquet"
    )
    dataset = pyarrow.dataset.dataset(tmp_path, partitioning="hive")
    message = r"no column 'year'; expected the columns of the dataset's schema"
    with pytest.raises(ValueError, match=message):
        MODEL.fit(dataset, "label")


def test_batches_that_do_not_agree_are_named():
    X, y, _ = make_rows(100)
    frame = pd.DataFrame(X, columns=list("abcd"))
    for second, message in (
        ((X, (y == "ash").astype(int)), "In batch 1: y holds numbers; expected str"),
        ((frame[[*"acbd"]], y), "In batch 1: column 1 of X is 'c'; expected 'b' as in"),
        ((X[:, :3], y), "In batch 1: X has 3 columns; expected 4 as in batch 0"),
    ):
        batches = [(frame, y), second]
        for form in (iter(batches), Batches(batches.__getitem__, 2)):
            with pytest.raises(ValueError, match=message):
                MODEL.fit(form)
    batches = [(X, np.arange(100) % 2), (X, y)]
    with pytest.raises(ValueError, match="In batch 1: y holds strings; expected num"):
        MODEL.fit(iter(batches))


def broken_folder(tmp_path, content):
    X, y, _ = make_rows(100)
    folder = write_two(tmp_path, table_of(X, y), table_of(X, y))
    path = folder / "two.parquet"
    path.write_bytes(content(path.read_bytes()))
    return folder


@pytest.mark.parametrize(
    "content",
    [lambda whole: b"", lambda whole: whole[:-20], lambda whole: whole[:3]],
    ids=["empty", "truncated", "three bytes"],
)
def test_a_broken_file_is_named(content, tmp_path):
    folder = broken_folder(tmp_path, content)
    for X in (folder, folder / "two.parquet"):
        message = r"two\.parquet.*Replace the file"
        with pytest.raises(UnreadableBlockError, match=message):
            MODEL.fit(X, "label")


def test_a_folder_without_files_is_named(tmp_path):
    message = r"X='.*empty' is a folder without Parquet files; expected at least one"
    (tmp_path / "empty").mkdir()
    with pytest.raises(ValueError, match=message):
        MODEL.fit(tmp_path / "empty", "label")
    (tmp_path / "empty" / "_SUCCESS").touch()
    with pytest.raises(ValueError, match=message):
        MODEL.fit(tmp_path / "empty", "label")
    pyarrow.parquet.write_table(
        pyarrow.table({"a": np.zeros(0), "label": np.zeros(0, int)}),
        tmp_path / "none.parquet",
    )
    with pytest.raises(ValueError, match=r"none\.parquet holds no rows"):
        MODEL.fit(tmp_path / "none.parquet", "label")


def test_a_dataset_of_other_files_is_refused():
    table = pyarrow.table({"a": [0.0, 1.0], "label": [0, 1]})
    with pytest.raises(TypeError, match="InMemoryDataset of other sources than Parq"):
        MODEL.fit(pyarrow.dataset.dataset(table), "label")


def test_a_misspelt_column_is_guessed(tmp_path):
    X, y, _ = make_rows(100)
    columns = {f"column_{j}": X[:, 0] for j in range(40)} | {"label": y}
    path = tmp_path / "rows.parquet"
    pyarrow.parquet.write_table(pyarrow.table(columns), path)
    with pytest.raises(ValueError, match=r"y='lable' .*; did you mean 'label'\?$"):
        MODEL.fit(path, "lable")
    message = r"y='zzz' must name a column of .*; it has ('column_\d', ){5}'column_5' "
    with pytest.raises(ValueError, match=f"{message}and 35 more"):
        MODEL.fit(path, "zzz")


# Memory for the rows, of 160 MB, but not for those and the columns of the file.
LITTLE_MEMORY = """
import re, resource, sys
import pyarrow.dataset, localsvm
from pathlib import Path
from localsvm.engine import options
pyarrow.set_memory_pool(pyarrow.system_memory_pool())
used = re.search(r"VmData:\\s+(\\d+) kB", Path("/proc/self/status").read_text())[1]
soft = 1024 * int(used) + 250_000_000
resource.setrlimit(resource.RLIMIT_DATA, (soft, soft))
with options(memory_limit="100GB"):
    localsvm.SupportClusterSVC(5, n_jobs=1).fit(sys.argv[1], "label")
"""


def test_too_little_memory_is_no_broken_file(tmp_path):
    numbers = pyarrow.array(np.random.default_rng(0).standard_normal(2_000_000))
    columns = {f"f{j}": numbers for j in range(10)} | {"label": numbers}
    path = tmp_path / "rows.parquet"
    pyarrow.parquet.write_table(
        pyarrow.table(columns),
        path,
        row_group_size=len(numbers),
        use_dictionary=False,
        compression="none",
    )
    done = subprocess.run(
        [sys.executable, "-c", LITTLE_MEMORY, str(path)],
        capture_output=True,
        text=True,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
    )
    last = done.stderr.strip().splitlines()[-1]
    assert done.returncode == 1
    assert "MemoryError" in last, done.stderr
    assert "cannot be read" not in done.stderr


def test_what_pyarrow_cannot_allocate_is_a_memory_error(tmp_path, monkeypatch):
    from localsvm.engine._sources import _parquet

    X, y, _ = make_rows(100)
    path = write_parquet(tmp_path / "rows.parquet", X, y)

    class Fragment:
        path = "rows.parquet"

        def subset(self, row_group_ids):
            return self

        def to_table(self, **named):
            raise pyarrow.ArrowMemoryError("malloc of size 33305664 failed")

    original = _parquet._File.read_group

    def read_group(self, *arguments):
        return original(_parquet._File(Fragment()), *arguments)

    monkeypatch.setattr(_parquet._File, "read_group", read_group)
    message = r"Row group 0 of rows\.parquet does not fit into memory: malloc of size"
    with pytest.raises(NotEnoughMemoryError, match=message):
        MODEL.fit(path, "label")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Rows with their labels in two files of several row groups."""
    folder = tmp_path_factory.mktemp("rows")
    X, y, weight = make_rows(500)
    write_parquet(folder / "a.parquet", X[:300], y[:300], weight[:300], rows=40)
    write_parquet(folder / "b.parquet", X[300:], y[300:], weight[300:], rows=40)
    return folder


@pytest.mark.parametrize("method", ["predict", "decision_function", "predict_proba"])
def test_a_folder_is_predicted(method, folder):
    X = make_rows(500)[0]
    with options(block_rows=ROWS):
        model = MixtureSVC(2, em_max_iter=1, random_state=0).fit(
            folder, "label", "weight"
        )
        expected = getattr(model, method)(with_names_of(model, X))
        for rows in (folder, str(folder), pyarrow.dataset.dataset(folder)):
            found = getattr(model, method)(rows)
            np.testing.assert_array_equal(found, expected)


def test_models_of_rows_in_memory_predict_folders(folder, tmp_path):
    X, y, _ = make_rows(500)
    frame = pd.DataFrame(X, columns=[f"f{j}" for j in range(4)])
    for model in (
        StagedSVC(random_state=0).fit(frame[["f3", "f1", "f0"]], y),
        SupportClusterSVC(6, multi_class="ovo", random_state=0).fit(frame, y),
    ):
        rows = frame[model.feature_names_in_]
        np.testing.assert_array_equal(model.predict(folder), model.predict(rows))
        np.testing.assert_array_equal(
            model.decision_function(folder), model.decision_function(rows)
        )
    nameless = ClusteredSVC(3, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match=r"has 6 columns; expected 4, since the model"):
        nameless.predict(folder)
    path = tmp_path / "rows.parquet"
    frame.to_parquet(path)
    np.testing.assert_array_equal(nameless.predict(path), nameless.predict(X))


def test_batches_are_predicted():
    X, y, weight = make_rows(500)
    model = ClusteredSVC(3, random_state=0).fit(X, y)
    expected = model.predict(X)
    for batches in (
        Batches.of(X, y, weight, rows=ROWS),
        iter([X[:200], X[200:200], X[200:]]),
        iter([(X[:200], y[:200]), (X[200:], y[200:])]),
    ):
        np.testing.assert_array_equal(model.predict(batches), expected)
    with pytest.raises(ValueError, match="Found 0 rows in all batches"):
        model.predict(iter([]))
    X[250, 2] = np.nan
    with pytest.raises(ValueError, match=r"In batch 2: .* row 58, column 2"):
        model.predict(Batches.of(X, y, rows=ROWS))


def test_files_without_the_columns_of_a_model_are_named(folder, tmp_path):
    model = SupportClusterSVC(6, random_state=0).fit(folder, "label", "weight")
    X, y, _ = make_rows(100)
    write_two(tmp_path, {"f0": y, "F1": X[:, 1], "f2": X[:, 2], "f3": X[:, 3]}, {})
    message = r"one\.parquet has no column 'f1', which the model was fitted to; did you"
    with pytest.raises(ValueError, match=message):
        model.predict(tmp_path / "one.parquet")
    write_two(tmp_path, {f"f{j}": y for j in range(4)}, {})
    with pytest.raises(ValueError, match=r"Column 'f0' has the type string; expected"):
        model.predict(tmp_path / "one.parquet")


def test_other_methods_say_that_rows_must_be_in_memory(folder):
    model = ClusteredSVC(3, random_state=0).fit(folder, "label", "weight")
    with pytest.raises(TypeError, match=r"is not in memory\. This method of Clustered"):
        model.region(str(folder))
