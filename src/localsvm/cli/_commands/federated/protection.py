"""Options of a party that say what protects its rows."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray

from localsvm import federated
from localsvm.cli._commands.federated.recipe import Recipe
from localsvm.cli._files._rows import read_rows
from localsvm.cli._group import misuse
from localsvm.cluster import SampledKMeans


class Privacy(StrEnum):
    """Levels of privacy."""

    MIN_SIZE = "min-size"
    NONE = "none"
    DP = "dp"


def _option(*names: str, help: str, **more: Any) -> Any:
    return typer.Option(*names, help=help, rich_help_panel="Privacy", **more)


@dataclass(frozen=True)
class Protection:
    """A level of privacy with its parameters.

    Parameters
    ----------
    privacy : Privacy
    min_rows, round_to : int
        Of ``min-size``.
    epsilon, delta : float or None
        Of ``dp``, as the others.
    bounds : str or None
    centers : int or None
    public : str or None
    """

    privacy: Annotated[Privacy, _option("--privacy", help="Level of privacy.")] = (
        Privacy.MIN_SIZE
    )
    min_rows: Annotated[
        int,
        _option("--min-rows", min=2, help="min-size: fewest rows behind any value."),
    ] = 10
    round_to: Annotated[
        int,
        _option("--round-to", min=1, help="min-size: counts are multiples of it."),
    ] = 5
    epsilon: Annotated[
        float | None, _option("--epsilon", help="dp: privacy loss, typically 1.")
    ] = None
    delta: Annotated[
        float | None,
        _option("--delta", help="dp: chance of a larger loss; below 1 / rows."),
    ] = None
    bounds: Annotated[
        str | None,
        _option(
            "--bounds",
            metavar="LOW,HIGH",
            help="dp: range of the encoded features, such as -3,3; values outside are "
            "clipped. By default that of the recipe.",
        ),
    ] = None
    centers: Annotated[
        int | None,
        _option(
            "--centers",
            min=1,
            help="dp: number of public centres. All parties need the same --seed.",
        ),
    ] = None
    public: Annotated[
        str | None,
        _option(
            "--public",
            metavar="TABLE",
            help="dp: public rows whose k-means centres are used; otherwise centres "
            "are random.",
        ),
    ] = None

    def check(self) -> None:
        """Refuse a level that lacks a parameter, before rows are read."""
        if self.privacy is not Privacy.DP:
            return
        if self.epsilon is None or self.delta is None:
            misuse("--privacy dp needs --epsilon and --delta.")
        if self.centers is None:
            misuse("--privacy dp needs --centers: the number of public centres.")

    def level(self, agreed: Recipe) -> Any:
        """Privacy as the library takes it."""
        if self.privacy is Privacy.NONE:
            return federated.none()
        if self.privacy is Privacy.MIN_SIZE:
            return federated.min_size(self.min_rows, self.round_to)
        epsilon: Any = self.epsilon
        delta: Any = self.delta
        try:
            return federated.dp(epsilon, delta, self.box(agreed))
        except ValueError as error:
            return misuse(str(error))

    def box(self, agreed: Recipe) -> tuple[Any, Any]:
        """Lowest and highest value of the features."""
        return agreed.bounds if self.bounds is None else _parse_bounds(self.bounds)

    def public_centers(
        self, agreed: Recipe, seed: int, how: dict[str, Any]
    ) -> NDArray[np.float64] | None:
        """Centres that do not depend on the rows of the party."""
        if self.centers is None:
            return None
        if self.public is not None:
            encoded = agreed.encoder.transform(read_rows(self.public, **how).X)
            found = SampledKMeans(self.centers, random_state=seed).fit(encoded)
            return np.asarray(found.cluster_centers_, dtype=np.float64)
        n_features = len(agreed.encoder.get_feature_names_out())
        return federated.random_centers(
            self.box(agreed), self.centers, n_features=n_features, seed=seed
        )


BY_SIZE = Protection()


def _parse_bounds(text: str) -> tuple[float, float]:
    try:
        low, high = map(float, text.split(","))
    except ValueError:
        misuse(f"--bounds {text}: expected two numbers, for instance --bounds=-3,3.")
    return low, high
