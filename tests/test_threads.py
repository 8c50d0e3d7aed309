import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from sklearn.datasets import make_classification

from localsvm import _threads, estimators
from localsvm._threads import (
    call_interruptibly,
    iterate_in_threads,
    map_in_threads,
    map_interruptibly,
    sum_row_blocks,
)

MAPS = [map_interruptibly, map_in_threads]


@pytest.mark.parametrize("map_items", MAPS)
@pytest.mark.parametrize("n_jobs", [None, 1, 2, 4])
def test_results_are_in_order_whichever_is_first(map_items, n_jobs):
    def slow_at_first(item):
        time.sleep(0.01 * (item < 3))
        return item**2

    assert map_items(slow_at_first, range(20), n_jobs) == [i**2 for i in range(20)]


@pytest.mark.parametrize("map_items", MAPS)
def test_nothing_to_do(map_items):
    assert map_items(abs, [], 2) == []


@pytest.mark.parametrize("map_items", MAPS)
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_exceptions_pass_through(map_items, n_jobs):
    with pytest.raises(ZeroDivisionError):
        map_items(lambda item: 1 / item, [1, 0, 2], n_jobs)


def test_items_after_an_exception_are_dropped():
    """The next one may have begun by then, those after it not."""
    begun, release = [], threading.Event()

    def fail_first(item):
        if item == 0:
            raise KeyError
        begun.append(item)
        release.wait(20)

    with pytest.raises(KeyError):
        map_interruptibly(fail_first, range(10), 1)
    release.set()
    time.sleep(0.1)
    assert len(begun) <= 1


@pytest.mark.parametrize("n_threads", [1, 2, 5, 30])
@pytest.mark.parametrize("n_items", [0, 1, 2, 20])
def test_iteration_begins_few_items_and_keeps_their_order(n_threads, n_items):
    begun, cancel, n_taken = [], threading.Event(), 0

    def slow_at_first(item):
        begun.append(item)
        time.sleep(0.01 * (item < 3))
        return -item

    for result in iterate_in_threads(slow_at_first, range(n_items), n_threads, cancel):
        assert result == -n_taken
        n_taken += 1
        assert len(begun) <= n_taken + n_threads
    assert n_taken == n_items
    assert cancel.is_set() == (n_items > 0)


def test_iteration_raises_in_the_place_of_the_item():
    taken = []
    with pytest.raises(ZeroDivisionError):
        taken.extend(iterate_in_threads(lambda item: 1 / item, [2, 1, 0, 4], 2))
    assert taken == [0.5, 1.0]


def test_iteration_that_is_left_drops_what_has_not_begun():
    begun, cancel = [], threading.Event()
    results = iterate_in_threads(begun.append, range(50), 2, cancel)
    next(results)
    results.close()
    assert cancel.is_set()
    time.sleep(0.05)
    assert len(begun) <= 3


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_threads_are_others_and_no_more_than_asked_for(n_jobs):
    def name(_):
        time.sleep(0.002)
        return threading.get_ident()

    names = set(map_interruptibly(name, range(30), n_jobs))
    assert threading.get_ident() not in names
    assert len(names) <= n_jobs


def test_call_returns_what_the_function_does():
    assert call_interruptibly(lambda: 7) == 7


def test_call_runs_on_another_thread_and_passes_exceptions_on():
    def fail():
        raise LookupError(threading.get_ident())

    with pytest.raises(LookupError) as error:
        call_interruptibly(fail)
    assert error.value.args[0] != threading.get_ident()


@pytest.mark.skipif(sys.platform == "win32", reason="SIGALRM is a POSIX signal")
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_interrupt_does_not_wait_for_the_function(n_jobs):
    release, ended = threading.Event(), threading.Event()

    def deaf(_):
        release.wait(20)
        ended.set()

    previous = signal.signal(signal.SIGALRM, signal.default_int_handler)
    signal.setitimer(signal.ITIMER_REAL, 0.1)
    try:
        with pytest.raises(KeyboardInterrupt):
            map_interruptibly(deaf, range(4), n_jobs)
        assert not ended.is_set()
    finally:
        signal.signal(signal.SIGALRM, previous)
        release.set()
    assert ended.wait(20)


# In a process of its own: who has set a limit before decides who may set one now.
LIMITS = """
import sys, threading
import numpy, scipy.linalg, sklearn.cluster
from concurrent.futures import ThreadPoolExecutor
from threadpoolctl import threadpool_info
from localsvm._threads import single_threaded_libraries

def threads():
    return {(each["filepath"], each["num_threads"]) for each in threadpool_info()}

def limited():
    return {number for _, number in threads()} == {1}

before = threads()
"""


@pytest.mark.parametrize(
    "code",
    [
        """
with single_threaded_libraries():
    with single_threaded_libraries():
        assert limited()
    assert limited()
""",
        """
def work():
    with single_threaded_libraries():
        return limited()

assert work()
with ThreadPoolExecutor(1) as pool:
    assert pool.submit(work).result()
    assert work()
""",
        """
first_is_in, last_is_in, first_has_left = (threading.Event() for _ in range(3))

def first():
    with single_threaded_libraries():
        first_is_in.set()
        assert last_is_in.wait(20)
    first_has_left.set()

def last():
    assert first_is_in.wait(20)
    with single_threaded_libraries():
        last_is_in.set()
        assert first_has_left.wait(20)
        return limited()

with ThreadPoolExecutor(2) as pool:
    one, two = pool.submit(first), pool.submit(last)
    one.result()
    assert two.result()
    assert threads() == before
""",
    ],
    ids=["nested", "one_after_the_other", "overlapping"],
)
def test_libraries_are_limited_as_long_as_any_thread_asks(code):
    run_with_two_threads(LIMITS + code + "assert threads() == before")


def run_with_two_threads(code):
    run = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "2", "OMP_NUM_THREADS": "2"},
    )
    assert run.returncode == 0, run.stderr


# The alarm ends a child that waits for a thread it does not have.
FORKS = (
    LIMITS
    + """
import os, signal, time
from localsvm import _threads

def use_in_child():
    with single_threaded_libraries():
        assert limited()
    assert threads() == before

def fork(run_child):
    child = os.fork()
    if child == 0:
        signal.alarm(20)
        try:
            run_child()
        except BaseException:
            sys.excepthook(*sys.exc_info())
            os._exit(1)
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0

def in_another_thread(work):
    thread = threading.Thread(target=work)
    thread.start()
    assert inside.wait(20)
    return thread

inside, leave = threading.Event(), threading.Event()
"""
)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork")
@pytest.mark.parametrize(
    "code",
    [
        """
def look(original=_threads.ThreadpoolController):
    inside.set()
    time.sleep(0.5)
    return original()

_threads.ThreadpoolController = look
thread = in_another_thread(use_in_child)
fork(use_in_child)
thread.join()
""",
        """
def stay():
    with single_threaded_libraries():
        inside.set()
        assert leave.wait(20)
        stayed.append(limited())

stayed = []

def run_child():
    assert threads() == before
    use_in_child()

thread = in_another_thread(stay)
fork(run_child)
leave.set()
thread.join()
assert stayed == [True]
""",
        """
def run_child():
    assert limited()
    limits.__exit__(None, None, None)
    assert threads() == before
    use_in_child()

limits = single_threaded_libraries()
limits.__enter__()
fork(run_child)
assert limited()
limits.__exit__(None, None, None)
""",
    ],
    ids=["a_thread_sets_the_limit", "a_thread_is_limited", "the_forking_thread_is"],
)
def test_limit_is_that_of_the_forked_process(code):
    run_with_two_threads(FORKS + code + "use_in_child()")


@pytest.mark.parametrize("n_rows", [1, 2048, 2049, 200_000])
def test_row_blocks_add_up_to_the_same_bits_on_any_number_of_threads(n_rows):
    values = np.random.default_rng(0).standard_normal(n_rows)

    def add(rows):
        return values[rows].sum(), np.array([rows.stop - rows.start])

    sums = [sum_row_blocks(add, n_rows, n_jobs) for n_jobs in (1, 2, 5)]
    assert sums[0][0] == pytest.approx(values.sum())
    assert sums[0][1] == [n_rows]
    assert all(other[0] == sums[0][0] for other in sums)


def test_one_row_is_predicted_without_a_limit_of_blas(monkeypatch):
    X, y = make_classification(300, random_state=0)
    models = [
        estimators.ClusteredSVC(random_state=0),
        estimators.LocalSVC(50, random_state=0),
        estimators.LocalSVC(50, route="center", random_state=0),
    ]
    for model in models:
        model.fit(X, y)
    monkeypatch.setattr(_threads._library_limit, "acquire", _forbidden)
    for model in models:
        assert model.predict(X[:1]).shape == (1,)


def _forbidden():
    raise AssertionError("the limit was set")


# An alarm raises KeyboardInterrupt at a moment by chance, again and again.
STORM = """
import random, signal, sys, time
from localsvm._threads import iterate_in_threads, map_in_threads, map_interruptibly
from localsvm.engine._drivers import ThreadDriver

squares = [i**2 for i in range(20)]
signal.signal(signal.SIGALRM, signal.default_int_handler)
random.seed(0)
for _ in range(N_INTERRUPTS):
    try:
        signal.setitimer(signal.ITIMER_REAL, random.uniform(1e-5, 2e-3))
        while True:
            CALL
    except KeyboardInterrupt:
        pass
signal.setitimer(signal.ITIMER_REAL, 0)
ends = time.monotonic() + 20
while len(sys._current_frames()) > 1:
    assert time.monotonic() < ends, "a thread has not ended"
    time.sleep(0.01)
"""
SQUARES = "(lambda i: i**2, range(20), 2)"


@pytest.mark.skipif(sys.platform == "win32", reason="SIGALRM is a POSIX signal")
@pytest.mark.parametrize(
    ("call", "n_interrupts"),
    [
        (f"assert map_in_threads{SQUARES} == squares", 1000),
        (f"assert map_interruptibly{SQUARES} == squares", 1000),
        (f"assert list(iterate_in_threads{SQUARES}) == squares", 1000),
        (
            "assert list(ThreadDriver(2).run('', pow, range(20), (2,))) == squares",
            300,
        ),
    ],
)
def test_interrupts_at_any_moment_end_the_work_and_are_not_lost(call, n_interrupts):
    code = STORM.replace("CALL", call).replace("N_INTERRUPTS", str(n_interrupts))
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=100
    )
    assert (run.returncode, run.stderr) == (0, "")
