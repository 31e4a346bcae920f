"""What object stores need to know, told for the addresses of one call."""

from collections.abc import Mapping
from typing import Any

from kinjo._errors import InvalidArgument
from kinjo._library import native
from kinjo._paths import is_path, path_text


def texts_of(options: Any) -> dict[str, str]:
    """Storage options as the library takes them; a number or a flag becomes its text."""
    if not isinstance(options, Mapping):
        raise TypeError(f"storage_options must be a dict, not {type(options).__name__}")
    for name, value in options.items():
        if not isinstance(name, str) or not isinstance(value, (str, int, float)):
            raise TypeError(f"storage_options has {name!r}: {value!r}; both must be texts")
        if "\0" in name or "\0" in str(value):
            raise InvalidArgument(f"storage_options holds a zero byte at {name!r}")
    return {name: str(value) for name, value in options.items()}


def tell(options: Any, *places: Any) -> None:
    """Lets options hold for those places that are addresses; None leaves what holds."""
    if options is None:
        return
    texts = texts_of(options)
    for place in places:
        if is_path(place):
            native.set_storage_options(path_text(place), texts)
