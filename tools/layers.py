"""Who may include whom. Rooms are the folders of src/; the table is the design, this file holds it.

Run alone it prints each forbidden include and ends with 1.
"""

import sys
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tools import sources

# Folder -> folders it may include besides itself. The longest folder that fits a file counts.
ALLOWED = {
    "base": (),
    "kernels": (),
    "io": ("base",),
    "format": ("base", "io"),
    "index": ("base", "kernels", "format/index_file"),
    "predicate": ("base",),
    "stream": ("base",),
    "dataset": ("base", "io", "stream", "format", "index", "predicate"),
    "exec": ("base", "kernels", "stream", "format/index_file", "index", "dataset", "predicate"),
    "tabular": ("base", "io", "dataset"),
}
ALLOWED["join"] = tuple(ALLOWED)
ALLOWED["capi"] = tuple(ALLOWED)

# Third-party headers that only some folders may see.
THIRD_PARTY = {
    "roaring": ("src/dataset", "src/format"),
    "hwy": ("src/kernels", "bench/kernels"),
    "curl": ("src/io",),
    "nlohmann": ("src/capi", "src/format", "src/io", "src/join", "cli"),
    "CLI": ("cli",),
    "parquet": ("src/tabular",),
    "gtest": ("*_test.cc", "tests"),
    "gmock": ("*_test.cc", "tests"),
    "benchmark": ("bench",),
}
C_STANDARD = {"assert.h", "limits.h", "stdbool.h", "stddef.h", "stdint.h", "string.h"}


def is_standard(name):
    """A header of the C++ or C standard library."""
    return "/" not in name and ("." not in name or name in C_STANDARD)


def room_of(include):
    """The room of an include such as "join/knn_join.h", or None when it isn't one of ours."""
    room = include.split("/")[0]
    return room if "/" in include and room in ALLOWED else None


def may_include(room, include):
    """True when a file of the room may include this header of ours."""
    target = room_of(include)
    return target == room or any(
        include.startswith(allowed + "/") for allowed in ALLOWED[room]
    )


def third_party_problem(path, include):
    places = THIRD_PARTY.get(include.split("/")[0])
    if places is None:
        return None
    for place in places:
        if path.match(place) or path.is_relative_to(place):
            return None
    return f"{include} may be included from {', '.join(places)} only"


def room_problem(path, include):
    """Why a file below src/ must not include this header, or None."""
    room = path.parts[1]
    if room not in ALLOWED:
        return f"src/{room} is not a room; add it to tools/layers.py"
    if include.startswith("kinjo/") and room != "capi":
        return "only src/capi knows the public header"
    if room_of(include) and not may_include(room, include):
        return f"room {room} must not include {include}"
    return None


def public_problem(path, kind, include):
    """Why a public header must not include this, or None: standard headers and each other only."""
    if include.startswith("kinjo/") or is_standard(include):
        return None
    return f"a public header must not include {include}"


def face_problem(path, include):
    """Why cli/ or bindings/ must not include this, or None: of ours only include/kinjo."""
    if room_of(include):
        return f"{path.parts[0]}/ sees include/kinjo only, not {include}"
    return None


def problem(path, kind, include):
    top = path.parts[0]
    if top == "include":
        return public_problem(path, kind, include)
    found = third_party_problem(path, include)
    if found is None and top == "src" and len(path.parts) > 2:
        found = room_problem(path, include)
    if found is None and top in ("cli", "bindings"):
        found = face_problem(path, include)
    return found


def check(root):
    """All forbidden includes as lines of text."""
    problems = []
    for path in sources.files(root):
        if not sources.is_cpp(path) and path.parts[0] != "bindings":
            continue
        if path.suffix not in sources.CPP_ENDINGS:
            continue
        for line, kind, include in sources.includes((root / path).read_text()):
            found = problem(path, kind, include)
            if found:
                problems.append(f"{path}:{line}: {found}")
    return problems


if __name__ == "__main__":
    found = check(Path(__file__).resolve().parent.parent)
    print("\n".join(found), end="\n" if found else "")
    sys.exit(1 if found else 0)
