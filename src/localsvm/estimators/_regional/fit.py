"""The fit of linear SVMs over regions: cluster, assign, solve.

``assign_regions`` clusters the rows of blocks and codes them, ``solve_regions`` fits
the weight vectors for one penalty. ``find_regions`` and ``fit_regional`` do so for rows
in memory, which are one block. None of them knows an estimator; what they return is
frozen.
"""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

import numpy as np

from localsvm.cluster import (
    HardRegions,
    LocalCoordinates,
    RegionCodes,
    SoftRegions,
)
from localsvm.engine import Blocks, Labels
from localsvm.estimators._regional.blocks import Assignment, assign_block, rows_key
from localsvm.estimators._regional.model import (
    Coded,
    RegionalFit,
    RegionalSettings,
    Regions,
)
from localsvm.estimators._regional.solve import FitOptions, solve_regions
from localsvm.passes import BlockClusterer, Survey, cluster_centers
from localsvm.rows import Rows


def fit_regional(
    rows: Rows,
    settings: RegionalSettings,
    options: FitOptions,
    start: RegionalFit | None = None,
) -> RegionalFit:
    """Fit rows in memory: cluster, assign and solve.

    Parameters
    ----------
    rows : Rows
    settings : RegionalSettings
    options : FitOptions
    start : RegionalFit or None, default=None
        Fit of the same rows with other penalties. Its regions are used again, and its
        duals, scaled by the ratio of the penalties, are the start of the solver.
    """
    coded = find_regions(rows, settings, options) if start is None else start.coded
    return solve_regions(coded, settings, options, start)


def find_regions(rows: Rows, settings: RegionalSettings, options: FitOptions) -> Coded:
    """Cluster rows in memory and code them by their nearest regions."""
    blocks = Blocks.in_memory(rows, options.n_jobs)
    survey = Survey(rows.n_rows, np.nan, np.nan)
    return assign_regions(blocks, labels_of(rows), survey, settings, options)


def survey_blocks(
    blocks: Blocks,
    clusterer: BlockClusterer,
    options: FitOptions,
    *,
    sampled: bool | None = None,
) -> Survey:
    """Classes, scale of the rows, and the sample that the clusterer is fitted to.

    Rows in memory have a sample only if ``sampled``.
    """
    # Rows in memory are surveyed in no time: their stages begin with the clusterer.
    stage = nullcontext() if blocks.is_in_memory else options.clock.stage("scan")
    with stage:
        return clusterer.survey(blocks, sampled=sampled)


def assign_regions(
    blocks: Blocks,
    labels: Labels,
    survey: Survey,
    settings: RegionalSettings,
    options: FitOptions,
) -> Coded:
    """Cluster the rows of the blocks and put them with their codes into the store."""
    with options.clock.stage("cluster"):
        clusterer = BlockClusterer(
            settings.clusterer, settings.n_regions, options.seed, n_jobs=options.n_jobs
        ).fit_blocks(blocks, survey)
    with options.clock.stage("assign"):
        regions = _regions(blocks, clusterer, settings)
        found = blocks.reduce(
            assign_block, blocks.store, regions, labels, blocks.n_jobs, stage="assign"
        )
        regions.adapt(found.distance / found.weight, len(found.sizes))
        return _coded(blocks, clusterer, regions, found, labels)


def _regions(blocks: Blocks, clusterer: Any, settings: RegionalSettings) -> Regions:
    if settings.coding != "softmax":
        return LocalCoordinates(
            cluster_centers(blocks, clusterer),
            n_nearest=settings.n_nearest,
            coding=settings.coding,
        )
    if settings.n_nearest == 1:
        return HardRegions(clusterer)
    return SoftRegions(
        cluster_centers(blocks, clusterer),
        n_nearest=settings.n_nearest,
        sharpness=settings.sharpness,
    )


def _coded(
    blocks: Blocks,
    clusterer: Any,
    regions: Regions,
    found: Assignment,
    labels: Labels,
) -> Coded:
    kept = None
    if blocks.is_in_memory:
        stored = blocks.store.get(rows_key(0))
        kept = RegionCodes(stored["regions"], regions.weights(stored["scores"]))
    return Coded(
        blocks,
        found.block_sizes(blocks.n_blocks),
        len(labels.classes),
        clusterer,
        regions,
        *found.over(regions.n_regions),
        found.squares / found.weight,
        kept,
    )


def labels_of(rows: Rows) -> Labels:
    """Labels of rows whose classes are known by number."""
    return Labels(np.arange(rows.n_classes), np.ones(rows.n_classes))
