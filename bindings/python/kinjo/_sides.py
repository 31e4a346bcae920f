"""What may be a side of a join, and how it becomes a native table or dataset: paths and URIs,
Lance datasets of several packages, DataFrames, arrays, and anything that speaks Arrow's PyCapsule
interface. No package is imported for a value that isn't that package's."""

import sys
from typing import Any

from kinjo._dataset import Dataset
from kinjo._errors import InvalidArgument
from kinjo._library import native
from kinjo._paths import is_path, path_text

_ELEMENTS = ("float16", "float32", "float64", "uint8", "int8")


def _package(value: Any) -> str:
    return type(value).__module__.partition(".")[0]


def as_dataset(value: Any) -> Dataset | None:
    """The Lance dataset that a value is or stands for, at the version that it has; else None."""
    if isinstance(value, Dataset):
        return value
    package = _package(value)
    if package == "lancedb" and hasattr(value, "to_lance"):
        return _lancedb_dataset(value)
    if package == "lance" and hasattr(value, "uri") and hasattr(value, "version"):
        opened = Dataset(value.uri, value.version, storage_options=_storage_options(value))
        _check_branch(value, opened)
        return opened
    return None


def _storage_options(dataset: Any) -> dict[str, str] | None:
    """Those that a pylance dataset was opened with."""
    options = getattr(dataset, "initial_storage_options", None)
    return options if options and isinstance(options, dict) else None


def _lancedb_dataset(table: Any) -> Dataset:
    """Of a local table; of a branch, which is a dataset of its own below the table's."""
    branch = table.current_branch() if hasattr(table, "current_branch") else None
    return Dataset(f"{table.uri}/tree/{branch}" if branch else table.uri, version=table.version)


def _check_branch(value: Any, opened: Dataset) -> None:
    """pylance doesn't tell which branch a dataset is of that was checked out: where there are any,
    the files must be those of what was opened."""
    branches = getattr(value, "branches", None)
    if branches is None or not branches.list():
        return
    theirs = [(fragment.fragment_id, [file.path for file in fragment.data_files()])
              for fragment in value.get_fragments()]
    ours = [(fragment["id"], [file.rpartition("/")[2] for file in fragment["files"]])
            for fragment in opened.describe()["fragments"]]
    if theirs != ours:
        raise InvalidArgument(
            f"the pylance dataset {opened.uri} is of a branch; give its path, "
            f"{opened.uri}/tree/<branch>"
        )


def is_numpy(value: Any) -> bool:
    numpy = sys.modules.get("numpy")
    return numpy is not None and isinstance(value, numpy.ndarray)


def _exact_floats(array: Any, side: str) -> Any:
    """Whole numbers that no vector type has, as float64; refused where that would round."""
    import numpy

    if array.dtype.kind not in "iu":
        hint = "; numpy.stack makes a matrix of an array of arrays" if array.dtype == object else ""
        raise InvalidArgument(
            f"the {side} array has elements of type {array.dtype}; vectors have float16, float32, "
            f"float64, uint8 or int8{hint}"
        )
    if array.dtype.itemsize == 8 and array.size:
        beyond = 2**53
        if int(array.max()) > beyond or int(array.min()) < -beyond:
            raise InvalidArgument(f"the {side} array has whole numbers that float64 would round")
    return array.astype(numpy.float64)


def numpy_table(array: Any, side: str) -> Any:
    """A table of one column, `vector`: a matrix has a vector a row, a vector is one, and three
    dimensions are a list of vectors a row."""
    import numpy

    if isinstance(array, numpy.ma.MaskedArray) and numpy.ma.is_masked(array):
        raise InvalidArgument(f"the {side} array has masked elements; fill them first")
    array = numpy.asarray(array)
    if array.dtype.name not in _ELEMENTS or not array.dtype.isnative:
        native_order = array.astype(array.dtype.newbyteorder("="))
        in_order = native_order.dtype.name in _ELEMENTS
        array = native_order if in_order else _exact_floats(native_order, side)
    if array.ndim == 1:
        array = array.reshape(1, -1)
    if array.ndim not in (2, 3) or array.shape[-1] == 0:
        raise InvalidArgument(
            f"the {side} array has the shape {array.shape}; it must be (rows, width), or (rows, "
            "vectors, width) for lists of vectors"
        )
    array = numpy.ascontiguousarray(array)
    element, width = array.dtype.name, array.shape[-1]
    buffer = array.reshape(-1).view(numpy.uint8)
    if array.ndim == 2:
        return native.Table.from_vectors(buffer, element, array.shape[0], width)
    return native.Table.from_vector_lists(buffer, element, [array.shape[1]] * len(array), width)


def _pandas_table(frame: Any, side: str) -> Any:
    """Of a DataFrame, with its index where that has a name."""
    try:
        import pyarrow
    except ImportError as error:
        raise InvalidArgument(
            f"the {side} side is a pandas DataFrame, which is read through Arrow: install pyarrow"
        ) from error
    named = any(name is not None for name in frame.index.names)
    try:
        table = pyarrow.Table.from_pandas(frame, preserve_index=named)
    except (pyarrow.ArrowException, TypeError, ValueError) as error:
        raise InvalidArgument(f"the {side} DataFrame can't become Arrow: {error}") from error
    return native.Table.from_stream(table.__arrow_c_stream__(), f"{side} DataFrame", True)


def _is_kept(value: Any) -> bool:
    """True for what holds its rows, so that they may be read again; a stream is read once. A DuckDB
    relation is read now: its connection can do nothing else while it streams."""
    package, kind = _package(value), type(value).__name__
    if package in ("duckdb", "_duckdb"):
        return kind == "DuckDBPyRelation"
    return package == "polars" or (package == "pyarrow" and kind in ("Table", "RecordBatch"))


def memory_table(value: Any, side: str, keep: bool) -> Any | None:
    """The native table of a value in memory, or of a stream; None for what is neither. `keep` reads
    a stream now and keeps its rows."""
    if is_numpy(value):
        return numpy_table(value, side)
    package, kind = _package(value), type(value).__name__
    if package == "pandas" and kind == "DataFrame":
        return _pandas_table(value, side)
    if package == "polars" and kind == "LazyFrame":
        value = value.collect()
    if kind in ("Series", "ChunkedArray") or (package == "pyarrow" and kind.endswith("Array")):
        raise InvalidArgument(
            f"the {side} side is a {kind}, which is one column without a name: make a table of it"
        )
    name = f"{side} {kind}"
    if hasattr(value, "__arrow_c_stream__"):
        capsule = value.__arrow_c_stream__()
        return native.Table.from_stream(capsule, name, keep or _is_kept(value))
    if hasattr(value, "__arrow_c_array__"):
        schema, array = value.__arrow_c_array__()
        return native.Table.from_array(schema, array, name)
    return None


def wrong_side(value: Any, side: str) -> TypeError:
    return TypeError(
        f"{side} is a {type(value).__name__}; it may be a path or URI, a Lance dataset, a "
        "DataFrame, a NumPy array, or any object with __arrow_c_stream__ or __arrow_c_array__"
    )


def left_table(value: Any) -> Any:
    """The native table of a left side."""
    if is_path(value):
        return native.Table.open(path_text(value, "left"), None)
    dataset = as_dataset(value)
    if dataset is not None:
        return native.Table.open(dataset.uri, dataset.version)
    table = memory_table(value, "left", keep=False)
    if table is None:
        raise wrong_side(value, "left")
    return table


def query_table(value: Any) -> Any:
    """The native table of a search's queries: a vector, many, or any left side."""
    if isinstance(value, (list, tuple)):
        return _typed_queries(value)
    return left_table(value)


def _is_list(value: Any) -> bool:
    return isinstance(value, (list, tuple)) or is_numpy(value)


def _numbers_of(vector: Any) -> list[float]:
    if not _is_list(vector):
        raise InvalidArgument(f"the query has {vector!r} where others have a vector")
    try:
        return [float(number) for number in vector]
    except (TypeError, ValueError, OverflowError) as error:
        raise InvalidArgument(f"the query has an element that is no number: {error}") from error


def _typed_queries(value: Any) -> Any:
    """Numbers, lists of numbers, or lists of lists (a list of vectors each), as float64."""
    from array import array

    depth, inner = 0, value
    while _is_list(inner):
        depth += 1
        if len(inner) == 0:
            raise InvalidArgument("the query is empty" if depth == 1 else
                                  "the query holds an empty vector")
        inner = inner[0]
    if depth > 3:
        raise InvalidArgument("the query has more than three levels of lists")
    lists = value if depth == 3 else [[value]] if depth == 1 else [value]
    if not all(map(_is_list, lists)):
        raise InvalidArgument("the query has lists of vectors and others beside them")
    vectors = [_numbers_of(vector) for part in lists for vector in part]
    widths = {len(vector) for vector in vectors}
    if len(widths) != 1:
        raise InvalidArgument(f"the query's vectors have different widths: {sorted(widths)}")
    numbers = array("d", [number for vector in vectors for number in vector])
    width = widths.pop()
    if depth == 3:
        lengths = [len(part) for part in lists]
        return native.Table.from_vector_lists(numbers, "float64", lengths, width)
    return native.Table.from_vectors(numbers, "float64", len(vectors), width)
