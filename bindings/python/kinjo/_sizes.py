"""Sizes in bytes as people write them."""

import re
from typing import Any

from kinjo._errors import InvalidArgument

_UNITS = {"": 1, "B": 1}
for _power, _letter in enumerate("KMGT", 1):
    _UNITS |= {f"{_letter}B": 1000**_power, f"{_letter}iB": 1024**_power, _letter: 1024**_power}
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([KMGT]?i?B?)$")


def bytes_of(name: str, size: Any) -> Any:
    """4_000_000_000 or "4GiB", of the option with that name."""
    if not isinstance(size, str):
        return size
    found = _SIZE.match(size.strip())
    if found is None or found[2] not in _UNITS:
        raise InvalidArgument(
            f"{name} is '{size}'; it must be a number of bytes, or a size such as '4GiB' or "
            "'500MB'"
        )
    return int(float(found[1]) * _UNITS[found[2]])
