"""Clusterers, neighbour searches, and the regions that they give to rows."""

from localsvm.cluster._gaussian_summary import GaussianSummary
from localsvm.cluster._local_coordinates import LocalCoordinates
from localsvm.cluster._neighborhood_cover import NeighborhoodCover
from localsvm.cluster._neighbors import (
    KernelNeighbors,
    ShortListNeighbors,
    TreeNeighbors,
)
from localsvm.cluster._parallel_kmeans import ParallelKMeans
from localsvm.cluster._pddp import PDDP
from localsvm.cluster._regions import HardRegions, RegionCodes, SoftRegions
from localsvm.cluster._sampled_kmeans import SampledKMeans
from localsvm.cluster._summarize import (
    summarize_classes,
    summarize_clusters,
    summarize_rows,
)
from localsvm.cluster._threshold import ThresholdClustering

__all__ = [
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
