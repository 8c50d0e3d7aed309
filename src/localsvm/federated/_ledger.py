"""What a party has released of its rows, and what it may still release."""

from __future__ import annotations

import contextlib
import fcntl
import json
import math
import os
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from localsvm._checks import check_parameters, integer, one_of, real
from localsvm._plain_file import (
    LONGEST_HEADER,
    parse_json,
    prefix_errors,
    replace_file,
)
from localsvm.exceptions import DataError
from localsvm.federated._protection._levels import (
    DifferentialPrivacy,
    PrivacyLevel,
    level_from_plain,
)
from localsvm.federated._protection._noise import epsilon_of
from localsvm.federated._sharing._records import check_name

_FORMAT = "localsvm ledger"
_VERSION = 1
# One lock for all ledgers: entering is short, and copies of a ledger stay possible.
_entering = threading.Lock()


def _renew_lock() -> None:
    """Give a forked process a lock that no thread of its parent holds."""
    global _entering
    _entering = threading.Lock()


os.register_at_fork(after_in_child=_renew_lock)


class LedgerEntry(NamedTuple):
    """One release."""

    party: str
    privacy: PrivacyLevel
    rho: float
    when: str


class Ledger:
    """Releases made of one party's rows, and the budget for more.

    Two releases of the same rows tell more than one: their difference may be a single
    person. A ledger counts the releases of one set of rows, whoever makes them, and
    refuses what goes too far, also if several threads or processes use it at the same
    time. It guards against mistakes, not against a party that wants to cheat: that may
    make a new one.

    Parameters
    ----------
    epsilon, delta : float or None, default=None
        Budget for all releases with :func:`dp` together. None takes that of the first
        such release, so that there is no second.
    max_releases : int, default=1
        Most releases with :func:`min_size`. Two of them can be compared.

    Attributes
    ----------
    entries : tuple of named tuples
        party, privacy, rho and time of each release.

    Notes
    -----
    Losses of releases with noise are added as rho of zero-concentrated differential
    privacy and turned to epsilon at the ledger's delta by OpenDP. Releases with
    :func:`none` are recorded and not limited. After a release without noise a release
    with noise is refused, as its guarantee would be void.

    Examples
    --------
    >>> from localsvm.federated import Ledger, Party, min_size
    >>> from localsvm.data import make_two_spirals
    >>> X, y = make_two_spirals(1000, random_state=0)
    >>> party = Party("clinic", ledger=Ledger())
    >>> shared = party.summarize(X, y, min_size())
    >>> party.summarize(X[1:], y[1:], min_size())  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    localsvm.exceptions.DataError: The ledger has 1 release with min_size ...
    """

    def __init__(
        self,
        epsilon: float | None = None,
        delta: float | None = None,
        max_releases: int = 1,
    ) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.max_releases = max_releases
        check_parameters(
            self,
            epsilon=one_of(None) | real(0),
            delta=one_of(None) | real(0, 1),
            max_releases=integer(1),
        )
        if (epsilon is None) != (delta is None):
            raise ValueError("Give epsilon and delta of a Ledger together, or neither.")
        self.entries: tuple[LedgerEntry, ...] = ()
        self._path: Path | None = None

    def enter(
        self, party: str, privacy: PrivacyLevel, rho: float = 0.0
    ) -> dict[str, float]:
        """Record a release that is about to be made, or refuse it.

        Parameters
        ----------
        party : str
            Name of the party.
        privacy : level of privacy
            Level of the release.
        rho : float, default=0.0
            Loss of a release with noise.

        Returns
        -------
        accounting : dict of str to float
            What the party may say of it.

        Raises
        ------
        ValueError
            If the release would go too far. Nothing is recorded then.
        """
        with _entering, self._file_locked():
            entry = LedgerEntry(party, privacy, rho, datetime.now(UTC).isoformat())
            accounting = self._accounts_with(entry)
            before = self.entries
            self.entries = (*before, entry)
            try:
                if self._path is not None:
                    self._write(self._path)
            except BaseException:
                self.entries = before
                raise
        return accounting

    def spent(self) -> tuple[float, float]:
        """Epsilon and delta of all releases so far, together.

        Returns
        -------
        epsilon, delta : float
            (0, 0) without a release; epsilon is infinite after one without noise.
        """
        if not self.entries:
            return 0.0, 0.0
        noisy = [e for e in self.entries if e.privacy.is_guarantee]
        if len(noisy) < len(self.entries):
            return math.inf, 0.0
        _, delta = self._budget(noisy[0])
        return epsilon_of(sum(entry.rho for entry in noisy), delta), delta

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the ledger to a file, and from now on every entry at once.

        Parameters
        ----------
        path : path
            Must not exist: a new ledger in its place would forget releases. Of several
            processes that save at the same time one succeeds. A symbolic link stays a
            link to the file.

        Raises
        ------
        FileExistsError
            If the file exists; :meth:`load` resumes it.
        """
        target = _real_path(path)
        if target == self._path:
            return  # the file has more entries than this object, if any differ
        with _entering, _locked(target):
            if target.exists():
                raise FileExistsError(
                    f"{os.fspath(path)} exists, and may be the ledger of other "
                    "releases. Use Ledger.load to go on with it."
                )
            self._write(target)
            self._path = target

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Ledger:
        """Go on with a ledger that was saved, and write every entry to that file.

        Several threads and processes may do so at the same time.

        Parameters
        ----------
        path : path

        Returns
        -------
        Ledger
        """
        ledger = _read_ledger(path)
        ledger._path = _real_path(path)
        return ledger

    def _accounts_with(self, new: LedgerEntry) -> dict[str, float]:
        """Accounts after the new entry, unless that goes too far."""
        number = len(self.entries) + 1
        if isinstance(new.privacy, DifferentialPrivacy):
            return {"release": number, **self._noise_accounts(new)}
        if new.privacy.name == "none":
            return {"release": number}
        made = sum(entry.privacy.name == "min_size" for entry in self.entries)
        if made >= self.max_releases:
            raise DataError(
                f"The ledger has {made} release{'s' * (made > 1)} with min_size and "
                f"allows at most {self.max_releases}: the difference of two releases "
                "of the same rows may show single rows. For other rows use another "
                "Party and Ledger."
            )
        return {"release": number, "max_releases": self.max_releases}

    def _noise_accounts(self, new: LedgerEntry) -> dict[str, float]:
        for entry in self.entries:
            if not entry.privacy.is_guarantee:
                raise DataError(
                    f"The ledger has a release with {entry.privacy.name}, without "
                    "noise: differential privacy of a later release of the same rows "
                    "would be void."
                )
        rho = sum(entry.rho for entry in self.entries) + new.rho
        epsilon, delta = self._budget((*self.entries, new)[0])
        total = epsilon_of(rho, delta)
        if total > epsilon:
            raise DataError(
                f"This release would bring the total to epsilon = {total:.4g} at delta "
                f"= {delta:g}, above the ledger's budget of {epsilon:g}. Nothing was "
                "released. Ask for less, or agree on a Ledger with a larger budget "
                "before the first release."
            )
        return {
            "rho": new.rho,
            "total_rho": rho,
            "total_epsilon": total,
            "budget_epsilon": epsilon,
            "budget_delta": delta,
        }

    def _budget(self, first: LedgerEntry) -> tuple[float, float]:
        if self.epsilon is not None and self.delta is not None:
            return self.epsilon, self.delta
        level = first.privacy
        assert isinstance(level, DifferentialPrivacy)
        return level.epsilon, level.delta

    @contextlib.contextmanager
    def _file_locked(self) -> Iterator[None]:
        """Keep other processes out and take over what they have entered."""
        if self._path is None:
            yield
            return
        with _locked(self._path):
            _check_single_name(self._path)
            self.entries = _read_ledger(self._path).entries
            yield

    def _write(self, path: Path) -> None:
        plain = {
            "format": _FORMAT,
            "version": _VERSION,
            "epsilon": self.epsilon,
            "delta": self.delta,
            "max_releases": self.max_releases,
            "entries": [
                {
                    "party": entry.party,
                    "privacy": entry.privacy.name,
                    "parameters": entry.privacy.parameters(),
                    "rho": entry.rho,
                    "when": entry.when,
                }
                for entry in self.entries
            ],
        }
        replace_file(path, [json.dumps(plain, indent=1).encode() + b"\n"])


def _real_path(path: str | os.PathLike[str]) -> Path:
    """Path of the file itself, so that all links to it share one file and one lock."""
    return Path(os.path.realpath(path))


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Keep other processes out."""
    with open(path.with_name(f".{path.name}.lock"), "wb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _check_single_name(path: Path) -> None:
    n_names = path.stat().st_nlink
    if n_names > 1:
        raise DataError(
            f"{path} has {n_names} names (hard links); expected one, as an entry would "
            "reach one of them only. Remove the others, or make them symbolic links."
        )


def _read_ledger(path: str | os.PathLike[str]) -> Ledger:
    with open(path, "rb") as file:
        text = file.read(LONGEST_HEADER)
    with prefix_errors(path):
        plain = parse_json(text)
        if not isinstance(plain, dict) or plain.get("format") != _FORMAT:
            raise ValueError(f"is not a {_FORMAT}.")
        if plain.get("version") != _VERSION:
            raise ValueError(
                f"was written in version {plain.get('version')!r:.20} of the ledger; "
                f"this localsvm reads version {_VERSION}."
            )
        ledger = Ledger(
            plain.get("epsilon"), plain.get("delta"), plain.get("max_releases", 0)
        )
        entries = plain.get("entries")
        if not isinstance(entries, list):
            raise ValueError(f"has entries = {entries!r:.40}; expected a list.")
        ledger.entries = tuple(_read_entry(entry) for entry in entries)
    return ledger


def _read_entry(plain: Any) -> LedgerEntry:
    fields = {"party", "privacy", "parameters", "rho", "when"}
    if not isinstance(plain, dict) or set(plain) != fields:
        raise ValueError(
            f"has the entry {plain!r:.60}; expected {', '.join(sorted(fields))}."
        )
    check_name(plain["party"])
    level = level_from_plain(plain["privacy"], plain["parameters"])
    if not real(0, closed="left").holds(plain["rho"]):
        raise ValueError(f"has rho = {plain['rho']!r:.40}; expected a number >= 0.")
    return LedgerEntry(plain["party"], level, plain["rho"], str(plain["when"]))
