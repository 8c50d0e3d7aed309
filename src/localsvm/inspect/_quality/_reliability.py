"""Picture of how often a classifier is right, by how sure it is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_consistent_length

from localsvm.inspect._drawing import COLORS, check_fitted_classifier, take_axes
from localsvm.inspect._labels import LabelCoding
from localsvm.inspect._local_view import leads
from localsvm.inspect._quality._intervals import quantile_of, wilson

_NAME = "ReliabilityDisplay"
_HISTOGRAM_BINS = 30
_CONFIDENCE_LEVEL = 0.95


@dataclass(kw_only=True, eq=False)
class ReliabilityDisplay:
    """Share of right answers by confidence, and how often each confidence occurs.

    Make one with :meth:`from_estimator`; all parameters are kept as attributes.

    Parameters
    ----------
    kind : {"probability", "margin"}
        How the classifier reports how sure it is.
    confidence : ndarray of shape (n_samples,)
        Probability of the predicted class, or its lead over the next class.
    bin_confidence : ndarray of shape (n_bins,)
        Mean confidence of the rows in a bin.
    bin_accuracy : ndarray of shape (n_bins,)
        Share of them that is right.
    bin_counts : ndarray of shape (n_bins,)
        Number of them.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    line_ : ErrorbarContainer
        Accuracy with 95 % intervals (Wilson's).
    ideal_ : Line2D or None
        Where accuracy equals the probability.
    histogram_ : BarContainer
        Rows by confidence, below the line; of margins the last bar has all that are
        larger.

    See Also
    --------
    sklearn.calibration.CalibrationDisplay : The probability of one class.
    sklearn.calibration.CalibratedClassifierCV : Gives a classifier probabilities.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from localsvm import MixtureSVC
    >>> from localsvm.data import make_xor
    >>> from localsvm.inspect import ReliabilityDisplay
    >>> model = MixtureSVC(4, random_state=0).fit(*make_xor(400, random_state=0))
    >>> display = ReliabilityDisplay.from_estimator(model, *make_xor(4000))
    >>> display.kind
    'probability'
    >>> plt.show()  # doctest: +SKIP
    """

    kind: str
    confidence: NDArray[np.float64]
    bin_confidence: NDArray[np.float64]
    bin_accuracy: NDArray[np.float64]
    bin_counts: NDArray[np.intp]

    @property
    def calibration_error(self) -> float | None:
        """Expected calibration error, None for margins.

        The difference between probability and accuracy of a bin, on average over rows.
        """
        if self.kind != "probability":
            return None
        gap = np.abs(self.bin_accuracy - self.bin_confidence)
        return float(np.average(gap, weights=self.bin_counts))

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        kind: str = "auto",
        n_bins: int = 10,
        ax: Any = None,
        **plot_options: Any,
    ) -> Self:
        """Predict rows, compare with their labels, and draw.

        Parameters
        ----------
        estimator : fitted classifier or Pipeline
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            Rows that the model has not seen.
        y : array-like of shape (n_samples,)
        kind : {"auto", "probability", "margin"}, default="auto"
            "probability" needs ``predict_proba``, as ``MixtureSVC`` or a
            :class:`~sklearn.calibration.CalibratedClassifierCV` of any classifier has.
            "margin" is the lead of the predicted class in ``decision_function``, of two
            classes the size of the decision value; it tells whether answers that are
            more clear are more often right, not whether they are as often right as the
            model says. "auto" takes probabilities where there are some.
        n_bins : int, default=10
            Bins of about as many rows each.
        ax : matplotlib Axes, default=None
            None makes a new figure.
        **plot_options : dict
            Passed to :meth:`plot`.

        Returns
        -------
        ReliabilityDisplay
        """
        check_fitted_classifier(estimator, _NAME)
        kind = _check_kind(estimator, kind)
        if n_bins < 1:
            raise ValueError(f"n_bins={n_bins!r} should be >= 1.")
        check_consistent_length(X, y)
        coding = LabelCoding.of(estimator, y)
        hits = coding.encode(estimator.predict(X)) == coding.true
        confidence = _confidence(estimator, X, kind)
        # Bins end between rows, so that equal rows share one.
        edges = np.quantile(confidence, np.linspace(0, 1, n_bins + 1)[1:-1])
        bins = np.searchsorted(edges, confidence, side="right")
        _, place, counts = np.unique(bins, return_inverse=True, return_counts=True)
        return cls(
            kind=kind,
            confidence=confidence,
            bin_confidence=np.bincount(place, confidence) / counts,
            bin_accuracy=np.bincount(place, hits) / counts,
            bin_counts=counts,
        ).plot(ax, **plot_options)

    def plot(
        self,
        ax: Any = None,
        *,
        name: str | None = None,
        line_kw: dict[str, Any] | None = None,
        histogram_kw: dict[str, Any] | None = None,
    ) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            None makes a new figure.
        name : str, default=None
            Of the classifier, for ``ax_.legend()``.
        line_kw, histogram_kw : dict, default=None
            Options of ``ax.errorbar`` and of ``ax.bar``.

        Returns
        -------
        ReliabilityDisplay
        """
        self.ax_ = take_axes(ax, _NAME)
        self.figure_ = self.ax_.figure
        self.ideal_ = self._draw_ideal()
        self.line_ = self._draw_line(name, line_kw or {})
        self.histogram_ = self._draw_histogram(histogram_kw or {})
        words = {
            "probability": "probability of the predicted class",
            "margin": "lead of the predicted class",
        }
        self.ax_.set(xlabel=words[self.kind], ylabel="share that is right")
        self.ax_.set_ylim(0, 1.02)
        return self

    def _draw_ideal(self) -> Any:
        if self.kind != "probability":
            return None
        low = float(self.confidence.min())
        (line,) = self.ax_.plot(
            [low, 1], [low, 1], linestyle=":", color="0.4", label="as probable"
        )
        return line

    def _draw_line(self, name: str | None, options: dict[str, Any]) -> Any:
        low, high = wilson(
            self.bin_accuracy, self.bin_counts, quantile_of(_CONFIDENCE_LEVEL)
        )
        style: dict[str, Any] = {
            "fmt": "o-",
            "color": COLORS[0],
            "capsize": 3,
            "markersize": 4,
            "label": name,
            "zorder": 3,
        }
        away = np.vstack([self.bin_accuracy - low, high - self.bin_accuracy])
        return self.ax_.errorbar(
            self.bin_confidence, self.bin_accuracy, yerr=away, **style | options
        )

    def _draw_histogram(self, options: dict[str, Any]) -> Any:
        """Draw rows by confidence, in the lowest fifth of the picture."""
        shown = self.confidence
        if self.kind == "margin":
            # A few very clear answers would squeeze all others; the last bar has them.
            most = max(np.quantile(shown, 0.99), self.bin_confidence.max())
            shown = np.minimum(shown, most)
        counts, edges = np.histogram(shown, bins=_HISTOGRAM_BINS)
        style: dict[str, Any] = {
            "align": "edge",
            "color": "0.8",
            "zorder": 0,
            "label": f"{len(self.confidence)} rows",
        }
        heights = 0.2 * counts / counts.max()
        return self.ax_.bar(edges[:-1], heights, np.diff(edges), **style | options)


def _check_kind(estimator: Any, kind: str) -> str:
    has_probabilities = hasattr(estimator, "predict_proba")
    if kind == "auto":
        return "probability" if has_probabilities else "margin"
    if kind not in ("probability", "margin"):
        raise ValueError(
            f"kind={kind!r} is not known; expected 'auto', 'probability' or 'margin'."
        )
    needed = "predict_proba" if kind == "probability" else "decision_function"
    if not hasattr(estimator, needed):
        raise ValueError(
            f"kind={kind!r} needs a classifier with {needed}; got "
            f"{type(estimator).__name__}. CalibratedClassifierCV gives probabilities."
        )
    return kind


def _confidence(estimator: Any, X: Any, kind: str) -> NDArray[np.float64]:
    if kind == "probability":
        probabilities = np.asarray(estimator.predict_proba(X), dtype=np.float64)
        return np.asarray(probabilities.max(axis=1))
    scores = np.asarray(estimator.decision_function(X), dtype=np.float64)
    return np.abs(scores) if scores.ndim == 1 else leads(scores)
