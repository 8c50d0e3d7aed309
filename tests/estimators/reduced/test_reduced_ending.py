"""How a fit of the exact SVM reports that it is not exact."""

import pytest
from sklearn.exceptions import ConvergenceWarning

from localsvm import ReducedSVC
from localsvm.estimators._reduced.steps import Ending
from localsvm.solvers import Status


def test_solution_that_is_not_exact_is_warned_of_though_the_solver_converged():
    model = ReducedSVC(C=1e15)
    ending = Ending(
        intercept=0.0,
        objective=1.0,
        violation=2.0,
        rows_used=(5,),
        status=Status.converged,
        n_iter=3,
    )
    with pytest.warns(ConvergenceWarning, match=r"exact_=False.*violation_=2") as seen:
        model._keep_endings([ending])
    assert len(seen) == 1
    assert not model.exact_
