"""How much memory a model file may take when it is loaded."""

from __future__ import annotations

# Searches of neighbours may map a row to many numbers, and texts take the space of the
# longest among them: no model needs more than this.
_MOST_PER_BYTE = 64
_ALWAYS_ALLOWED = 2**24


class Budget:
    """Counts what is allocated besides the arrays of a file, before it is.

    Parameters
    ----------
    file_bytes : int or None
        Length of the file; None while it is not known, since the file is written.
    """

    def __init__(self, file_bytes: int | None) -> None:
        self._limit = None if file_bytes is None else _limit(file_bytes)
        self._spent = 0
        self._largest = 0, ""

    def charge(self, n_bytes: int, place: str) -> None:
        """Count bytes; a ValueError if that is more than the file's length allows."""
        self._spent += n_bytes
        if n_bytes > self._largest[0]:
            self._largest = n_bytes, place
        if self._limit is not None and self._spent > self._limit:
            raise _refusal(place, self._spent, self._limit)

    def check(self, file_bytes: int) -> None:
        """Raise a ValueError if a file of this length could not be loaded."""
        if self._spent > _limit(file_bytes):
            raise _refusal(self._largest[1], self._spent, _limit(file_bytes))

    @property
    def needs_check(self) -> bool:
        """Whether there are files too short for what was counted."""
        return self._spent > _limit(0)


def _limit(file_bytes: int) -> int:
    return _MOST_PER_BYTE * file_bytes + _ALWAYS_ALLOWED


def _refusal(place: str, spent: int, limit: int) -> ValueError:
    return ValueError(
        f"{place} would take the memory for loading to {spent / 1e6:.0f} MB; expected "
        f"at most {limit / 1e6:.0f} MB, {_MOST_PER_BYTE} times the length of the file "
        f"and {_ALWAYS_ALLOWED // 2**20} MB."
    )
