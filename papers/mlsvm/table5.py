"""Table V: accuracy and prediction time on a hyperspectral image."""

from papers._definition import Data, Method, Run, Selection, Split
from papers._experiment import Cell, Experiment, Size, Table
from papers._printed import read_printed
from papers.mlsvm import methods
from papers.mlsvm.image import image_itself, image_map, load_soybeans

_PRINTED = read_printed("""
      | accuracy   | seconds
MLSVM | 95.20±0.30 | 6.55±0.25
SVM   | 95.45±0.22 | 76.25±1.30
LSVM  | 91.34±0.15 | 1.65±0.05
""")
_METHODS = (
    methods.printed_mixture((1.0, 10.0)),
    methods.softmax_mixture((0.1, 1.0, 10.0)),
    methods.kernel_svm((10.0, 100.0, 1000.0), (0.001, 0.002, 0.005, 0.01)),
    methods.linear_svm((0.01, 0.1, 1.0)),
)
_PRIVATE = "the authors' skin images are not public"
_HALVES = Split("random", n_train=5125, n_test=5124)
_REPETITIONS = {Size.SMOKE: 1, Size.STANDARD: 5, Size.FULL: 5}

SMOKE_CUTS = "300 training and 500 test pixels, one partition"
STANDARD_CUTS = (
    "settings are chosen by one held-out fifth of 2000 training pixels instead of 5 "
    "folds of all."
)
SHOWN = tuple(method.name for method in _METHODS)


def image_runs(size: Size) -> list[Run]:
    """Each classifier on random halves of the labelled pixels."""
    return [
        _run(method, size, seed)
        for seed in range(_REPETITIONS[size])
        for method in _METHODS
    ]


def _run(method: Method, size: Size, seed: int) -> Run:
    smoke = size == Size.SMOKE
    first = seed == 0 and method.name == methods.LSVM
    return Run(
        group=method.name,
        data=Data(load_soybeans),
        method=method,
        split=Split("random", n_train=300, n_test=500) if smoke else _HALVES,
        selection=Selection() if size == Size.FULL else Selection(1, max_rows=2000),
        seed=seed,
        measures=(image_map, image_itself) if first else (image_map,),
    )


def _table() -> Table:
    cells: dict[tuple[str, str], Cell] = {}
    for (row, column), printed in _PRINTED.items():
        ours = methods.PRINTED_MODEL if row == "MLSVM" else row
        cells[ours, f"skin: {column}"] = Cell(
            f"skin | {row}", printed=printed, absent=_PRIVATE
        )
    for name in SHOWN:
        cells[name, "soybeans: accuracy"] = Cell(name)
        cells[name, "soybeans: seconds"] = Cell(name, ("scores.image_seconds",))
    return Table({place: cells[place] for place in _by_row(cells)}, unit="% or s")


def _by_row(cells: dict[tuple[str, str], Cell]) -> list[tuple[str, str]]:
    return sorted(cells, key=lambda place: SHOWN.index(place[0]))


TABLE5 = Experiment(
    id="mlsvm/table5",
    title="Table V: accuracy and testing time on a hyperspectral image",
    shows=(
        "The paper tells skin from background in its own images, which are not public. "
        "Here soybean fields are told from all else in the Indian Pines image (145 x "
        "145 pixels, 200 bands, 10249 labelled pixels, 4020 of soybeans). Spectra have "
        "unit norm, which takes brightness away, and bands are standardised over the "
        "image. As in the paper, labelled pixels are halved at random 5 times; the time "
        "is that of predicting a whole image: 696 x 520 pixels of 33 bands in the paper."
    ),
    runs=image_runs,
    cuts={Size.SMOKE: SMOKE_CUTS, Size.STANDARD: STANDARD_CUTS},
    table=_table(),
    remarks=(
        "The order is that of the paper: the mixtures are between the linear SVM and "
        "the kernel SVM in accuracy, and many times faster than the kernel SVM. On this "
        "image they close about two thirds of the gap and not all of it."
    ),
)
