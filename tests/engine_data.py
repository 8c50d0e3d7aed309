"""Rows in every form that ``fit`` takes them in blocks."""

from contextlib import contextmanager

import numpy as np

from localsvm.engine import Batches

ROWS = 96  # of a block


def make_rows(n=500, n_features=4, n_classes=3, seed=0, dtype=np.float64):
    """Rows, labels and weights; classes that are curved and overlap."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, n_features)).astype(dtype)
    score = X[:, 0] + np.sin(2 * X[:, 1]) + 0.3 * rng.standard_normal(n)
    edges = np.linspace(-1, 1, n_classes + 1)[1:-1]
    y = np.array(["ash", "birch", "cedar", "date"])[np.searchsorted(edges, score)]
    return X, y, rng.integers(0, 3, n).astype(float)


def write_parquet(path, X, y, weight=None, rows=ROWS):
    """A file with a row group per block and the label between the columns."""
    import pyarrow
    import pyarrow.parquet

    columns = {f"f{j}": X[:, j] for j in range(X.shape[1])}
    columns = {"f0": columns.pop("f0"), "label": y, **columns}
    if weight is not None:
        columns["weight"] = weight
    table = pyarrow.table(columns)
    pyarrow.parquet.write_table(
        table, path, row_group_size=rows, write_page_checksum=True
    )
    return path


@contextmanager
def local_client(n_workers, *, processes=False):
    """A small cluster without a dashboard."""
    from distributed import Client, LocalCluster

    with (
        LocalCluster(
            n_workers=n_workers,
            threads_per_worker=1,
            processes=processes,
            dashboard_address=None,
            memory_limit="2GB",
        ) as cluster,
        Client(cluster) as client,
    ):
        yield client


def same_bits(first, second):
    """Whether two fitted models decide alike, bit for bit."""
    queries = make_rows(200, first.n_features_in_, seed=9)[0]
    scores = [
        model._score_rows(with_names_of(model, queries)) for model in (first, second)
    ]
    return np.array_equal(*scores)


def with_names_of(model, X):
    """Rows with the names of columns that the model has seen, if it has."""
    if not hasattr(model, "feature_names_in_"):
        return X
    import pandas

    return pandas.DataFrame(X, columns=model.feature_names_in_)


def uneven_batches(X, y, weight):
    """Batches without weight, without rows and without some classes; and their rows."""
    order = np.argsort(y, kind="stable")
    X, y, weight = X[order], y[order], weight[order]
    weight[:ROWS] = 0
    edges = [0, ROWS, ROWS, 2 * ROWS, len(y)]

    def read(number):
        own = slice(edges[number], edges[number + 1])
        return X[own], y[own], weight[own]

    return Batches(read, 4), X, y, weight
