"""Settings of the mixture of linear SVMs that several test files go through."""

TIGHT = {
    "svm_tol": 1e-10,
    "svm_max_iter": 200_000,
    "min_responsibility": 0.0,
    "tol": 0.0,
    "prior": 0.0,
    "random_state": 0,
}
MODELS = [
    {"gate": "softmax"},
    {"gate": "paper"},
    {"gate": "softmax", "levels": 2},
    {"gate": "paper", "levels": 2},
    {"gate": "softmax", "gate_reg": 1e-3},
]
