"""A race of all methods and their parameters within a time budget."""

from localsvm.tune._race import race
from localsvm.tune._result import RaceResult, Trial
from localsvm.tune._rungs import stratified_order as stratified_order
from localsvm.tune._scores import Score

__all__ = ["RaceResult", "Score", "Trial", "race"]
