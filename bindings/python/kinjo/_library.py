"""Loading the native module so that it never meets the Arrow libraries that others in this process
have. Its own lie beside it under names of their own; RTLD_DEEPBIND keeps symbols apart also where
somebody loaded theirs for everyone to see (RTLD_GLOBAL)."""

import json
import os
import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any


def _load() -> ModuleType:
    flags = sys.getdlopenflags()
    apart = os.RTLD_NOW
    # Sanitizers can't live with it.
    if hasattr(os, "RTLD_DEEPBIND") and not os.environ.get("KINJO_NO_DEEPBIND"):
        apart |= os.RTLD_DEEPBIND
    sys.setdlopenflags(apart)
    try:
        from kinjo import _native
    finally:
        sys.setdlopenflags(flags)
    return _native


if TYPE_CHECKING:
    from kinjo import _native

    native = _native
else:
    native = _load()


def version() -> str:
    """The version of the native library, which is the package's."""
    return native.version()


def runtime() -> dict[str, Any]:
    """What a join uses unless told otherwise: version, arrow_version (of Kinjo's own Arrow),
    simd_level, simd_levels, threads, memory_limit_bytes."""
    told: dict[str, Any] = json.loads(native.describe_runtime())
    return told


def set_storage_options(options: dict[str, str], prefix: str = "") -> None:
    """What object stores need to know of the addresses that begin with `prefix`, such as
    {"aws_region": "eu-west-1"}, under the names that Lance has for it; in place of what was told
    for the same prefix before. What no option tells comes from the environment. The
    `storage_options` of a call are the same for the addresses that it is given."""
    from kinjo._storage import texts_of

    native.set_storage_options(prefix, texts_of(options))


# Kinjo's Arrow is this package's alone: it decodes files with as many threads as joins have.
native.set_arrow_threads(max(2, runtime()["threads"]))
