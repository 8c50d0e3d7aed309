"""What is known of one region."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from localsvm.inspect._labels import plain_count, plain_label, shorten

_SHOWN_CLASSES = 3


class TopFeature(NamedTuple):
    """A feature with a large weight in a region.

    Parameters
    ----------
    name : str
    weight : float
        Positive speaks for ``label``.
    label : label
        The second of two classes; of several the one with the largest weight.
    """

    name: str
    weight: float
    label: Any


@dataclass(frozen=True, eq=False)
class RegionRow:
    """One region of a model.

    Attributes
    ----------
    region : int
        Its number, as of the estimator's ``region``.
    kind : {"linear", "kernel"}
        What decides in it.
    stage : int or None
        Of a :class:`~localsvm.StagedSVC`, 1 or 2.
    size : float
        Training rows, as of ``region_sizes_``.
    share : float
        Its part of the weight of all training rows.
    class_counts : dict of label to float
        Training rows by class, by sample weight.
    top_features : tuple of TopFeature
        By absolute weight; empty where weights are not known.
    n_rows : int or None
        Rows of the table's X that it answers; None without X.
    accuracy : float or None
        On those rows; None without y or rows.
    mean_margin : float or None
        Lead of the winning class over the next, on average over those rows.

    See Also
    --------
    region_table : Makes them.
    """

    region: int
    kind: str
    stage: int | None
    size: float
    share: float
    class_counts: dict[Any, float]
    top_features: tuple[TopFeature, ...] = ()
    n_rows: int | None = None
    accuracy: float | None = None
    mean_margin: float | None = None

    @property
    def class_mix(self) -> dict[Any, float]:
        """Share of each class in the training rows of the region."""
        total = sum(self.class_counts.values())
        return {
            label: count / total if total else 0.0
            for label, count in self.class_counts.items()
        }

    def mix_words(self) -> str:
        """Name the most frequent classes with their shares."""
        mix = sorted(self.class_mix.items(), key=lambda pair: -pair[1])
        present = [pair for pair in mix if pair[1] > 0]
        words = [f"{shorten(label)} {share:.0%}" for label, share in present]
        more = len(words) - _SHOWN_CLASSES
        rest = [f"{more} more"] if more > 0 else []
        return ", ".join([*words[:_SHOWN_CLASSES], *rest])

    def feature_words(self) -> str:
        """Name the top features with their weights."""
        return ", ".join(f"{top.name} {top.weight:+.3g}" for top in self.top_features)

    def to_dict(self) -> dict[str, Any]:
        """Everything as JSON holds it.

        Returns
        -------
        dict
            Labels of classes become strings where they are keys.
        """
        return {
            "region": self.region,
            "kind": self.kind,
            "stage": self.stage,
            "size": plain_count(self.size),
            "share": self.share,
            "class_counts": {
                str(k): plain_count(count) for k, count in self.class_counts.items()
            },
            "top_features": [
                {"name": name, "weight": weight, "class": plain_label(label)}
                for name, weight, label in self.top_features
            ],
            "n_rows": self.n_rows,
            "accuracy": self.accuracy,
            "mean_margin": self.mean_margin,
        }
