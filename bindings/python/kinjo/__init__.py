"""Kinjo joins each row of a table to its k nearest rows of another one.

    import kinjo

    rows = kinjo.join("queries.parquet", "items.lance", on="embedding", k=10).to_pandas()

`join` joins, `open` opens a Lance dataset to look at, to search and to change, `write_dataset`
makes one, `tune` shows what each recall costs. Errors are `kinjo.Error` and its subclasses, with a
`code`.
"""

from kinjo import _library as _library  # first: it loads the native module
from kinjo._dataset import Dataset, open
from kinjo._errors import (
    Cancelled,
    ClosedError,
    CommitConflict,
    CorruptFile,
    Error,
    IndexNotUsable,
    InternalError,
    InvalidArgument,
    IoError,
    MemoryLimit,
    NotFound,
    NotSupported,
)
from kinjo._join import join, tune
from kinjo._library import runtime, set_storage_options, version as _version
from kinjo._progress import Progress
from kinjo._result import JoinResult
from kinjo._tuning import RecallCurve
from kinjo._writing import write_dataset

__version__ = _version()

__all__ = [
    "Cancelled",
    "ClosedError",
    "CommitConflict",
    "CorruptFile",
    "Dataset",
    "Error",
    "IndexNotUsable",
    "InternalError",
    "InvalidArgument",
    "IoError",
    "JoinResult",
    "MemoryLimit",
    "NotFound",
    "NotSupported",
    "Progress",
    "RecallCurve",
    "join",
    "open",
    "runtime",
    "set_storage_options",
    "tune",
    "write_dataset",
]
