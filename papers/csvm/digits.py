"""Beyond the paper: CSVM on two digit tasks for every setting of its grid."""

from localsvm.data import load_task
from papers._definition import Data, Run, Split
from papers._experiment import Cell, Experiment, Size, Table
from papers._measures import clustered_solution
from papers.csvm.runs import GLOBAL_REGS, PENALTIES, TASKS, fixed_csvm

_DIGITS = ("MNIST 3v8", "MNIST 4v9")
_REPETITIONS = {Size.SMOKE: 1, Size.STANDARD: 3, Size.FULL: 10}
_SETTINGS = [(C, global_reg) for C in PENALTIES for global_reg in GLOBAL_REGS]


def _runs(size: Size) -> list[Run]:
    smoke = size == Size.SMOKE
    settings = _SETTINGS[-1:] if smoke else _SETTINGS
    return [
        Run(
            group=_group(task, C, global_reg),
            data=Data(load_task, {"name": TASKS[task]}),
            method=fixed_csvm(C, global_reg),
            split=Split(n_train=300, n_test=300) if smoke else Split(),
            seed=seed,
            measures=(clustered_solution,),
        )
        for task in _DIGITS
        for C, global_reg in settings
        for seed in range(_REPETITIONS[size])
    ]


def _group(task: str, C: float, global_reg: float) -> str:
    return f"{task} | C = {C:g}, global penalty {global_reg:g}"


DIGITS = Experiment(
    id="csvm/digits",
    title="Beyond the paper: CSVM on two digit tasks, every setting",
    shows=(
        "Table 2 prints 99.41±0.18 for CSVM on MNIST 3v8 and 98.69±0.19 on 4v9. Here is "
        "the test accuracy of every setting of the paper's grid with 8 clusters; none is "
        "chosen. Rows are tasks and C, columns the global penalty."
    ),
    runs=_runs,
    remarks=(
        "All are far below the printed values, so that the choice of a setting does not "
        "explain the difference. Every fit has a relative duality gap below 0.001: the "
        "solver does not either."
    ),
    cuts={
        Size.SMOKE: "one setting, 300 rows, one repetition",
        Size.STANDARD: "3 repetitions instead of 10",
    },
    table=Table(
        {
            (f"{task}, C = {C:g}", f"{global_reg:g}"): Cell(_group(task, C, global_reg))
            for task in _DIGITS
            for C, global_reg in _SETTINGS
        }
    ),
)
