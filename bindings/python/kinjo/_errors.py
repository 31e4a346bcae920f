"""What Kinjo raises: one class for each error code, all of them `Error`."""

import re


class Error(Exception):
    """What went wrong. `code` is the error's code, as every face of Kinjo names it; `path` and
    `offset` tell the file and the byte that it is about, or are None."""

    code = "internal"

    def __init__(self, message: str = "", path: str | None = None, offset: int | None = None):
        super().__init__(message)
        self.path = path
        self.offset = offset


class InvalidArgument(Error, ValueError):
    """An option, an argument or a left row that can't be used."""

    code = "invalid"


class NotFound(Error):
    """A file, dataset, version, column or index that isn't there."""

    code = "not_found"


class IoError(Error):
    """The operating system or the store failed."""

    code = "io"


class CorruptFile(Error):
    """Bytes that contradict the format: see `path` and `offset`."""

    code = "corrupt"


class NotSupported(Error):
    """Well-formed, but not read by this version."""

    code = "not_supported"


class MemoryLimit(Error):
    """The memory limit is too small."""

    code = "capacity"


class Cancelled(Error):
    """Stopped on request."""

    code = "cancelled"


class CommitConflict(Error):
    """Another writer committed first, or is at work."""

    code = "conflict"


class IndexNotUsable(Error):
    """`index="require"`, or the memory gate, said no."""

    code = "refused"


class ClosedError(Error):
    """Used after it was read, closed or cancelled, or in a forked process."""

    code = "state"


class InternalError(Error):
    """A bug of Kinjo's."""

    code = "internal"


_CLASSES = {kind.code: kind for kind in Error.__subclasses__()}

# The native library's names of options that Python spells otherwise, outside quotes.
_SPELLINGS = {"memory_limit_bytes": "memory_limit", "right_tag": "right_version"}
_SPELLED = re.compile(r"'[^']*'|\b(" + "|".join(_SPELLINGS) + r")\b")


def respell(message: str) -> str:
    """The message with options as the functions of this package name them."""
    return _SPELLED.sub(lambda found: _SPELLINGS.get(found[1], found[0]), message)


def make(code: str, message: str, path: str, offset: int) -> Error:
    """The exception for an error of the native library."""
    kind = _CLASSES.get(code, InternalError)
    return kind(respell(message), path or None, offset if offset >= 0 else None)
