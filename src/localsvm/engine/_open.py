"""From what ``fit`` was given to blocks and the driver that suits them."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from localsvm._threads import effective_n_jobs
from localsvm.engine._blocks import Blocks
from localsvm.engine._checkpoints import Checkpoint, describe, locked_folder
from localsvm.engine._dask import (
    DaskDriver,
    active_client,
    is_dask_array,
    is_dask_frame,
    local_cluster,
    open_dask,
)
from localsvm.engine._drivers import Driver, ThreadDriver
from localsvm.engine._options import EngineOptions, current_options
from localsvm.engine._sources import (
    Batches,
    Source,
    is_dataset,
    open_batches,
    open_parquet,
    spool,
)


def is_in_blocks(X: Any) -> bool:
    """Tell whether rows are in blocks rather than in memory.

    Parameters
    ----------
    X : object
        What ``fit`` was given as rows.

    Returns
    -------
    bool
        True for a path, a ``pyarrow.dataset.Dataset``, a ``dask.array``, a
        ``dask.dataframe``, :class:`Batches` and iterators. Nothing is imported for it.
    """
    return (
        isinstance(X, (str, os.PathLike, Batches, Iterator))
        or is_dask_array(X)
        or is_dask_frame(X)
        or is_dataset(X)
    )


@contextmanager
def open_blocks(estimator: Any, X: Any, y: Any, sample_weight: Any) -> Iterator[Blocks]:
    """Open rows for a fit, with the driver that :func:`options` and their kind say.

    Parameters
    ----------
    estimator : estimator
        Its class names the tasks; ``n_jobs`` is the number of threads.
    X, y, sample_weight : object
        What ``fit`` was given.

    Yields
    ------
    Blocks
    """
    options, name = current_options(), type(estimator).__name__
    with ExitStack() as stack:
        if options.checkpoint is not None:
            stack.enter_context(locked_folder(options.checkpoint, name))
        driver = _choose_driver(X, options, estimator.n_jobs, stack)
        source = _open_source(X, y, sample_weight, options, driver, stack)
        checkpoint = None
        if options.checkpoint is not None:
            description = describe(estimator, source, y, sample_weight)
            checkpoint = Checkpoint(
                options.checkpoint, description, options.checkpoint_seconds
            )
        rows = Blocks(source, driver, name, options, checkpoint)
        finished = False
        try:
            rows.verify()
            yield rows
            finished = True
        finally:
            rows.close(finished=finished)


def _choose_driver(
    X: Any, options: EngineOptions, n_jobs: int | None, stack: ExitStack
) -> Driver:
    client = options.client
    if client is None and options.n_workers is not None:
        client = stack.enter_context(
            local_cluster(options.n_workers, options.memory_limit)
        )
    if client is None and (is_dask_array(X) or is_dask_frame(X)):
        client = active_client()
    if client is None:
        return ThreadDriver(effective_n_jobs(n_jobs))
    return DaskDriver(client)


def _open_source(
    X: Any,
    y: Any,
    sample_weight: Any,
    options: EngineOptions,
    driver: Driver,
    stack: ExitStack,
) -> Source:
    if is_dask_array(X) or is_dask_frame(X):
        return open_dask(X, y, sample_weight)
    if isinstance(X, (str, os.PathLike)) or is_dataset(X):
        return open_parquet(X, y, sample_weight, options.block_rows)
    if y is not None or sample_weight is not None:
        raise ValueError(
            "y and sample_weight must be None where X gives batches of (X, y) or "
            "(X, y, sample_weight)."
        )
    if isinstance(X, Batches) and not (X.in_memory and isinstance(driver, DaskDriver)):
        return open_batches(X)
    batches = map(X.read, range(X.n_batches)) if isinstance(X, Batches) else X
    folder = stack.enter_context(
        tempfile.TemporaryDirectory(prefix="localsvm-batches-", dir=options.folder)
    )
    return spool(batches, Path(folder))
