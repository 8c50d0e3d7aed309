"""Rows and summaries for the tests of sharing, and forged files."""

import numpy as np

from localsvm._plain_file import read_plain_file, write_plain_file
from localsvm.federated import Party, none


def blobs(n, n_features=3, seed=0, classes=("ash", "birch")):
    """Rows in [0, 1] in three groups, half of them of each class."""
    rng = np.random.default_rng(seed)
    middle = rng.uniform(0.2, 0.8, (3, n_features))
    X = middle[rng.integers(0, 3, n)] + 0.08 * rng.standard_normal((n, n_features))
    return np.clip(X, 0, 1), np.asarray(classes)[np.arange(n) % len(classes)]


def share(name, X, y, privacy=None, **parameters):
    """One release of a new party."""
    return Party(name, **parameters).summarize(X, y, privacy or none())


def assert_same(first, second):
    """Two shared summaries are equal, bit for bit."""
    for name in ("weight", "mean", "covariance", "label"):
        ours, theirs = getattr(first.summary, name), getattr(second.summary, name)
        np.testing.assert_array_equal(ours, theirs)
        assert ours is None or ours.dtype == theirs.dtype
    assert first.summary.feature_names == second.summary.feature_names
    assert first.parties == second.parties
    assert first.partition == second.partition
    np.testing.assert_array_equal(first.cells, second.cells)


def forge(path, change):
    """Change the content of a shared file so that its checksum is right."""
    header, arrays = read_plain_file(path, "shared-summary", 1)
    change(header, arrays)
    write_plain_file(path, "shared-summary", 1, header, arrays)
