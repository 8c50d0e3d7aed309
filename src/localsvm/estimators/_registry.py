"""All classifiers of the library: the only list of them.

Command line, documentation and tests take their lists from here. A new method is
entered once, and ``tests/test_registry.py`` says what else it needs.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

from localsvm.estimators._additive import AdditiveSVC
from localsvm.estimators._local import LocalSVC, LocalSVCCV, NeighborSVC
from localsvm.estimators._mixture import MixtureSVC
from localsvm.estimators._reduced import ReducedSVC
from localsvm.estimators._regional import (
    ClusteredSVC,
    ClusteredSVCCV,
    LocallyLinearSVC,
)
from localsvm.estimators._staged import StagedSVC
from localsvm.estimators._support_cluster import SupportClusterSVC

if TYPE_CHECKING:
    from localsvm.state import Spec


@dataclass(frozen=True, kw_only=True)
class MethodInfo:
    """One classifier, and what it supports.

    Parameters
    ----------
    name : str
        Name on the command line.
    estimator : class
    family : str
        Folder of the method, without the underscore.
    need, reason : str
        A user's need, and why the method meets it: a row of the guide's table.
    guide : str
        Page in ``docs/guide``.
    golden : str
        Model in ``tests/export/golden`` that every later version must read.
    on_blocks : str, default=""
        How it fits blocks of rows that are not in memory; empty if it needs them in
        memory.
    has_regions : bool, default=True
        Whether it has a table of regions.
    takes_codes : bool, default=False
        Whether it takes missing values (NaN) and ``categorical_features``, so that a
        table is best given to it as codes.
    onnx_refusal : str, default=""
        Why it cannot be exported to ONNX; empty if it can.
    is_command : bool, default=True
        Whether ``localsvm fit --method`` offers it.
    is_top_level : bool, default=True
        Whether it is a name of ``localsvm`` itself, besides ``localsvm.estimators``.
    """

    name: str
    estimator: Any
    family: str
    need: str
    reason: str
    guide: str
    golden: str
    on_blocks: str = ""
    has_regions: bool = True
    takes_codes: bool = False
    onnx_refusal: str = ""
    is_command: bool = True
    is_top_level: bool = True

    @property
    def class_name(self) -> str:
        """Name of the class."""
        return str(self.estimator.__name__)

    @property
    def api_name(self) -> str:
        """Name in the API pages, after ``localsvm.``."""
        return f"{'' if self.is_top_level else 'estimators.'}{self.class_name}"


# In the order in which users meet them.
METHODS = (
    MethodInfo(
        name="staged",
        estimator=StagedSVC,
        family="staged",
        need="no idea, and some seconds",
        reason="adds what each column means to what they mean together; chooses all",
        guide="staged",
        golden="staged-cells",
        takes_codes=True,
    ),
    MethodInfo(
        name="additive",
        estimator=AdditiveSVC,
        family="additive",
        need="a table, and to see what each column does",
        reason="one exact table of effects per column; numbers, categories and missing "
        "values as they are",
        guide="additive",
        golden="additive",
        has_regions=False,
        takes_codes=True,
    ),
    MethodInfo(
        name="clustered",
        estimator=ClusteredSVC,
        family="regional",
        need="the fastest fit that is not linear",
        reason="the cost of a few linear SVMs, one search among centres to predict",
        guide="clustered",
        golden="soft-classes",
        on_blocks="reads the rows twice, to cluster a sample and to write all to files "
        "with their regions, then passes over the files; see below",
    ),
    MethodInfo(
        name="clustered-cv",
        estimator=ClusteredSVCCV,
        family="regional",
        need="the same, with its penalties and regions chosen",
        reason="cross-validation that warm-starts each fit",
        guide="clustered",
        golden="clustered-cv",
        on_blocks="as `ClusteredSVC`",
        is_command=False,
        is_top_level=False,
    ),
    MethodInfo(
        name="local",
        estimator=LocalSVC,
        family="local",
        need="an intricate boundary and many rows",
        reason="kernel SVMs on neighbourhoods; nearly linear in the rows",
        guide="local",
        golden="local",
        on_blocks="rows are sorted into cells of a k-d tree, and each cell gets the "
        "rows around it, so that neighbourhoods are whole",
    ),
    MethodInfo(
        name="local-cv",
        estimator=LocalSVCCV,
        family="local",
        need="the same, with its sizes, penalties and widths chosen",
        reason="one search for neighbours serves all settings",
        guide="local",
        golden="local-cv",
        is_command=False,
        is_top_level=False,
    ),
    MethodInfo(
        name="neighbor",
        estimator=NeighborSVC,
        family="local",
        need="few rows, few queries",
        reason="an SVM for each query",
        guide="local",
        golden="neighbor",
        has_regions=False,
        onnx_refusal="it fits an SVM for each row that it is asked about. LocalSVC "
        "fits them beforehand, and can.",
        is_command=False,
        is_top_level=False,
    ),
    MethodInfo(
        name="mixture",
        estimator=MixtureSVC,
        family="mixture",
        need="predictions of a handful of dot products, probabilities",
        reason="its gate is part of the model",
        guide="mixture",
        golden="mixture",
        on_blocks="EM by passes over files of the rows, see below",
    ),
    MethodInfo(
        name="support-cluster",
        estimator=SupportClusterSVC,
        family="support_cluster",
        need="a stream, or rows that must not leave their owner",
        reason="learns from clusters, not from rows",
        guide="support_cluster",
        golden="clusters",
        on_blocks="one pass: clusters of each block, merged",
    ),
    MethodInfo(
        name="reduced",
        estimator=ReducedSVC,
        family="reduced",
        need="*the* SVM, with a certificate",
        reason="the exact solution, checked over all rows",
        guide="reduced",
        golden="reduced",
        on_blocks="the exact SVM of all rows, from clusters of each block, see below",
        has_regions=False,
    ),
    MethodInfo(
        name="locally-linear",
        estimator=LocallyLinearSVC,
        family="regional",
        need="smooth local weights without a sharpness to choose",
        reason="codes that sum to one",
        guide="locally_linear",
        golden="anchors",
        is_top_level=False,
        on_blocks="as `ClusteredSVC`",
    ),
)
DEFAULT_METHOD = METHODS[0]


def method_named(name: str) -> MethodInfo:
    """Return the method of a name.

    Parameters
    ----------
    name : str

    Returns
    -------
    MethodInfo
    """
    return next(method for method in METHODS if method.name == name)


def method_of(estimator: Any) -> MethodInfo | None:
    """Return the method of an estimator, or of the class that it derives from.

    Parameters
    ----------
    estimator : object

    Returns
    -------
    MethodInfo or None
        None for what is not of this library.
    """
    known = {method.estimator: method for method in METHODS}
    return next(
        (known[each] for each in type(estimator).__mro__ if each in known), None
    )


def specs_of_family(family: str) -> tuple[Spec, ...]:
    """Return what model files keep of the methods of a family.

    Parameters
    ----------
    family : str
        Folder of the methods, without the underscore.

    Returns
    -------
    tuple of Spec
        As ``state.py`` in that folder declares; imported now, since only files need it.
    """
    module = import_module(f"localsvm.estimators._{family}.state")
    specs: tuple[Spec, ...] = module.SPECS
    return specs
