"""Neighbour searches: their parameters, and the rows that they are built from again."""

from __future__ import annotations

from numbers import Integral
from typing import Any

from scipy import sparse
from sklearn.neighbors import NearestNeighbors

from localsvm.cluster import (
    KernelNeighbors,
    ShortListNeighbors,
    TreeNeighbors,
    fit_search,
)
from localsvm.kernels import Kernel
from localsvm.kernels.state import KERNEL, kernel_params
from localsvm.state import (
    Dims,
    Field,
    Sink,
    Source,
    Spec,
    Whole,
    find_spec,
    named_spec,
    read_object,
    read_params,
    width_of,
    write_object,
    write_params,
)

# Rows are mapped to so many features at most.
_MOST_FEATURES = 1024
_LEAF_SIZE = 8


class Search(Field):
    """A fitted search without its rows.

    What is read is a function that builds it from them, since the rows belong to the
    owner.
    """

    def write(self, value: Any, place: str, sink: Sink, dims: Dims) -> Any:
        """Write class and parameters."""
        spec = find_spec(value)
        if spec is None or spec.kind != "search":
            raise TypeError(
                f"{place} is a {type(value).__name__}, which a model file cannot hold; "
                "use joblib or skops."
            )
        _check_kernel(value, place, written=True)
        if isinstance(value, (TreeNeighbors, NearestNeighbors)):
            sink.budget.charge(_cost(value, *_shape_of(value)), place)
        elif isinstance(value, KernelNeighbors) and value.search_ is not None:
            sink.budget.charge(_cost(None, *_shape_of(value.search_)), place)
        plain = {
            "class": spec.name,
            "params": write_params(spec, value, place, sink, fitted=False),
        }
        if isinstance(value, ShortListNeighbors):
            plain |= {
                "transformer": write_object(
                    value.transformer_, f"{place}.transformer_", sink, "transformer"
                ),
                "search": self.write(value.search_, f"{place}.search_", sink, dims),
            }
        return plain

    def read(self, plain: Any, place: str, source: Source, dims: Dims) -> Any:
        """Read class and parameters."""
        if not isinstance(plain, dict) or not {"class", "params"} <= set(plain):
            raise ValueError(f"{place} is {plain!r:.60}; expected a search.")
        spec = named_spec(plain["class"])
        if spec is None or spec.kind != "search":
            raise ValueError(f"{place} is of the class {plain['class']!r:.60}.")
        short_list = spec.cls is ShortListNeighbors
        expected = {"class", "params"} | (
            {"transformer", "search"} if short_list else set()
        )
        if set(plain) != expected:
            raise ValueError(f"{place} has the fields {sorted(plain)!r:.60}.")
        search = read_params(spec, plain["params"], place, source, fitted=False)
        _check_kernel(search, place, written=False)
        if not short_list:
            return lambda rows: _built(search, rows, place, source)
        transformer = read_object(
            plain["transformer"], f"{place}.transformer_", source, "transformer"
        )
        build = self.read(plain["search"], f"{place}.search_", source, dims)
        return lambda rows: _short_list(
            search, transformer, build, rows, (place, source)
        )


def _built(search: Any, rows: Any, place: str, source: Source) -> Any:
    """Fit a search whose parameters may be any that its class takes."""
    n_rows, n_columns = rows.shape
    if isinstance(search, KernelNeighbors):
        n_features = search.kernel.n_explicit_features(n_columns)
        if 0 < n_features <= search.max_features:
            source.budget.charge(_cost(None, n_rows, n_features), place)
    elif not sparse.issparse(rows):  # others keep sparse rows as they are
        source.budget.charge(_cost(search, n_rows, n_columns), place)
    try:
        return fit_search(search, rows)
    except (ArithmeticError, LookupError, TypeError) as error:
        raise ValueError(f"{place} cannot be built: {error}") from error


def _short_list(
    search: ShortListNeighbors,
    transformer: Any,
    build: Any,
    rows: Any,
    of: tuple[str, Source],
) -> ShortListNeighbors:
    """Fitted as it was: a transformer may have been fitted at random."""
    place, source = of
    if transformer.n_features_in_ != rows.shape[1]:
        raise ValueError(
            f"{place}.transformer_ takes {transformer.n_features_in_} columns, but is "
            f"given {rows.shape[1]}."
        )
    width = width_of(transformer, place)
    source.budget.charge(8 * rows.shape[0] * width, place)
    return search.fitted_with(rows, transformer, build(transformer.transform(rows)))


def _cost(search: Any, n_rows: int, n_columns: int) -> int:
    """Most bytes that a search takes: its rows, their order, and nodes of a tree."""
    leaf = getattr(search, "leaf_size", _LEAF_SIZE)
    leaf = max(1, int(leaf)) if isinstance(leaf, Integral) else 1
    nodes = 4 * (n_rows // leaf + 1)
    return n_rows * (8 * n_columns + 16) + nodes * (16 * n_columns + 64)


def _shape_of(search: Any) -> tuple[int, int]:
    if isinstance(search, TreeNeighbors):
        return search.tree_.n, search.tree_.m
    return search.n_samples_fit_, search.n_features_in_


def _check_kernel(search: Any, place: str, *, written: bool) -> None:
    """Raise where rows would be mapped to more features than there is memory for."""
    if not isinstance(search, KernelNeighbors):
        return
    if not isinstance(search.kernel, Kernel):
        raise ValueError(f"{place}.kernel is {search.kernel!r:.60}; expected a Kernel.")
    places = f"{place}.kernel", f"{place}.max_features"
    most = Whole(0, _MOST_FEATURES)
    if written:
        KERNEL.write(search.kernel, places[0], Sink(), Dims())
        most.write(search.max_features, places[1], Sink(), Dims())
    else:
        KERNEL.read(kernel_params(search.kernel), places[0], Source({}), Dims())
        most.read(search.max_features, places[1], Source({}), Dims())


SPECS = (
    Spec(TreeNeighbors, "search"),
    Spec(KernelNeighbors, "search"),
    Spec(ShortListNeighbors, "search"),
    Spec(NearestNeighbors, "search"),
)
