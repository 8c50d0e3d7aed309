"""What a table encoder learns of each column, one class per kind: plain data."""

from localsvm.data._columns._blocks import Block
from localsvm.data._columns._booleans import BooleanColumn
from localsvm.data._columns._categories import CategoryColumn
from localsvm.data._columns._column import Column, DroppedColumn, LearningOptions
from localsvm.data._columns._dates import DateColumn
from localsvm.data._columns._kinds import KINDS, find_kind, looks_like_identifier
from localsvm.data._columns._numbers import NumberColumn
from localsvm.data._columns._text import TextColumn

__all__ = [
    "KINDS",
    "Block",
    "BooleanColumn",
    "CategoryColumn",
    "Column",
    "DateColumn",
    "DroppedColumn",
    "LearningOptions",
    "NumberColumn",
    "TextColumn",
    "find_kind",
    "looks_like_identifier",
]
