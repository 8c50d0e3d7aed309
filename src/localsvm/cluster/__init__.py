"""Clusterers, neighbour searches, and the regions that they give to rows."""

from localsvm.cluster._cells import CellTree as CellTree, squared_gaps as squared_gaps
from localsvm.cluster._centers import NearestCenters as NearestCenters
from localsvm.cluster._gaussian_summary import GaussianSummary
from localsvm.cluster._local_coordinates import (
    CLOSE as CLOSE,
    RIDGE as RIDGE,
    LocalCoordinates,
)
from localsvm.cluster._neighborhoods import (
    SEARCHES as SEARCHES,
    Cover as Cover,
    KernelNeighbors,
    NearestRows as NearestRows,
    NeighborhoodCover,
    ShortListNeighbors,
    TreeNeighbors,
    cover_rows as cover_rows,
    find_neighbors as find_neighbors,
    finds_euclidean as finds_euclidean,
    fit_search as fit_search,
    index_of as index_of,
    make_search as make_search,
    neighborhood_sizes as neighborhood_sizes,
    sketch_of as sketch_of,
)
from localsvm.cluster._parallel_kmeans import ParallelKMeans
from localsvm.cluster._pddp import PDDP, SplitTree as SplitTree
from localsvm.cluster._regions import CODE_CUT, HardRegions, RegionCodes, SoftRegions
from localsvm.cluster._sampled_kmeans import SampledKMeans
from localsvm.cluster._summarize import (
    class_clusterer as class_clusterer,
    copy_for as copy_for,
    hard_labels as hard_labels,
    map_classes as map_classes,
    summarize_classes,
    summarize_clusters,
    summarize_rows,
)
from localsvm.cluster._threshold import ThresholdClustering

__all__ = [
    "CODE_CUT",
    "PDDP",
    "GaussianSummary",
    "HardRegions",
    "KernelNeighbors",
    "LocalCoordinates",
    "NeighborhoodCover",
    "ParallelKMeans",
    "RegionCodes",
    "SampledKMeans",
    "ShortListNeighbors",
    "SoftRegions",
    "ThresholdClustering",
    "TreeNeighbors",
    "summarize_classes",
    "summarize_clusters",
    "summarize_rows",
]
