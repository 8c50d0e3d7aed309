"""Candidates in a race: how far they came, who goes on, and who wins."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from localsvm.tune._candidates import Candidate
from localsvm.tune._field import Outcome
from localsvm.tune._rungs import GROWTH, Rung, Split
from localsvm.tune._scores import Validation

_LEAST_ENTRANTS = 3
_RUNGS_FOR_ALL_METHODS = 2
_SAME_SPEED = 2.0


@dataclass(eq=False)
class Entrant:
    """A candidate and what is known of it.

    Parameters
    ----------
    candidate : Candidate
    outcomes : dict of Outcome
        By split.
    rung : int, default=-1
        The highest that it was scored at.
    validation : Validation or None, default=None
        At that rung.
    waits : bool, default=False
        Whether only time kept it from a higher rung.
    settled : Candidate or None, default=None
        With the parameters that it chose itself at that rung, if that was one choice.
    """

    candidate: Candidate
    outcomes: dict[Split, Outcome] = field(default_factory=dict)
    rung: int = -1
    validation: Validation | None = None
    waits: bool = False
    settled: Candidate | None = None

    @property
    def final(self) -> Candidate:
        """What is fitted if it wins."""
        return self.candidate if self.settled is None else self.settled

    @property
    def score(self) -> float:
        """At the highest rung reached."""
        return -math.inf if self.validation is None else self.validation.score

    def only_equals(self, favorite: Entrant) -> bool:
        """Whether it does not lead a favourite by more than a standard error."""
        if favorite.validation is None or self.validation is None:
            return False
        return self.validation.is_no_better_than(favorite.validation)

    def reach(
        self, number: int, rung: Rung, sample_weight: NDArray[np.float64]
    ) -> None:
        """Take the score of a rung whose splits have all been run."""
        rows = np.concatenate([split.validation for split in rung.splits])
        correct = np.concatenate([self.outcomes[s].correct for s in rung.splits])
        self.rung, self.waits = number, False
        one = len(rung.splits) == 1
        self.settled = self.outcomes[rung.splits[0]].settled if one else None
        self.validation = Validation.of(rows, correct, sample_weight)


def survivors(
    entrants: Sequence[Entrant], number: int, seconds_of: Callable[[Entrant], float]
) -> list[Entrant]:
    """Who goes on to a rung, in the order in which they start.

    The best third of the rung below; to the first rungs, the best of every method, too.
    Those that are no worse than the best start first, the fastest of them leading: if
    time gets short, it has not gone into one of many equals.
    """
    below = sorted(
        (entrant for entrant in entrants if entrant.rung == number - 1),
        key=lambda entrant: -entrant.score,
    )
    kept = below[: max(_LEAST_ENTRANTS, -(-len(below) // GROWTH))]
    if number <= _RUNGS_FOR_ALL_METHODS:
        kept += [best for best in best_of_methods(below) if best not in kept]
    equals = _equals_of_best(kept)
    others = [entrant for entrant in kept if entrant not in equals]
    return [*sorted(equals, key=seconds_of), *others]


def best_of_methods(entrants: Sequence[Entrant]) -> list[Entrant]:
    """Find each method's farthest and best entrant with a score; the best first."""
    best: dict[str, Entrant] = {}
    for entrant in entrants:
        if entrant.validation is None:
            continue
        name = entrant.candidate.name
        if name not in best or _standing(entrant) > _standing(best[name]):
            best[name] = entrant
    return sorted(best.values(), key=_standing, reverse=True)


def leader_of(entrants: Sequence[Entrant]) -> Entrant | None:
    """Find the best of the highest rung reached, the first of equals."""
    scored = [entrant for entrant in entrants if entrant.validation is not None]
    return max(scored, key=_standing, default=None)


def winner_of(
    entrants: Sequence[Entrant], seconds_of: Callable[[Entrant], float]
) -> Entrant | None:
    """Choose the best, or a faster one that is no worse by a standard error.

    Whoever was left behind on a lower rung is out; whoever only lacked the time for a
    higher one is not. Of entrants that are about equally fast the best wins, and the
    first if they are equally good.
    """
    top = max((entrant.rung for entrant in entrants), default=-1)
    equals = _equals_of_best(
        [entrant for entrant in entrants if entrant.rung == top or entrant.waits]
    )
    if not equals:
        return None
    fastest = min(map(seconds_of, equals))
    fast = [e for e in equals if seconds_of(e) <= _SAME_SPEED * fastest]
    return max(fast, key=lambda entrant: entrant.score)


def _equals_of_best(entrants: Sequence[Entrant]) -> list[Entrant]:
    """Find the best, and whoever is no worse by a standard error."""
    scored = [(e, e.validation) for e in entrants if e.validation is not None]
    if not scored:
        return []
    _, best = max(scored, key=lambda pair: pair[1].score)
    return [e for e, validation in scored if best.is_no_better_than(validation)]


def _standing(entrant: Entrant) -> tuple[int, float]:
    return entrant.rung, entrant.score
