"""Linear, polynomial, RBF and Laplace kernels."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import factorial
from sklearn.metrics.pairwise import (
    linear_kernel,
    manhattan_distances,
    polynomial_kernel,
    rbf_kernel,
)
from sklearn.preprocessing import PolynomialFeatures
from sklearn.utils.extmath import row_norms

from localsvm import _core
from localsvm.rows import RowSample, as_rows, stored_as, with_indices

_KINDS = {
    "linear": _core.KernelKind.linear,
    "poly": _core.KernelKind.polynomial,
    "rbf": _core.KernelKind.rbf,
    "laplace": _core.KernelKind.laplace,
}
KERNELS = tuple(_KINDS)
# Factors of gamma whose exponentials the Laplace kernel is the mean of.
_OCTAVES = 2.0 ** np.arange(7)
# The widest of them, in medians of the distances between rows.
_WIDEST = 10.0
# Whose distances are looked at for gamma.
MEDIAN_ROWS = 400


@dataclass(frozen=True)
class Kernel:
    r"""A kernel with its parameters, named as in :class:`~sklearn.svm.SVC`.

    Parameters
    ----------
    name : {"linear", "poly", "rbf", "laplace"}
        :math:`x \cdot z`, :math:`(\gamma\, x \cdot z + c_0)^p`,
        :math:`\exp(-\gamma \|x - z\|^2)` or
        :math:`\frac17 \sum_{s=0}^6 \exp(-2^s \gamma \|x - z\|_1)`.
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

    Notes
    -----
    The Laplace kernel sums seven widths, each half the one before: there is no width to
    choose but the widest, which may be off by a factor of two or three without harm. It
    costs one exponential and six squarings. Its distances add up column by column, so
    that a column counts by how far rows are apart in it and not by the square of that.
    """

    name: str
    gamma: float = 1.0
    degree: int = 3
    coef0: float = 0.0

    def __call__(self, X: Any, Z: Any) -> NDArray[Any]:
        """Kernel values of every row of X with every row of Z.

        By matrix products; kernels of distances by panels of rows in the core, at half
        the cost if ``Z is X``. Distances of sparse rows are taken from products.
        """
        if self.name == "linear":
            values = linear_kernel(X, Z, dense_output=True)
        elif self.name == "poly":
            values = polynomial_kernel(X, Z, self.degree, self.gamma, self.coef0)
        elif self.name == "rbf" and (sparse.issparse(X) or sparse.issparse(Z)):
            values = rbf_kernel(X, Z, self.gamma)
        else:
            values = _core_values(self, X, Z)
        return np.asarray(values)

    def compare_with(
        self, Z: NDArray[Any], gamma: float
    ) -> Callable[[NDArray[Any]], NDArray[Any]]:
        """Prepare the values of blocks of rows with fixed ones, in their dtype.

        ``gamma`` takes the place of the kernel's own. Distances are sums of
        differences, so they do not suffer where the rows lie far from the origin.
        """
        kernel = replace(self, gamma=gamma)
        if self.of_distances:
            return lambda X: _core_values(kernel, X, Z)
        return kernel._products_with(Z)

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

        ``gamma`` takes the place of the kernel's own. The Laplace kernel has a kink
        where x and z_j are equal in a column; z_j adds nothing to the slope along that
        column there, which is the middle of the slopes on both sides.
        """
        if self.name == "laplace":
            return _laplace_gradient(X, Z, weights, gamma)
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
        if self.of_distances:
            return np.ones(X.shape[0], dtype=X.dtype)
        squared = np.asarray(row_norms(X, squared=True))
        if self.name == "linear":
            return squared
        return np.asarray((self.gamma * squared + self.coef0) ** self.degree)

    def n_explicit_features(self, n_columns: int) -> int:
        """Count the features of :meth:`features`; 0 if there is no such finite map."""
        if self.of_distances or self.coef0 < 0:
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
    def of_distances(self) -> bool:
        """Whether it is a function of distances, and 1 at a distance of zero."""
        return self.name in ("rbf", "laplace")

    @property
    def searches_euclidean(self) -> bool:
        """Whether neighbours are searched by their Euclidean distance.

        That is the order of the rows in feature space, but for the Laplace kernel: its
        order is that of absolute distances. The Euclidean neighbours, which trees and
        matrix products find, take the place of those.
        """
        return self.name != "poly" or self.degree == 1

    def to_core(self) -> _core.Kernel:
        """Give the kernel as the core takes it."""
        return _core.Kernel(
            kind=_KINDS[self.name],
            gamma=self.gamma,
            coef0=self.coef0,
            degree=self.degree,
        )


def _core_values(kernel: Kernel, X: Any, Z: Any) -> NDArray[Any]:
    """Kernel values of all pairs of rows, computed by the core."""
    targets = _as_stored(Z)
    queries = targets if X is Z else stored_as(_as_stored(X), targets)
    values: Any = np.empty((queries.shape[0], targets.shape[0]), dtype=targets.dtype)
    view: Any = as_rows(targets)
    _core.kernel_values(as_rows(queries), view, kernel.to_core(), values)
    return np.asarray(values)


def _as_stored(X: Any) -> Any:
    """Rows as the core takes them: C-ordered or canonical CSR, of two types."""
    wide = getattr(X, "dtype", None) != np.float32
    dtype = np.dtype(np.float64 if wide else np.float32)
    if not sparse.issparse(X):
        return np.ascontiguousarray(X, dtype=dtype)
    rows = sparse.csr_array(X, dtype=dtype)
    if not rows.has_canonical_format:
        rows = rows.copy()
        rows.sum_duplicates()
    return rows


def _laplace_gradient(
    X: NDArray[Any], Z: NDArray[Any], weights: NDArray[np.float64], gamma: float
) -> NDArray[np.float64]:
    """Gradient by x of weighted values of the Laplace kernel, at each row of X."""
    base = -gamma * manhattan_distances(X, Z)
    slopes = sum(octave * np.exp(octave * base) for octave in _OCTAVES)
    slopes = -gamma / len(_OCTAVES) * slopes * weights
    gradient = np.empty(X.shape)
    for column in range(X.shape[1]):
        sides = np.sign(X[:, column, np.newaxis] - Z[:, column])
        gradient[:, column] = (slopes * sides).sum(axis=1)
    return gradient


def median_gamma(X: Any, weight: NDArray[np.float64], seed: int = 0) -> float:
    """``gamma="scale"`` of the Laplace kernel: 1 / (10 m).

    m is the median of the positive absolute distances between 400 distinct rows, those
    of the smallest hashes; without any, gamma is 1.
    """
    return gamma_of_sample(RowSample.draw(X, weight, seed, MEDIAN_ROWS).rows)


def gamma_of_sample(rows: Any) -> float:
    """``gamma="scale"`` of the Laplace kernel, of distinct rows in a fixed order."""
    if sparse.issparse(rows):
        # The only indices that scikit-learn compares; so few rows have no others.
        rows = with_indices(rows.copy(), np.int32)
    distances = manhattan_distances(rows, rows)[np.triu_indices(rows.shape[0], 1)]
    distances = distances[distances > 0]
    return 1.0 / (_WIDEST * float(np.median(distances))) if distances.size else 1.0


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
