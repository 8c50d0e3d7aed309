"""What all columns of a table encoder have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

from localsvm.data._columns._blocks import Block, EmptyBlock


@dataclass(frozen=True)
class LearningOptions:
    """The parameters of a table encoder that decide what is learnt of a column."""

    min_frequency: int
    max_categories: int
    text_components: int
    date_format: str = ""
    encoding: str = "features"


@dataclass(frozen=True)
class Column(ABC):
    """What was learnt of one column, and how its values become features.

    Parameters
    ----------
    name : str
        Name of the column; "x0", "x1" and so on where columns have no names.
    """

    kind: ClassVar[str]
    # Whether only the labels of values count, so that strings need no pandas.
    by_label: ClassVar[bool] = False

    name: str

    @property
    @abstractmethod
    def suffixes(self) -> tuple[str, ...]:
        """What follows the name of the column in the name of each feature."""

    @abstractmethod
    def encode(self, values: Any) -> Block:
        """Features of the values of this column, a pandas Series or an array."""

    @property
    def n_features(self) -> int:
        """Features that the column gives."""
        return len(self.suffixes)

    @property
    def level_names(self) -> tuple[str, ...]:
        """Names of the codes of a category, which is one feature; else nothing."""
        return ()

    @property
    def n_entries(self) -> int:
        """Most features of a row that are not 0."""
        return self.n_features


@dataclass(frozen=True)
class DroppedColumn(Column):
    """A column that gives no feature.

    Parameters
    ----------
    name : str
        Name of the column.
    reason : {"asked", "constant", "empty", "identifier", "rare"}
        Why: ``kinds`` says so, all values are equal, all are missing, each row has
        a value of its own, or no value of a category is frequent enough for a code.
    """

    kind = "drop"

    reason: str

    @property
    def suffixes(self) -> tuple[str, ...]:
        """Nothing."""
        return ()

    def encode(self, values: Any) -> Block:
        """No features, whatever the values are."""
        return EmptyBlock(len(values))

    @classmethod
    def learn(cls, name: str, values: Any, options: LearningOptions) -> DroppedColumn:
        """Drop the column because the user says so."""
        return cls(name, "asked")
