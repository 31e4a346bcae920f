"""Rows that stream out of the library, once, into whatever the user works with."""

from __future__ import annotations

import atexit
import threading
import weakref
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Self

from kinjo._errors import ClosedError

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow


class Rows:
    """Rows for one reader: iterate over the batches, or take all as a table. Anything that reads
    Arrow streams (`__arrow_c_stream__`) takes them too: `pyarrow.table(rows)`, `polars.DataFrame(
    rows)`, `duckdb.from_arrow(rows)`.
    """

    def __init__(self, stream: Any = None):
        self._stream = stream
        self._used = self._closed = self._cancelled = False
        self._lock = threading.Lock()
        _open_rows.add(self)

    def _start(self) -> Any:
        """The native stream, where it doesn't run yet."""
        return self._stream

    def _use(self) -> None:
        """Notes that the rows are being read, which happens once."""
        with self._lock:
            if self._closed:
                raise ClosedError(f"this {type(self).__name__} is closed")
            if self._used:
                raise ClosedError(f"this {type(self).__name__} has run already: rows are read once")
            self._used = True

    def _begin(self) -> Any:
        """The native stream, for its one reader."""
        self._use()
        self._stream = self._start()
        if self._cancelled:
            self._stream.cancel()
        if self._closed:  # meanwhile, by another thread
            self._stream.close()
        return self._stream

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """The rows, for another library. `requested_schema` is not followed, as the interface
        allows."""
        return self._begin().export()

    def _read(self, read: Any) -> Any:
        """What `read` makes of the rows; what stopped the run is raised as itself."""
        stream = self._begin()
        capsule = stream.export()
        try:
            return read(_Once(capsule))
        except BaseException as failure:
            # Readers report errors of streams as their own.
            error = stream.take_error()
            stream.close()
            if error is None:
                raise
            raise error from (failure if isinstance(failure, Exception) else None)
        finally:
            del capsule

    def __iter__(self) -> Iterator[pyarrow.RecordBatch]:
        """The batches, as pyarrow.RecordBatch."""
        import pyarrow

        stream = self._begin()
        reader = pyarrow.RecordBatchReader.from_stream(_Once(stream.export()))
        while True:
            try:
                batch = reader.read_next_batch()
            except StopIteration:
                return
            except BaseException as failure:
                error = stream.take_error()
                if error is None:
                    raise
                raise error from None if isinstance(failure, KeyboardInterrupt) else failure
            yield batch

    def to_arrow(self) -> pyarrow.Table:
        """All rows as a pyarrow.Table."""
        import pyarrow

        return self._read(pyarrow.table)

    def to_pandas(self, **options: Any) -> pandas.DataFrame:
        """All rows as a pandas.DataFrame; options are those of pyarrow.Table.to_pandas."""
        frame: pandas.DataFrame = self.to_arrow().to_pandas(**options)
        return frame

    def to_polars(self) -> polars.DataFrame:
        """All rows as a polars.DataFrame."""
        import polars

        return self._read(polars.DataFrame)

    def cancel(self) -> None:
        """Stops the run at its next block; whoever reads gets `Cancelled`. Any thread."""
        self._cancelled = True
        if self._stream is not None:
            self._stream.cancel()

    def close(self) -> None:
        """Stops what still runs and waits for it. What was read stays good."""
        with self._lock:
            self._closed = True
            if self._stream is not None:
                self._stream.close()

    def __reduce__(self) -> str:
        kind = type(self).__name__
        raise TypeError(f"a {kind} can't be copied or pickled: its rows are read once")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()


class _Once:
    """A capsule as an object that other libraries import from."""

    def __init__(self, capsule: Any):
        self._capsule = capsule

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self._capsule


# Runs that go on while Python ends would want an interpreter that is gone.
_open_rows: weakref.WeakSet[Rows] = weakref.WeakSet()


@atexit.register
def _close_all() -> None:
    for rows in list(_open_rows):
        rows.close()
