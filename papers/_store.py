"""Records of runs: one file of JSON lines per experiment and size."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from localsvm._replaced_file import replace_file
from localsvm.exceptions import DataError
from papers._experiment import Size

Record = dict[str, Any]


class Store:
    """A folder of records.

    A record is on disk before the next run begins. A last line that was cut off when a
    process was killed is ignored, and overwritten by the next record.

    Parameters
    ----------
    folder : path
        Made when the first record is written.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder)

    def path(self, experiment_id: str, size: Size) -> Path:
        """File of an experiment at a size."""
        return self.folder / f"{experiment_id}.{size}.jsonl"

    def read(self, experiment_id: str, size: Size) -> dict[str, Record]:
        """Read records by the key of their run; of two with one key the later."""
        path = self.path(experiment_id, size)
        if not path.exists():
            return {}
        whole_lines = path.read_bytes().split(b"\n")[:-1]
        records = [_parse(path, *line) for line in enumerate(whole_lines, start=1)]
        return {record["key"]: record for record in records}

    @contextmanager
    def writer(self, experiment_id: str, size: Size) -> Iterator[RecordWriter]:
        """Open a file for records; only one process may at a time.

        Raises
        ------
        BlockingIOError
            If another process has it open.
        """
        path = self.path(experiment_id, size)
        path.parent.mkdir(parents=True, exist_ok=True)
        with open(path, "a+b") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                raise BlockingIOError(
                    f"{path} is being written by another process; wait for its end."
                ) from error
            _cut_torn_line(file)
            yield RecordWriter(file)

    def keep_only(
        self, experiment_id: str, size: Size, keys: Mapping[str, object]
    ) -> int:
        """Drop records of other keys, and return how many they were."""
        records = self.read(experiment_id, size)
        kept = {key: records[key] for key in keys if key in records}
        if len(kept) < len(records):
            lines = [_line(record) for record in kept.values()]
            replace_file(self.path(experiment_id, size), lines)
        return len(records) - len(kept)


class RecordWriter:
    """Appends records to an open file."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file

    def append(self, record: Record) -> None:
        """Write a record to the disk."""
        self._file.write(_line(record))
        self._file.flush()
        os.fsync(self._file.fileno())


def _line(record: Record) -> bytes:
    return json.dumps(record, allow_nan=False, ensure_ascii=False).encode() + b"\n"


def _parse(path: Path, number: int, line: bytes) -> Record:
    try:
        record = json.loads(line)
    except ValueError as error:
        raise DataError(f"{path}, line {number}: no JSON: {error}") from error
    if not isinstance(record, dict) or not isinstance(record.get("key"), str):
        raise DataError(
            f"{path}, line {number}: {line[:60]!r}; expected an object with a key."
        )
    return record


def _cut_torn_line(file: IO[bytes]) -> None:
    file.seek(0)
    content = file.read()
    file.truncate(content.rfind(b"\n") + 1)
    file.seek(0, os.SEEK_END)
