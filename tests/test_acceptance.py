"""The accuracies that a correct clustered SVM reaches on the paper's data."""

import clustered_accuracy
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
