"""The record of each party behind a shared summary."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from localsvm.federated._protection._levels import PrivacyLevel, level_from_plain

_LONGEST_NAME = 200
_FIELDS = {
    "name",
    "privacy",
    "promise",
    "is_guarantee",
    "parameters",
    "rows",
    "dropped_rows",
    "dropped_share",
    "accounting",
    "weight_factor",
}
_LONGEST_SHOWN = 60


@dataclass(frozen=True)
class PartyRecord:
    """What a party says of its share in a summary, all of which leaves with it.

    Parameters
    ----------
    name : str
        Of the party; printable.
    privacy : level of privacy
        With ``name``, ``promise``, ``is_guarantee`` and ``parameters()``.
    rows : float
        Rows behind the clusters, as released: rounded or noisy as the level asks.
    dropped_rows, dropped_share : float or None
        Rows that are in no cluster, rounded, and their share of all rows. None where
        that is not known.
    accounting : dict of str to float
        State of the party's ledger after this release.
    weight_factor : float, default=1.0
        What the weights were multiplied by to keep this party below its largest share.

    Examples
    --------
    >>> from localsvm.federated import PartyRecord, min_size
    >>> PartyRecord("clinic", min_size(), rows=250.0).privacy.is_guarantee
    False
    """

    name: str
    privacy: PrivacyLevel
    rows: float
    dropped_rows: float | None = None
    dropped_share: float | None = None
    accounting: Mapping[str, float] = field(default_factory=dict)
    weight_factor: float = 1.0

    def __post_init__(self) -> None:
        check_name(self.name)
        if not isinstance(self.privacy, PrivacyLevel):
            raise ValueError(
                f"privacy must be what none(), min_size() or dp() returns. Got "
                f"{self.privacy!r:.60} instead."
            )
        _check_number("rows", self.rows, 0.0)
        for name in ("dropped_rows", "dropped_share"):
            if getattr(self, name) is not None:
                _check_number(name, getattr(self, name), 0.0)
        _check_number("weight_factor", self.weight_factor, 0.0, 1.0)
        _check_accounting(self.accounting)

    def describe(self) -> str:
        """Say what leaves of this party.

        Returns
        -------
        str
            Several lines.
        """
        level = self.privacy
        kind = "a formal guarantee" if level.is_guarantee else "not a formal guarantee"
        lines = [f"{self.name}: {self.rows:.6g} rows, privacy {level.name}, {kind}"]
        if self.dropped_rows:
            share = self.dropped_share or 0.0
            lines.append(f"about {self.dropped_rows:g} rows ({share:.1%}) left out")
        if self.weight_factor < 1:
            lines.append(f"weights times {self.weight_factor:.4g} to limit its share")
        lines.append(level.promise)
        for title, values in (
            ("parameters", level.parameters()),
            ("accounts", self.accounting),
        ):
            if values:
                lines.append(f"{title}: " + _shown(values))
        return "\n  ".join(lines)

    def to_plain(self) -> dict[str, Any]:
        """Content as JSON can hold it.

        Returns
        -------
        dict
        """
        return {
            "name": self.name,
            "privacy": self.privacy.name,
            "promise": self.privacy.promise,
            "is_guarantee": self.privacy.is_guarantee,
            "parameters": self.privacy.parameters(),
            "rows": self.rows,
            "dropped_rows": self.dropped_rows,
            "dropped_share": self.dropped_share,
            "accounting": dict(self.accounting),
            "weight_factor": self.weight_factor,
        }

    @classmethod
    def from_plain(cls, plain: Any) -> PartyRecord:
        """Record from what :meth:`to_plain` gave.

        The promise is that of the level as this library knows it, whatever the file
        says.

        Parameters
        ----------
        plain : dict
            Possibly of a stranger.

        Returns
        -------
        PartyRecord
        """
        if not isinstance(plain, dict) or set(plain) != _FIELDS:
            raise ValueError(
                f"the record of a party is {plain!r:.60}; expected the fields "
                f"{', '.join(sorted(_FIELDS))}."
            )
        level = level_from_plain(plain["privacy"], plain["parameters"])
        if plain["is_guarantee"] is not level.is_guarantee:
            raise ValueError(
                f"the record of a party has is_guarantee = "
                f"{plain['is_guarantee']!r:.40}; expected {level.is_guarantee} for "
                f"{level.name}."
            )
        others = ("name", "rows", "dropped_rows", "dropped_share", "accounting")
        return cls(
            privacy=level,
            weight_factor=plain["weight_factor"],
            **{name: plain[name] for name in others},
        )


def check_name(name: Any) -> None:
    """Raise a ValueError unless a party's name is text that can be printed."""
    if (
        not isinstance(name, str)
        or not 0 < len(name) <= _LONGEST_NAME
        or not name.isprintable()
    ):
        raise ValueError(
            f"The name of a party must be printable text of 1 to {_LONGEST_NAME} "
            f"characters. Got {name!r:.60} instead."
        )


def _check_number(name: str, value: Any, low: float, high: float = math.inf) -> None:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ValueError(f"{name} must be a number. Got {value!r:.40} instead.")
    if not (math.isfinite(value) and low <= value <= high):
        raise ValueError(
            f"{name} must be finite and from {low:g} to {high:g}. Got {value!r:.40} "
            "instead."
        )


def _check_accounting(accounting: Any) -> None:
    if not isinstance(accounting, Mapping):
        raise ValueError(f"accounting must be a dict. Got {accounting!r:.40} instead.")
    for name, value in accounting.items():
        if not isinstance(name, str) or not name.isprintable():
            raise ValueError(f"accounting has the entry {name!r:.40}; expected a word.")
        _check_number(f"accounting {name!r:.40}", value, 0.0)


def _shown(values: Mapping[str, Any]) -> str:
    parts = []
    for name, value in values.items():
        text = f"{value:.6g}" if isinstance(value, float) else str(value)
        if len(text) > _LONGEST_SHOWN:
            text = text[: _LONGEST_SHOWN - 3] + "..."
        parts.append(f"{name} = {text}")
    return ", ".join(parts)
