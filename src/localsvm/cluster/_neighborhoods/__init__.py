"""Searches for the nearest rows, and covers of all rows by neighbourhoods."""

from localsvm.cluster._neighborhoods._cover import (
    SEARCHES as SEARCHES,
    Cover as Cover,
    NeighborhoodCover as NeighborhoodCover,
    cover_rows as cover_rows,
    neighborhood_sizes as neighborhood_sizes,
)
from localsvm.cluster._neighborhoods._nearest import (
    NearestRows as NearestRows,
    finds_euclidean as finds_euclidean,
    index_of as index_of,
    sketch_of as sketch_of,
)
from localsvm.cluster._neighborhoods._neighbors import (
    KernelNeighbors as KernelNeighbors,
    ShortListNeighbors as ShortListNeighbors,
    TreeNeighbors as TreeNeighbors,
    find_neighbors as find_neighbors,
    fit_search as fit_search,
    make_search as make_search,
)
