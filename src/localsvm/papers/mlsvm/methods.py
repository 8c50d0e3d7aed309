"""The classifiers that the paper compares, under the names of its tables."""

from collections.abc import Sequence
from typing import Any

from localsvm.papers import _methods
from localsvm.papers._definition import Method, Part

LSVM = "LSVM"
SVM = "SVM"
BOOSTED = "Bst-SVM"
PRINTED_MODEL = "MLSVM, as printed"
ONE_STEP = "MLSVM, as printed, one step"
SOFTMAX = "MLSVM, softmax gate"
MIXTURES = (PRINTED_MODEL, ONE_STEP, SOFTMAX)

N_COMPONENTS = 10
N_BOOSTED = 100
# What the paper says, and what it does not mention switched off.
_AS_PRINTED = {
    "gate": "paper",
    "tau": 1.0,
    "prior": 0.0,
    "intercept_scaling": 1.0,
    "early_stopping": False,
}

MIXTURE_NOTE = (
    "The printed likelihood is not that of a mixture (its prior stands outside a gate "
    "that is normalised already), and EM on it does not help: after one step the model "
    "is closer to the printed values."
)
SOFTMAX_NOTE = "Another model than the printed one: the prior stands inside the gate."


def mixture_part(n_components: int, *, printed: bool, **params: Any) -> Part:
    """Name a mixture with the printed gate, or ours as it is by default."""
    start = _AS_PRINTED if printed else {}
    return Part(
        "localsvm.MixtureSVC", {"n_components": n_components, **start, **params}
    )


def linear_svm(C: Sequence[float]) -> Method:
    """Define one linear SVM."""
    return _methods.linear_svm(C, LSVM)


def kernel_svm(C: Sequence[float], gamma: Sequence[float]) -> Method:
    """Define the SVM with Gaussian kernel."""
    return _methods.rbf_svm(C, gamma, SVM)


def boosted_svm(C: Sequence[float]) -> Method:
    """Define AdaBoost with 100 linear SVMs at most."""
    return _methods.boosted_linear_svm(C, N_BOOSTED, BOOSTED)


def printed_mixture(C: Sequence[float]) -> Method:
    """Define the printed model with tau one; C and nu are chosen."""
    part = mixture_part(N_COMPONENTS, printed=True)
    return Method(PRINTED_MODEL, part, {"C": C, "prior": (0.0, 0.01)})


def one_step_mixture(C: Sequence[float]) -> Method:
    """Define the printed model after the first EM step."""
    part = mixture_part(N_COMPONENTS, printed=True, max_iter=1)
    return Method(ONE_STEP, part, {"C": C})


def softmax_mixture(
    C: Sequence[float], n_components: Sequence[int] = (N_COMPONENTS,)
) -> Method:
    """Define our mixture; C and the number of components are chosen."""
    part = mixture_part(N_COMPONENTS, printed=False)
    return Method(SOFTMAX, part, {"C": C, "n_components": n_components})
