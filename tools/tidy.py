"""House rules that a formatter and a linter don't know: lengths, names, banned words and calls.

Each rule is a function that takes a path and the file's text and yields (line number, message).
Run alone it prints each broken rule and ends with 1.
"""

import ast
import functools
import re
import sys
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tools import functions, sources

ROOT = Path(__file__).resolve().parent.parent
LONGEST_FUNCTION = 70
LONGEST_FILE = 1000
LONGEST_LINE = 100
WIDE_ENDINGS = {".md", ".json", ".txt", ".cmake", ".def"}
LARGEST_FILE_BYTES = 512 * 1024

# Functions that are longer than the rule allows, as "path:name". It may only become shorter.
LONG_FUNCTIONS_ALLOWED = set()

BANNED_STEMS = {"util", "utils", "helper", "helpers", "common", "misc", "manager", "v2", "impl"}

# Written apart so that this file passes its own check.
BANNED_WORDS = re.compile(r"\b(TO" r"DO|FIX" r"ME|XX" r"X|HA" r"CK)\b")
MACHINE_PATH = re.compile(r"(^|[^\w.~-])/(work|root|home|tmp)/[a-zA-Z]")
REGISTRY_HOST = re.compile(
    r"py" r"pi\.(org|python)|python" r"hosted|npm" r"js\.(org|com)|maven\.(org|apache)"
    r"|debian\.(org|net)|crates\.(io)|golang\.(org)"
)

# An allocator has no other way to fail; the wall rethrows what it is about to turn into a code.
THROWERS = ("src/kernels/aligned_vector.h", "src/dataset/row_mask.cc", "src/capi/error.cc")
USE_THE_POOL = "threads come from base::ThreadPool"

# What C++ below src/ must not say, where it may all the same, and why not.
BANNED_CODE = (
    (r"\bstd::(thread|jthread|async)\b", ("src/base", "src/stream"), USE_THE_POOL),
    (r"\bthrow\b", THROWERS, "no exception crosses a room; return a Status"),
    (r"#\s*pragma\s+omp\b", (), USE_THE_POOL),
    (r"\bstd::(cout|cerr)\b|\bf?printf\s*\(", (), "a library does not print"),
    (r"\b(exit|abort)\s*\(", ("src/base",), "a library does not end its process"),
    (r"\busing\s+namespace\s+std\b", (), "name what you use"),
    (r"__attribute__\s*\(\(\s*target", ("src/kernels",), "instruction sets belong to kernels"),
)
BANNED_FLAGS = re.compile(r"-ffast-math|-march=|-mavx|-msse|-Ofast")
# A public header, which C compilers see too, may have a guard of names instead.
INCLUDED_ONCE = re.compile(r"^#pragma once$|^#ifndef KINJO_\w+_H\w*\n#define KINJO_", re.MULTILINE)
TEST_MACRO = re.compile(r"^\s*(TEST|TEST_F|TEST_P|TYPED_TEST)\s*\(", re.MULTILINE)


def line_rules(path, text):
    """Length, white space, banned words, machine paths and registry hosts; every text file."""
    wide_ok = path.suffix in WIDE_ENDINGS or path.name == "CMakeLists.txt"
    for number, line in enumerate(text.split("\n"), 1):
        if len(line) > LONGEST_LINE and not wide_ok:
            yield number, f"line of {len(line)} characters; at most {LONGEST_LINE}"
        if line != line.rstrip():
            yield number, "white space at the end of the line"
        if "\t" in line and path.suffix != ".tsv":
            yield number, "a tab"
        if BANNED_WORDS.search(line):
            yield number, "unfinished work: finish it, or say in the documents what is missing"
        if MACHINE_PATH.search(line):
            yield number, "an absolute path of one machine"
        if REGISTRY_HOST.search(line):
            yield number, "the address of a package registry"
    if text and not text.endswith("\n"):
        yield text.count("\n") + 1, "no line break at the end of the file"


def file_rules(path, text):
    lines = text.count("\n")
    if lines > LONGEST_FILE:
        yield 1, f"file of {lines} lines; at most {LONGEST_FILE}"
    banned = BANNED_STEMS.intersection(path.stem.lower().split("_"))
    if banned:
        yield 1, f"'{banned.pop()}' in a file name: name the idea"


def function_length_problem(path, name, begin, end):
    length = end - begin + 1
    if length > LONGEST_FUNCTION and f"{path}:{name}" not in LONG_FUNCTIONS_ALLOWED:
        return begin, f"{name} has {length} lines; at most {LONGEST_FUNCTION}"
    return None


def python_rules(path, text):
    if path.suffix != ".py" and not text.startswith("#!/usr/bin/env python3"):
        return
    tree = ast.parse(text)
    if ast.get_docstring(tree) is None:
        yield 1, "no docstring that says which idea lives here"
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            found = function_length_problem(path, node.name, node.lineno, node.end_lineno)
            if found:
                yield found


def has_header(path):
    """True when the header beside a source file (which opens with the comment for both) exists."""
    return (ROOT / path).with_suffix(".h").exists()


def cpp_rules(path, text):
    if not sources.is_cpp(path):
        return
    code = sources.blank(text)
    for function in functions.find(code):
        found = function_length_problem(path, function.name, function.begin, function.end)
        if found:
            yield found
    is_unit_test = path.stem.endswith("_test")
    is_header = path.suffix in (".h", ".hpp")
    opened = text.startswith(("//", "/*")) or is_unit_test or (not is_header and has_header(path))
    if not opened:
        yield 1, "no opening comment that says which idea lives here"
    # Highway compiles the text of an x-inl.h once a target.
    if is_header and not path.stem.endswith("-inl") and not INCLUDED_ONCE.search(code):
        yield 1, "no #pragma once"
    has_test = TEST_MACRO.search(code) is not None
    if has_test and not is_unit_test:
        yield 1, "a test outside a *_test.cc"
    if is_unit_test and path.suffix == ".cc" and not has_test:
        yield 1, "a *_test.cc without a test"


def is_test(path):
    return path.stem.endswith(("_test", "_fuzz"))


@functools.cache
def users_of_headers(root):
    """Header below src/ -> the files that include it."""
    users = {}
    for path in sources.files(root):
        if sources.is_cpp(path):
            for _, _, include in sources.includes((root / path).read_text()):
                users.setdefault(include, set()).add(path)
    return users


def users_of(path, root):
    """The files that include this file's header; a source has the users of its header."""
    header = path.relative_to("src").with_suffix(".h")
    return users_of_headers(root).get(str(header), set()) - {path.with_suffix(".cc")}


def serves_tests(path, root):
    """True for tests, and for files whose users, and theirs, all end in tests."""
    seen, waiting = set(), [path]
    while waiting:
        file = waiting.pop()
        if file in seen or is_test(file) or file.parts[0] == "tests":
            continue
        seen.add(file)
        users = users_of(file, root) if file.parts[0] == "src" else set()
        if not users:
            return False
        waiting += users
    return True


def library_rules(path, text):
    """What code of the library must not do; tests may."""
    is_library = path.parts[0] == "src" and path.suffix in sources.CPP_ENDINGS
    if not is_library or serves_tests(path, ROOT):
        return
    code = sources.blank(text)
    for pattern, places, reason in BANNED_CODE:
        if any(path.is_relative_to(place) for place in places):
            continue
        for match in re.finditer(pattern, code):
            line = code.count("\n", 0, match.start()) + 1
            yield line, f"'{match.group().strip()}': {reason}"


def build_rules(path, text):
    if path.suffix == ".cmake" or path.name in ("CMakeLists.txt", "CMakePresets.json"):
        for match in BANNED_FLAGS.finditer(text):
            line = text.count("\n", 0, match.start()) + 1
            yield line, f"{match.group()}: no such flag for a build"


RULES = (line_rules, file_rules, python_rules, cpp_rules, library_rules, build_rules)


def is_ours(path):
    """False for the licence, for locks and for datasets, which others' programs wrote."""
    ours = path.name not in ("LICENSE", "package-lock.json")
    return ours and not any(part.endswith(".lance") for part in path.parts)


def check_text(path, text):
    """All broken rules of one file, as lines of text."""
    return [
        f"{path}:{line}: {message}"
        for rule in RULES
        for line, message in rule(path, text)
    ]


def check(root):
    problems = []
    for path in sources.files(root):
        size = (root / path).stat().st_size
        if size > LARGEST_FILE_BYTES:
            problems.append(f"{path}:1: {size} bytes: can a script make it?")
        elif is_ours(path) and sources.is_text(root / path):
            try:
                text = (root / path).read_text()
            except UnicodeDecodeError:
                continue
            problems += check_text(path, text)
    return problems


if __name__ == "__main__":
    found = check(ROOT)
    print("\n".join(found), end="\n" if found else "")
    sys.exit(1 if found else 0)
