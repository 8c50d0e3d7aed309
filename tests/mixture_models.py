"""Settings of the mixture of linear SVMs that several test files go through."""

from localsvm.estimators import PaperGate, SoftmaxGate

TIGHT = {
    "tol": 1e-10,
    "max_iter": 200_000,
    "min_responsibility": 0.0,
    "em_tol": 0.0,
    "prior": 0.0,
    "random_state": 0,
}
MODELS = [
    {"gate": "softmax"},
    {"gate": "paper"},
    {"gate": SoftmaxGate(levels=2)},
    {"gate": PaperGate(levels=2)},
    {"gate": SoftmaxGate(reg=1e-3)},
]
