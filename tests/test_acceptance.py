"""The accuracies that correct implementations reach on the papers' data."""

import clustered_accuracy
import local_accuracy
import pytest

from localsvm.data import load_task


@pytest.mark.slow
@pytest.mark.parametrize(
    ("task", "components", "parameters", "floor"),
    clustered_accuracy.EXPERIMENTS,
    ids=[
        f"{task}-{parameters.get('assignment', 'soft')}"
        for task, _, parameters, _ in clustered_accuracy.EXPERIMENTS
    ],
)
def test_mean_accuracy_of_five_seeds_reaches_its_floor(
    task, components, parameters, floor
):
    if task != "xor":
        try:
            load_task(task)
        except FileNotFoundError as missing:
            pytest.skip(str(missing))
    assert clustered_accuracy.run(task, components, parameters)["mean"] >= floor


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("task", "n_rows", "parameters", "printed", "floor"),
    [each for each in local_accuracy.EXPERIMENTS if each[-1] is not None],
    ids=str,
)
def test_local_accuracy_reaches_its_floor(task, n_rows, parameters, printed, floor):
    if task != "2spiral":
        try:
            load_task("covtype_2_vs_rest")
        except FileNotFoundError as missing:
            pytest.skip(str(missing))
    result = local_accuracy.run(task, n_rows, parameters)
    assert result["accuracy"] >= local_accuracy.absolute_floor(floor, result)
