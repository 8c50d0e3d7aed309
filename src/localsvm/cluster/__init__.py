"""Clusterers, neighbour searches, and the regions that they give to rows."""

from localsvm.cluster._neighborhood_cover import NeighborhoodCover
from localsvm.cluster._neighbors import (
    KernelNeighbors,
    ShortListNeighbors,
    TreeNeighbors,
)
from localsvm.cluster._regions import HardRegions, RegionCodes, SoftRegions
from localsvm.cluster._sampled_kmeans import SampledKMeans

__all__ = [
    "HardRegions",
    "KernelNeighbors",
    "NeighborhoodCover",
    "RegionCodes",
    "SampledKMeans",
    "ShortListNeighbors",
    "SoftRegions",
    "TreeNeighbors",
]
