"""The additive SVM the slow way: the code is formed, SciPy solves."""

import numpy as np
from scipy.optimize import minimize

BIAS_PENALTY = 1e-3


def step_code(codes, n_bins, n_ordered, weight):
    """Rows of the code, of shape (n_rows, n_weights); the bias is not among them."""
    varying = [
        len(np.unique(own[weight > 0])) > 1 for own in codes
    ]  # columns that have more than one bin
    scale = 1 / np.sqrt(max(1, sum(varying)))
    blocks = []
    for own, width, ordered in zip(codes, n_bins, n_ordered, strict=True):
        for step in range(ordered - 1):
            sign = np.where(own > step, 1.0, -1.0) * (own < ordered)
            blocks.append(scale * sign / np.sqrt(ordered - 1))
        blocks.extend(scale * (own == bin) for bin in range(ordered, width))
    return np.column_stack(blocks)


def losses(margin, loss):
    """Loss and its slope at margins."""
    if loss == "squared_hinge":
        lack = np.maximum(0, 1 - margin)
        return lack**2, -2 * lack
    return np.logaddexp(0, -margin), -1 / (1 + np.exp(margin))


def objectives(code, y, bounds, loss, coef):
    """Primal and dual objective; the duals are the slopes of the losses."""
    penalty = np.append(np.ones(code.shape[1]), BIAS_PENALTY)
    code = np.column_stack([code, np.ones(len(code))])
    value, slope = losses(y * (code @ coef), loss)
    primal = penalty @ coef**2 / 2 + bounds @ value
    duals = -bounds * slope
    image = code.T @ (duals * y)
    share = duals / bounds
    if loss == "squared_hinge":
        conjugate = bounds * (share**2 / 4 - share)
    else:
        rest = 1 - share
        conjugate = bounds * (
            share * np.log(np.where(share > 0, share, 1))
            + rest * np.log(np.where(rest > 0, rest, 1))
        )
    dual = -(image**2 / penalty).sum() / 2 - conjugate.sum()
    return primal, dual


def solve(code, y, bounds, loss):
    """Weights of the code and bias that minimise the primal objective."""
    penalty = np.append(np.ones(code.shape[1]), BIAS_PENALTY)
    wide = np.column_stack([code, np.ones(len(code))])

    def primal(coef):
        value, slope = losses(y * (wide @ coef), loss)
        gradient = penalty * coef + wide.T @ (bounds * slope * y)
        return penalty @ coef**2 / 2 + bounds @ value, gradient

    options = {"maxiter": 20_000, "maxfun": 100_000, "ftol": 1e-15, "gtol": 1e-10}
    return minimize(
        primal, np.zeros(len(penalty)), jac=True, method="L-BFGS-B", options=options
    ).x
