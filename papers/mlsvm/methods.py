"""The classifiers that the paper compares, under the names of its tables."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from papers import _methods
from papers._definition import Method, Part

LSVM = "LSVM"
SVM = "SVM"
BOOSTED = "Bst-SVM"
LSVM_1 = "LSVM, C = 1"
BOOSTED_1 = "Bst-SVM, C = 1"
PRINTED_MODEL = "MLSVM, as printed"
ONE_STEP = "MLSVM, as printed, one step"
SOFTMAX = "MLSVM, softmax gate"

N_COMPONENTS = 10
N_BOOSTED = 100
# What the paper says, and what it does not mention switched off.
_AS_PRINTED = {
    "gate": Part("localsvm.estimators.PaperGate", {"tau": 1.0}),
    "prior": 0.0,
    "intercept_scaling": 1.0,
    "early_stopping": False,
}


def mixture_part(n_regions: int, *, printed: bool, **params: Any) -> Part:
    """Name a mixture with the printed gate, or ours as it is by default."""
    start = _AS_PRINTED if printed else {}
    return Part("localsvm.MixtureSVC", {"n_regions": n_regions, **start, **params})


def linear_svm(C: Sequence[float]) -> Method:
    """Define one linear SVM."""
    return _methods.linear_svm(C, LSVM)


def linear_svm_1() -> Method:
    """Define one linear SVM with the C = 1 of LIBLINEAR."""
    return replace(_methods.linear_svm((), LSVM_1), grid={})


def kernel_svm(C: Sequence[float], gamma: Sequence[float]) -> Method:
    """Define the SVM with Gaussian kernel."""
    return _methods.rbf_svm(C, gamma, SVM)


def boosted_svm(C: Sequence[float]) -> Method:
    """Define AdaBoost with 100 linear SVMs at most."""
    return _methods.boosted_linear_svm(C, N_BOOSTED, BOOSTED)


def boosted_svm_1() -> Method:
    """Define the same with the C = 1 of LIBLINEAR."""
    return replace(_methods.boosted_linear_svm((), N_BOOSTED, BOOSTED_1), grid={})


def printed_mixture(C: Sequence[float]) -> Method:
    """Define the printed model with tau one; C and nu are chosen."""
    part = mixture_part(N_COMPONENTS, printed=True)
    return Method(PRINTED_MODEL, part, {"C": C, "prior": (0.0, 0.01)})


def one_step_mixture(C: Sequence[float]) -> Method:
    """Define the printed model after the first EM step."""
    part = mixture_part(N_COMPONENTS, printed=True, em_max_iter=1)
    return Method(ONE_STEP, part, {"C": C})


def softmax_mixture(
    C: Sequence[float], n_regions: Sequence[int] = (N_COMPONENTS,)
) -> Method:
    """Define our mixture; C and the number of components are chosen."""
    part = mixture_part(N_COMPONENTS, printed=False)
    return Method(SOFTMAX, part, {"C": C, "n_regions": n_regions})
