"""The recall curve that `tune` measures: a small table, and a picture of it."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import matplotlib.axes
    import pandas
    import polars
    import pyarrow

_SHOWN = ("nprobes", "refine_factor", "ef", "recall", "recall_low", "recall_high", "queries_per_s")


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.4f}" if value <= 1 else f"{value:,.0f}"
    return str(value)


class RecallCurve:
    """What each recall costs. Rows, from few to all partitions, are dicts: nprobes, refine_factor,
    ef (0: not used), recall with its interval, queries_per_s, bytes_read, partitions_probed,
    partitions_read, and `pick`, true for the setting that meets the target."""

    def __init__(self, told: dict[str, Any]):
        self._told = told

    @property
    def points(self) -> list[dict[str, Any]]:
        """The rows."""
        return list(self._told["points"])

    @property
    def picked(self) -> dict[str, Any] | None:
        """The row that meets the target; None where nothing had to be chosen."""
        return next((point for point in self.points if point["pick"]), None)

    def __getattr__(self, name: str) -> Any:
        """path, index_name, index_type, metric, k, target, left_rows, choosing_rows."""
        if name.startswith("_") or name not in self._told:
            raise AttributeError(name)
        return self._told[name]

    def __len__(self) -> int:
        return len(self.points)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self.points)

    def to_arrow(self) -> pyarrow.Table:
        """The rows as a pyarrow.Table."""
        import pyarrow

        return pyarrow.Table.from_pylist(self.points)

    def to_pandas(self) -> pandas.DataFrame:
        """The rows as a pandas.DataFrame."""
        import pandas

        return pandas.DataFrame(self.points)

    def to_polars(self) -> polars.DataFrame:
        """The rows as a polars.DataFrame."""
        import polars

        return polars.DataFrame(self.points)

    def plot(self, axes: matplotlib.axes.Axes | None = None) -> matplotlib.axes.Axes:
        """Draws queries per second over recall with matplotlib, and gives the axes."""
        if axes is None:
            from matplotlib import pyplot

            axes = pyplot.subplots()[1]
        recalls = [point["recall"] for point in self.points]
        speeds = [point["queries_per_s"] for point in self.points]
        axes.plot(recalls, speeds, marker="o")
        picked = self.picked
        if picked is not None:
            axes.plot([picked["recall"]], [picked["queries_per_s"]], marker="o", markersize=12,
                      fillstyle="none", linestyle="none", label=f"picked for {self.target}")
            axes.legend()
        axes.set_yscale("log")
        axes.set_xlabel(f"recall@{self.k}")
        axes.set_ylabel("queries per second")
        axes.set_title(f"{self.index_name} ({self.index_type}, {self.metric})")
        return axes

    def _rows(self) -> list[list[str]]:
        rows = [[*_SHOWN, ""]]
        for point in self.points:
            rows.append([*(_cell(point[name]) for name in _SHOWN), "<-" if point["pick"] else ""])
        return rows

    def __repr__(self) -> str:
        rows = self._rows()
        widths = [max(map(len, column)) for column in zip(*rows)]
        lines = ("  ".join(cell.rjust(width) for cell, width in zip(row, widths)) for row in rows)
        return "\n".join(line.rstrip() for line in lines)

    def _repr_html_(self) -> str:
        head, *body = self._rows()
        cells = "".join(f"<th>{escape(cell)}</th>" for cell in head)
        rows = "".join(
            "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in body
        )
        return f"<table><tr>{cells}</tr>{rows}</table>"
