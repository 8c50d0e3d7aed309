"""Clusterers, and the regions that they give to rows."""

from localsvm.cluster._regions import HardRegions, RegionCodes, SoftRegions
from localsvm.cluster._sampled_kmeans import SampledKMeans

__all__ = ["HardRegions", "RegionCodes", "SampledKMeans", "SoftRegions"]
