"""Linear SVMs by a general-purpose optimiser on the explicit dual."""

import numpy as np
from scipy.optimize import minimize
from threadpoolctl import threadpool_limits


def objective(w, X, sign, bounds, loss):
    """Primal objective of weights w on rows X."""
    slack = np.maximum(0, 1 - sign * (X @ w))
    penalty = slack if loss == "hinge" else slack**2
    return 0.5 * w @ w + bounds @ penalty


@threadpool_limits.wrap(limits=1)
def solve(X, sign, bounds, loss="hinge"):
    """Weights and optimal value of a linear SVM without intercept.

    The dual is a box-constrained quadratic programme in the explicit matrix Q; the
    optimum is polished by solving for the free variables exactly.
    """
    present = bounds > 0
    Q = (sign[:, None] * X) @ (sign[:, None] * X).T
    if loss == "squared_hinge":
        Q = Q + np.diag(0.5 / np.where(present, bounds, 1))
    upper = np.where(present, bounds if loss == "hinge" else np.inf, 0.0)

    def negative_dual(alpha):
        gradient = Q @ alpha - 1
        return 0.5 * alpha @ Q @ alpha - alpha.sum(), gradient

    alpha = minimize(
        negative_dual,
        np.minimum(upper, 1e-3),
        jac=True,
        method="L-BFGS-B",
        bounds=list(zip(np.zeros(len(X)), upper, strict=True)),
        options={"maxiter": 100_000, "maxfun": 1_000_000, "ftol": 1e-16, "gtol": 1e-12},
    ).x
    w = X.T @ (alpha * sign)
    return w, objective(w, X, sign, bounds, loss)


def with_bias(X, bias):
    """Rows with a constant column."""
    return np.hstack([X, np.full((len(X), 1), bias)])


def expand(X, codes):
    """Rows of Eq. 6: kron(code of x, x), for codes of shape (n, n_nodes)."""
    return np.einsum("im,ij->imj", codes, X).reshape(len(X), -1)


def coupled_codes(region, n_regions, global_reg):
    """Codes of the clustered SVM: one-hot, and 1/sqrt(lambda) for the global node."""
    codes = np.zeros((len(region), n_regions + 1))
    codes[np.arange(len(region)), region] = 1
    codes[:, -1] = 1 / np.sqrt(global_reg)
    return codes
