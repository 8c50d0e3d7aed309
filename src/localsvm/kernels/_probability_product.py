"""Kernels between Gaussians: the probability product and the expected RBF."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from localsvm.kernels._gaussian_overlap import (
    log_overlap,
    overlap_gradient,
    overlap_with,
)


@dataclass(frozen=True)
class Gaussians:
    """Gaussians that share their kind of covariance; without one they are points.

    Parameters
    ----------
    mean : ndarray of shape (n, n_features)
    covariance : ndarray or None, default=None
        Variances of shape (n, n_features), matrices of shape (n, n_features,
        n_features), or None for points.
    prior : ndarray of shape (n,) or None, default=None
        Weight of each, P in the paper; None is one.
    """

    mean: NDArray[np.float64]
    covariance: NDArray[np.float64] | None = None
    prior: NDArray[np.float64] | None = None

    @property
    def log_prior(self) -> NDArray[np.float64]:
        """Logarithm of the prior."""
        if self.prior is None:
            return np.zeros(len(self.mean))
        return np.asarray(np.log(self.prior))

    def take(self, index: Any) -> Gaussians:
        """Part of the Gaussians.

        Parameters
        ----------
        index : ndarray or slice

        Returns
        -------
        Gaussians
        """
        return Gaussians(
            self.mean[index],
            None if self.covariance is None else self.covariance[index],
            None if self.prior is None else self.prior[index],
        )


def probability_product(
    first: Gaussians, second: Gaussians | None = None, *, log: bool = False
) -> NDArray[np.float64]:
    r"""Probability product kernel, Eq. 6 (full) and Eq. 8 (diagonal).

    .. math::

        \kappa(k, l) = P_k P_l \int p_k(x)\, p_l(x)\, dx
                     = P_k P_l\, N(\mu_k; \mu_l, \Sigma_k + \Sigma_l)

    Parameters
    ----------
    first : Gaussians
    second : Gaussians or None, default=None
        None compares the first with themselves.
    log : bool, default=False
        Whether to return logarithms: in many dimensions the values themselves leave
        the range of floating point numbers.

    Returns
    -------
    values : ndarray of shape (n_first, n_second)

    Notes
    -----
    O(n_first n_second d) for diagonal covariances, by matrix products if one side are
    points; times d² for full ones, times d if one side are points.

    Eq. 6 is printed with an inverse too many: the matrix between the
    :math:`\tilde\mu` is :math:`(\Sigma_k^{-1} + \Sigma_l^{-1})^{-1}` itself. The form
    above needs no inverse of a single covariance. Eq. 12 is the case of a point with
    prior one.

    References
    ----------
    B. Li, M. Chi, J. Fan, X. Xue. Support cluster machine. ICML 2007.

    T. Jebara, R. Kondor, A. Howard. Probability product kernels. JMLR 5, 2004.

    Examples
    --------
    >>> import numpy as np
    >>> from localsvm.kernels import Gaussians, probability_product
    >>> standard = Gaussians(np.zeros((1, 1)), np.ones((1, 1)))
    >>> probability_product(standard).round(6).item()  # N(0; 0, 2)
    0.282095
    """
    other = first if second is None else second
    values = log_overlap(_parts(first), None if second is None else _parts(second), 0.0)
    values += first.log_prior[:, np.newaxis] + other.log_prior
    return values if log else np.exp(values, out=values)


def expected_rbf(
    first: Gaussians, second: Gaussians | None = None, *, gamma: float
) -> NDArray[np.float64]:
    r"""RBF kernel of two independent draws from Gaussians, on average.

    .. math::

        k(k, l) = E \exp(-\gamma \|u - v\|^2)
                = (2 \pi A)^{d/2} N(\mu_k; \mu_l, \Sigma_k + \Sigma_l + A I),
        \quad A = \frac{1}{2 \gamma}

    It is the probability product of Gaussians that are smoothed alike, by A / 2 on each
    side, without priors and constants. Positive definite, between 0 and 1, and the RBF
    kernel itself between points.

    Parameters
    ----------
    first : Gaussians
        Priors play no part.
    second : Gaussians or None, default=None
        None compares the first with themselves.
    gamma : float

    Returns
    -------
    values : ndarray of shape (n_first, n_second)

    Examples
    --------
    >>> import numpy as np
    >>> from localsvm.kernels import Gaussians, expected_rbf
    >>> points = Gaussians(np.array([[0.0], [1.0]]))
    >>> expected_rbf(points, gamma=1.0).round(4).tolist()
    [[1.0, 0.3679], [0.3679, 1.0]]
    """
    form = ClusterKernel("expected_rbf", gamma)
    if second is None:
        return form.gram(first)[0]
    values = log_overlap(_parts(first), _parts(second), form.width)
    values += form.constant(first.mean.shape[1])
    return np.exp(np.minimum(values, 0.0))


@dataclass(frozen=True)
class ClusterKernel:
    r"""The kernel of the Support Cluster Machine, in one of its forms.

    Parameters
    ----------
    form : {"expected_rbf", "paper"}
        "paper" is the probability product with priors; clusters are smoothed by
        :math:`\sigma^2 = 1 / (4 \gamma)`, which Theorem 2 takes for a cluster of one
        row, and queries are not (Eq. 12).
    gamma : float
    """

    form: str
    gamma: float

    @property
    def width(self) -> float:
        """What smoothing adds to a sum of two covariances."""
        return 1.0 / (2.0 * self.gamma)

    def constant(self, n_features: int) -> float:
        """Logarithm of the constant that makes a point's value with itself one."""
        return 0.5 * n_features * math.log(2.0 * math.pi * self.width)

    def gram(
        self, clusters: Gaussians, n_jobs: int | None = None
    ) -> tuple[NDArray[np.float64], float]:
        """Kernel matrix of clusters and the logarithm of the factor taken out of it.

        The probability product spans thousands of orders of magnitude in many
        dimensions, so its matrix is divided by its largest entry.
        """
        values = log_overlap(_parts(clusters), None, self.width, n_jobs)
        if self.form == "expected_rbf":
            log_scale = -self.constant(clusters.mean.shape[1])
        else:
            values += clusters.log_prior[:, np.newaxis] + clusters.log_prior
            log_scale = float(values.max())
        values -= log_scale
        # Rounding may lift the value of a point with itself above one.
        np.minimum(values, 0.0, out=values)
        return np.exp(values, out=values), log_scale

    def compare_with(
        self, clusters: Gaussians, log_scale: float, dtype: type
    ) -> Callable[[NDArray[Any]], NDArray[Any]]:
        """Prepare the values of blocks of query rows with fixed clusters, in dtype.

        The paper's form takes float64, and does not overflow there: values that leave
        no room for their sums, which unsmoothed queries can reach, are cut off.
        """
        compare = self.log_compare_with(clusters, log_scale, dtype)

        def values(X: NDArray[Any]) -> NDArray[Any]:
            logs = compare(X)
            return np.asarray(np.exp(logs, out=logs))

        return values

    def log_compare_with(
        self, clusters: Gaussians, log_scale: float, dtype: type
    ) -> Callable[[NDArray[Any]], NDArray[Any]]:
        """Prepare the logarithms of what :meth:`compare_with` gives."""
        dtype = dtype if self._smooths_queries else np.float64
        offset = -log_scale + (0.0 if self._smooths_queries else clusters.log_prior)
        compare = overlap_with(*_parts(clusters), self._query_width, offset, dtype)
        highest = 0.0 if self._smooths_queries else 0.9 * math.log(np.finfo(dtype).max)

        def values(X: NDArray[Any]) -> NDArray[Any]:
            logs = compare(X)
            return np.asarray(np.minimum(logs, highest, out=logs))

        return values

    def weighted_gradient(
        self,
        X: NDArray[np.float64],
        clusters: Gaussians,
        log_scale: float,
        weights: NDArray[np.float64],
    ) -> NDArray[np.float64]:
        """Gradient by x of ``sum_k weights[t, k] K(x, k)``, at each row of X.

        Returns an array of shape (n_samples, n_tasks, n_features). Costs O(n K d) for
        each task, times d with full covariances.
        """
        values = self.compare_with(clusters, log_scale, np.float64)(X)
        shares = values[:, np.newaxis, :] * weights
        return overlap_gradient(*_parts(clusters), self._query_width, shares, X)

    @property
    def _smooths_queries(self) -> bool:
        return self.form == "expected_rbf"

    @property
    def _query_width(self) -> float:
        """What smoothing adds to the covariance of a cluster beside a query."""
        return self.width if self._smooths_queries else self.width / 2


def _parts(
    gaussians: Gaussians,
) -> tuple[NDArray[np.float64], NDArray[np.float64] | None]:
    return gaussians.mean, gaussians.covariance
