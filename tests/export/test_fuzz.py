"""A short run of the fuzzer, whose long runs are started by hand."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

_SPEC = importlib.util.spec_from_file_location(
    "fuzz_model_files", Path(__file__).with_name("fuzz_model_files.py")
)
fuzzer = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(fuzzer)


def test_forged_files_are_refused_or_predict():
    cases = fuzzer.golden_cases()
    n_files = 3 * len(cases)
    tried, findings = fuzzer.fuzz(0, 600, cases, most=n_files)
    assert findings == []
    assert sum(tried.values()) == n_files
    assert tried["loaded"] > n_files // 20


@pytest.mark.parametrize(
    ("error", "outcome"),
    [(ValueError("no"), "refused"), (ZeroDivisionError("x"), "ZeroDivisionError: x")],
)
def test_other_errors_than_a_value_error_are_findings(monkeypatch, error, outcome):
    def fail(path):
        raise error

    monkeypatch.setattr(fuzzer, "describe_file", fail)
    assert fuzzer.try_file(Path("none"), None, False)[0] == outcome


def test_memory_is_a_finding(monkeypatch):
    def spend(*_):
        return "loaded", str(np.ones(2**23).sum())

    monkeypatch.setattr(fuzzer, "_MOST_GROWTH", 2**24)
    monkeypatch.setattr(fuzzer, "_outcome", spend)
    assert fuzzer.try_file(Path("none"), None, False)[0] == "memory"


def test_a_crash_is_a_finding(monkeypatch):
    code = (
        "import os, signal\n"
        'print(\'{"number": 0, "case": "metric"}\', flush=True)\n'
        "os.kill(os.getpid(), signal.SIGSEGV)"
    )

    def crashing(*_):
        return subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)

    monkeypatch.setattr(fuzzer, "_worker", crashing)
    tried, findings = fuzzer.fuzz(0, 600, ["metric"], most=1)
    assert not tried
    assert [found["outcome"] for found in findings] == ["ended with -11"]
