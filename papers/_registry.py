"""All papers and experiments."""

from __future__ import annotations

from collections.abc import Sequence

from papers._experiment import Experiment, Paper
from papers.clustersvm import PAPER as CLUSTERSVM
from papers.csvm import PAPER as CSVM
from papers.fastlsvm import PAPER as FASTLSVM
from papers.mlsvm import PAPER as MLSVM
from papers.scm import PAPER as SCM

_PAPERS = (CSVM, MLSVM, SCM, FASTLSVM, CLUSTERSVM)


def list_papers() -> list[Paper]:
    """List the papers.

    Returns
    -------
    list of Paper
    """
    return list(_PAPERS)


def find_experiments(ids: Sequence[str] = ()) -> list[Experiment]:
    """Experiments by their ids; the id of a paper stands for all of its own.

    Parameters
    ----------
    ids : sequence of str, default=()
        None is all experiments.

    Returns
    -------
    list of Experiment
        In the order of the ids, each once.

    Raises
    ------
    KeyError
        If an id is unknown; the message names the known ones.
    """
    known = {
        experiment.id: [experiment]
        for paper in _PAPERS
        for experiment in paper.experiments
    }
    groups = {paper.id: list(paper.experiments) for paper in _PAPERS}
    unknown = [name for name in ids if name not in known and name not in groups]
    if unknown:
        raise KeyError(
            f"Unknown experiment {unknown[0]!r}. Known: {', '.join([*groups, *known])}."
        )
    chosen = ids or list(groups)
    found = [e for name in chosen for e in known.get(name) or groups[name]]
    return list({experiment.id: experiment for experiment in found}.values())
