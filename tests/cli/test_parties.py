"""``localsvm federated``: parties that keep their rows."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from localsvm.cli._commands.federated.recipe import Recipe
from localsvm.data import TableEncoder
from localsvm.export import describe_file, load
from localsvm.federated import Ledger, SharedSummary, min_size
from people_data import make_people

NOISE = ("--privacy", "dp", "--epsilon", "4", "--delta", "1e-5", "--bounds=-3,3")


@pytest.fixture
def parties(call):
    """Public rows, and those of two parties, in files."""
    for seed, name in enumerate(["public", "north", "south"]):
        make_people(400, seed).to_csv(f"{name}.csv", index=False)
    call("federated", "recipe", "public.csv", "-t", "happy", "-o", "recipe.lsvm")
    return call


def share(call, name, *options):
    return call(
        *(
            "federated",
            "share",
            f"{name}.csv",
            "--recipe",
            "recipe.lsvm",
            "--name",
            name,
        ),
        *("-o", f"{name}.scm", *options),
    )


def test_three_commands_make_one_model(parties):
    for name in ("north", "south"):
        result = share(parties, name)
        assert result.exit_code == 0, result.output
        assert f"All that leaves: {name}.scm" in result.stdout
        assert "not a formal guarantee" in result.stdout
    merge = ("federated", "merge", "north.scm", "south.scm", "--recipe", "recipe.lsvm")
    result = parties(*merge, "-o", "both.lsvm", "--json")
    found = json.loads(result.stdout)
    assert [party["name"] for party in found["parties"]] == ["north", "south"]
    assert describe_file("both.lsvm").notes["parties"] == ["north", "south"]
    scores = json.loads(
        parties("evaluate", "both.lsvm", "people.csv", "--json", "-q").stdout
    )
    assert scores["accuracy"]["value"] > 0.8


def test_the_recipe_tells_columns_and_classes(parties):
    found = json.loads(
        parties(
            "federated", "recipe", "public.csv", "-t", "happy", "-o", "r.lsvm", "--json"
        ).stdout
    )
    kinds = {column["name"]: column["kind"] for column in found["columns"]}
    assert kinds == {"age": "number", "income": "number", "town": "category"}
    assert found["notes"]["labels"] == ["no", "yes"]
    assert "recipe.lsvm holds a TableEncoder; expected a classifier" in (
        parties("evaluate", "recipe.lsvm", "people.csv").stderr
    )


def test_no_row_is_in_a_summary(parties):
    share(parties, "north", "--min-rows", "20", "--round-to", "10")
    shared = SharedSummary.load("north.scm")
    assert shared.summary.weight.min() >= 20
    assert (shared.summary.weight % 10 == 0).all()
    encoder = load("recipe.lsvm")
    assert shared.summary.feature_names == tuple(encoder.get_feature_names_out())


def test_noise_needs_bounds_and_centers_and_gives_a_guarantee(parties):
    pytest.importorskip("opendp")
    for name in ("north", "south"):
        result = share(
            parties, name, *NOISE, "--centers", "4", "--public", "public.csv"
        )
        assert result.exit_code == 0, result.output
        assert "a formal guarantee" in result.stdout
    shared = [SharedSummary.load(f"{name}.scm") for name in ("north", "south")]
    assert shared[0].partition == shared[1].partition is not None
    result = parties("federated", "merge", "north.scm", "south.scm", "-o", "both.lsvm")
    assert result.exit_code == 0, result.output


@pytest.mark.parametrize("centers", [(), ("--public", "public.csv")])
def test_bounds_come_from_the_recipe_and_not_from_the_rows(parties, centers):
    pytest.importorskip("opendp")
    north = pd.read_csv("north.csv")
    north.loc[0, "income"] = 1e6
    north.to_csv("north.csv", index=False)
    for name in ("north", "south"):
        result = share(parties, name, *NOISE[:-1], "--centers", "4", *centers)
        assert result.exit_code == 0, result.output
    shared = [SharedSummary.load(f"{name}.scm") for name in ("north", "south")]
    ours, theirs = (each.parties[0].privacy.parameters()["bounds"] for each in shared)
    assert ours == theirs == [[-3, -3, 0, 0, 0], [3, 3, 1, 1, 1]]
    assert shared[0].partition == shared[1].partition


def test_bounds_of_a_recipe_fit_each_kind_of_column(tmp_path):
    day = pd.date_range("2024-01-01", periods=400, freq="7h").to_series()
    day.iloc[3] = None
    rows = pd.DataFrame(
        {
            "number": np.arange(400.0),
            "flag": np.arange(400) % 2 == 0,
            "kind": np.where(np.arange(400) % 3, "a", "b"),
            "day": day.to_numpy(),
            "text": [f"word {number} of {number % 7}" for number in range(400)],
        }
    )
    encoder = TableEncoder(kinds={"text": "text"}, sparse_output=False).fit(rows)
    low, high = Recipe(encoder, None, np.array([]), []).bounds
    features = encoder.transform(rows)
    assert low.shape == high.shape == (features.shape[1],)
    inside = (features >= low) & (features <= high)
    assert inside.mean() > 0.99
    exact = [
        not name.startswith(("number", "text")) and name != "day"
        for name in encoder.get_feature_names_out()
    ]
    assert inside[:, exact].all()
    assert set(zip(low[exact], high[exact], strict=True)) == {(0, 1), (-1, 1)}


def test_random_centers_are_the_same_for_all(parties):
    pytest.importorskip("opendp")
    for name in ("north", "south"):
        assert share(parties, name, *NOISE, "--centers", "4").exit_code == 0
    shared = [SharedSummary.load(f"{name}.scm") for name in ("north", "south")]
    assert shared[0].partition == shared[1].partition is not None


def test_a_ledger_refuses_the_second_release(parties):
    assert share(parties, "north", "--ledger", "ledger.json").exit_code == 0
    assert len(Ledger.load("ledger.json").entries) == 1
    result = share(parties, "north", "--ledger", "ledger.json", "--force")
    assert result.exit_code == 1
    assert "The ledger has 1 release with min_size" in result.stderr
    shown = parties("info", "ledger.json")
    assert shown.stdout.startswith("1 release")
    assert "north" in shown.stdout


def test_a_ledger_that_another_process_begins_meanwhile_is_used(parties, monkeypatch):
    save = Ledger.save

    def save_as_the_second(ledger, path):
        first = Ledger()
        save(first, path)
        first.enter("another process", min_size())
        save(ledger, path)

    monkeypatch.setattr(Ledger, "save", save_as_the_second)
    result = share(parties, "north", "--ledger", "ledger.json")
    assert result.exit_code == 1
    assert "The ledger has 1 release with min_size" in result.stderr


def test_rows_are_chosen_by_a_column_of_the_recipe(parties):
    result = share(parties, "north", "--where", "town=Ulm")
    assert result.exit_code == 0, result.output
    summary = SharedSummary.load("north.scm").summary
    ulm = summary.feature_names.index("town=Ulm")
    np.testing.assert_allclose(summary.mean[:, ulm], 1)


def test_without_a_ledger_that_is_said(parties):
    assert "No --ledger" in share(parties, "north").stderr
    assert share(parties, "south", "--quiet").stderr == ""


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--privacy", "dp"), "--privacy dp needs --epsilon and --delta."),
        (NOISE, "--privacy dp needs --centers"),
        ((*NOISE[:-1], "--bounds=3", "--centers", "4"), "expected two numbers"),
        (
            (*NOISE[:-1], "--bounds=3,-3", "--centers", "4"),
            "the lower below the higher",
        ),
    ],
)
def test_misuse(parties, options, words):
    result = share(parties, "north", *options)
    assert result.exit_code == 2
    assert words in result.stderr
    assert not Path("north.scm").exists()


def test_parties_of_other_recipes_do_not_go_together(parties):
    share(parties, "north")
    make_people(200).drop(columns="town").to_csv("public.csv", index=False)
    parties(
        "federated",
        "recipe",
        "public.csv",
        "-t",
        "happy",
        "-o",
        "recipe.lsvm",
        "--force",
    )
    share(parties, "south")
    result = parties("federated", "merge", "north.scm", "south.scm", "-o", "both.lsvm")
    assert result.exit_code == 1
    assert "different numbers of columns" in result.stderr
    merge = (
        "federated",
        "merge",
        "north.scm",
        "--recipe",
        "recipe.lsvm",
        "-o",
        "both.lsvm",
    )
    result = parties(*merge)
    assert result.exit_code == 1
    assert "The parties did not use this recipe" in result.stderr


def test_merged_without_recipe_a_model_takes_numbers(parties):
    share(parties, "north")
    parties(
        "federated",
        "merge",
        "north.scm",
        "-o",
        "one.lsvm",
        "--param",
        "C=100",
        "--seed",
        "3",
    )
    model = load("one.lsvm")
    assert (model.C, model.random_state, model.covariance) == (100, 3, "diag")
    encoder = load("recipe.lsvm")
    rows = pd.DataFrame(
        encoder.transform(pd.read_csv("south.csv")),
        columns=encoder.get_feature_names_out(),
    )
    truth = pd.read_csv("south.csv")["happy"].to_numpy()
    assert np.mean(model.predict(rows) == truth) > 0.8


def test_shares_are_limited(parties):
    make_people(100, 2).to_csv("south.csv", index=False)
    for name in ("north", "south"):
        share(parties, name)
    merge = (
        "federated",
        "merge",
        "north.scm",
        "south.scm",
        "-o",
        "both.lsvm",
        "--json",
    )
    found = json.loads(parties(*merge, "--max-share", "0.5").stdout)
    factors = [party["weight_factor"] for party in found["parties"]]
    assert factors[0] < 0.5
    assert factors[1] == 1.0
