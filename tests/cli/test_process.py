"""The command as a process: signals, pipes, completion."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from urllib.request import urlopen

import numpy as np
import pandas as pd
import pytest

import localsvm
from people_data import make_people

COMMAND = [sys.executable, "-m", "localsvm"]
# The solver would run for hours.
ENDLESS = ["-m", "clustered", "--param", "C=1e6", "--param", "tol=0"]
ENDLESS += ["--param", "max_iter=1000000000"]
PATIENCE = 60
ADDRESS = re.compile(r"http://127.0.0.1:\d+")
# A relative path would not lead to the package from another folder.
HERE = os.environ | {"PYTHONPATH": str(Path(localsvm.__file__).parents[1])}


def start(folder, *arguments):
    return subprocess.Popen(
        [*COMMAND, *arguments],
        cwd=folder,
        env=HERE,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def wait_for(process, condition):
    until = time.monotonic() + PATIENCE
    while not condition():
        assert process.poll() is None
        assert time.monotonic() < until
        time.sleep(0.02)


@pytest.fixture
def folder(tmp_path, workshop):
    for name in ("people.csv", "people.lsvm"):
        (tmp_path / name).write_bytes((workshop / name).read_bytes())
    return tmp_path


def test_ctrl_c_in_a_fit_leaves_nothing(folder):
    rng = np.random.default_rng(0)
    rows = pd.DataFrame(rng.standard_normal((8000, 10)))
    rows.assign(y=rng.integers(0, 2, 8000)).to_csv(folder / "noise.csv", index=False)
    before = sorted(folder.iterdir())
    fit = ["fit", "noise.csv", "-t", "y", "-o", "new.lsvm", *ENDLESS]
    with start(folder, *fit) as process:
        assert "8,000 rows" in process.stderr.readline()
        time.sleep(1)
        process.send_signal(signal.SIGINT)
        assert process.wait(PATIENCE) == 130
        assert process.stdout.read() == ""
        assert process.stderr.read() == "interrupted\n"
    assert sorted(folder.iterdir()) == before


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)]
)
def test_signals_in_predict_leave_nothing(folder, number, code):
    people = make_people(1000)
    pd.concat([people] * 400).to_csv(folder / "many.csv", index=False)
    before = sorted(folder.iterdir())
    predict = ["predict", "people.lsvm", "many.csv", "-o", "out.csv", "--scores"]
    with start(folder, *predict) as process:
        wait_for(process, lambda: list(folder.glob(".localsvm-*.tmp")))
        process.send_signal(number)
        assert process.wait(PATIENCE) == code
        assert "Traceback" not in process.stderr.read()
    assert sorted(folder.iterdir()) == before


def test_who_reads_the_output_may_stop(folder):
    make_people(20_000).to_csv(folder / "many.csv", index=False)
    with start(folder, "predict", "people.lsvm", "many.csv", "--scores") as process:
        assert process.stdout.readline() == "prediction,score_yes\n"
        process.stdout.close()
        assert process.wait(PATIENCE) == 141
        assert process.stderr.read() == ""


def test_a_served_model_answers_until_it_is_stopped(folder):
    with start(folder, "serve", "people.lsvm", "--port", "0") as process:
        assert "Serving people.lsvm" in process.stderr.readline()
        lines = iter(process.stderr.readline, "")
        address = next(found for line in lines if (found := ADDRESS.search(line)))[0]
        with urlopen(f"{address}/v2/models/people") as answer:
            assert json.load(answer)["name"] == "people"
        process.send_signal(signal.SIGINT)
        assert process.wait(PATIENCE) == 130
        assert "Traceback" not in process.stderr.read()


def test_calls_that_were_left_behind_are_not_awaited(folder):
    """Reading a table, say: it is done on another thread, which has no end yet."""
    code = """
import threading, time
from localsvm import cli
from localsvm.cli import _app
def app():
    threading.Thread(target=time.sleep, args=[1000]).start()
    raise KeyboardInterrupt
_app.app = app
cli.main()
"""
    command = [sys.executable, "-c", code]
    assert subprocess.run(command, env=HERE, timeout=PATIENCE).returncode == 130


def test_exit_codes(folder):
    for arguments, code in (
        (["evaluate", "people.lsvm", "no.csv"], 1),
        (["evaluate", "people.lsvm"], 2),
    ):
        with start(folder, *arguments) as process:
            assert process.wait(PATIENCE) == code
            assert process.stderr.read().startswith("error: ")


def test_shells_complete_commands_and_options():
    environment = {
        "_LOCALSVM_COMPLETE": "complete_bash",
        "COMP_WORDS": "localsvm fit --meth",
        "COMP_CWORD": "2",
    }
    done = subprocess.run(
        COMMAND, env=HERE | environment, capture_output=True, text=True
    )
    assert done.stdout.split() == ["--method"]


def test_the_completion_script_can_be_shown():
    done = subprocess.run(
        [*COMMAND, "--show-completion", "bash"],
        env=HERE | {"_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0
    assert "complete -o default -F _localsvm_completion localsvm" in done.stdout
