"""Columns of free text: hashed character n-grams, projected to a few numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import HashingVectorizer

from localsvm._threads import single_threaded_libraries
from localsvm.data._columns._blocks import Block, DenseBlock
from localsvm.data._columns._column import Column, DroppedColumn, LearningOptions
from localsvm.data._columns._numbers import with_indicator
from localsvm.data._columns._values import factorize

_N_BUCKETS = 2**12
_SHORTEST = 2
_LONGEST = 4
_MOST_TEXTS = 20_000
_LEAST_SHARE = 1e-6


@dataclass(frozen=True, eq=False)
class TextColumn(Column):
    """A column of free text: ``(counts @ components.T - center) / scale``.

    The counts are those of scikit-learn's ``HashingVectorizer`` with lower-case
    character n-grams within words, scaled to norm 1. The features of a missing value
    are 0.

    Parameters
    ----------
    name : str
        Name of the column; the features are ``NAME:text0`` and so on.
    shortest, longest : int
        Least and most characters of an n-gram.
    components : ndarray of float32 of shape (n_components, n_buckets)
        Leading right singular vectors of the counts of the distinct texts.
    center : ndarray of float64 of shape (n_components,)
        Mean of the projected texts.
    scale : float
        Root of the sum of their variances: the column weighs as much as a number.
    indicator : bool
        Whether values were missing at ``fit``: the last feature, ``NAME=(missing)``,
        is then 1 where a value is missing.
    """

    kind = "text"

    shortest: int
    longest: int
    components: NDArray[np.float32]
    center: NDArray[np.float64]
    scale: float
    indicator: bool

    @property
    def suffixes(self) -> tuple[str, ...]:
        """What follows the name of the column in the name of each feature."""
        texts = [f":text{number}" for number in range(len(self.components))]
        return (*texts, *["=(missing)"] * self.indicator)

    def encode(self, values: Any) -> Block:
        """Features of any values, those that are no strings being written as such."""
        codes, labels = factorize(self.name, values)
        n_buckets = self.components.shape[1]
        counts = _counts(labels, self.shortest, self.longest, n_buckets)
        projected = counts @ self.components.T.astype(np.float64)
        scaled = (projected - self.center) / self.scale
        scaled = np.vstack([scaled, np.zeros(len(self.center))])[codes]
        return DenseBlock(with_indicator([scaled], codes < 0, self.indicator))

    @classmethod
    def learn(
        cls, name: str, values: Any, options: LearningOptions
    ) -> TextColumn | DroppedColumn:
        """Find the leading singular vectors of the distinct texts, at most 20,000."""
        codes, labels = factorize(name, values)
        if not labels:
            return DroppedColumn(name, "empty")
        codes, labels = _sorted(codes, labels)
        counts = _counts(labels, _SHORTEST, _LONGEST, _N_BUCKETS)
        components = _singular_vectors(counts, options.text_components)
        projected = counts @ components.T.astype(np.float64)
        there = codes[codes >= 0]
        share = np.bincount(there, minlength=len(labels)) / len(there)
        center = share @ projected
        scale = float(np.sqrt((share @ (projected - center) ** 2).sum()))
        if not scale > 0:
            return DroppedColumn(name, "constant")
        indicator = bool((codes < 0).any())
        return cls(name, _SHORTEST, _LONGEST, components, center, scale, indicator)


def _sorted(
    codes: NDArray[np.intp], labels: list[str]
) -> tuple[NDArray[np.intp], list[str]]:
    """Put texts in alphabetical order, so that the order of the rows does not matter.

    Singular vectors of texts in another order differ in signs, or in more where several
    are equally strong.
    """
    order = sorted(range(len(labels)), key=labels.__getitem__)
    place = np.empty(len(labels) + 1, dtype=np.intp)
    place[order] = np.arange(len(labels))
    place[-1] = -1
    return place[codes], [labels[j] for j in order]


def _counts(labels: list[str], shortest: int, longest: int, n_buckets: int) -> Any:
    vectorizer = HashingVectorizer(
        analyzer="char_wb",
        ngram_range=(shortest, longest),
        n_features=n_buckets,
        alternate_sign=False,
    )
    return vectorizer.transform(labels or [""])[: len(labels)]


def _singular_vectors(counts: Any, n_components: int) -> NDArray[np.float32]:
    if counts.shape[0] > _MOST_TEXTS:
        chosen = np.random.default_rng(0).choice(
            counts.shape[0], _MOST_TEXTS, replace=False
        )
        counts = counts[np.sort(chosen)]
    svd = TruncatedSVD(min(n_components, counts.shape[0]), random_state=0)
    # Texts that are all alike have no variance of which to take a share.
    with single_threaded_libraries(), np.errstate(invalid="ignore"):
        svd.fit(counts)
    strong = svd.singular_values_ > _LEAST_SHARE * svd.singular_values_[0]
    return np.asarray(svd.components_[strong], dtype=np.float32)
