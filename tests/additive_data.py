"""A table with numbers, categories and missing values."""

import numpy as np


def mixed_table(n_rows=600, n_classes=2, seed=0):
    """Rows, classes and which columns are categories."""
    rng = np.random.default_rng(seed)
    number = rng.normal(size=n_rows)
    lumpy = np.where(rng.random(n_rows) < 0.6, 0.0, np.exp(rng.normal(size=n_rows)))
    # Levels of very different weights, some of them rare.
    level = rng.choice(
        9, n_rows, p=np.array([30, 20, 15, 12, 10, 8, 4, 0.6, 0.4]) / 100
    )
    few = rng.choice(3, n_rows, p=[0.5, 0.3, 0.2])
    score = np.sin(2 * number) + (lumpy > 1) + 0.5 * np.isin(level, [1, 4])
    score += 0.3 * rng.normal(size=n_rows)
    number[rng.random(n_rows) < 0.1] = np.nan
    level = np.where(rng.random(n_rows) < 0.05, np.nan, level.astype(float))
    X = np.column_stack([number, lumpy, level, few.astype(float)])
    edges = np.quantile(score, np.arange(1, n_classes) / n_classes)
    y = np.searchsorted(edges, score).astype(np.int32)
    return X, y, np.array([False, False, True, True])
