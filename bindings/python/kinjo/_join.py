"""The functions that make joins: `join`, `tune`, and the search of a dataset. They turn Python's
values into those of the native library, which alone judges them."""

import json
from typing import Any, Unpack

from kinjo import _sides
from kinjo._dataset import Dataset
from kinjo._errors import InvalidArgument
from kinjo._library import native
from kinjo._options import JoinOptions
from kinjo._paths import is_path, path_text
from kinjo._result import JoinResult
from kinjo._sizes import bytes_of
from kinjo._storage import tell
from kinjo._tuning import RecallCurve

def _names(value: Any) -> Any:
    return [value] if isinstance(value, str) else value


def _range(bounds: Any) -> Any:
    """A pair whose ends may be None: open."""
    if not isinstance(bounds, (tuple, list)) or len(bounds) != 2:
        return bounds
    lower, upper = bounds
    return (
        float("-inf") if lower is None else lower,
        float("inf") if upper is None else upper,
    )


def _given(options: dict[str, Any], defaults: dict[str, Any]) -> dict[str, Any]:
    """The options that differ from their defaults, by Python's names."""
    return {
        name: value
        for name, value in options.items()
        if not (value is defaults[name]
                or (type(value) is type(defaults[name]) and value == defaults[name]))
    }


def _native_options(options: dict[str, Any]) -> dict[str, Any]:
    """The same by the native library's names and in its forms."""
    result = dict(options)
    if "memory_limit" in result:
        result["memory_limit_bytes"] = bytes_of("memory_limit", result.pop("memory_limit"))
    if result.get("right_version") == "":
        raise InvalidArgument(
            "right_version is an empty text; it must be a number, a tag or a time"
        )
    if isinstance(result.get("right_version"), str):
        result["right_tag"] = result.pop("right_version")
    if "by" in result:
        result["by"] = _names(result["by"])
    for name in ("left_select", "right_select"):
        if name in result:
            result[name] = _names(result[name])
    if "exclude_self" in result:
        key = result.pop("exclude_self")
        if isinstance(key, str):
            result["exclude_self"] = key
        elif type(key).__name__ not in ("bool", "bool_"):  # NumPy has one of its own
            raise TypeError(
                f"exclude_self must be True, False or a column, not {type(key).__name__}"
            )
        elif key:
            result["exclude_self"] = ""
    if "distance_range" in result:
        result["distance_range"] = _range(result["distance_range"])
    return result


def _check_version(options: dict[str, Any], right: Any) -> dict[str, Any]:
    """Of a right side that is open: its version, also by a tag, must be the one asked for."""
    tag = options.get("right_tag")
    if tag is None:
        return options
    tags = right.tags
    if tags.get(tag) != right.version:
        raise InvalidArgument(
            f"right_version is '{tag}', but {right.uri} is open at version {right.version}"
        )
    return {name: value for name, value in options.items() if name != "right_tag"}


def _describe(side: Any) -> str:
    """A side in a few words."""
    if is_path(side):
        return path_text(side)
    if isinstance(side, Dataset):
        return f"{side.uri} at version {side.version}"
    if _sides.is_numpy(side):
        return f"array of {' x '.join(map(str, side.shape))}"
    return type(side).__name__


def _make(left: Any, right: Any, options: dict[str, Any]) -> native.Join:
    """The native join of two sides."""
    if left is right and not is_path(left) and _sides.as_dataset(left) is None:
        both = _sides.memory_table(left, "left and right", keep=True)
        if both is None:
            raise _sides.wrong_side(left, "left")
        return native.Join.on_table(both, both, options)
    if is_path(right):
        return native.Join.on_uri(_sides.left_table(left), path_text(right), options)
    dataset = _sides.as_dataset(right)
    if dataset is not None:
        options = _check_version(options, dataset)
        return native.Join.on_dataset(_sides.left_table(left), dataset._native, options)
    table = _sides.memory_table(right, "right", keep=True)
    if table is None:
        raise _sides.wrong_side(right, "right")
    return native.Join.on_table(_sides.left_table(left), table, options)


def join(
    left: Any, right: Any, *,
    k: int = 10, on: str | None = None, left_on: str | None = None, right_on: str | None = None,
    how: str = "inner", nprobes: int | None = None, minimum_nprobes: int | None = None,
    maximum_nprobes: int | None = None, refine_factor: int | None = None, ef: int | None = None,
    metric: str | None = None, distance_range: tuple[float | None, float | None] | None = None,
    where: str | None = None, left_select: list[str] | str | None = None,
    right_select: list[str] | str | None = None, by: list[str] | str | None = None,
    exclude_self: bool | str = False, recall: float | None = None, index: str = "auto",
    unordered_pairs: bool = False, mutual: bool = False, memory_limit: int | str | None = None,
    threads: int | None = None, suffix: str = "_right", with_row_id: bool = False,
    right_version: int | str | None = None, fast_search: bool = False, approx_mode: str = "normal",
    search_effort: float | None = None, progress: Any = None, with_query_index: bool = False,
    clusters: bool = False, storage_options: dict[str, str] | None = None,
) -> JoinResult:
    """Joins each row of `left` to its `k` nearest rows of `right`.

    left: a path or URI of files (Parquet, Arrow, CSV, JSON Lines, .npy) or of a Lance dataset; a
        kinjo, pylance or LanceDB dataset; a pandas or polars DataFrame; a NumPy array (a column
        `vector`, and each result row tells its `_query_index`); any object with
        `__arrow_c_stream__` or `__arrow_c_array__` (pyarrow, DuckDB relations, ...).
    right: a Lance dataset or Parquet or Arrow files by path, a kinjo, pylance or LanceDB dataset,
        or rows in memory as on the left, which are joined exactly unless `recall` asks for less and
        a temporary index is cheaper. Both sides may be one object: a self-join.
    k: neighbours of each left row.
    on, left_on, right_on: the vector columns; where each side has one, they need no name.
    how: "inner", or "left" to keep left rows without a match.
    nprobes, minimum_nprobes, maximum_nprobes, search_effort: how many partitions of the index are
        searched: exactly, at least, at most, and how hard the first round tries (0 to 1).
    refine_factor: re-rank k * refine_factor candidates on the true vectors.
    ef: breadth of the search in a graph index.
    metric: l2, cosine, dot or hamming; the index's own unless given, else l2.
    distance_range: only distances in [lower, upper); None leaves an end open.
    where: SQL predicate over the right columns, applied before the search.
    left_select, right_select: the columns to give: all, and all but the vector, unless given.
    by: key columns ("a" or "left:right"): neighbours with equal keys only.
    exclude_self: True drops the row itself from a self-join; a column name drops rows with the same
        key.
    recall: choose probes, refine factor and ef for this recall, and measure it.
    index: "auto", "require", "never", or an index's name.
    unordered_pairs, mutual: each pair of a self-join once; only matches that are among each other's
        k.
    clusters: of a self-join, each row once with the number of its group of near rows (`_cluster`).
    memory_limit: bytes, or a size such as "4GiB".
    threads: how many to use; all that this process may use unless given.
    suffix: for right columns whose name the left has.
    with_row_id, with_query_index: add `_rowid` of the right row; `_query_index`, the left row's
        number.
    right_version: of the right dataset: a number, a tag or a time (as for kinjo.open).
    fast_search: leave out rows that no index covers.
    approx_mode: "fast", "normal" or "accurate", for IVF_RQ indexes.
    storage_options: what the object store of sides that are addresses needs to know, as in `open`.
    progress: True shows a bar, False none, None one where somebody looks; or a function that is
        called with a `Progress`.
    """
    options = _given({name: value for name, value in locals().items() if name in _DEFAULTS},
                     _DEFAULTS)
    tell(options.pop("storage_options", None), left, right)
    numpy_left, numpy_right = _sides.is_numpy(left), _sides.is_numpy(right)
    shown = dict(options)
    options = _native_options(options)
    if numpy_left:
        options["with_query_index"] = True
    if numpy_right:
        options["with_row_id"] = True
    made = _make(left, right, options)
    return JoinResult(made, _describe(left), _describe(right), {"k": k} | shown, progress)


# Options of the native library by Python's names; `left`, `right` and `progress` are none.
_DEFAULTS: dict[str, Any] = {
    name: default
    for name, default in (join.__kwdefaults__ or {}).items()
    if name != "progress"
}


def _checked(function: str, options: dict[str, Any]) -> dict[str, Any]:
    unknown = [name for name in options if name not in _DEFAULTS]
    if unknown:
        raise TypeError(f"{function}() has no option {unknown[0]}")
    return _native_options(_given(options, _DEFAULTS))


def search(dataset: Dataset, q: Any, options: dict[str, Any]) -> JoinResult:
    """Dataset.search."""
    progress = options.pop("progress", None)
    tell(options.pop("storage_options", None), q)
    checked = _check_version(_checked("search", options), dataset)
    made = native.Join.search(dataset._native, _sides.query_table(q), checked)
    return JoinResult(made, _describe(q), _describe(dataset), options, progress)


def tune(left: Any, right: Any, **options: Unpack[JoinOptions]) -> RecallCurve:
    """Measures what each recall costs: a sample of the left rows is searched with settings from few
    to all partitions, and compared with the exact answers.

    `recall` (0.95 unless given) is the target for which one setting is picked; the options are
    those of `join`, but for `progress`.
    """
    tell(options.pop("storage_options", None), left, right)
    checked = _checked("tune", {"recall": 0.95, **options})
    return RecallCurve(json.loads(_make(left, right, checked).tune()))
