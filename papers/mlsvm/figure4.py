"""Figure 4: mixture and kernel SVM on two spirals."""

from collections.abc import Sequence
from typing import Any

from localsvm.data import make_two_spirals
from papers._definition import Data, Method, Part, Run
from papers._experiment import Cell, Experiment, Size, Table
from papers._measures import train_accuracy
from papers._plane import plane
from papers._printed import Printed
from papers._results import Result
from papers._rows import synthetic
from papers.mlsvm import methods
from papers.mlsvm.drawing import Model, Steps, draw_panels
from papers.mlsvm.measures import complexity, em_steps

_SPIRALS = Data(synthetic, {"make": make_two_spirals, "n_train": 1000, "n_test": 4000})
_STEPS = {"step 1": 1, "step 10": 10, "last step": 30}
_MIXTURES = {
    # Rows of norm 13 and a bias of one: the SVMs need many passes.
    methods.PRINTED_MODEL: methods.mixture_part(
        20, printed=True, C=10.0, max_iter=5000
    ),
    methods.SOFTMAX: methods.mixture_part(
        20,
        printed=False,
        C=10.0,
        gate=Part("localsvm.estimators.SoftmaxGate", {"tau": 0.1}),
        prior=0.0,
    ),
}
_SVM = "SVM, gamma = 0.1"
_NARROW_SVM = "SVM, gamma = 4"
_LINEAR = Part("sklearn.svm.LinearSVC", {"loss": "hinge", "max_iter": 10_000})
_REPETITIONS = {Size.SMOKE: 1, Size.STANDARD: 5, Size.FULL: 5}

_TRAIN, _TEST, _COUNT = "training accuracy", "test accuracy", "SVMs or support vectors"
_START = {_TRAIN: "scores.start_train_accuracy"}
_ACCURACIES = {_TRAIN: "scores.train_accuracy", _TEST: "scores.accuracy"}
_ALL = {**_ACCURACIES, _COUNT: "scores.complexity"}
_PRINTED = {
    "start": {_TRAIN: Printed(95.7, text="95.7")},
    "last step": {
        _TRAIN: Printed(99.7, text="99.7"),
        _COUNT: Printed(20, text="20"),
    },
    _SVM: {_TRAIN: Printed(100, text="100"), _COUNT: Printed(750, text="over 750")},
    _NARROW_SVM: {
        _TRAIN: Printed(100, text="100"),
        _COUNT: Printed(750, text="over 750"),
    },
    methods.LSVM: {_TRAIN: Printed(50, text="50")},
}
_NOTES = {
    "start": "The width of the spirals is not printed; the wider they are the harder. "
    "The clusters decide most: see the spread over their seeds.",
    "last step": "As at the start: the width of the spirals, and the clusters.",
    _SVM: "The numbers C and gamma are not printed; a wide kernel needs few vectors.",
    _NARROW_SVM: "As printed: over 750.",
    methods.LSVM: "One line can do better than chance: it splits the outer turns.",
}


def _runs(size: Size) -> list[Run]:
    runs = [
        _run(_SVM, _kernel(0.1), 0, complexity, plane),
        _run(_NARROW_SVM, _kernel(4.0), 0, complexity),
        _run(methods.LSVM, _LINEAR, 0, plane),
    ]
    for method, part in _MIXTURES.items():
        for name, n_steps in _STEPS.items():
            step = Part(part.path, {**part.params, "em_max_iter": n_steps})
            for seed in range(_REPETITIONS[size]):
                drawn = (plane,) if seed == 0 else ()
                group = f"{method}, {name}"
                runs.append(_run(group, step, seed, complexity, em_steps, *drawn))
    return runs


def _kernel(gamma: float) -> Part:
    return Part("sklearn.svm.SVC", {"C": 1.0, "gamma": gamma})


def _run(group: str, part: Part, seed: int, *measures: Any) -> Run:
    method = Method(group, part)
    return Run(group, _SPIRALS, method, seed=seed, measures=(train_accuracy, *measures))


def _draw(results: Sequence[Result]) -> Any:
    steps = [f"{method}, {name}" for method in _MIXTURES for name in _STEPS]
    lines = {m.removeprefix("MLSVM, "): f"{m}, last step" for m in _MIXTURES}
    panels: list[Model | Steps] = [
        *(Model(group, group) for group in steps),
        Model(_SVM, _SVM),
        Model("linear SVM", methods.LSVM),
        Steps("rise of log-likelihood", "log_likelihood", lines, is_rise=True),
    ]
    return draw_panels(results, panels)


def _table() -> Table:
    cells: dict[tuple[str, str], Cell] = {}

    def add(row: str, group: str, kind: str, columns: dict[str, str]) -> None:
        for column, score in columns.items():
            printed = _PRINTED.get(kind, {}).get(column)
            cells[row, column] = Cell(group, (score,), printed, _NOTES.get(kind, ""))

    for method in _MIXTURES:
        add(f"{method}, start", f"{method}, last step", "start", _START)
        for name in _STEPS:
            add(f"{method}, {name}", f"{method}, {name}", name, _ALL)
    add(_SVM, _SVM, _SVM, _ALL)
    add(_NARROW_SVM, _NARROW_SVM, _NARROW_SVM, _ALL)
    add(methods.LSVM, methods.LSVM, methods.LSVM, _ACCURACIES)
    return Table(cells, unit="% or number")


FIGURE4 = Experiment(
    id="mlsvm/figure4",
    title="Figure 4: mixture and kernel SVM on two spirals",
    shows=(
        "500 rows on each of the spirals r = 1.3 theta and r = -1.3 theta, 2.5 turns, "
        "up to 0.6 beside the curve: mixtures with 20 components (C = 10; tau = 1 as "
        "printed, 0.1 with the softmax gate), kernel SVMs (C = 1) and a linear SVM. The "
        "first class is shaded; numbers name the components. The paper draws the start "
        "of the mixture, here it is the model after the first EM step; the table has "
        "the accuracy of the start. Test accuracy is that on 4000 other rows; mixtures "
        "are repeated with 5 seeds of k-means, of which the first is drawn."
    ),
    runs=_runs,
    cuts={Size.SMOKE: "one seed of k-means"},
    table=_table(),
    draw=_draw,
    remarks=(
        "With the softmax gate all five starts end without a training error; the "
        "printed model gains a few points and keeps what the clusters got wrong. The "
        "width of the spirals, C and tau = 0.1 were fixed by hand with a look at the "
        "training accuracy, which is what the paper reports. Boosting is left out as in "
        "the paper: a linear SVM is hardly better than chance."
    ),
)
