"""The paired t-test between the repetitions of two methods."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from scipy import stats

BETTER, WORSE = "↑", "↓"
_LEVEL = 0.05


def compare_paired(ours: Mapping[int, float], others: Mapping[int, float]) -> str:
    """Mark a significant difference, two-tailed at the level 0.05.

    Parameters
    ----------
    ours, others : mapping of int to float
        Values by the seed or fold of the repetition; only common ones count.

    Returns
    -------
    str
        "↑" if ours are larger, "↓" if they are smaller, "" if that may be chance.
    """
    common = sorted(ours.keys() & others.keys())
    gains = np.array([ours[seed] - others[seed] for seed in common])
    # Without any variance the statistic is not defined.
    if len(gains) < 2 or not gains.any():
        return ""
    if np.ptp(gains) > 0 and stats.ttest_1samp(gains, 0.0).pvalue >= _LEVEL:
        return ""
    return BETTER if gains.mean() > 0 else WORSE
