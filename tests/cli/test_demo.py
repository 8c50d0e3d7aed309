"""``localsvm demo``, and the three commands of the documentation."""

import json
from pathlib import Path

import pandas as pd

from localsvm.export import load


def test_the_demonstration_does_all_of_it(call):
    result = call("demo", "--quiet")
    assert result.exit_code == 0, result.output
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


def test_the_demonstration_as_json(call):
    result = call("demo", "--json", "--out", "elsewhere", "--seed", "1")
    found = json.loads(result.stdout)
    assert found["loaded_is_equal"] is True
    assert [peer["name"] for peer in found["peers"]][1:3] == ["LinearSVC", "SVC"]
    assert all(Path(name).is_file() for name in found["files"])
    assert found["scores"]["accuracy"]["value"] > 0.8


def test_a_file_is_no_folder_for_the_results(call):
    result = call("demo", "--out", "people.csv")
    assert result.exit_code == 2
    assert "people.csv is a file" in result.stderr
