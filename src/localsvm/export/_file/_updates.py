"""A model file whose model is updated, and never half."""

from __future__ import annotations

import os
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.pipeline import Pipeline

from localsvm._plain_file import PlainContent, prefix_errors, read_digest
from localsvm.export._file._journal import Journal, journal_of
from localsvm.export._file._model_file import FORMAT, VERSION, load_snapshot, save
from localsvm.state import (
    Array,
    Dims,
    Maybe,
    Record,
    Rows,
    Sink,
    Source,
    doubles,
    short_indices,
)

# The journal is folded into the file when it is this part of its length.
_LONGEST_JOURNAL = 0.125


class _Given:
    """Rows that an entry adds or removes."""

    def __init__(self, X: Any, classes: Any, weight: Any) -> None:
        self.X = X
        self.classes = classes
        self.weight = weight


class _GivenValues(Rows):
    """Rows of numbers; NaN is for the model to take or to refuse."""

    _dense = Array((np.float64, np.float32), "rows", "columns", finite=False)

    def __init__(self) -> None:
        super().__init__("rows", "columns")

    def write(self, value: Any, place: str, sink: Sink, dims: Dims) -> Any:
        """Write the rows."""
        if sparse.issparse(value):
            return super().write(value, place, sink, dims)
        return self._dense.write(value, place, sink, dims)

    def read(self, plain: Any, place: str, source: Source, dims: Dims) -> Any:
        """Read the rows."""
        if isinstance(plain, dict) and "n_columns" in plain:
            return super().read(plain, place, source, dims)
        return self._dense.read(plain, place, source, dims)


_ROWS = Maybe(
    Record(
        _Given,
        X=_GivenValues(),
        classes=short_indices("rows"),
        weight=doubles("rows", low=0),
    )
)
_SIDES = ("add", "remove")


class UpdatableFile:
    """A model file that is opened to add and remove rows.

    Each update is written to a journal beside the file, ``<name>.journal``, and is
    there when :meth:`update` returns: a process that is killed at any moment leaves the
    model before or after it. :func:`localsvm.load` reads the file with its journal.

    Parameters
    ----------
    path : path
        A model that was fitted with ``updatable=True`` and saved with ``state=True``:
        a classifier, or a pipeline that ends with one, whose other steps stay as they
        are.

    Attributes
    ----------
    model : estimator
        With all updates.
    notes : any JSON
        Of the file.

    Notes
    -----
    An update writes its rows once; when the journal is an eighth of the file, file and
    journal become one new file, as :meth:`checkpoint` does it. Nobody else can open the
    file for updates meanwhile. The journal holds the rows that were removed until then.

    The record of the rows of the fit (``fitted_rows``) is left out of an updated file,
    since it knows neither the rows that came nor those that left.

    Examples
    --------
    >>> import tempfile, os
    >>> import localsvm
    >>> from localsvm.data import make_xor
    >>> from localsvm.export import UpdatableFile
    >>> X, y = make_xor(200, random_state=0)
    >>> model = localsvm.ClusteredSVC(n_regions=4, random_state=0, updatable=True)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "xor.lsvm")
    ...     localsvm.save(model.fit(X, y), path, state=True)
    ...     with UpdatableFile(path) as file:
    ...         report = file.update(remove=(X[:1], y[:1]))
    ...     loaded = localsvm.load(path)
    >>> report.n_rows, loaded.region_sizes_.sum()
    (199, np.int64(199))
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path = path
        self._journal = Journal(path, read_digest(path, FORMAT, VERSION))
        try:
            found = load_snapshot(path)
            self.model, self.notes = found.model, found.notes
            self._fitted_rows = found.fitted_rows
            with prefix_errors(journal_of(path)):
                replay(self.model, self._journal.entries)
            final_step(self.model)._require_kept()
        except BaseException:
            self._journal.close()
            raise
        self._journal.entries.clear()

    def update(self, *, add: Any = None, remove: Any = None) -> Any:
        """Add and remove rows; all of it, and lasting, or nothing.

        Parameters
        ----------
        add, remove : tuple (X, y) or (X, y, sample_weight), default=None
            Rows as the model of the file takes them; a pipeline maps them first.

        Returns
        -------
        UpdateReport
        """
        classifier = final_step(self.model)
        mapped = {
            side: None if rows is None else (self._map(rows[0]), *rows[1:])
            for side, rows in zip(_SIDES, (add, remove), strict=True)
        }
        before = dict(vars(classifier))
        try:
            report = classifier.update(**mapped)
            sink = Sink()
            entry = {
                side: _ROWS.write(_given(classifier, side, rows), side, sink, Dims())
                for side, rows in mapped.items()
            }
            self._journal.append(entry, sink.arrays)
        except BaseException:
            vars(classifier).clear()
            vars(classifier).update(before)
            raise
        self._fitted_rows = None
        if self._journal.n_bytes > _LONGEST_JOURNAL * os.path.getsize(self._path):
            self.checkpoint()
        return report

    def checkpoint(self) -> None:
        """Write the model with all updates, and begin an empty journal."""
        save(
            self.model,
            self._path,
            notes=self.notes,
            fitted_rows=self._fitted_rows,
            state=True,
        )
        self._journal.restart(read_digest(self._path, FORMAT, VERSION))

    def close(self) -> None:
        """Let others update the file."""
        self._journal.close()

    def __enter__(self) -> Self:
        """Return the file."""
        return self

    def __exit__(self, *exception: object) -> None:
        """Close the file."""
        self.close()

    def _map(self, X: Any) -> Any:
        """Rows as the last step sees them."""
        if isinstance(self.model, Pipeline) and len(self.model) > 1:
            return self.model[:-1].transform(X)
        return X


def final_step(model: Any) -> Any:
    """Classifier of a pipeline, or the model itself."""
    return model[-1] if isinstance(model, Pipeline) else model


def replay(model: Any, entries: list[PlainContent]) -> None:
    """Make the changes of a journal; entries of anybody are checked."""
    classifier = final_step(model)
    if entries and not hasattr(classifier, "_kept"):
        raise ValueError("it changes a model that keeps no rows.")
    for entry in entries:
        if set(entry.header) != {"base", *_SIDES}:
            raise ValueError(f"has the fields {sorted(entry.header)!r:.80}.")
        source = Source(entry.arrays, entry.n_bytes)
        sides = {}
        for side in _SIDES:
            rows = _ROWS.read(entry.header[side], side, source, Dims())
            if rows is None:
                continue
            if len(rows.classes) and rows.classes.max() >= len(classifier.classes_):
                raise ValueError(f"{side} has the class {rows.classes.max()}.")
            sides[side] = (rows.X, classifier.classes_[rows.classes], rows.weight)
        source.check_all_used()
        classifier.update(**sides)


def _given(classifier: Any, side: str, rows: Any) -> _Given | None:
    """Rows of an update as an entry keeps them."""
    if rows is None:
        return None
    return _Given(*classifier._read_given(side, rows))
