"""Summaries that leave a party, with a record of each party."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from localsvm.cluster import GaussianSummary
from localsvm.exceptions import DataError
from localsvm.federated._sharing._labels import plain_labels
from localsvm.federated._sharing._records import PartyRecord
from localsvm.federated._sharing._shared_file import read_shared, write_shared

_MOST_SHOWN = 10


@dataclass(frozen=True, eq=False, repr=False)
class SharedSummary:
    """Clusters of one or several parties: all that leaves, and nothing else.

    Plain data, made by :meth:`Party.summarize` and :func:`merge`. Print it before it is
    sent: the text says what is in it and how far it protects whom.

    Parameters
    ----------
    summary : GaussianSummary
        Clusters with labels. Weights count rows, so a cluster's share of their sum is
        its prior (Li et al. 2007, Eq. 15).
    parties : sequence of PartyRecord
        Who is behind the clusters, with level of privacy and accounts.
    partition : str or None, default=None
        Digest of the centres whose cells these clusters are, if they are.
    cells : array-like of shape (n_clusters,) or None, default=None
        Number of each cluster's cell, if there is a partition.

    See Also
    --------
    Party : Makes one of rows.
    merge : Makes one of several.

    Notes
    -----
    The file is a line of text, a header in JSON and raw arrays, so that it can be
    looked at without this library; :meth:`load` checks everything, runs no code and
    takes no more memory than the file is long. It is neither signed nor encrypted: send
    it by a way that is.

    Examples
    --------
    >>> from localsvm.federated import Party
    >>> from localsvm.data import make_two_spirals
    >>> X, y = make_two_spirals(1000, random_state=0)
    >>> print(Party("clinic", n_clusters=20).summarize(X, y))
    ... # doctest: +ELLIPSIS
    1 party, ... clusters of 2 columns, covariance diag, smallest weight ...
    classes: 0, 1
    clinic: ... rows, privacy min_size, not a formal guarantee
      Statistical disclosure control, not a formal guarantee: ...
      parameters: k = 10, round_to = 5
      accounts: release = 1, max_releases = 1
    """

    summary: GaussianSummary
    parties: tuple[PartyRecord, ...]
    partition: str | None = None
    cells: NDArray[np.int64] | None = None

    def __post_init__(self) -> None:
        if self.summary.label is None:
            raise ValueError("A shared summary needs the label of each cluster.")
        labelled = replace(self.summary, label=plain_labels(self.summary.label))
        object.__setattr__(self, "summary", labelled)
        object.__setattr__(self, "parties", _check_parties(self.parties))
        _check_partition(self)

    def describe(self) -> str:
        """Say what leaves.

        Returns
        -------
        str
            The same as ``str()`` of it.
        """
        summary = self.summary
        parties = (
            "1 party" if len(self.parties) == 1 else f"{len(self.parties)} parties"
        )
        lines = [
            f"{parties}, {summary.n_clusters} clusters of {summary.n_features} columns,"
            f" covariance {summary.covariance_type}, smallest weight "
            f"{summary.weight.min():.6g}",
            f"classes: {_listed(np.unique(np.asarray(summary.label)).tolist())}",
        ]
        if summary.feature_names is not None:
            lines.append(f"columns: {_listed(summary.feature_names)}")
        return "\n".join([*lines, *(record.describe() for record in self.parties)])

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write all of it to a file, which is replaced at once or not at all.

        Parameters
        ----------
        path : path
            File to write.
        """
        write_shared(path, self.summary, self.parties, self.partition, self.cells)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> SharedSummary:
        """Read what :meth:`save` wrote, here or at another party.

        Parameters
        ----------
        path : path

        Returns
        -------
        SharedSummary

        Raises
        ------
        ValueError
            If anything in the file is not as it should be. That a file is well-formed
            says nothing of the truth of its numbers: see ``max_share`` of
            :func:`merge`.
        """
        return read_shared(path, cls)

    def __str__(self) -> str:
        return self.describe()

    def __repr__(self) -> str:
        names = ", ".join(repr(record.name) for record in self.parties)
        return f"SharedSummary({self.summary.n_clusters} clusters of {names})"


def _listed(items: Sequence[Any]) -> str:
    shown = ", ".join(map(repr, items[:_MOST_SHOWN]))
    more = len(items) - _MOST_SHOWN
    return shown if more <= 0 else f"{shown}, and {more} more"


def _check_parties(parties: Sequence[Any]) -> tuple[PartyRecord, ...]:
    records = tuple(parties)
    if not records or not all(isinstance(each, PartyRecord) for each in records):
        raise ValueError("parties must be one or more PartyRecord.")
    name, times = Counter(record.name for record in records).most_common(1)[0]
    if times > 1:
        raise DataError(f"The party {name!r} is there twice.")
    return records


def _check_partition(shared: SharedSummary) -> None:
    if (shared.partition is None) != (shared.cells is None):
        raise ValueError("Give partition and cells together, or neither.")
    if shared.cells is None:
        return
    digest, cells = shared.partition, np.asarray(shared.cells)
    if (
        not isinstance(digest, str)
        or len(digest) != 64
        or not set(digest) <= set("0123456789abcdef")
    ):
        raise ValueError(f"partition is {digest!r:.80}; expected a SHA-256 digest.")
    n_clusters = shared.summary.n_clusters
    if cells.dtype.kind not in "iu" or cells.shape != (n_clusters,):
        raise ValueError(
            f"cells has dtype {cells.dtype} and shape {cells.shape}; expected "
            f"{n_clusters} integers."
        )
    if cells.min() < 0:
        raise ValueError(f"cells contains {cells.min()}; expected numbers from 0.")
    object.__setattr__(shared, "cells", cells.astype(np.int64, copy=False))
