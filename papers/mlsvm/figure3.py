"""Figure 3: mixture and boosting on a disc in a square."""

from collections.abc import Sequence
from typing import Any

from localsvm.data import make_circle_in_square
from papers._definition import Data, Method, Part, Run
from papers._experiment import Cell, Experiment, Size, Table
from papers._measures import train_accuracy
from papers._plane import plane
from papers._printed import Printed
from papers._results import Result
from papers._rows import synthetic
from papers.mlsvm import methods
from papers.mlsvm.drawing import Model, Steps, draw_panels
from papers.mlsvm.measures import boosting_errors, complexity, em_steps

_DISC = Data(synthetic, {"make": make_circle_in_square, "n_train": 400, "n_test": 4000})
_MIXTURES = {
    methods.PRINTED_MODEL: methods.mixture_part(4, printed=True, C=10.0, prior=0.0),
    methods.SOFTMAX: methods.mixture_part(
        4,
        printed=False,
        C=10.0,
        gate=Part("localsvm.estimators.SoftmaxGate", {"tau": 1.0}),
        prior=0.0,
    ),
}
_STEPS = {"step 1": 1, "step 5": 5, "last step": 30}
_MEMBERS = {"first": 1, "tenth": 10, "last": 100}
_DRAWN = "Bst-SVM, drawn rows"
_WEIGHTED = "Bst-SVM, weighted rows"
_COUNT = "SVMs or support vectors"
_COLUMNS = {
    "training accuracy": "scores.train_accuracy",
    "test accuracy": "scores.accuracy",
    _COUNT: "scores.complexity",
}
_PRINTED = {
    (methods.SVM, _COUNT): Printed(71, text="71"),
    (f"{_DRAWN}, last", _COUNT): Printed(100, text="about 100"),
    (_WEIGHTED, _COUNT): Printed(100, text="about 100"),
    (f"{methods.PRINTED_MODEL}, last step", _COUNT): Printed(4, text="4"),
    (f"{methods.SOFTMAX}, last step", _COUNT): Printed(4, text="4"),
}
_NOTES = {
    methods.SVM: "The numbers C and gamma are not printed.",
    _WEIGHTED: "Boosting ends when no SVM is better than chance on the weighted rows.",
    f"{methods.PRINTED_MODEL}, last step": "The printed likelihood is largest with one "
    "component.",
}


def _runs(size: Size) -> list[Run]:
    del size  # it takes seconds
    kernel = Part("sklearn.svm.SVC", {"C": 10.0, "gamma": 0.5})
    weighted = _boosted("WeightedLinearSVC", 1.0, 100)
    runs = [
        _run(methods.SVM, kernel, plane),
        _run(_WEIGHTED, weighted, boosting_errors),
    ]
    for name, n_members in _MEMBERS.items():
        drawn = _boosted("ResampledLinearSVC", 0.1, n_members)
        runs.append(_run(f"{_DRAWN}, {name}", drawn, plane, boosting_errors))
    for model, part in _MIXTURES.items():
        for name, n_steps in _STEPS.items():
            step = Part(part.path, {**part.params, "em_max_iter": n_steps})
            runs.append(_run(f"{model}, {name}", step, plane, em_steps))
    return runs


def _boosted(weak: str, C: float, n_estimators: int) -> Part:
    svm = Part(f"papers._boosting.{weak}", {"C": C, "loss": "hinge"})
    params = {"estimator": svm, "n_estimators": n_estimators}
    return Part("sklearn.ensemble.AdaBoostClassifier", params)


def _run(group: str, part: Part, *measures: Any) -> Run:
    shared = (train_accuracy, complexity)
    return Run(group, _DISC, Method(group, part), measures=(*shared, *measures))


def _draw(results: Sequence[Result]) -> Any:
    errors = {"drawn rows": f"{_DRAWN}, last", "weighted rows": _WEIGHTED}
    mixtures = {m.removeprefix("MLSVM, "): f"{m}, last step" for m in _MIXTURES}
    steps = [f"{model}, {name}" for model in _MIXTURES for name in _STEPS]
    panels: list[Model | Steps] = [
        Model("SVM with Gaussian kernel", methods.SVM),
        Steps("test error of boosting (%)", "test_errors", errors, first=1),
        Steps("rise of log-likelihood", "log_likelihood", mixtures, is_rise=True),
        *(Model(group, group) for group in steps),
        *(Model(f"boosted SVMs, {name}", f"{_DRAWN}, {name}") for name in _MEMBERS),
    ]
    return draw_panels(results, panels)


FIGURE3 = Experiment(
    id="mlsvm/figure3",
    title="Figure 3: mixture and boosting on a disc in a square",
    shows=(
        "200 rows of each class, uniform in a disc and in the rest of a square of side "
        "2: a kernel SVM (C = 10, gamma = 0.5), AdaBoost on at most 100 linear SVMs, "
        "and mixtures with 4 components (C = 10, tau = 1, nu = 0, 30 EM steps). The "
        "first class is shaded; numbers name the components, dotted lines are where "
        "another one has the largest share. The paper draws the start of the mixture, "
        "here it is the model after the first EM step. Test accuracy is that on 4000 "
        "other rows."
    ),
    runs=_runs,
    table=Table(
        {
            (run.group, column): Cell(
                run.group,
                (score,),
                _PRINTED.get((run.group, column)),
                _NOTES.get(run.group, ""),
            )
            for run in _runs(Size.FULL)
            for column, score in _COLUMNS.items()
        },
        unit="% or number",
    ),
    draw=_draw,
    remarks=(
        "The likelihood of the printed model rises most while it gives up its "
        "components and its accuracy; that of the mixture with the softmax gate settles "
        "after a few steps and all components stay. Neither gains accuracy by EM here.\n\n"
        "AdaBoost on weighted rows ends early, as no linear SVM is better than chance on "
        "them. If rows are drawn by their weights instead, and again where the SVM is no "
        "better than chance, it goes on to 100 SVMs, as in the paper; LIBLINEAR itself "
        "takes no weights. Settings were fixed by hand."
    ),
)
