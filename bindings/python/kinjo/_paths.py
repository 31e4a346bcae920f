"""Paths and URIs as the library wants them: texts, with the home folder in full."""

import os
from typing import Any

from kinjo._errors import InvalidArgument


def is_path(value: Any) -> bool:
    return isinstance(value, (str, bytes, os.PathLike))


def path_text(value: Any, name: str = "path") -> str:
    """The text of a path or URI; `name` stands for it in messages."""
    if not is_path(value):
        raise TypeError(f"{name} must be a path or URI, not {type(value).__name__}")
    text = os.fsdecode(os.fspath(value))
    if not text:
        raise InvalidArgument(f"{name} is an empty path")
    if "\0" in text:
        raise InvalidArgument(f"{name} holds a zero byte: {text!r}")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise InvalidArgument(f"{name} isn't UTF-8: {text!r}") from None
    return os.path.expanduser(text)
