"""The files of the tree and simple ways to look at C++ text, for the checks beside this file."""

import re
import subprocess
from pathlib import Path

CPP_ENDINGS = {".cc", ".h", ".hpp", ".c"}
CPP_FOLDERS = ("src", "include", "cli", "bindings", "bench", "tests", "examples")


def files(root):
    """Every file that is committed or would be: paths relative to root, sorted."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
        cwd=root, capture_output=True, check=True,
    ).stdout.decode()
    names = filter(None, set(listed.split("\0")))
    return sorted(Path(name) for name in names if (root / name).is_file())


def is_cpp(path):
    return path.suffix in CPP_ENDINGS and path.parts[0] in CPP_FOLDERS


def is_text(path):
    """True for files without a zero byte in their first part."""
    with open(path, "rb") as file:
        return b"\0" not in file.read(8192)


_TOKEN = re.compile(
    r'//(?:\\\n|[^\n])*'  # line comment
    r"|/\*.*?\*/"  # block comment
    r'|R"(?P<tag>[^()\s]{0,16})\(.*?\)(?P=tag)"'  # raw string
    r'|"(?:\\.|[^"\\\n])*"'  # string
    r"|(?<![0-9A-Fa-f])'(?:\\.|[^'\\\n])+'",  # character; a quote after a digit separates digits
    re.DOTALL,
)


def blank(text, *, strings=True):
    """The text with comments (and strings) blanked, line numbers kept."""

    def replacement(match):
        found = match.group()
        if not strings and not found.startswith("/"):
            return found
        return "".join("\n" if character == "\n" else " " for character in found)

    return _TOKEN.sub(replacement, text)


_INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)


def includes(text):
    """(line number, quote or angle bracket, included name) of each include."""
    code = blank(text, strings=False)
    return [
        (code.count("\n", 0, match.start(1)) + 1, match.group(1), match.group(2))
        for match in _INCLUDE.finditer(code)
    ]
