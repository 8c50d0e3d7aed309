"""Error of three parties on Adult at each level without noise, all options at default.

The training rows are dealt out at random to three parties, as many to each as in the
paper; each shares clusters, and a model with default parameters learns from all of
them. Three deals.
"""

from __future__ import annotations

import sys
import time
from typing import Any

import numpy as np
from records import save, show
from support_tasks import PARTIES, adult

from localsvm import SupportClusterSVC
from localsvm.federated import Party, merge, min_size, none

LEVELS = {
    "none()": none(),
    "min_size(5)": min_size(5),
    "min_size(10)": min_size(10),
    "min_size(20)": min_size(20),
}
DEALS = (0, 1, 2)


def measure(name: str, deal: int) -> dict[str, Any]:
    """Test error in percent of the model that three parties make."""
    data = adult()
    order = np.random.default_rng(deal).permutation(len(data.y_train))
    start = time.process_time()
    shared = merge(
        [
            Party(f"party {number}").summarize(
                data.X_train[rows], data.y_train[rows], LEVELS[name]
            )
            for number, rows in enumerate(np.split(order, np.cumsum(PARTIES)[:-1]))
        ]
    )
    seconds = time.process_time() - start
    model = SupportClusterSVC().fit_summaries(shared)
    return {
        "privacy": name,
        "deal": deal,
        "clusters": shared.summary.n_clusters,
        "error": round(100 * (1 - model.score(data.X_test, data.y_test)), 2),
        "share_cpu_seconds": round(seconds, 2),
    }


def main() -> int:
    """Measure and save."""
    rows = [measure(name, deal) for name in LEVELS for deal in DEALS]
    show(rows)
    command = "python benchmarks/support_parties.py"
    save("support_parties", command, rows, data=["adult"])
    return 0


if __name__ == "__main__":
    sys.exit(main())
