"""Writing Lance datasets, each time one commit."""

import os
from typing import Any

from kinjo import _sides
from kinjo._dataset import Dataset
from kinjo._library import native
from kinjo._paths import path_text
from kinjo._progress import showing
from kinjo._sizes import bytes_of
from kinjo._storage import tell

_DEFAULTS: dict[str, Any] = {
    "mode": "create",
    "data_version": None,
    "vector_column": None,
    "max_rows_per_file": None,
    "max_bytes_per_file": None,
    "stable_row_ids": False,
    "memory_limit_bytes": None,
}


def write(data: Any, uri: str, options: dict[str, Any], progress: Any) -> dict[str, int]:
    """Writes the rows of a left side, and tells version, rows, fragments and bytes."""
    rows = _sides.left_table(data)
    with showing(progress) as told:
        return native.write_dataset(uri, rows, _DEFAULTS | options, told)


def write_dataset(
    data: Any,
    uri: str | os.PathLike[str],
    mode: str = "create",
    *,
    data_version: str | None = None,
    vector_column: str | None = None,
    max_rows_per_file: int | None = None,
    max_bytes_per_file: int | str | None = None,
    stable_row_ids: bool = False,
    memory_limit: int | str | None = None,
    progress: Any = None,
    storage_options: dict[str, str] | None = None,
) -> Dataset:
    """Writes rows as a Lance dataset, in one commit: all of it is there afterwards, or nothing.

    data: any left side of a join: files, DataFrames, arrays, Arrow streams.
    mode: "create", "append" to what is there, or "overwrite" it in a new version.
    data_version: file version of the data files: "2.2", "2.1" or "2.0"; the dataset's own unless
        given, else "2.2".
    vector_column: a column of lists of one length, which becomes a column of vectors.
    max_rows_per_file, max_bytes_per_file: where files are cut.
    stable_row_ids: row ids that a compaction doesn't change; of a new dataset.
    memory_limit: bytes, or a size such as "4GiB".
    storage_options: as in `open`.
    """
    place = path_text(uri, "uri")
    tell(storage_options, place)
    options = {
        "mode": mode,
        "data_version": data_version,
        "vector_column": vector_column,
        "max_rows_per_file": max_rows_per_file,
        "max_bytes_per_file": bytes_of("max_bytes_per_file", max_bytes_per_file),
        "stable_row_ids": stable_row_ids,
        "memory_limit_bytes": bytes_of("memory_limit", memory_limit),
    }
    version = write(data, place, options, progress)["version"]
    return Dataset(place, version, storage_options=storage_options)
