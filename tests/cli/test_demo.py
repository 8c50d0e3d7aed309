"""``localsvm demo``."""

import json
from pathlib import Path

import numpy as np
import pandas as pd

from localsvm.cli._commands.demo import _Story
from localsvm.cli._group import header
from localsvm.cli._show._screen import Screen
from localsvm.export import load


def test_the_demonstration_does_all_of_it(call, monkeypatch):
    told = []
    monkeypatch.setattr(_Story, "end", lambda story: told.append(story._document))
    result = call("demo", "--quiet")
    assert result.exit_code == 0, result.output
    steps = ["data", "chosen", "peers", "scores", "explanation", "loaded_is_equal"]
    assert list(told[0]) == [*steps, "files"]
    folder = Path("demo_output")
    names = {"income.lsvm", "predictions.csv", "report.html"}
    assert {path.name for path in folder.iterdir()} == names
    for words in (
        "1,333 rows to fit to, 667 to test",
        "LinearSVC",
        "SVC",
        "balanced accuracy",
        "Predicted class: >50K",
        "gives the same scores, to the last bit",
        *(str(folder / name) for name in names),
    ):
        assert words in result.stdout
    predictions = pd.read_csv(folder / "predictions.csv")
    model = load(folder / "income.lsvm")
    assert (model.predict(predictions) == predictions["prediction"]).all()
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert "HistGradientBoosting" in page
    again = call("demo")
    assert again.exit_code == 2
    assert "income.lsvm exists" in again.stderr


def test_steps_as_json_are_one_document(capsys):
    story = _Story(Screen("fit", as_json=True, quiet=True))
    story.tell("one", "First.", "text", [np.int64(1)])
    story.tell("two", "Then.", "text", Path("a"))
    assert capsys.readouterr().out == ""
    story.end()
    found = json.loads(capsys.readouterr().out)
    assert found == header() | {"command": "fit", "one": [1], "two": "a"}


def test_a_file_is_no_folder_for_the_results(call):
    result = call("demo", "--out", "people.csv")
    assert result.exit_code == 2
    assert "people.csv is a file" in result.stderr
