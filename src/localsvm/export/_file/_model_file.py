"""Fitted models to files and back; a file may come from anybody."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, replace
from typing import Any

import sklearn
from sklearn.utils.validation import check_is_fitted

from localsvm._plain_file import (
    load_plain_file,
    prefix_errors,
    refusing_depth,
    write_plain_file,
)
from localsvm.data import RowSketch
from localsvm.data.state import ROW_SKETCH
from localsvm.exceptions import DataError
from localsvm.export._file._journal import journal_of, read_entries
from localsvm.state import Dims, Sink, Source, find_spec, read_object, write_object

FORMAT = "model"
VERSION = 3
_VERSION_WITH_SKETCH = 2
_VERSION_OF_A_MODEL = 1
_FIELDS = {"model", "notes", "scikit_learn"}
_ROWS = "fitted_rows"
_KINDS = ("classifier", "transformer", "pipeline", "calibrated")
_LONGEST_NOTES = 2**22


@dataclass(frozen=True, eq=False)
class ModelFile:
    """What a model file holds.

    Parameters
    ----------
    model : estimator
    notes : any JSON
    fitted_rows : RowSketch or None
        By which rows of the fit are recognised; None if they were not recorded, or are
        no longer those of the model.
    digest : str
        Checksum of the file.
    """

    model: Any
    notes: Any
    fitted_rows: RowSketch | None
    digest: str = ""


def save(
    model: Any,
    path: str | os.PathLike[str],
    *,
    notes: Any = None,
    fitted_rows: RowSketch | None = None,
    state: bool = False,
) -> None:
    """Write a fitted model to a file that any later version reads.

    The file is plain data, a JSON header and arrays: nothing in it is code, so it can
    be sent to others, unlike a pickle. What is loaded gives the same bits.

    Parameters
    ----------
    model : estimator
        A fitted classifier or transformer of this library; one of scikit-learn's
        scalers, linear projections, :class:`~sklearn.preprocessing.OneHotEncoder`,
        :class:`~sklearn.preprocessing.OrdinalEncoder` and
        :class:`~sklearn.impute.SimpleImputer`; a
        :class:`~sklearn.compose.ColumnTransformer` or a
        :class:`~sklearn.pipeline.Pipeline` of them; or a
        :class:`~sklearn.calibration.CalibratedClassifierCV`. Anything else is a
        TypeError that says where it was found. Of a search such as
        :class:`~sklearn.model_selection.GridSearchCV`, save ``best_estimator_``.
    path : path
        ``.lsvm`` by custom. A file of that name is replaced at once or not at all, and
        hands its mode on; of a symbolic link, the file that it points to. A device, a
        FIFO or standard output (``/dev/stdout``) is written in place, so a failure may
        leave part of a model there.
    notes : any JSON, default=None
        Kept with the model, for :func:`describe_file`; at most 4 MB.
    fitted_rows : RowSketch, default=None
        Record of the rows of the fit, for :func:`load_file`: by it ``localsvm
        evaluate`` and ``report`` recognise them. See there what it reveals.
    state : bool, default=False
        Whether to keep the rows and duals of a model with ``updatable=True``, so that
        what is loaded can be updated. The file then holds the training rows.

    See Also
    --------
    load : The way back.

    Notes
    -----
    O(bytes): a file is about as long as the arrays of its model. Searches for
    neighbours are not stored but built again from their rows. A function or a slice
    that chose the columns of a ColumnTransformer is stored as the columns it chose.

    A clusterer of scikit-learn that predicts by private attributes, such as
    :class:`~sklearn.cluster.BisectingKMeans`, is left out (``clusterer_`` is None after
    loading) where only its centres are needed, and refused where it has to predict.

    Examples
    --------
    >>> import tempfile, os
    >>> import localsvm
    >>> from localsvm.data import make_xor
    >>> X, y = make_xor(200, random_state=0)
    >>> model = localsvm.ClusteredSVC(n_regions=4, random_state=0).fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "xor.lsvm")
    ...     localsvm.save(model, path, notes={"made": "for an example"})
    ...     loaded = localsvm.load(path)
    >>> bool((loaded.decision_function(X) == model.decision_function(X)).all())
    True
    """
    _fill_table()
    text = json.dumps(notes, allow_nan=False)
    if len(text) > _LONGEST_NOTES:
        raise DataError(
            f"notes take {len(text)} bytes; expected at most {_LONGEST_NOTES}."
        )
    if find_spec(model) is not None:
        check_is_fitted(model)
    sink = Sink(keeps_rows=state)
    plain = write_object(model, "model", sink, *_KINDS)
    header = {
        "model": plain,
        "notes": json.loads(text),
        "scikit_learn": sklearn.__version__,
    }
    version = VERSION if state else _VERSION_OF_A_MODEL
    if fitted_rows is not None:
        header[_ROWS] = ROW_SKETCH.write(fitted_rows, _ROWS, sink, Dims())
        version = max(version, _VERSION_WITH_SKETCH)
    if sink.budget.needs_check:
        n_bytes = sum(array.nbytes for array in sink.arrays.values())
        sink.budget.check(n_bytes + len(json.dumps(header)))
    write_plain_file(path, FORMAT, version, header, sink.arrays)


def load(path: str | os.PathLike[str]) -> Any:
    """Read a model that :func:`save` wrote.

    Parameters
    ----------
    path : path
        Of a file from anybody: it is believed nothing. No code is run, classes are
        those of a fixed table, and all numbers are checked before they are used.

    Returns
    -------
    model : estimator
        With the parameters and fitted attributes of the one that was saved.

    Raises
    ------
    ValueError
        If the file is damaged, of a newer version, or holds what no model has.

    Notes
    -----
    O(bytes) of time, and memory of about the file's length, plus the searches for
    neighbours that some models need. A file that would take more than 64 times its
    length and 16 MB for what is made of its arrays is refused before that is made.
    """
    return load_file(path).model


def load_file(path: str | os.PathLike[str]) -> ModelFile:
    """Read a model with its notes and the record of its rows.

    Updates that a journal beside the file holds are made, too (:class:`UpdatableFile`).

    Parameters
    ----------
    path : path
        Checked as by :func:`load`.

    Returns
    -------
    ModelFile

    See Also
    --------
    describe_file : Reads all but the arrays.
    """
    # Updates need this module, and this one needs them to be complete.
    from localsvm.export._file._updates import replay

    found = load_snapshot(path)
    entries = read_entries(path, found.digest)
    if not entries:
        return found
    with prefix_errors(journal_of(path)):
        replay(found.model, entries)
    return replace(found, fitted_rows=None)


def load_snapshot(path: str | os.PathLike[str]) -> ModelFile:
    """Read a model file without the updates of its journal."""
    _fill_table()
    whole = load_plain_file(path, FORMAT, VERSION)
    header = whole.header
    with prefix_errors(path), refusing_depth():
        check_header(header)
        source = Source(whole.arrays, whole.n_bytes)
        model = read_object(header["model"], "model", source, *_KINDS)
        rows = None
        if _ROWS in header:
            rows = ROW_SKETCH.read(header[_ROWS], _ROWS, source, Dims())
        source.check_all_used()
    return ModelFile(model, header["notes"], rows, whole.digest)


def check_header(header: dict[str, Any]) -> None:
    """Raise a ValueError unless there are a model, notes and a version."""
    if set(header) - {_ROWS} != _FIELDS:
        raise ValueError(
            f"its header has the fields {', '.join(sorted(header)):.200}; expected "
            f"model, notes and scikit_learn, and perhaps {_ROWS}."
        )
    if not isinstance(header["scikit_learn"], str):
        raise ValueError(f"it was written with {header['scikit_learn']!r:.60}.")


def _fill_table() -> None:
    # It imports all families, which a command that reads no model does not need.
    from localsvm.export._file._table import fill_table

    fill_table()
