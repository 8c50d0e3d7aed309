"""How a fit of the exact SVM reports that it is not exact."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from localsvm import ReducedSVC
from localsvm._clock import StageClock
from localsvm.estimators._reduced.model import ReducedModel
from localsvm.estimators._reduced.result import ReducedFit, TaskReport
from localsvm.estimators._reduced.settings import ReducedSettings
from localsvm.kernels import Kernel
from localsvm.solvers import Status


def test_solution_that_is_not_exact_is_warned_of_though_the_solver_converged():
    kernel = Kernel("rbf")
    report = TaskReport(
        objective=1.0,
        gap=0.5,
        violation=2.0,
        rows_used=(5,),
        status=Status.converged,
        n_iter=3,
    )
    fit = ReducedFit(
        ReducedSettings(kernel, 1e15),
        ReducedModel(
            kernel, np.zeros((1, 2)), np.ones((1, 1)), np.empty((1, 0)), np.zeros(1)
        ),
        np.array([0]),
        np.array([1, 0]),
        (report,),
        "all rows",
    )
    model = ReducedSVC(C=1e15)
    with pytest.warns(ConvergenceWarning, match=r"exact_=False.*violation_=2") as seen:
        model._store(fit, StageClock())
    assert len(seen) == 1
    assert not model.exact_
