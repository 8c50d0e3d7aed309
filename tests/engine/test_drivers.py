"""Results come in the order of the tasks, merged in a tree of one shape."""

import threading
from dataclasses import dataclass

import numpy as np
import pytest
from numpy.typing import NDArray

from engine_data import local_client, make_rows
from localsvm.engine import Batches, Record, options
from localsvm.engine._dask import DaskDriver
from localsvm.engine._drivers import (
    ThreadDriver,
    collapse,
    merge_tree,
    push_result,
)
from localsvm.engine._open import open_blocks

WORDS = "({} {})".format


class Method:
    """Stands for an estimator."""

    n_jobs = 2

    def get_params(self):
        return {"C": 1.0}


@dataclass(frozen=True)
class Total(Record):
    sum: NDArray[np.float64]
    sizes: NDArray[np.int64]

    def merge(self, other):
        return Total(self.sum + other.sum, np.concatenate([self.sizes, other.sizes]))


def total(block, factor) -> Total:
    return Total(factor * block.X.sum(axis=0), np.array([block.n_rows]))


def fail_at(number, wrong):
    if number == wrong:
        raise ZeroDivisionError(f"task {number}")
    return number


def in_words(n):
    return merge_tree((str(number) for number in range(n)), WORDS)


@pytest.fixture(scope="module")
def client():
    with local_client(2) as client:
        yield client


def drivers(client):
    return [ThreadDriver(1), ThreadDriver(3), DaskDriver(client)]


def test_tree_pairs_neighbours():
    assert in_words(1) == "0"
    assert in_words(3) == "((0 1) 2)"
    assert in_words(7) == "(((0 1) (2 3)) ((4 5) 6))"


def test_tree_of_groups_is_the_tree_of_all():
    for n in range(1, 40):
        pending = []
        for first in range(0, n, 8):
            group = (str(number) for number in range(first, min(n, first + 8)))
            push_result(pending, 3, merge_tree(group, WORDS), WORDS)
        assert collapse(pending, WORDS) == in_words(n)


def test_nothing_is_merged_with_something():
    results = iter([None, 1, None, None, 2, None])
    assert merge_tree(results, lambda a, b: a + b) == 3
    assert merge_tree(iter([None, None]), lambda a, b: a + b) is None


def test_results_are_in_the_order_of_the_tasks(client):
    for driver in drivers(client):
        found = list(driver.run("test", fail_at, range(20), (99,)))
        assert found == list(range(20))


def test_errors_of_tasks_arrive(client):
    for driver in drivers(client):
        with pytest.raises(ZeroDivisionError, match="task 4"):
            list(driver.run("test", fail_at, range(20), (4,)))


def test_few_results_wait_in_memory():
    begun, lock = [], threading.Lock()

    def note(number):
        with lock:
            begun.append(number)

    results = ThreadDriver(2).run("test", note, range(50), ())
    next(results)
    assert len(begun) <= 4
    results.close()


def test_sums_have_the_same_bits_everywhere(client):
    X, y, _ = make_rows(1000)
    X[::7] *= 1e9
    found = []
    for setting in ({}, {"client": client}):
        with (
            options(**setting),
            open_blocks(Method(), Batches.of(X, y, rows=37), None, None) as rows,
        ):
            found.append(rows.reduce(total, 3.0, stage="sum"))
    assert found[0].sizes.tolist() == found[1].sizes.tolist()
    assert found[0].sizes.sum() == 1000
    assert np.array_equal(found[0].sum, found[1].sum)
    np.testing.assert_allclose(found[0].sum, 3 * X.sum(axis=0))


def test_a_function_must_say_which_record_it_returns():
    X, y, _ = make_rows(20)
    with (
        open_blocks(Method(), Batches.of(X, y, rows=10), None, None) as rows,
        pytest.raises(TypeError, match="in_words must be annotated with the Record"),
    ):
        rows.reduce(in_words, stage="sum")


def test_tasks_are_named_after_method_stage_and_number(client):
    X, y, _ = make_rows(300)
    with (
        options(client=client),
        open_blocks(Method(), Batches.of(X, y, rows=50), None, None) as rows,
    ):
        results = rows.map(total, 1.0, stage="lloyd")
        next(results)
        keys = {key for key in client.futures if "arguments" not in key}
        results.close()
    assert {key.rsplit("-", 1)[0] for key in keys} >= {
        f"Method-lloyd-{number}" for number in range(1, 6)
    }


def test_a_folder_must_be_seen_by_the_workers(client, tmp_path, monkeypatch):
    from localsvm.engine import _dask

    DaskDriver(client).check_shares(tmp_path)
    monkeypatch.setattr(_dask, "_exists", lambda path: False)
    with pytest.raises(ValueError, match=r"2 of 2 workers do not see .*folder="):
        DaskDriver(client).check_shares(tmp_path)
