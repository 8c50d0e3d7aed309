"""Model files as commands use them: the model, its table, what was noted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sklearn.base import is_classifier

from localsvm.cli._files._rows import STRING_KINDS
from localsvm.cli._model._fitting import encoder_of
from localsvm.data import RowSketch, TableEncoder
from localsvm.exceptions import DataError
from localsvm.export import load_file


@dataclass(frozen=True, eq=False)
class Model:
    """A model that was read from a file.

    Parameters
    ----------
    path : Path
    fitted : Pipeline or estimator
    notes : dict
        What the command that made it has noted; anything may be missing.
    fitted_rows : RowSketch or None
        By which rows of the fit are recognised.
    """

    path: Path
    fitted: Any
    notes: dict[str, Any]
    fitted_rows: RowSketch | None = None

    @property
    def target(self) -> str | None:
        """Column of the classes that the model was fitted to."""
        target = self.notes.get("target")
        return target if isinstance(target, str) else None

    @property
    def encoder(self) -> TableEncoder | None:
        """First step of the model, if it takes tables."""
        return encoder_of(self.fitted)

    def reading(
        self, where: str | None = None, read: Sequence[str] | None = None
    ) -> dict[str, Any]:
        """Arguments of ``read_rows`` to read rows as those of the fit were read."""
        noted = self.notes.get("read")
        earlier = [str(each) for each in noted] if isinstance(noted, list) else []
        return {
            "where": where,
            "keep": list(getattr(self.encoder, "feature_names_in_", [])),
            "read": [*earlier, *(read or [])],
            "strings": self._string_columns(),
            "n_features": self.fitted.n_features_in_ if not self.encoder else None,
        }

    def _string_columns(self) -> list[str]:
        """Columns that must not be taken for numbers, though they may look so."""
        columns = self.encoder.columns_ if self.encoder else ()
        names = [column.name for column in columns if column.kind in STRING_KINDS]
        if self.target is not None and self.fitted.classes_.dtype.kind in "OU":
            names.append(self.target)
        return names


def load_model(path: Path) -> Model:
    """Read a classifier from a file."""
    found = load_file(path)
    fitted, notes = found.model, found.notes
    if not is_classifier(fitted):
        raise DataError(
            f"{path} holds a {type(fitted).__name__}; expected a classifier, as `fit` "
            "and `merge` write it."
        )
    notes = notes if isinstance(notes, dict) else {}
    return Model(path, fitted, notes, found.fitted_rows)
