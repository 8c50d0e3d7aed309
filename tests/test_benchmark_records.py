"""Results of benchmarks: who measured what, where, with which code and data."""

import ast
import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

import environment
import markdown
import numpy as np
import pytest
import records
import sklearn

import localsvm
from localsvm.data import sample_path

ROOT = Path(__file__).parents[1]
SCRIPTS = sorted((ROOT / "benchmarks").glob("*.py"))
OLD = {"python": "3.11.7", "localsvm": "0.1.0", "cores": 2}


@pytest.fixture
def results(tmp_path, monkeypatch):
    """An empty folder of results."""
    monkeypatch.setattr(records, "RESULTS", tmp_path)
    monkeypatch.setattr(markdown, "RESULTS", tmp_path)
    return tmp_path


@pytest.fixture
def at(monkeypatch):
    """Let the code be of another commit, without changes."""

    def set_commit(commit, dirty=False):
        found = {"commit": commit, "dirty": dirty, "date": f"of {commit}"}
        monkeypatch.setattr(environment, "code", lambda: found)

    return set_commit


def save(rows, name="toy", **notes):
    records.save(name, "python toy.py", rows, data=[], **notes)
    return json.loads((records.RESULTS / f"{name}.json").read_text())


def of_old(rows, folder):
    """A file as it was written before environments had a commit."""
    record = {"command": "python toy.py", "environment": OLD, "rows": rows}
    (folder / "toy.json").write_text(json.dumps(record))


def section():
    """A section of a page."""
    return str(len(markdown.load("toy")["rows"]))


def test_a_result_has_code_machine_libraries_and_data(results, monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    path = sample_path("adult")
    records.save("toy", "python toy.py", [{"a": 1}], data=[path], goals=[])
    record = json.loads((results / "toy.json").read_text())
    ((key, found),) = record["environments"].items()
    assert record["rows"] == [{"a": 1, "environment": key}]
    assert (record["command"], record["goals"]) == ("python toy.py", [])
    assert found["cores"] == os.cpu_count()
    assert found["cpu"] == environment.cpu_model() != ""
    assert found["threads"]["OMP_NUM_THREADS"] == "3"
    assert found["date"][:2] == "20"
    assert found["versions"]["numpy"] == np.__version__
    assert found["versions"]["scikit-learn"] == sklearn.__version__
    assert found["versions"]["localsvm"] == localsvm.__version__
    assert any(library["user_api"] == "blas" for library in found["blas"])
    assert found["data"] == {path.name: hashlib.sha256(path.read_bytes()).hexdigest()}


def test_no_path_of_the_machine_is_kept(results):
    record = save([{"a": 1}])
    text = json.dumps(record["environments"])
    assert not any(path in text for path in (sys.prefix, str(ROOT), "site-packages"))


def test_commit_and_changes_of_sources(tmp_path, monkeypatch):
    def git(*arguments):
        name = ("-c", "user.name=a", "-c", "user.email=a@b.c")
        command = ["git", "-C", str(tmp_path), *name, *arguments]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        return done.stdout.strip()

    for folder in environment._SOURCES[:4]:
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "a.py").write_text("")
    for file in environment._SOURCES[4:]:
        (tmp_path / file).write_text("")
    monkeypatch.setattr(environment, "ROOT", tmp_path)
    code = environment.code.__wrapped__
    assert (code()["commit"], code()["dirty"]) == (None, None)
    git("init", "-q")
    git("add", ".")
    git("commit", "-qm", "all")
    assert (code()["commit"], code()["dirty"]) == (git("rev-parse", "HEAD"), False)
    (tmp_path / "benchmarks" / "results").mkdir()
    (tmp_path / "benchmarks" / "results" / "toy.json").write_text("{}")
    assert code()["dirty"] is False
    (tmp_path / "src" / "b.py").write_text("")
    assert code()["dirty"] is True


def test_a_file_is_summed_once_until_it_changes(tmp_path, monkeypatch):
    path = tmp_path / "rows.npz"
    path.write_bytes(b"first")
    summed = []
    digest = hashlib.file_digest
    monkeypatch.setattr(
        hashlib, "file_digest", lambda *of: summed.append(of) or digest(*of)
    )
    first = environment.checksums([path])
    assert first == environment.checksums([path])
    assert len(summed) == 1
    path.write_bytes(b"second one")
    assert environment.checksums([path]) != first


def test_sets_without_a_file_are_named(tmp_path, monkeypatch):
    monkeypatch.setenv("LOCALSVM_DATA", str(tmp_path))
    assert environment.checksums(["iris"]) == {"iris": "openml"}
    np.savez(tmp_path / "mnist.npz", X=[[1]], y=[1])
    assert list(environment.checksums(["mnist_3v8", "mnist"])) == ["mnist.npz"]
    with pytest.raises(ValueError, match="Unknown data set or task 'irises'"):
        environment.checksums(["irises"])


def test_resumed_rows_keep_where_they_were_measured(results, at):
    at("a" * 40)
    save([{"task": "one", "score": 1}])
    at("b" * 40)
    rows = [*records.resume("toy"), {"task": "two", "score": 2}]
    record = save(rows)
    commits = [each["commit"][0] for each in markdown.environments(record)]
    assert commits == ["a", "b"]
    assert [row["score"] for row in record["rows"]] == [1, 2]
    again = records.measured_now(records.resume("toy")[0]) | {"score": 3}
    record = save([again, *records.resume("toy")[1:]])
    commits = [each["commit"][0] for each in markdown.environments(record)]
    assert commits == ["b", "b"]
    assert len(record["environments"]) == 1


def test_rows_of_old_files_get_no_commit(results, at):
    of_old([{"task": "one"}], results)
    at("c" * 40)
    record = save([*records.resume("toy"), {"task": "two"}])
    assert [each.get("commit") for each in markdown.environments(record)] == [
        None,
        "c" * 40,
    ]
    assert markdown.environments(record)[0] == OLD


def test_nothing_to_resume(results):
    assert records.resume("toy") == []


def test_pages_say_where_results_were_measured(results, at, monkeypatch):
    monkeypatch.setattr(environment, "cpu_model", lambda: "Zilog Z80")
    at("abcdef0123456789")
    save([{"a": 1}, {"a": 2}])
    assert markdown.with_source(section) == (
        "2\n\nMeasured at `abcdef0123`, Zilog Z80."
    )
    at("b" * 40, dirty=True)
    save([*records.resume("toy"), {"a": 3}])
    assert markdown.with_source(section).endswith(
        "Measured at `abcdef0123`, Zilog Z80 (2 of 3 results); "
        "`bbbbbbbbbb` with changes, Zilog Z80 (1 of 3 results)."
    )


def test_pages_say_nothing_of_old_results(results, at, monkeypatch):
    of_old([{"a": 1}], results)
    assert markdown.with_source(section) == "1"
    assert markdown.with_source(lambda: "no results") == "no results"
    monkeypatch.setattr(environment, "cpu_model", lambda: "Zilog Z80")
    at("d" * 40)
    save([*records.resume("toy"), {"a": 2}])
    assert markdown.with_source(section).endswith("Zilog Z80 (1 of 2 results).")


@pytest.mark.parametrize("is_set", [False, True])
def test_data_beside_the_checkout_are_found(tmp_path, monkeypatch, is_set):
    monkeypatch.setattr(environment, "ROOT", tmp_path / "checkout")
    monkeypatch.setenv("LOCALSVM_DATA", "elsewhere" if is_set else "")
    environment.use_shared_data()
    assert os.environ["LOCALSVM_DATA"] == ("elsewhere" if is_set else "")
    shared = tmp_path / "shared" / "data"
    shared.mkdir(parents=True)
    environment.use_shared_data()
    assert os.environ["LOCALSVM_DATA"] == ("elsewhere" if is_set else str(shared))


def test_benchmarks_find_the_data_beside_the_checkout():
    found = run_beside("import records, os; print(os.environ['LOCALSVM_DATA'])")
    shared = ROOT.parent / "shared" / "data"
    assert found == (str(shared) if shared.is_dir() else "")


@pytest.mark.parametrize("name", ["reduced_accuracy", "reduced_speed"])
def test_benchmarks_find_the_papers(name):
    assert run_beside(f"import {name}; print('found')") == "found"


def run_beside(code):
    """Run Python as a script in the folder of the benchmarks would."""
    own = str(Path(localsvm.__file__).parents[1])
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT / "benchmarks",
        env={**os.environ, "LOCALSVM_DATA": "", "PYTHONPATH": own},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.stem)
def test_scripts_name_their_data(path):
    """A missing argument would end a benchmark of hours with an error."""
    tree = ast.parse(path.read_text())
    calls = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "save"
    ]
    for call in calls:
        assert "data" in [keyword.arg for keyword in call.keywords]
