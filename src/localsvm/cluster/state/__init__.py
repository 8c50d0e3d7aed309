"""What a model file keeps of clusterers and of searches for neighbours."""

from localsvm.cluster.state import _clusterers, _searches
from localsvm.cluster.state._searches import Search

SPECS = (*_clusterers.SPECS, *_searches.SPECS)

__all__ = ["SPECS", "Search"]
