"""Lance datasets: looked at, read, counted, searched and changed."""

from __future__ import annotations

import json
import os
from html import escape
from typing import TYPE_CHECKING, Any, Unpack

from kinjo._errors import InvalidArgument
from kinjo._library import native
from kinjo._paths import path_text
from kinjo._storage import tell

if TYPE_CHECKING:
    import pyarrow

    from kinjo._options import SearchOptions
    from kinjo._result import JoinResult
    from kinjo._rows import Rows


class Dataset:
    """One version of a Lance dataset, as it was then whatever others write later. What this object
    itself changes takes it on to the version that came of it.

    Threads may share it, and joins and searches on it open each index once. Another process opens
    its own: pickling keeps the place, the version and the storage options.
    """

    def __init__(
        self,
        uri: str | os.PathLike[str],
        version: int | str | None = None,
        *,
        storage_options: dict[str, str] | None = None,
    ):
        self._uri = path_text(uri, "uri")
        tell(storage_options, self._uri)
        self._storage_options = storage_options
        tag = version if isinstance(version, str) else None
        if tag == "":
            raise InvalidArgument("version is an empty text; it must be a number, a tag or a time")
        self._native = native.Dataset.open(self._uri, version if tag is None else None, tag)

    def __reduce__(self) -> Any:
        return _opened, (self._uri, self.version, self._storage_options)

    @property
    def uri(self) -> str:
        """Where it lies."""
        return self._uri

    @property
    def version(self) -> int:
        """The version that is open."""
        return self._native.version

    def describe(self) -> dict[str, Any]:
        """Everything that its manifest tells: version, versions, tags, format_version, num_rows,
        num_deleted_rows, schema, fragments, indexes, scalar_indexes."""
        told: dict[str, Any] = json.loads(self._native.describe())
        return told

    @property
    def versions(self) -> list[int]:
        """The versions that exist now."""
        return list(self.describe()["versions"])

    @property
    def tags(self) -> dict[str, int]:
        """The versions that have a name."""
        return {tag["name"]: tag["version"] for tag in self.describe()["tags"]}

    @property
    def schema(self) -> pyarrow.Schema:
        """The columns, as a pyarrow.Schema."""
        import pyarrow

        return pyarrow.schema(self._native)

    def __arrow_c_schema__(self) -> Any:
        return self._native.__arrow_c_schema__()

    @property
    def indices(self) -> list[dict[str, Any]]:
        """The vector indexes: name, column, type, metric, usable, covered_rows, segments, ..."""
        return list(self.describe()["indexes"])

    def count_rows(self, where: str | None = None) -> int:
        """How many rows there are, or pass a filter."""
        return self._native.count_rows(where)

    def __len__(self) -> int:
        return self.count_rows()

    def to_arrow(
        self,
        columns: list[str] | None = None,
        where: str | None = None,
        limit: int | None = None,
        offset: int | None = None,
        *,
        with_row_id: bool = False,
    ) -> pyarrow.Table:
        """Rows as a pyarrow.Table: some columns, those that pass a filter, so many at most, without
        the first `offset` of them."""
        return self.scan(columns, where, limit, offset, with_row_id=with_row_id).to_arrow()

    def scan(
        self,
        columns: list[str] | None = None,
        where: str | None = None,
        limit: int | None = None,
        offset: int | None = None,
        *,
        with_row_id: bool = False,
        batch_rows: int | None = None,
    ) -> Rows:
        """The same as a stream of batches, which anything that reads Arrow takes."""
        from kinjo._rows import Rows

        stream = self._native.scan(columns, where, limit, offset, with_row_id, batch_rows)
        return Rows(stream)

    def search(self, q: Any, k: int = 10, **options: Unpack[SearchOptions]) -> JoinResult:
        """The rows nearest to a vector, or to each of many, as a JoinResult.

        `q` is a list of numbers or of vectors, a NumPy array, or any left side of a join. The
        options are those of `join` that concern the right side, and `left_select` to have columns
        of `q` in the result. With other than one query each row tells its `_query_index`.
        """
        from kinjo._join import search

        return search(self, q, {"k": k, **options})

    def _moved_to(self, told: dict[str, Any]) -> dict[str, Any]:
        """The change is committed; this object is of its version now."""
        self._native = native.Dataset.open(self._uri, told["version"], None)
        return told

    def append(self, data: Any, *, progress: Any = None) -> int:
        """Adds rows (any left side of a join) to the latest version, and gives their number."""
        from kinjo._writing import write

        told = self._moved_to(write(data, self._uri, {"mode": "append"}, progress))
        return int(told["rows"])

    def delete(self, where: str) -> int:
        """Deletes the rows of the latest version for which a SQL predicate is true, and gives their
        number."""
        return int(self._moved_to(native.delete_rows(self._uri, where))["rows"])

    def compact(
        self,
        *,
        target_rows: int | None = None,
        deleted_share_max: float | None = None,
        progress: Any = None,
    ) -> dict[str, int]:
        """Makes large fragments of small ones, without their deleted rows, and tells version, rows,
        fragments, old_fragments and bytes."""
        from kinjo._progress import showing

        with showing(progress) as told:
            changed = native.compact_dataset(self._uri, target_rows, deleted_share_max, told)
        return self._moved_to(changed)

    def create_vector_index(
        self,
        column: str | None = None,
        *,
        kind: str | None = None,
        metric: str | None = None,
        name: str | None = None,
        replace: bool = False,
        num_partitions: int | None = None,
        target_partition_size: int | None = None,
        num_sub_vectors: int | None = None,
        num_bits: int | None = None,
        m: int | None = None,
        ef_construction: int | None = None,
        max_level: int | None = None,
        sample_rate: int | None = None,
        max_iterations: int | None = None,
        seed: int | None = None,
        centroids: Any = None,
        codebook: Any = None,
        threads: int | None = None,
        memory_limit: int | str | None = None,
        progress: Any = None,
    ) -> dict[str, Any]:
        """Builds a vector index over the latest version, commits it, and tells what was built.

        column: the vector column; where there is one, it needs no name.
        kind: IVF_FLAT, IVF_PQ (unless given), IVF_SQ, IVF_RQ, IVF_HNSW_FLAT, IVF_HNSW_PQ,
            IVF_HNSW_SQ.
        metric: l2, cosine, dot, hamming.
        name, replace: the column's name and "_idx" unless given; whether it takes another's place.
        num_partitions, target_partition_size, num_sub_vectors, num_bits, m, ef_construction,
            max_level, sample_rate, max_iterations, seed: chosen from the data unless given.
        centroids, codebook: arrays of a model that was trained elsewhere.
        threads, memory_limit, progress: as in `join`.
        """
        from kinjo._indexing import create

        given = {option: value for option, value in locals().items() if value is not None}
        for option in ("self", "progress", "create"):
            given.pop(option, None)
        return self._moved_to(create(self, given, progress))

    def optimize_indices(
        self,
        name: str | None = None,
        *,
        num_indices_to_merge: int | None = None,
        retrain: bool = False,
        threads: int | None = None,
        memory_limit: int | str | None = None,
        progress: Any = None,
    ) -> list[dict[str, Any]]:
        """Brings one vector index, or all, up to the rows of the latest version, and tells of each
        whether there was anything to do.

        num_indices_to_merge: the newest segments to merge with the new rows; 0 merges none.
        retrain: everything anew, in one segment, with a model of today's rows.
        """
        from kinjo._indexing import optimize

        options = {"num_indices_to_merge": num_indices_to_merge, "retrain": retrain,
                   "threads": threads, "memory_limit": memory_limit}
        told = optimize(self._uri, self._index_names(name), options, progress)
        for one in told:
            self._moved_to(one)
        return told

    def _index_names(self, name: str | None) -> list[str]:
        if name is not None:
            return [name]
        return [index["name"] for index in Dataset(self._uri).indices]

    def drop_index(self, name: str) -> None:
        """Takes an index out of the dataset. Older versions keep it."""
        self._moved_to({"version": native.drop_index(self._uri, name)})

    def rename_index(self, name: str, new_name: str) -> None:
        """Gives an index another name."""
        self._moved_to({"version": native.rename_index(self._uri, name, new_name)})

    def _facts(self) -> list[tuple[str, str]]:
        told = self.describe()
        columns = ", ".join(f"{field['name']}: {field['type']}" for field in told["schema"])
        indexes = ", ".join(
            f"{index['name']} ({index['type']}, {index['metric']} on {index['column']})"
            for index in told["indexes"]
        )
        return [
            ("version", str(told["version"])),
            ("rows", f"{told['num_rows']:,}"),
            ("columns", columns),
            ("indexes", indexes or "none"),
        ]

    def __repr__(self) -> str:
        facts = "; ".join(f"{name} {value}" for name, value in self._facts())
        return f"<kinjo.Dataset {self._uri}: {facts}>"

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><th style='text-align:left'>{name}</th>"
            f"<td style='text-align:left'>{escape(value)}</td></tr>"
            for name, value in self._facts()
        )
        return f"<b>kinjo.Dataset</b> {escape(self._uri)}<table>{rows}</table>"


def _opened(uri: str, version: int, storage_options: dict[str, str] | None) -> Dataset:
    return Dataset(uri, version, storage_options=storage_options)


def open(
    uri: str | os.PathLike[str],
    version: int | str | None = None,
    *,
    storage_options: dict[str, str] | None = None,
) -> Dataset:
    """Opens a Lance dataset: its latest version, or the one with a number or a tag, or the
    newest made by a time ("2026-02-28T23:59:59+01:00"; UTC without an offset).

    storage_options: what its object store needs to know, by Lance's names; they hold for its
        address from now on (`set_storage_options`).
    """
    return Dataset(uri, version, storage_options=storage_options)
