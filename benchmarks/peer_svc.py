"""Search for the preparation, gamma and C of scikit-learn's SVC, on training rows.

Below 10,000 rows candidates are judged by folds: all of them by one, the best ten by
five. Above, a fifth of the rows is held out: all are fitted to 4000 rows, the best ten
to 12,000, and the best few to everything that is not held out. Those that are more
than two standard errors behind are left out. In each stage the neighbours of the best
candidate in gamma and C follow where they were not yet tried, so that none is chosen
for lying at the edge of the grid.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.decomposition import PCA
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.model_selection import StratifiedKFold, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, Normalizer, StandardScaler
from sklearn.svm import SVC

Rows = NDArray[Any]

FOLDS_BELOW = 10_000
PRECOMPUTED_ROWS = 6000  # up to here all kernel values are kept
CACHE_MB = 6000  # of a fit within the search
MAX_CLIMBS = 3
MOST_KEPT = 10
CLEARLY_BEHIND = 2.0  # standard errors


def prepared(preparation: str, X_train: Rows, X_test: Rows) -> tuple[Rows, Rows]:
    """Prepare rows for SVC by what the training rows tell.

    Parameters
    ----------
    preparation : {"scaled", "standardised", "pca60", "unit_pca60"}
        Columns as published, standardised columns, the first 60 principal components,
        or those of rows of unit length. In each case everything is then divided by
        the root mean square norm of the centred training rows, which makes a gamma of
        1 the reciprocal of the total variance.
    X_train, X_test : ndarray

    Returns
    -------
    X_train, X_test : ndarray of float64
    """
    steps = {
        "scaled": [FunctionTransformer()],
        "standardised": [StandardScaler()],
        "pca60": [PCA(60, svd_solver="covariance_eigh")],
        "unit_pca60": [Normalizer(), PCA(60, svd_solver="covariance_eigh")],
    }[preparation]
    pipeline = make_pipeline(*steps)
    X_train = pipeline.fit_transform(np.asarray(X_train, dtype=np.float64))
    X_test = pipeline.transform(np.asarray(X_test, dtype=np.float64))
    norm = np.sqrt(X_train.var(axis=0).sum())
    return X_train / norm, X_test / norm


def make_svc(setting: dict[str, Any]) -> SVC:
    """Kernel SVM for rows that went through :func:`prepared`."""
    return SVC(kernel="rbf", C=setting["C"], gamma=setting["gamma"], cache_size=1000)


class Part(NamedTuple):
    """Rows to fit and rows to judge by."""

    fit: NDArray[np.intp]
    held: NDArray[np.intp]


def parts_of(y: Rows) -> list[Part]:
    """Five folds of few rows; of many rows one part, in random order."""
    if len(y) < FOLDS_BELOW:
        folds = StratifiedKFold(5, shuffle=True, random_state=0)
        return [Part(*fold) for fold in folds.split(y, y)]
    rows = np.arange(len(y))
    return [Part(*train_test_split(rows, test_size=0.2, stratify=y, random_state=0))]


@dataclass(frozen=True)
class Stage:
    """How many parts, rows to fit and rows to judge by are used; None is all."""

    title: str
    n_parts: int | None = None
    n_fit: int | None = None
    n_held: int | None = None


SMALL_STAGES = [Stage("one fold", n_parts=1), Stage("five folds")]
LARGE_STAGES = [
    Stage("4000 rows", n_fit=4000, n_held=4000),
    Stage("12,000 rows", n_fit=12_000, n_held=6000),
]
FULL_SIZE = Stage("full size")


class Candidate(NamedTuple):
    """A setting of SVC."""

    preparation: str
    gamma: float
    C: float


class Score(NamedTuple):
    """Wrong rows of those judged, and the CPU seconds of fits and predictions."""

    wrong: int
    rows: int
    seconds: float

    @property
    def error(self) -> float:
        """Fraction of wrong rows."""
        return self.wrong / self.rows

    @property
    def standard_error(self) -> float:
        """Standard error of that fraction."""
        share = max(self.wrong, 1) / self.rows
        return float(np.sqrt(share * (1 - share) / self.rows))


Scores = dict[Candidate, Score]


def ranked(scores: Scores) -> list[Candidate]:
    """Best first; of equals the smoother one."""
    return sorted(scores, key=lambda c: (scores[c].wrong, c.C, c.gamma))


def near_best(scores: Scores) -> list[Candidate]:
    """Those that are not clearly behind, best first."""
    order = ranked(scores)
    best = scores[order[0]]
    limit = best.error + CLEARLY_BEHIND * best.standard_error
    return [c for c in order if scores[c].error <= limit]


def neighbours(candidate: Candidate) -> list[Candidate]:
    """One step further in gamma or C."""
    preparation, gamma, C = candidate
    steps = [(2 * gamma, C), (gamma / 2, C), (gamma, 10 * C), (gamma, C / 10)]
    return [Candidate(preparation, *step) for step in steps]


class Search:
    """Scores candidates on parts of a task's training rows."""

    def __init__(self, task: str, X: Rows, y: Rows) -> None:
        self.task, self.X, self.y = task, X, y
        self.parts = parts_of(y)
        self._prepared: dict[tuple[int, str], tuple[Rows, Rows]] = {}

    def score(self, candidates: list[Candidate], stage: Stage) -> Scores:
        """Score the candidates in all parts of a stage."""
        scores = {}
        for preparation, group in groupby(sorted(candidates), lambda c: c.preparation):
            alike = list(group)
            results: dict[Candidate, list[Score]] = {c: [] for c in alike}
            for number in range(len(self.parts[: stage.n_parts])):
                part = self._part(preparation, stage, number)
                for candidate, score in judge(alike, *part):
                    results[candidate].append(score)
            for candidate, parts in results.items():
                scores[candidate] = Score(*map(sum, zip(*parts, strict=True)))
                self._print(stage, candidate, scores[candidate])
        return scores

    def climb(self, scores: Scores, stage: Stage, without: set[Candidate]) -> Scores:
        """Add the neighbours of the best until none of them is better."""
        scores = dict(scores)
        for _ in range(MAX_CLIMBS):
            best = ranked(scores)[0]
            narrower, *others = neighbours(best)  # more rows may want a narrower one
            new = [narrower, *(c for c in others if c not in without)]
            new = [c for c in new if c not in scores]
            scores |= self.score(new, stage)
            if ranked(scores)[0] == best:
                break
        return scores

    def _part(
        self, preparation: str, stage: Stage, number: int
    ) -> tuple[Rows, Rows, Rows, Rows]:
        """Prepare rows of a part and cut them to the size of the stage."""
        fit, held = self.parts[number]
        key = (number, preparation)
        if key not in self._prepared:
            self._prepared[key] = prepared(preparation, self.X[fit], self.X[held])
        X_fit, X_held = self._prepared[key]
        some, judged = slice(stage.n_fit), slice(stage.n_held)
        return X_fit[some], self.y[fit[some]], X_held[judged], self.y[held[judged]]

    def _print(self, stage: Stage, candidate: Candidate, score: Score) -> None:
        print(
            f"{self.task} SVC, {stage.title}: {candidate.preparation} "
            f"gamma={candidate.gamma:g} C={candidate.C:g}: "
            f"{100 * score.error:.2f} % wrong, {score.seconds:.1f} s",
            flush=True,
        )


def judge(
    candidates: list[Candidate], X_fit: Rows, y_fit: Rows, X_held: Rows, y_held: Rows
) -> Iterator[tuple[Candidate, Score]]:
    """Fit candidates of one preparation; few rows share their distances."""
    precompute = len(X_fit) <= PRECOMPUTED_ROWS
    if precompute:
        distances = [
            euclidean_distances(rows, X_fit, squared=True) for rows in (X_fit, X_held)
        ]
    for candidate in candidates:
        start = time.process_time()
        model = make_svc(candidate._asdict()).set_params(cache_size=CACHE_MB)
        rows = [X_fit, X_held]
        if precompute:
            model.set_params(kernel="precomputed")
            rows = [np.exp(-candidate.gamma * squared) for squared in distances]
        wrong = int(np.sum(model.fit(rows[0], y_fit).predict(rows[1]) != y_held))
        yield candidate, Score(wrong, len(y_held), time.process_time() - start)


@dataclass(frozen=True)
class Effort:
    """What fits of full size may cost.

    Parameters
    ----------
    fits : int
        The most that are made.
    seconds : float
        No further one is begun that would end later, as far as can be told.
    until : float
        The same as a time of ``time.monotonic``; this holds for the first one, too.
    """

    fits: int
    seconds: float
    until: float

    def allows(self, made: int, used: float, expected: float) -> bool:
        """Whether one more fit may be begun."""
        if time.monotonic() + expected > self.until:
            return False
        return made == 0 or (made < self.fits and used + expected <= self.seconds)


def fit_full_size(
    search: Search,
    order: list[Candidate],
    expected: float,
    effort: Effort,
    stage: Stage = FULL_SIZE,
) -> Scores:
    """Fit candidates to all rows, and then narrower kernels while these are better."""
    scores: Scores = {}
    queue = list(order)
    while queue:
        used = sum(score.seconds for score in scores.values())
        if not effort.allows(len(scores), used, expected):
            break
        scores |= search.score([queue.pop(0)], stage)
        expected = max(score.seconds for score in scores.values())
        narrower = neighbours(ranked(scores)[0])[0]
        if not queue and narrower not in scores:
            queue.append(narrower)
    return scores


def tune(
    search: Search, grid: list[Candidate], effort: Effort, *, screen: bool = True
) -> dict[str, Any]:
    """Choose a setting from a grid and its surroundings; no screen, no first stage."""
    start = time.process_time()
    folds = len(search.parts) > 1
    scores: Scores = {}
    candidates, behind = grid, set[Candidate]()
    tried = set(grid)
    stages = SMALL_STAGES if folds else LARGE_STAGES
    for stage in stages if screen else stages[1:]:
        scores = search.climb(search.score(candidates, stage), stage, behind)
        tried |= set(scores)
        good = near_best(scores)
        behind |= set(scores) - set(good)
        candidates = good[:MOST_KEPT]
    full: Scores = {}
    n_fit = len(search.parts[0].fit)
    if not folds:
        expected = scores[candidates[0]].seconds * (n_fit / stage.n_fit) ** 2
        full = fit_full_size(search, candidates[:3], expected, effort)
    whole = bool(full) or folds
    seconds = time.process_time() - start
    result = report(n_fit if whole else stage.n_fit, full or scores, seconds)
    return {**result, "full_size": whole, "tried": len(tried | set(full))}


def candidates_of(result: dict[str, Any]) -> list[Candidate]:
    """Candidates that a result compares, best first."""
    return [
        Candidate(*(row[name] for name in Candidate._fields))
        for row in result["compared"]
    ]


def contenders(result: dict[str, Any]) -> list[Candidate]:
    """Candidates without those that differ in C only and are wrong as often."""
    order = candidates_of(result)
    errors = [row["validation_error"] for row in result["compared"]]
    seen: dict[Any, Candidate] = {}
    for candidate, error in zip(order, errors, strict=True):
        seen.setdefault((candidate.preparation, candidate.gamma, error), candidate)
    return list(seen.values())


def tune_further(
    search: Search, before: dict[str, Any], effort: Effort, n_rows: int | None = None
) -> dict[str, Any]:
    """Compare the best settings of an earlier result at full size, or on more rows."""
    start = time.process_time()
    n_fit = len(search.parts[0].fit[:n_rows])
    stage = Stage(f"{n_fit:,} rows", n_fit=n_rows) if n_rows else FULL_SIZE
    expected = before["compared"][0]["cpu_seconds"]
    expected *= (n_fit / before["fitted_rows"]) ** 2
    scores = fit_full_size(search, contenders(before)[:3], expected, effort, stage)
    if not scores:
        return {**before, "full_size": False, "tuning_cpu_seconds": 0.0}
    result = report(n_fit, scores, time.process_time() - start)
    return {**result, "full_size": n_rows is None, "tried": len(scores)}


def report(n_fit: int, scores: Scores, seconds: float) -> dict[str, Any]:
    """Name the best candidate and what it was compared with in the last stage."""
    compared = [
        {
            **candidate._asdict(),
            "validation_error": round(100 * scores[candidate].error, 3),
            "cpu_seconds": round(scores[candidate].seconds, 1),
        }
        for candidate in ranked(scores)[:6]
    ]
    return {
        **ranked(scores)[0]._asdict(),
        "validation_error": compared[0]["validation_error"],
        "validation_rows": scores[ranked(scores)[0]].rows,
        "fitted_rows": n_fit,
        "tuning_cpu_seconds": round(seconds, 1),
        "compared": compared,
    }
