"""Data sets of openml.org by number or name."""

from __future__ import annotations

from sklearn.datasets import fetch_openml

from localsvm._extras import require
from localsvm.data._readers._options import Content
from localsvm.exceptions import DataError

PREFIX = "openml:"


def read_openml(source: str) -> Content:
    """Download ``openml:31``, ``openml:adult`` or ``openml:adult@2``, or take it from
    scikit-learn's cache.
    """
    require("pandas", "tables", "Reading a table")
    name, _, version = source.removeprefix(PREFIX).partition("@")
    if not name or not (version or "1").isdigit():
        raise DataError(
            "is not understood; expected openml:NUMBER, openml:NAME or "
            "openml:NAME@VERSION."
        )
    chosen: dict[str, object] = (
        {"data_id": int(name)}
        if name.isdigit()
        else {
            "name": name,
            "version": int(version) if version else "active",
        }
    )
    try:
        bunch = fetch_openml(**chosen, as_frame=True, parser="auto")
    except OSError as error:  # no network, or a server that does not answer
        raise OSError(
            f"{source} cannot be downloaded, is there a network? {error}"
        ) from error
    except ValueError as error:  # no such data set
        raise DataError(f"cannot be downloaded: {error}") from error
    targets = list(bunch.target_names or [])
    return Content(bunch.frame, target=targets[0] if len(targets) == 1 else None)
