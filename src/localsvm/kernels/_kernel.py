"""Linear, polynomial and RBF kernels."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import factorial
from sklearn.metrics.pairwise import linear_kernel, polynomial_kernel, rbf_kernel
from sklearn.preprocessing import PolynomialFeatures
from sklearn.utils.extmath import row_norms

from localsvm import _core

# Of the logarithm of a kernel value.
_LARGEST_ERROR = 1e-5

_KINDS = {
    "linear": _core.KernelKind.linear,
    "poly": _core.KernelKind.polynomial,
    "rbf": _core.KernelKind.rbf,
}


@dataclass(frozen=True)
class Kernel:
    r"""A kernel with its parameters, named as in :class:`~sklearn.svm.SVC`.

    Parameters
    ----------
    name : {"linear", "poly", "rbf"}
        :math:`x \cdot z`, :math:`(\gamma\, x \cdot z + c_0)^p` or
        :math:`\exp(-\gamma \|x - z\|^2)`.
    gamma : float, default=1.0
    degree : int, default=3
        The power p of the polynomial.
    coef0 : float, default=0.0
        The constant of the polynomial; 0 makes it homogeneous.

    Examples
    --------
    >>> from localsvm.kernels import Kernel
    >>> Kernel("poly", degree=2, coef0=1.0)([[1.0, 2.0]], [[3.0, 4.0]]).item()
    144.0
    """

    name: str
    gamma: float = 1.0
    degree: int = 3
    coef0: float = 0.0

    def __call__(self, X: Any, Z: Any) -> NDArray[Any]:
        """Kernel values of every row of X with every row of Z, by BLAS."""
        if self.name == "linear":
            values = linear_kernel(X, Z, dense_output=True)
        elif self.name == "poly":
            values = polynomial_kernel(X, Z, self.degree, self.gamma, self.coef0)
        else:
            values = rbf_kernel(X, Z, self.gamma)
        return np.asarray(values)

    def compare_with(
        self, Z: NDArray[Any], gamma: float
    ) -> Callable[[NDArray[Any]], NDArray[Any]]:
        """Prepare the values of blocks of rows with fixed ones, in their dtype.

        ``gamma`` takes the place of the kernel's own. Distances are taken from products
        of rows that are centred on Z; in float64 where float32 would lose too much of
        them to cancellation.
        """
        if self.name != "rbf":
            return replace(self, gamma=gamma)._products_with(Z)
        center = Z.mean(axis=0, dtype=np.float64).astype(Z.dtype)
        shifted = Z - center
        farthest = float(row_norms(shifted, squared=True).max(initial=0.0))
        narrow = _distances_from(shifted, gamma)

        def compare(X: NDArray[Any]) -> NDArray[Any]:
            moved = X - center
            norms = row_norms(moved, squared=True)
            reach = farthest + float(norms.max(initial=0.0))
            if gamma * reach * np.finfo(Z.dtype).eps < _LARGEST_ERROR:
                values = narrow(moved, norms)
            else:
                moved = moved.astype(np.float64)
                wide = _distances_from(shifted.astype(np.float64), gamma)
                values = wide(moved, row_norms(moved, squared=True))
            np.minimum(values, 0, out=values)
            return np.asarray(np.exp(values, out=values), dtype=Z.dtype)

        return compare

    def _products_with(self, Z: NDArray[Any]) -> Callable[[NDArray[Any]], NDArray[Any]]:
        if self.name == "linear":
            return lambda X: np.asarray(X @ Z.T)
        return lambda X: np.asarray(
            (self.gamma * (X @ Z.T) + self.coef0) ** self.degree
        )

    def weighted_gradient(
        self, X: Any, Z: Any, weights: NDArray[np.float64], gamma: float
    ) -> NDArray[np.float64]:
        """Gradient by x of ``sum_j weights[j] K(x, z_j)``, at each row of X.

        ``gamma`` takes the place of the kernel's own.
        """
        if self.name == "linear":
            return np.tile(weights @ Z, (X.shape[0], 1))
        if self.name == "rbf":
            shares = replace(self, gamma=gamma)(X, Z) * weights
            toward = shares @ Z - X * shares.sum(axis=1, keepdims=True)
            return np.asarray(2 * gamma * toward)
        base = gamma * (X @ Z.T) + self.coef0
        slope = base ** (self.degree - 1) * weights
        return np.asarray(self.degree * gamma * (slope @ Z))

    def diagonal(self, X: Any) -> NDArray[Any]:
        """Kernel value of each row with itself."""
        if self.name == "rbf":
            return np.ones(X.shape[0], dtype=X.dtype)
        squared = np.asarray(row_norms(X, squared=True))
        if self.name == "linear":
            return squared
        return np.asarray((self.gamma * squared + self.coef0) ** self.degree)

    def n_explicit_features(self, n_columns: int) -> int:
        """Count the features of :meth:`features`; 0 if there is no such finite map."""
        if self.name == "rbf" or self.coef0 < 0:
            return 0
        degree = 1 if self.name == "linear" else self.degree
        at_most = math.comb(n_columns + degree, degree) - 1
        if self.name == "poly" and self.coef0 > 0:
            return at_most
        return at_most + 1 - math.comb(n_columns + degree - 1, degree - 1)

    def features(self, X: Any) -> NDArray[np.float64]:
        r"""Map rows to where the Euclidean distance is that of the kernel.

        A product of powers :math:`x^e`, :math:`|e| = q`, has the weight

        .. math:: \sqrt{\frac{p!}{e!\,(p - q)!} \gamma^q c_0^{p - q}}

        The constant feature is left out. For a kernel with ``n_explicit_features``.
        """
        X = X.toarray() if sparse.issparse(X) else np.asarray(X)
        if self.name == "linear":
            return np.asarray(X, dtype=np.float64)
        products = PolynomialFeatures(self.degree, include_bias=False).fit(X)
        powers = products.powers_
        order = powers.sum(axis=1)
        rest = self.degree - order
        weight = factorial(self.degree) * self.gamma**order * self.coef0**rest
        weight = weight / (factorial(powers).prod(axis=1) * factorial(rest))
        used = np.flatnonzero(weight)
        mapped = products.transform(X.astype(np.float64))[:, used]
        return np.asarray(mapped * np.sqrt(weight[used]))

    @property
    def keeps_euclidean_order(self) -> bool:
        """Whether neighbours in feature space are the Euclidean neighbours."""
        return self.name != "poly" or self.degree == 1

    def to_core(self) -> _core.Kernel:
        """Give the kernel as the core takes it."""
        return _core.Kernel(
            kind=_KINDS[self.name],
            gamma=self.gamma,
            coef0=self.coef0,
            degree=self.degree,
        )


def _distances_from(
    Z: NDArray[Any], gamma: float
) -> Callable[[NDArray[Any], NDArray[Any]], NDArray[Any]]:
    """Prepare -gamma times the squared distances of rows, with their norms, to Z."""
    slope = np.ascontiguousarray(2 * gamma * Z.T, dtype=Z.dtype)
    offset = (-gamma * row_norms(Z, squared=True)).astype(Z.dtype)

    def compare(X: NDArray[Any], norms: NDArray[Any]) -> NDArray[Any]:
        values = X @ slope
        values += offset
        values -= (gamma * norms).astype(Z.dtype)[:, np.newaxis]
        return np.asarray(values)

    return compare


def scale_gamma(X: Any, weight: NDArray[np.float64], within: float = 0.0) -> float:
    """``gamma="scale"`` of scikit-learn, 1 / (n_features * X.var()), with weights.

    Where the rows of X are means of clusters, ``within`` is the sum of their variances
    over the columns, on average over the rows behind them.
    """
    mean, total = entry_moments(X, weight)
    return gamma_of_moments(mean, total + within, X.shape[1])


def entry_moments(X: Any, weight: NDArray[np.float64]) -> tuple[float, float]:
    """Mean of all entries, and mean over the rows of their squared distance to it."""
    share = weight / weight.sum()
    columns = X.shape[1]
    mean = float((share @ X).sum()) / columns
    if sparse.issparse(X):
        stored = np.diff(X.indptr)
        squares = np.square(X.data - mean, dtype=np.float64)
        total = np.repeat(share, stored) @ squares + share @ (columns - stored) * (
            mean * mean
        )
    else:
        total = share @ np.square(X - mean, dtype=np.float64).sum(axis=1)
    return mean, float(total)


def gamma_of_moments(mean: float, total: float, columns: int) -> float:
    """``gamma="scale"`` of rows with the moments of :func:`entry_moments`."""
    # Equal entries leave a rounding of their mean.
    rounding = 1e-14 * mean
    constant = total <= columns * (rounding * rounding)  # a power may overflow
    return 1.0 if constant else 1.0 / total
