"""Lance datasets: looked at, read, counted, searched and changed."""

import json
import os
from html import escape
from typing import Any

from kinjo._library import native


class Dataset:
    """One version of a Lance dataset, as it was then whatever others write later. What this object
    itself changes takes it on to the version that came of it.

    Threads may share it, and joins and searches on it open each index once. Another process opens
    its own: pickling keeps the place and the version.
    """

    def __init__(self, uri: str | os.PathLike[str], version: int | str | None = None):
        self._uri = os.path.expanduser(os.fspath(uri))
        tag = version if isinstance(version, str) else ""
        number = None if isinstance(version, str) else version
        self._native = native.Dataset.open(self._uri, number, tag)

    def __reduce__(self) -> Any:
        return Dataset, (self._uri, self.version)

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
        return json.loads(self._native.describe())

    @property
    def versions(self) -> list[int]:
        """The versions that exist now."""
        return self.describe()["versions"]

    @property
    def tags(self) -> dict[str, int]:
        """The versions that have a name."""
        return {tag["name"]: tag["version"] for tag in self.describe()["tags"]}

    @property
    def schema(self) -> Any:
        """The columns, as a pyarrow.Schema."""
        import pyarrow

        return pyarrow.schema(self._native)

    def __arrow_c_schema__(self) -> Any:
        return self._native.__arrow_c_schema__()

    @property
    def indices(self) -> list[dict[str, Any]]:
        """The vector indexes: name, column, type, metric, usable, covered_rows, segments, ..."""
        return self.describe()["indexes"]

    def count_rows(self, where: str | None = None) -> int:
        """How many rows there are, or pass a filter."""
        return self._native.count_rows(where or "")

    def __len__(self) -> int:
        return self.count_rows()

    def to_arrow(
        self,
        columns: list[str] | None = None,
        where: str | None = None,
        limit: int | None = None,
        *,
        with_row_id: bool = False,
    ) -> Any:
        """Rows as a pyarrow.Table: some columns, those that pass a filter, so many at most."""
        return self.scan(columns, where, limit, with_row_id=with_row_id).to_arrow()

    def scan(
        self,
        columns: list[str] | None = None,
        where: str | None = None,
        limit: int | None = None,
        *,
        with_row_id: bool = False,
        batch_rows: int | None = None,
    ) -> Any:
        """The same as a stream of batches, which anything that reads Arrow takes."""
        from kinjo._rows import Rows

        stream = self._native.scan(columns, where or "", limit, with_row_id, batch_rows)
        return Rows(stream)

    def search(self, q: Any, k: int = 10, **options: Any) -> Any:
        """The rows nearest to a vector, or to each of many, as a JoinResult.

        `q` is a list of numbers or of vectors, a NumPy array, or any left side of a join. The
        options are those of `join` that concern the right side, and `left_select` to have columns
        of `q` in the result. With other than one query each row tells its `_query_index`.
        """
        from kinjo._join import search

        return search(self, q, k=k, **options)

    def _moved_to(self, told: dict[str, int]) -> dict[str, int]:
        """The change is committed; this object is of its version now."""
        self._native = native.Dataset.open(self._uri, told["version"], "")
        return told

    def append(self, data: Any, *, progress: Any = None) -> int:
        """Adds rows (any left side of a join) to the latest version, and gives their number."""
        from kinjo._writing import write

        return self._moved_to(write(data, self._uri, {"mode": "append"}, progress))["rows"]

    def delete(self, where: str) -> int:
        """Deletes the rows of the latest version for which a SQL predicate is true, and gives their
        number."""
        return self._moved_to(native.delete_rows(self._uri, where))["rows"]

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


def open(uri: str | os.PathLike[str], version: int | str | None = None) -> Dataset:
    """Opens a Lance dataset: its latest version, or the one with a number or a tag."""
    return Dataset(uri, version)
