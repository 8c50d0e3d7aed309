"""Principal direction divisive partitioning: the cuts, and the direction of each."""

from localsvm.cluster._pddp._tree import PDDP as PDDP, SplitTree as SplitTree
