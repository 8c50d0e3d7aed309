"""Files of every version of the formats stay readable."""

import shutil
from pathlib import Path

import numpy as np

from localsvm.federated import Ledger, SharedSummary, dp, min_size, none

GOLDEN = Path(__file__).with_name("golden")


def test_shared_summaries_of_version_1_are_read():
    shared = SharedSummary.load(GOLDEN / "shared-summary-1.scm")
    summary = shared.summary
    assert summary.weight.tolist() == [20.0, 15.5, 0.25]
    assert summary.mean.tolist() == [[1.0, -2.0], [0.5, 1e-300], [3.0, 4.0]]
    np.testing.assert_array_equal(
        summary.covariance,
        [[[1.0, 0.5], [0.5, 2.0]], np.zeros((2, 2)), [[2.0, -1.0], [-1.0, 1.0]]],
    )
    assert summary.label.tolist() == ["ash", "bücher", "bücher"]
    assert summary.feature_names == ("u", "v")
    assert shared.partition == "0123456789abcdef" * 4
    assert shared.cells.tolist() == [0, 7, 2**40]
    bank, clinic, office = shared.parties
    assert bank.privacy == dp(1.0, 1e-6, (0.0, [1.0, 2.0]), radius=1.5)
    assert (bank.rows, bank.dropped_rows) == (15.75, None)
    assert bank.accounting == {"release": 1, "rho": 0.02}
    assert clinic.privacy == min_size(20, 5)
    assert (clinic.dropped_rows, clinic.dropped_share) == (5, 0.2)
    assert clinic.weight_factor == 0.5
    assert office.privacy == none()


def test_ledgers_of_version_1_are_read(tmp_path):
    path = shutil.copy(GOLDEN / "ledger-1.json", tmp_path)
    ledger = Ledger.load(path)
    assert (ledger.epsilon, ledger.delta, ledger.max_releases) == (3.0, 1e-6, 2)
    assert [entry.rho for entry in ledger.entries] == [0.02, 0, 0]
    levels = [entry.privacy for entry in ledger.entries]
    assert levels == [dp(1.0, 1e-6, (0.0, [1.0, 2.0])), min_size(20, 5), none()]
    assert ledger.enter("bank", min_size())["release"] == 4
