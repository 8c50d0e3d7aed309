"""Small real tables that come with the package."""

from __future__ import annotations

from pathlib import Path

_FOLDER = Path(__file__).with_name("samples")
_ENDING = "_sample.csv.gz"


def sample_path(name: str = "adult") -> Path:
    """Path of a small real table for demonstrations and tests.

    Parameters
    ----------
    name : {"adult"}, default="adult"
        "adult" has 2000 rows of the census table Adult (Kohavi and Becker, 1996): six
        columns of numbers, eight of categories, three of them with missing values; the
        target ``income`` is "<=50K" or ">50K", and ``split`` says "train" or "test".

    Returns
    -------
    Path
        A CSV file, compressed with gzip.

    Examples
    --------
    >>> from localsvm.data import sample_path
    >>> sample_path().name
    'adult_sample.csv.gz'
    """
    path = _FOLDER / f"{name}{_ENDING}"
    known = sorted(each.name.removesuffix(_ENDING) for each in _FOLDER.glob("*.gz"))
    if name not in known:
        raise ValueError(
            f"There is no sample {name!r}; expected one of "
            f"{', '.join(map(repr, known))}."
        )
    return path
