"""Shared summaries of several parties put together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from localsvm._checks import real
from localsvm.cluster import GaussianSummary
from localsvm.exceptions import DataError
from localsvm.federated._sharing._labels import label_type
from localsvm.federated._sharing._shared import SharedSummary


def merge(
    summaries: Sequence[SharedSummary], *, max_share: float | None = None
) -> SharedSummary:
    """Put the summaries of several parties together.

    Weights count rows, so each cluster's prior becomes that of Eq. 15 of Li et al.
    (2007). If all parties have the same centres, clusters of the same class and cell
    are joined as if their rows had been in one place; otherwise clusters stand side by
    side.

    Parameters
    ----------
    summaries : sequence of SharedSummary
        Of different parties, in any order: it does not change a bit of the result.
    max_share : float or None, default=None
        Largest share of the total weight that a party may have, against one that claims
        to have more rows than it has. Weights of parties above it are lowered until
        each has just this share, which is written in its record. At least one over the
        number of parties; each summary must be of one party then.

    Returns
    -------
    SharedSummary
        With the records of all parties, by name.

    Notes
    -----
    O(K d) for K clusters in all, O(K d²) with full covariances, and sorting.

    Examples
    --------
    >>> from localsvm.data import make_two_spirals
    >>> from localsvm.federated import Party, merge, none, random_centers
    >>> X, y = make_two_spirals(1000, random_state=0)
    >>> centers = random_centers((-1.0, 1.0), 20, n_features=2)
    >>> parts = [
    ...     Party(name, centers=centers).summarize(X[rows], y[rows], none())
    ...     for name, rows in (("a", slice(0, 100)), ("b", slice(100, 1000)))
    ... ]
    >>> merge(parts).summary.weight.sum().item()
    1000.0
    >>> fair = merge(parts, max_share=0.5)
    >>> [record.weight_factor for record in fair.parties]
    [1.0, 0.1111111111111111]
    """
    parts = sorted(summaries, key=lambda shared: [r.name for r in shared.parties])
    if not parts:
        raise DataError("Got no summary to merge; expected at least one.")
    _check_distinct(parts)
    for other in parts[1:]:
        _check_alike(parts[0], other)
    if max_share is not None:
        parts = _limit_shares(parts, max_share)
    records = sorted(
        (record for part in parts for record in part.parties),
        key=lambda record: record.name,
    )
    together = GaussianSummary.concatenated([part.summary for part in parts])
    partition = parts[0].partition
    if partition is None or any(part.partition != partition for part in parts):
        return SharedSummary(together.ordered(), tuple(records))
    cells = np.concatenate([np.asarray(part.cells) for part in parts])
    joined, cells = _join_cells(together, cells)
    return SharedSummary(joined, tuple(records), partition, cells)


def _join_cells(
    summary: GaussianSummary, cells: NDArray[np.int64]
) -> tuple[GaussianSummary, NDArray[np.int64]]:
    _, class_index = np.unique(np.asarray(summary.label), return_inverse=True)
    places, groups = np.unique(
        np.stack([class_index, cells], axis=1), axis=0, return_inverse=True
    )
    return summary.merged(groups.ravel()), places[:, 1].astype(np.int64)


def _limit_shares(
    parts: Sequence[SharedSummary], max_share: float
) -> list[SharedSummary]:
    """Lower the weights of parties so that none has more than its share."""
    allowed = real(0, 1, closed="right")
    if not allowed.holds(max_share):
        raise ValueError(
            f"The 'max_share' parameter of merge must be {allowed.words}. Got "
            f"{max_share!r} instead."
        )
    for part in parts:
        if len(part.parties) > 1:
            raise DataError(
                f"max_share needs one party per summary, but {_names(part)} are in one "
                "already. Merge all parties at once."
            )
    rows = np.array([part.summary.weight.sum() for part in parts])
    factors = share_factors(rows, max_share)
    return [
        part if factor == 1 else _scaled(part, factor)
        for part, factor in zip(parts, factors.tolist(), strict=True)
    ]


def share_factors(rows: NDArray[np.float64], max_share: float) -> NDArray[np.float64]:
    """Factors that leave each party at most its share of the scaled total.

    If the m largest are lowered to s T each and U is what the others have, then
    T = U + m s T. The smallest m for which no other is above s T is taken.
    """
    n_parties = len(rows)
    if max_share * n_parties < 1 - 1e-12:
        raise DataError(
            f"max_share is {max_share:g}, but {n_parties} parties cannot all have less "
            f"than 1/{n_parties} of the total; expected more."
        )
    order = np.argsort(-rows, kind="stable")
    factors = np.ones(n_parties)
    for n_lowered in range(n_parties):
        rest = rows[order[n_lowered:]]
        limit = max_share * rest.sum() / max(1 - n_lowered * max_share, 1e-300)
        if rest[0] <= limit * (1 + 1e-12):
            lowered = order[:n_lowered]
            factors[lowered] = np.minimum(limit / rows[lowered], 1.0)
            break
    return factors


def _scaled(part: SharedSummary, factor: float) -> SharedSummary:
    (record,) = part.parties
    lowered = replace(record, weight_factor=record.weight_factor * factor)
    summary = replace(part.summary, weight=part.summary.weight * factor)
    return replace(part, summary=summary, parties=(lowered,))


def _check_distinct(parts: Sequence[SharedSummary]) -> None:
    seen: set[str] = set()
    for part in parts:
        for record in part.parties:
            if record.name in seen:
                raise DataError(
                    f"The party {record.name!r} is in two of the summaries; its rows "
                    "would count twice."
                )
            seen.add(record.name)


def _check_alike(first: SharedSummary, other: SharedSummary) -> None:
    kinds = (
        ("numbers of columns", lambda part: part.summary.n_features),
        ("names of columns", lambda part: part.summary.feature_names),
        ("kinds of covariance", lambda part: part.summary.covariance_type),
        ("types of class labels", lambda part: label_type(part.summary.label)),
    )
    for words, kind in kinds:
        ours, theirs = kind(first), kind(other)
        if ours != theirs:
            raise DataError(
                f"{_names(first)} and {_names(other)} have different {words}: "
                f"{ours!r:.80} and {theirs!r:.80}."
            )


def _names(part: SharedSummary) -> str:
    return ", ".join(repr(record.name) for record in part.parties)
