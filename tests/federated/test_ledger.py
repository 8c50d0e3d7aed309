import json
import multiprocessing
import os
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from federated_data import blobs
from localsvm.federated import Ledger, Party, dp, min_size, none, random_centers
from localsvm.federated._protection._noise import epsilon_of

X, Y = blobs(3000)
BOUNDS = (0.0, 1.0)
CENTERS = random_centers(BOUNDS, 4, n_features=3)
LEVEL = dp(1.0, 1e-6, BOUNDS)
RHO = 0.02  # about epsilon 0.9 at delta 1e-6


def party(ledger, name="a"):
    return Party(name, ledger=ledger, centers=CENTERS, classes=["ash", "birch"])


def test_a_second_release_without_noise_is_refused():
    somebody = party(Ledger())
    somebody.summarize(X, Y, min_size())
    with pytest.raises(ValueError, match="allows at most 1: the difference"):
        somebody.summarize(X[1:], Y[1:], min_size())
    assert len(somebody.ledger.entries) == 1


def test_as_many_releases_as_agreed_are_allowed():
    ledger = Ledger(max_releases=2)
    for name in ("a", "b"):
        shared = party(ledger, name).summarize(X, Y)
    assert shared.parties[0].accounting == {"release": 2, "max_releases": 2}
    with pytest.raises(ValueError, match="has 2 releases with min_size"):
        party(ledger, "c").summarize(X, Y)


def test_each_party_counts_for_itself_by_default():
    Party("a").summarize(X, Y)
    Party("a").summarize(X, Y)


def test_releases_without_protection_are_recorded_and_not_limited():
    ledger = Ledger()
    for _ in range(3):
        party(ledger).summarize(X, Y, none())
    assert [entry.privacy.name for entry in ledger.entries] == ["none"] * 3
    assert ledger.spent()[0] == float("inf")


@pytest.mark.parametrize("level", [none(), min_size()])
def test_noise_after_a_release_without_it_would_be_void(level):
    ledger = Ledger(epsilon=10.0, delta=1e-6)
    ledger.enter("a", level)
    with pytest.raises(ValueError, match="would be void"):
        ledger.enter("a", LEVEL, RHO)


def test_without_a_budget_the_first_noisy_release_is_the_last():
    somebody = party(Ledger())
    shared = somebody.summarize(X, Y, LEVEL)
    accounting = shared.parties[0].accounting
    assert accounting["budget_epsilon"] == 1
    assert 0.999 < accounting["total_epsilon"] <= 1
    with pytest.raises(ValueError, match="above the ledger's budget of 1"):
        somebody.summarize(X, Y, dp(1e-3, 1e-6, BOUNDS))


def test_losses_add_up_as_opendp_says():
    ledger = Ledger(epsilon=2.0, delta=1e-5)
    accounting = [ledger.enter("a", LEVEL, RHO) for _ in range(4)]
    for number, account in enumerate(accounting, start=1):
        assert account["release"] == number
        assert account["total_rho"] == pytest.approx(number * RHO)
        assert account["total_epsilon"] == epsilon_of(account["total_rho"], 1e-5)
    assert ledger.spent() == (accounting[-1]["total_epsilon"], 1e-5)
    assert ledger.spent()[0] < 4 * accounting[0]["total_epsilon"]
    with pytest.raises(ValueError, match="budget of 2"):
        ledger.enter("a", LEVEL, 3 * RHO)
    assert ledger.spent()[0] <= 2


def test_several_noisy_releases_fit_a_larger_budget():
    somebody = party(Ledger(epsilon=1.6, delta=1e-6))
    for number in (1, 2):
        accounting = somebody.summarize(X, Y, LEVEL).parties[0].accounting
        assert accounting["release"] == number
    assert 1.4 < accounting["total_epsilon"] < 1.5
    with pytest.raises(ValueError, match="Nothing was released"):
        somebody.summarize(X, Y, LEVEL)


def test_an_empty_ledger_has_spent_nothing():
    assert Ledger().spent() == (0, 0)


def release_in_another_process(path, queue):
    try:
        Party("a", ledger=Ledger.load(path), n_clusters=5).summarize(X, Y, min_size())
    except ValueError as error:
        queue.put(str(error))
    else:
        queue.put("released")


def test_another_process_is_refused_as_well(tmp_path):
    path = tmp_path / "ledger"
    Ledger(max_releases=2).save(path)
    here = Ledger.load(path)
    context = multiprocessing.get_context("spawn")
    queue = context.Queue()
    processes = [
        context.Process(target=release_in_another_process, args=(path, queue))
        for _ in range(3)
    ]
    for process in processes:
        process.start()
    answers = sorted(queue.get(timeout=120) for _ in processes)
    for process in processes:
        process.join()
    assert [answer[:10] for answer in answers] == ["The ledger", "released", "released"]
    with pytest.raises(ValueError, match="has 2 releases"):
        here.enter("a", min_size())


def test_a_noisy_release_is_remembered_by_the_file(tmp_path):
    ledger = Ledger(epsilon=1.0, delta=1e-6)
    ledger.save(tmp_path / "ledger")
    ledger.enter("a", LEVEL, RHO)
    loaded = Ledger.load(tmp_path / "ledger")
    assert loaded.entries == ledger.entries
    assert loaded.spent() == ledger.spent()
    with pytest.raises(ValueError, match="budget of 1"):
        loaded.enter("a", LEVEL, RHO)


def test_a_new_ledger_does_not_replace_an_old_one(tmp_path):
    Ledger().save(tmp_path / "ledger")
    with pytest.raises(FileExistsError, match=r"Ledger\.load"):
        Ledger().save(tmp_path / "ledger")


def test_saving_again_keeps_the_entries_of_others(tmp_path):
    ours = Ledger(max_releases=5)
    ours.save(tmp_path / "ledger")
    Ledger.load(tmp_path / "ledger").enter("b", min_size())
    ours.save(tmp_path / "ledger")
    ours.enter("a", min_size())
    names = [entry.party for entry in Ledger.load(tmp_path / "ledger").entries]
    assert names == ["b", "a"]


def test_what_cannot_be_written_is_not_released(tmp_path, monkeypatch):
    ledger = Ledger()
    ledger.save(tmp_path / "ledger")

    def fail(*_):
        raise OSError("disk full")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match="disk full"):
        party(ledger).summarize(X, Y)
    assert ledger.entries == Ledger.load(tmp_path / "ledger").entries == ()


def test_a_symbolic_link_stays_a_link_to_the_one_ledger(tmp_path):
    path, link = tmp_path / "ledger", tmp_path / "elsewhere" / "link"
    link.parent.mkdir()
    link.symlink_to(path)
    Ledger().save(link)
    Ledger.load(link).enter("a", min_size())
    assert link.is_symlink()
    assert [each.name for each in link.parent.iterdir()] == ["link"]
    with pytest.raises(ValueError, match="has 1 release"):
        Ledger.load(path).enter("a", min_size())


def test_a_link_that_is_turned_later_does_not_change_the_ledger(tmp_path):
    path, link = tmp_path / "ledger", tmp_path / "link"
    link.symlink_to(path)
    ledger = Ledger()
    ledger.save(link)
    link.unlink()
    link.symlink_to(tmp_path / "other")
    ledger.enter("a", min_size())
    assert len(Ledger.load(path).entries) == 1


def test_a_ledger_of_two_names_is_refused(tmp_path):
    """Each name would keep its own entries after the first one."""
    Ledger().save(tmp_path / "ledger")
    os.link(tmp_path / "ledger", tmp_path / "second")
    with pytest.raises(ValueError, match=r"2 names \(hard links\)"):
        Ledger.load(tmp_path / "second").enter("a", min_size())


@pytest.mark.parametrize("in_file", [False, True])
def test_threads_do_not_release_more_than_one_of_them_may(
    tmp_path, monkeypatch, in_file
):
    ledger = Ledger(max_releases=3)
    if in_file:
        ledger.save(tmp_path / "ledger")
    check, together = ledger._accounts_with, threading.Barrier(8)

    def check_slowly(entry):
        accounting = check(entry)
        threading.Event().wait(0.01)  # lets other threads run before it is recorded
        return accounting

    monkeypatch.setattr(ledger, "_accounts_with", check_slowly)

    def release(number):
        together.wait(60)
        try:
            return ledger.enter(f"party {number}", min_size())["release"]
        except ValueError:
            return None

    with ThreadPoolExecutor(8) as threads:
        made = list(threads.map(release, range(8)))
    assert sorted(filter(None, made)) == [1, 2, 3]
    assert len(ledger.entries) == 3


def begin_and_enter(folder, name, barrier):
    """Begin a ledger or go on with it, and enter one release, in every round."""
    for number in range(25):
        path = folder / f"ledger {number}"
        barrier.wait(60)
        try:
            ledger = Ledger(max_releases=9)
            ledger.save(path)
        except FileExistsError:
            ledger = Ledger.load(path)
        ledger.enter(name, min_size())


def test_processes_that_begin_a_ledger_together_lose_no_entry(tmp_path):
    context = multiprocessing.get_context("spawn")
    barrier = context.Barrier(4)
    names = [f"process {number}" for number in range(4)]
    processes = [
        context.Process(target=begin_and_enter, args=(tmp_path, name, barrier))
        for name in names
    ]
    for process in processes:
        process.start()
    for process in processes:
        process.join(120)
    assert [process.exitcode for process in processes] == [0] * 4
    for number in range(25):
        entries = Ledger.load(tmp_path / f"ledger {number}").entries
        assert sorted(entry.party for entry in entries) == names


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_fork_while_a_thread_enters_does_not_block_the_child(monkeypatch):
    ledger, inside, go_on = Ledger(max_releases=9), threading.Event(), threading.Event()
    check = ledger._accounts_with

    def pause(entry):
        inside.set()
        go_on.wait(60)
        return check(entry)

    monkeypatch.setattr(ledger, "_accounts_with", pause)
    thread = threading.Thread(target=ledger.enter, args=("a", min_size()))
    thread.start()
    assert inside.wait(60)
    process = multiprocessing.get_context("fork").Process(
        target=Ledger().enter, args=("b", min_size())
    )
    process.start()
    process.join(60)
    go_on.set()
    thread.join()
    ended = process.exitcode
    process.kill()
    assert ended == 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((1.0, None), "together"),
        ((None, 1e-6), "together"),
        ((0.0, 1e-6), "'epsilon'"),
        ((1.0, 1.0), "'delta'"),
        ((None, None, 0), "'max_releases'"),
    ],
)
def test_budgets_that_make_no_sense_are_named(arguments, words):
    with pytest.raises(ValueError, match=words):
        Ledger(*arguments)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"format": "other"}, "is not a localsvm ledger"),
        ({"version": 2}, "version 2"),
        ({"epsilon": -1}, "'epsilon'"),
        ({"max_releases": "many"}, "'max_releases'"),
        ({"entries": {}}, "expected a list"),
        ({"entries": [1]}, "has the entry"),
        ({"entries": [{"party": "a"}]}, "has the entry"),
        ({"rho": -1}, "rho = -1"),
        ({"rho": "1"}, "rho = '1'"),
        ({"privacy": "some"}, "privacy level"),
        ({"parameters": []}, "parameters"),
        ({"party": ""}, "name of a party"),
    ],
)
def test_a_damaged_ledger_is_refused(tmp_path, change, words):
    path = tmp_path / "ledger"
    ledger = Ledger(5.0, 1e-6)
    ledger.save(path)
    ledger.enter("a", LEVEL, RHO)
    plain = json.loads(path.read_text())
    place = plain if set(change) <= set(plain) else plain["entries"][0]
    place.update(change)
    path.write_text(json.dumps(plain))
    with pytest.raises(ValueError, match=f"ledger: .*{words}"):
        Ledger.load(path)
    path.write_text(path.read_text()[:-20])
    with pytest.raises(ValueError, match="ledger: "):
        Ledger.load(path)
