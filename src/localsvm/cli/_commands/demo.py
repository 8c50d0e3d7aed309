"""``localsvm demo``: the main job on a small real table, all steps of it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from textwrap import fill, indent
from typing import Annotated, Any

import numpy as np
import typer

from localsvm import inspect
from localsvm.cli import _options as options
from localsvm.cli._files._outputs import check_output, size_of
from localsvm.cli._files._rows import read_labelled
from localsvm.cli._files._table_writer import table_writer
from localsvm.cli._group import misuse
from localsvm.cli._methods import AUTO, make_estimator
from localsvm.cli._model._fitting import (
    Fitted,
    encoder_of,
    fit_on_all,
    make_encoder,
    make_model,
)
from localsvm.cli._model._notes import held_out_notes, training_notes
from localsvm.cli._model._seen import sketch_of
from localsvm.cli._show._peers import compare_models, peer_lines
from localsvm.cli._show._screen import Screen
from localsvm.cli._show._watch import watching
from localsvm.data import Table, sample_path
from localsvm.export import load, save
from localsvm.inspect import PeerScore

_TARGET = "income"
_TRAIN, _TEST = "split=train", "split=test"
_WIDTH = 85
_WHAT = {
    "income.lsvm": "the model, for `localsvm predict` and the other commands",
    "predictions.csv": "the test rows and what was predicted",
    "report.html": "all about the model; open it in a browser",
}

_Out = Annotated[
    Path,
    typer.Option(
        "--out", "-o", help="Folder for the results.", rich_help_panel=options.OUTPUT
    ),
]


@dataclass(frozen=True)
class _Results:
    """Files that the demonstration writes."""

    folder: Path

    @property
    def model(self) -> Path:
        return self.folder / "income.lsvm"

    @property
    def predictions(self) -> Path:
        return self.folder / "predictions.csv"

    @property
    def report(self) -> Path:
        return self.folder / "report.html"

    def check(self, *, force: bool) -> None:
        """Make the folder, and refuse to replace files."""
        if self.folder.exists() and not self.folder.is_dir():
            misuse(f"{self.folder} is a file; expected a folder.")
        self.folder.mkdir(parents=True, exist_ok=True)
        for path in (self.model, self.predictions, self.report):
            check_output(path, force=force)


def demo(
    out: _Out = Path("demo_output"),
    seed: options.SeedOption = 0,
    jobs: options.JobsOption = options.ALL_CORES,
    force: options.ForceOption = False,
    as_json: options.JsonOption = False,
    quiet: options.QuietOption = False,
) -> None:
    """Run the whole story once, from a fit to a report.

    On 2000 rows of the census table Adult, which come with the package. It takes about
    ten seconds.
    """
    screen = Screen("demo", as_json, quiet)
    results = _Results(out)
    results.check(force=force)
    story = _Story(screen)
    train, test = _tell_rows(story)
    fitted = _fit(story, train, seed, jobs)
    model = fitted.model
    peers = _compare(story, fitted, test, seed)
    scores = inspect.score_model(model, test.X, test.y)
    story.tell("scores", "On the test rows, in detail.", str(scores), scores.to_dict())
    _explain(story, model, test)
    notes = training_notes(train, target=_TARGET, seed=seed, where=_TRAIN)
    notes["held_out"] = held_out_notes(scores)
    fitted_rows = sketch_of(train, encoder_of(model))
    save(model, results.model, notes=notes, fitted_rows=fitted_rows)
    _predict_from_file(story, model, test, results)
    with watching(screen, "Writing the report"):
        inspect.write_report(
            model,
            test.X,
            test.y,
            results.report,
            X_train=train.X,
            y_train=train.y,
            peers=peers,
            model_path=results.model.name,
        )
    files = [results.model, results.predictions, results.report]
    lines = [f"{path} ({size_of(path)}): {_WHAT[path.name]}" for path in files]
    story.tell("files", "Where the results are.", "\n".join(lines), files)
    story.end()


class _Story:
    """Steps that are told one after the other, or all at once as JSON."""

    def __init__(self, screen: Screen) -> None:
        self.screen = screen
        self._document: dict[str, Any] = {}

    def tell(self, name: str, title: str, text: str, value: Any) -> None:
        """Tell what a step has found."""
        self._document[name] = value
        if not self.screen.as_json:
            typer.echo(f"{len(self._document)}. {title}\n\n{indent(text, '   ')}\n")

    def end(self) -> None:
        """Print the document, if JSON is wanted."""
        if self.screen.as_json:
            self.screen.show(self._document, "")


def _tell_rows(story: _Story) -> tuple[Table, Table]:
    data = sample_path("adult")
    train, test = (
        read_labelled(str(data), target=_TARGET, where=part) for part in (_TRAIN, _TEST)
    )
    labels, counts = np.unique(np.asarray(train.y), return_counts=True)
    classes = dict(zip(labels.tolist(), counts.tolist(), strict=True))
    text = (
        f"{data.name}: {train.X.shape[1]} columns, numbers and categories, some values "
        f"missing.\n{train.X.shape[0]:,} rows to fit to, {test.X.shape[0]:,} to test; "
        f"{' and '.join(f'{count} {label}' for label, count in classes.items())}."
    )
    story.tell("data", "Who earns more than 50,000 dollars a year?", text, classes)
    return train, test


def _fit(story: _Story, train: Table, seed: int, jobs: int) -> Fitted:
    estimator = make_estimator(AUTO, [], seed=seed, jobs=jobs)
    model = make_model(estimator, make_encoder(train, {}, estimator))
    fitted = fit_on_all(model, train, story.screen)
    chosen = estimator.best_params_
    words = ", ".join(f"{name}={value!r}" for name, value in chosen.items())
    text = f"{type(estimator).__name__} took {fitted.seconds:.1f} s and chose {words}."
    story.tell("chosen", "Fit, with nothing set.", fill(text, _WIDTH), chosen)
    return fitted


def _compare(story: _Story, fitted: Fitted, test: Table, seed: int) -> list[PeerScore]:
    options = {"fit_seconds": fitted.cpu_seconds, "random_state": seed}
    peers = compare_models(fitted.model, fitted.rows, test, story.screen, **options)
    plain = [peer.to_dict() for peer in peers]
    text = "\n".join(peer_lines(peers))
    story.tell("peers", "Compare with others that have nothing set.", text, plain)
    return peers


def _explain(story: _Story, model: Any, test: Table) -> None:
    """Explain the first row that is rightly predicted to be of the second class."""
    right = model.predict(test.X) == test.y
    row = int(np.argmax(right & (test.y == model.classes_[1])))
    why = inspect.explain(model, test.X.iloc[row])
    story.tell("explanation", f"Why? Test row {row}.", str(why), why.to_dict())


def _predict_from_file(
    story: _Story, model: Any, test: Table, results: _Results
) -> None:
    loaded = load(results.model)
    predicted = loaded.predict(test.X)
    with table_writer(results.predictions) as write:
        write(test.X.assign(prediction=predicted))
    same = bool(
        (loaded.decision_function(test.X) == model.decision_function(test.X)).all()
    )
    words = "gives the same scores, to the last bit" if same else "differs"
    text = f"The model that was saved and loaded {words}."
    story.tell("loaded_is_equal", "Save, load, predict.", text, same)
