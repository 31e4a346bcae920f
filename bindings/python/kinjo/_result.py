"""A join as its caller holds it: made and checked, then read once."""

from __future__ import annotations

import json
import os
from html import escape
from typing import TYPE_CHECKING, Any

from kinjo._library import native
from kinjo._paths import path_text
from kinjo._progress import caller, shower
from kinjo._rows import Rows
from kinjo._storage import tell

if TYPE_CHECKING:
    import pyarrow


class JoinResult(Rows):
    """The rows of a join or a search, computed as they are read, once.

    Everything was checked when this was made: sides, columns, options, the path. Reading starts the
    join: by `to_arrow`, `to_pandas`, `to_polars`, `write_parquet`, by iterating over the batches,
    or by handing this to anything that reads Arrow streams (`polars.DataFrame(result)`,
    `duckdb.sql("... FROM result")`). `with` closes it, which stops what still runs.
    """

    def __init__(
        self, join: native.Join, left: str, right: str, options: dict[str, Any], progress: Any
    ):
        super().__init__()
        self._join = join
        self._sides = left, right
        self._options = options
        self._progress = shower(progress)

    def _start(self) -> Any:
        return self._join.run(caller(self._progress))

    def _read(self, read: Any) -> Any:
        try:
            return super()._read(read)
        finally:
            self._hide_progress()

    def _hide_progress(self) -> None:
        if hasattr(self._progress, "close"):
            self._progress.close()

    def close(self) -> None:
        super().close()
        self._hide_progress()

    def write_parquet(
        self,
        path: str | os.PathLike[str],
        *,
        compression: str | None = None,
        row_group_rows: int | None = None,
        overwrite: bool = True,
        storage_options: dict[str, str] | None = None,
    ) -> int:
        """Runs the join into a Parquet file and gives the number of rows.

        The file is written beside and renamed when whole. `compression` is zstd unless given: none,
        snappy, zstd, lz4, gzip, brotli.
        """
        place = path_text(path)
        tell(storage_options, place)
        self._use()
        try:
            return self._join.write(
                place, "parquet", compression, row_group_rows, overwrite,
                caller(self._progress),
            )
        finally:
            self._hide_progress()

    @property
    def columns(self) -> list[str]:
        """The names of the result's columns."""
        return self._join.column_names

    @property
    def schema(self) -> pyarrow.Schema:
        """The result's columns, as a pyarrow.Schema."""
        import pyarrow

        return pyarrow.schema(self._join)

    def __arrow_c_schema__(self) -> Any:
        return self._join.__arrow_c_schema__()

    def explain(self, verbose: bool = False) -> str:
        """The plan: operators, the path and why, the index, the estimated memory. Reads no left
        row."""
        return self._join.explain(verbose)

    def analyze(self) -> str:
        """The plan with what was measured. A join that has not begun is run, and its rows are
        dropped; one that was begun must have been read to its end."""
        if not self._used and not self._closed:
            for _ in self:
                pass
        return self._join.analyze()

    @property
    def report(self) -> dict[str, Any]:
        """What the run did: path, index_name, exact_distances, left_rows, result_rows, short_rows,
        skipped_null_rows, recall, ... Final once the rows were read."""
        told: dict[str, Any] = json.loads(self._join.report())
        return told

    def _state(self) -> str:
        if self._closed:
            return "closed"
        if not self._used:
            return "not begun"
        if self._stream is None or self._stream.ended:
            return "read"
        return "running"

    def _facts(self) -> list[tuple[str, str]]:
        options = ", ".join(f"{name}={value!r}" for name, value in self._options.items())
        return [
            ("left", self._sides[0]),
            ("right", self._sides[1]),
            ("options", options),
            ("columns", ", ".join(self.columns)),
            ("rows", self._state()),
        ]

    def __repr__(self) -> str:
        facts = "; ".join(f"{name} {value}" for name, value in self._facts())
        return f"<kinjo.JoinResult: {facts}>"

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><th style='text-align:left'>{name}</th>"
            f"<td style='text-align:left'>{escape(value)}</td></tr>"
            for name, value in self._facts()
        )
        plan = f"<details><summary>plan</summary><pre>{escape(self.explain())}</pre></details>"
        return f"<b>kinjo.JoinResult</b><table>{rows}</table>{plan}"
