"""The course of a race: what is run at which rung, with an eye on the clock."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence

from localsvm.tune._candidates import Candidate, first_candidates
from localsvm.tune._costs import Budget
from localsvm.tune._entrants import (
    Entrant,
    best_of_methods,
    leader_of,
    survivors,
    winner_of,
)
from localsvm.tune._field import Field
from localsvm.tune._result import Trial
from localsvm.tune._rungs import Rung

_FIRST_WAVE = 0.6  # of the first rung's time
_FINAL_SHARE = 0.5  # of the budget, at most, for the fits after the choice
_UNKNOWN_SHARE = 0.125  # of the budget, for a fit of which nothing is known
_LEAST_SHARE = 0.05
_FELT_SHARE = 0.01
PATIENCE = 4.0
_SECOND_CHANCES = 0.5  # of the time that is left at the top
_FAVORITE, _FAVORITE_SHARE = "staged", 0.5  # of the time for the search


class Course:
    """Successive halving on rows, then steps from the best.

    Parameters
    ----------
    field : Field
    rungs : sequence of Rung
    budget : Budget
    n_fitted, n_test : int
        Rows of the final fit, and those that it is scored on.
    on_progress : callable or None
    """

    def __init__(
        self,
        field: Field,
        rungs: Sequence[Rung],
        budget: Budget,
        n_fitted: int,
        n_test: int,
        on_progress: Callable[[Trial], None] | None,
    ) -> None:
        self.field = field
        self.rungs = rungs
        self.budget = budget
        self.n_fitted = n_fitted
        self.n_test = n_test
        self.trials: list[Trial] = []
        self.entrants: list[Entrant] = []
        self._on_progress = on_progress
        self._error: Exception | None = None
        self._slowest = 0.0

    def run(self, methods: Sequence[str]) -> Candidate:
        """Climb the rungs, look around at the top, and choose the winner.

        StagedSVC, which chooses its own parameters, goes from the first rung to the top
        if there is time; whoever is to win then has to be better there by more than a
        standard error.
        """
        self._first_rung(methods)
        favorite = self._enter_favorite()
        for number in range(1, len(self.rungs)):
            self.field.forget_prepared()
            line_up = survivors(self.entrants, number, self._expected_final)
            self._run_rung(number, line_up, self._rung_end(number))
        self._second_chances()
        for best in best_of_methods(self.entrants):
            self._step_on(best)
        winner = winner_of(self.entrants, self._felt_seconds)
        if winner is None:
            raise RuntimeError(
                "No candidate could be fitted; the first failed with "
                f"{type(self._error).__name__}: {self._error}"
            ) from self._error
        if favorite is not None and winner.only_equals(favorite):
            winner = favorite
        return winner.final

    def _enter_favorite(self) -> Entrant | None:
        """Run StagedSVC at the top before the time goes to others, if it can finish."""
        top = len(self.rungs) - 1
        for entrant in self.entrants:
            if entrant.candidate.name == _FAVORITE and entrant.rung >= 0:
                self._enter(top, entrant, _FAVORITE_SHARE * self._search_left())
                entrant.waits = False
                return entrant if entrant.rung == top else None
        return None

    def _first_rung(self, methods: Sequence[str]) -> None:
        """Defaults first; then other parameters, with each method's best scaling."""
        end = self._rung_end(0)
        wave_end = self.budget.spent() + _FIRST_WAVE * (end - self.budget.spent())
        scaled = self.field.encoder is not None
        wave = [Entrant(c) for c in first_candidates(methods, scaled=scaled)]
        self.entrants += wave
        self._run_rung(0, wave, wave_end)
        variants = [self._variants(best) for best in best_of_methods(wave)]
        in_turn = itertools.chain.from_iterable(itertools.zip_longest(*variants))
        wave = [Entrant(candidate) for candidate in in_turn if candidate is not None]
        self.entrants += wave
        self._run_rung(0, wave, end)

    def _variants(self, best: Entrant) -> list[Candidate]:
        split = self.rungs[0].splits[0]
        facts = self.field.facts(split, best.candidate.scaling)
        return best.candidate.variants(facts)

    def _second_chances(self) -> None:
        """Let the best of each method that was left behind run at the top, too."""
        top = len(self.rungs) - 1
        behind = [best for best in best_of_methods(self.entrants) if best.rung < top]
        behind.sort(key=lambda entrant: -entrant.score)
        end = self.budget.spent() + _SECOND_CHANCES * self._search_left()
        for entrant in behind:
            self._enter(top, entrant, end - self.budget.spent())

    def _step_on(self, best: Entrant) -> None:
        """Go to a better neighbour at the top while there is one."""
        top = len(self.rungs) - 1
        while best.rung == top and self._search_left() > 0:
            known = {entrant.candidate for entrant in self.entrants}
            split = self.rungs[top].splits[0]
            facts = self.field.facts(split, best.candidate.scaling)
            new = [
                Entrant(candidate)
                for candidate in best.candidate.neighbors(facts)
                if candidate not in known
            ]
            self.entrants += new
            for entrant in new:
                self._enter(top, entrant, self._search_left())
            before, best = best, max([best, *new], key=lambda entrant: entrant.score)
            if best is before:
                return

    def _run_rung(self, number: int, line_up: Sequence[Entrant], end: float) -> None:
        for place, entrant in enumerate(line_up):
            allowed = self._search_left()
            # The first of a rung is the best so far: it may take what others leave.
            if place > 0:
                allowed = min(allowed, end - self.budget.spent())
            self._enter(number, entrant, allowed)

    def _rung_end(self, number: int) -> float:
        """When a rung should end: those to come get as much time as it has."""
        share = self._search_left() / (len(self.rungs) - number)
        return self.budget.spent() + max(0.0, share)

    def _search_left(self) -> float:
        """Seconds left before the final fits have to begin."""
        most = _FINAL_SHARE * self.budget.seconds
        leader = leader_of(self.entrants)
        if leader is None:
            return self.budget.left() - most / 2
        n_rows = self.n_fitted + self.n_test
        refit = self.field.expected_final(leader.final, n_rows, 0)
        return self.budget.left() - min(most, self._expected_final(leader) + refit)

    def _expected_final(self, entrant: Entrant) -> float:
        """Seconds to fit and score an entrant in the end."""
        return self.field.expected_final(entrant.final, self.n_fitted, self.n_test)

    def _felt_seconds(self, entrant: Entrant) -> float:
        """Seconds of the final fit; below a small part of the budget all are alike."""
        return max(self._expected_final(entrant), _FELT_SHARE * self.budget.seconds)

    def _enter(self, number: int, entrant: Entrant, allowed: float) -> None:
        """Run an entrant at a rung if it can finish there."""
        rung = self.rungs[number]
        new = [split for split in rung.splits if split not in entrant.outcomes]
        expected = [self.field.expected_seconds(entrant.candidate, s) for s in new]
        # A method that has not run yet may be as slow as the slowest that has.
        total = sum(self._slowest if s is None else s for s in expected)
        if self.trials and (total > allowed or allowed <= 0):
            entrant.waits = entrant.rung >= 0
            left = f"{max(0.0, allowed):.1f} s left"
            status = f"not started: would take {total:.1f} s, {left}"
            self._tell(number, entrant, 0.0, status)
            return
        limit = self._limit(expected[0], allowed)
        try:
            for split in new:
                outcome = self.field.run(entrant.candidate, split, limit)
                entrant.outcomes[split] = outcome
        except Exception as error:  # one failure must not end the race
            self._error = self._error or error
            words = f"failed: {type(error).__name__}: {error}".splitlines()[0]
            self._tell(number, entrant, 0.0, words)
            return
        entrant.reach(number, rung, self.field.rows.weight)
        cut = any(entrant.outcomes[split].cut for split in new)
        seconds = sum(entrant.outcomes[split].seconds for split in new)
        self._slowest = max(self._slowest, seconds / len(new))
        status = f"cut at {limit:.1f} s" if cut else "finished"
        self._tell(number, entrant, seconds, status)

    def _limit(self, expected: float | None, allowed: float) -> float:
        """Seconds that a fit gets before it is cut."""
        share = _UNKNOWN_SHARE * self.budget.seconds
        if expected is not None:
            share = max(PATIENCE * expected, _LEAST_SHARE * self.budget.seconds)
        return max(min(share, allowed), 1e-3)

    def _tell(self, number: int, entrant: Entrant, seconds: float, status: str) -> None:
        rung, candidate = self.rungs[number], entrant.candidate
        known = entrant.validation if entrant.rung == number else None
        trial = Trial(
            rung=number,
            n_rows=rung.n_rows,
            n_fits=len(rung.splits),
            method=candidate.name,
            scaling=candidate.scaling,
            params=candidate.params,
            score=None if known is None else known.score,
            standard_error=None if known is None else known.standard_error,
            seconds=seconds,
            status=status,
        )
        self.trials.append(trial)
        if self._on_progress is not None:
            self._on_progress(trial)
