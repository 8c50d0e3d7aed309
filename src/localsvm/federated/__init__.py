"""Learn from the rows of several parties that share clusters instead of rows."""

from localsvm.federated._ledger import Ledger
from localsvm.federated._party import Party
from localsvm.federated._protection._levels import (
    PrivacyLevel as PrivacyLevel,
    dp,
    min_size,
    none,
)
from localsvm.federated._protection._partition import random_centers
from localsvm.federated._sharing._merge import merge
from localsvm.federated._sharing._records import PartyRecord
from localsvm.federated._sharing._shared import SharedSummary

__all__ = [
    "Ledger",
    "Party",
    "PartyRecord",
    "SharedSummary",
    "dp",
    "merge",
    "min_size",
    "none",
    "random_centers",
]
