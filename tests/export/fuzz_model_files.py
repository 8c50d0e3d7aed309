"""Load forged model files and predict with them, until time is over.

Run it after a change of the format, of the core or of how a model predicts::

    python tests/export/fuzz_model_files.py --minutes 10

Golden files are changed at random, and their checksums repaired. A file may be refused
with a ValueError, by ``load`` or by a prediction; anything else is a finding: another
exception, a crash, more memory or more time than its length explains. A finding is
named by its number, and ``--only NUMBER --keep FILE`` with the same seed writes the
file.
"""

import argparse
import collections
import functools
import json
import os
import resource
import subprocess
import sys
import tempfile
import threading
import time
import traceback
import warnings
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

import localsvm
from forged_files import forge_at_random, forge_raw
from localsvm.cli._model._fitting import final_step
from localsvm.export import describe_file
from localsvm.inspect import explain, region_table
from memory_growth import memory_growth, status
from model_file_data import answers, rows_of

GOLDEN = Path(__file__).with_name("golden")
_N_ROWS = 3
# An explanation takes longer than all the rest.
_EXPLAINED_OF = 4
_CPU_SECONDS = 20
_SILENT_SECONDS = 120
_MORE_MEMORY = 2**30
# Of a file of some kilobytes: what libraries and threads take, and no more.
_MOST_GROWTH = 150 * 2**20


def golden_cases():
    """Cases that have a golden file, in a fixed order."""
    return sorted(file.name.removesuffix("-1.lsvm") for file in GOLDEN.glob("*-1.lsvm"))


def forged(seed, number, path, cases):
    """Write the file of a number; return the case that it was made of."""
    rng = np.random.default_rng([seed, number])
    case = cases[number % len(cases)]
    source = GOLDEN / f"{case}-1.lsvm"
    if rng.random() < 0.5:
        forge_at_random(source, path, rng)
    else:
        path.write_bytes(forge_raw(source.read_bytes(), rng))
    return case


def try_file(path, rows, explained):
    """Load a file and predict: "loaded", "refused", or a finding."""
    start = time.process_time()
    with memory_growth() as grown:
        outcome, where = _outcome(path, rows, explained)
    if time.process_time() - start > _CPU_SECONDS:
        outcome = "slow"
    if grown.n_bytes > _MOST_GROWTH:
        outcome = "memory"
    return outcome, where


def _outcome(path, rows, explained):
    done = "refused"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for read in (describe_file, localsvm.load):
                found = read(path)
            done = "loaded"
            repr(found)
            answers(found, rows)
            _show(found, rows, explained)
    except ValueError:
        pass
    except Exception as error:
        place = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{Path(place.filename).name}:{place.lineno}"
        return f"{type(error).__name__}: {error}"[:200], where
    return done, ""


def _show(model, rows, explained):
    """Print regions and an explanation as the command does."""
    last = final_step(model)
    if hasattr(last, "n_regions_"):
        str(region_table(model))
    if explained:
        str(explain(model, rows[:1]))


@functools.cache
def _can_be_explained(case):
    """Whether there is an explanation of the model that was not changed."""
    try:
        explain(localsvm.load(GOLDEN / f"{case}-1.lsvm"), rows_of(case)[:1])
    except (AttributeError, TypeError, ValueError):
        return False
    return True


def work(seed, first, cases):
    """Try files, and print what became of each, until killed."""
    soft = status("VmSize") + _MORE_MEMORY
    resource.setrlimit(resource.RLIMIT_AS, (soft, soft))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "forged.lsvm"
        number = first
        while True:
            case = forged(seed, number, path, cases)
            _tell(number=number, case=case)
            # A solver that never ends does not look at signals: the kernel ends it.
            spent = int(time.process_time())
            hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
            resource.setrlimit(resource.RLIMIT_CPU, (spent + 2 * _CPU_SECONDS, hard))
            often = number // len(cases) % _EXPLAINED_OF == 0
            explained = often and _can_be_explained(case)
            outcome, where = try_file(path, rows_of(case)[:_N_ROWS], explained)
            _tell(number=number, case=case, outcome=outcome, where=where)
            number += 1


def fuzz(seed, seconds, cases, first=0, most=None):
    """Try files in a process of its own; count what became of them.

    Returns
    -------
    tried : Counter
        Files by "loaded" and "refused".
    findings : list of dict
        All others.
    """
    tried, findings = collections.Counter(), []
    end = time.monotonic() + seconds
    while time.monotonic() < end and (most is None or first < most):
        running = None
        with _worker(seed, first, cases) as worker:
            # A worker that neither ends nor speaks is killed.
            for line in _lines(worker, end):
                told = json.loads(line)
                running = told
                if "outcome" not in told:
                    continue
                running, first = None, told["number"] + 1
                if told["outcome"] in ("loaded", "refused"):
                    tried[told["outcome"]] += 1
                else:
                    findings.append(told)
                if most is not None and first >= most:
                    break
            ended = worker.poll()
            worker.kill()
        if running is not None and (ended is not None or time.monotonic() < end):
            how = "silent" if ended is None else f"ended with {ended}"
            findings.append(running | {"outcome": how, "where": ""})
            first = running["number"] + 1
        elif ended is not None and running is None:
            raise RuntimeError(f"The worker ended with {ended} before its first file.")
    return tried, findings


def _worker(seed, first, cases):
    command = [sys.executable, __file__, "--work", str(first), "--seed", str(seed)]
    command += [word for case in cases for word in ("--case", case)]
    environment = os.environ | {"OMP_NUM_THREADS": "1", "PYTHONFAULTHANDLER": ""}
    return subprocess.Popen(command, stdout=subprocess.PIPE, env=environment)


def _lines(worker, end):
    """Lines of a worker, until it ends, time is over, or it is silent too long."""
    watch = None
    while time.monotonic() < end:
        watch = threading.Timer(_SILENT_SECONDS, worker.kill)
        watch.start()
        line = worker.stdout.readline()
        watch.cancel()
        if not line:
            worker.wait()
            return
        yield line


def _tell(**told):
    sys.stdout.write(json.dumps(told) + "\n")
    sys.stdout.flush()


def main():
    """Fuzz, and report."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--case", action="append", help="only files of these cases")
    parser.add_argument("--only", type=int, help="write the file of a number")
    parser.add_argument("--keep", type=Path, help="where to write it")
    parser.add_argument("--work", type=int, help=argparse.SUPPRESS)
    given = parser.parse_args()
    cases = given.case or golden_cases()
    if given.work is not None:
        work(given.seed, given.work, cases)
    if given.only is not None:
        _tell(case=forged(given.seed, given.only, given.keep, cases))
        return 0
    tried, findings = fuzz(given.seed, 60 * given.minutes, cases, given.first)
    for found in findings:
        _tell(**found)
    _tell(tried=sum(tried.values()) + len(findings), **tried, findings=len(findings))
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
