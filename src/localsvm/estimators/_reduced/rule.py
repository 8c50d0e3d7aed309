"""Which rows enter the reduced problem, and what stands for the others."""

from __future__ import annotations

from dataclasses import dataclass, field

from sklearn.base import BaseEstimator

from localsvm._checks import boolean, check_parameters, integer, one_of, real
from localsvm.solvers import KernelOptions


class Reduction(BaseEstimator):
    """How :class:`ReducedSVC` opens clusters.

    Parameters
    ----------
    representative : {"mean", "pseudo_center"}, default="mean"
        What stands for a closed group of rows: the mean of their images, with the sum
        of their bounds, or the row nearest to their mean, as in the paper.
    use_bounds : bool, default=True
        Whether rows far inside the margin stay in groups, too (condition 2); the paper
        leaves only those outside it.
    band : float, default=0.2
        Rows whose margin is within this of one are opened.
    max_passes : int or None, default=None
        Passes after the first SVM. None continues until the solution is exact; the
        paper makes one.

    Examples
    --------
    Algorithm 1 as it is printed:

    >>> from localsvm.estimators import Reduction
    >>> Reduction("pseudo_center", use_bounds=False, band=0.0, max_passes=1)
    Reduction(band=0.0, max_passes=1, representative='pseudo_center',
              use_bounds=False)
    """

    def __init__(
        self,
        representative: str = "mean",
        *,
        use_bounds: bool = True,
        band: float = 0.2,
        max_passes: int | None = None,
    ) -> None:
        self.representative = representative
        self.use_bounds = use_bounds
        self.band = band
        self.max_passes = max_passes

    def _check_parameters(self) -> None:
        check_parameters(
            self,
            representative=one_of("mean", "pseudo_center"),
            use_bounds=boolean(),
            band=real(0, closed="left"),
            max_passes=one_of(None) | integer(0),
        )

    def _rule(self) -> ReductionRule:
        return ReductionRule(
            self.representative, bool(self.use_bounds), self.band, self.max_passes
        )


@dataclass(frozen=True)
class ReductionRule:
    """Values of a :class:`Reduction`, which have been checked.

    Attributes
    ----------
    representative : {"mean", "pseudo_center"}
        What stands for a closed group.
    use_bounds : bool
        Whether rows far inside the margin stay in groups, too (condition 2).
    band : float
        Rows whose margin is within this of one are opened.
    max_passes : int or None
        Passes after the first SVM; None continues until it is that of all rows.
    """

    representative: str = "mean"
    use_bounds: bool = True
    band: float = 0.2
    max_passes: int | None = None

    def with_options(self, tol: float, options: KernelOptions) -> ReductionSettings:
        """Add how exact the solution must be."""
        return ReductionSettings(
            self.representative,
            self.use_bounds,
            self.band,
            self.max_passes,
            tol,
            options,
        )


@dataclass(frozen=True)
class ReductionSettings(ReductionRule):
    """A rule, and how exactly its problems are solved.

    Attributes
    ----------
    tol : float
        Largest violation of the optimality conditions.
    options : KernelOptions
    """

    tol: float = 1e-3
    options: KernelOptions = field(default_factory=KernelOptions)
