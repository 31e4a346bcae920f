"""Names in documents must exist. In ARCHITECTURE.md each word in backticks is a path, a symbol of
the code, a command or a flag, and is looked up; in other documents paths and relative links are.

Run alone it prints each name that does not exist and ends with 1.
"""

import re
import sys
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tools import sources

ROOT = Path(__file__).resolve().parent.parent
STRICT = Path("ARCHITECTURE.md")
CODE_ENDINGS = sources.CPP_ENDINGS | {".py", ".def", ".cmake"}

_FENCE = re.compile(r"^```.*?^```", re.DOTALL | re.MULTILINE)
_TICKED = re.compile(r"`([^`\n]+)`")
_LINK = re.compile(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)")
_SYMBOL = re.compile(r"~?[A-Za-z_]\w*((::|\.)~?\w+)*(\(\))?")
_PATH = re.compile(r"[\w.*-]+(/[\w.*-]+)*/?")
_FLAG = re.compile(r"--?[a-z][\w-]*")
_COMMAND = re.compile(r"(\./dev|kinjo|ctest|pytest)( .*)?")


class Tree:
    """What exists: files, folders, and the words of the code outside comments and strings."""

    def __init__(self, root):
        self.root = root
        self.files = {str(path) for path in sources.files(root)}
        self.folders = {str(up) for path in self.files for up in Path(path).parents}
        self.words = {}  # path -> words of its code
        for name in self.files:
            path = Path(name)
            if path.suffix in CODE_ENDINGS and path.parts[0] != "tests":
                text = (root / path).read_text()
                # Flags and exit texts are strings, so strings stay.
                code = sources.blank(text, strings=False) if sources.is_cpp(path) else text
                self.words[name] = set(re.findall(r"\w+", code))

    def has_path(self, name):
        plain = name.rstrip("/")
        if "*" in name:
            return any(Path(path).match(plain) for path in self.files)
        return plain in self.files or plain in self.folders

    def has_symbol(self, symbol):
        """All parts of A::b occur together in one file."""
        parts = re.findall(r"\w+", symbol)
        parts = [part for part in parts if part != "kinjo"] or parts
        return any(all(part in words for part in parts) for words in self.words.values())

    def has_flag(self, flag):
        """A flag of the command line: its name is a string somewhere in cli/ or dev."""
        name = flag.lstrip("-")
        places = [path for path in self.files if path.startswith("cli/") or path == "dev"]
        return any(re.search(rf"\b{re.escape(name)}\b", (self.root / path).read_text())
                   for path in places)


def looks_like_path(word):
    """A word with a slash, or with an ending of a file."""
    ending = re.search(r"\.(cc|h|hpp|py|md|cmake|json|txt|def|toml|yaml)$", word)
    return _PATH.fullmatch(word) is not None and ("/" in word or ending is not None)


def outside_the_tree(word):
    """Results of building and other people's files, which are named but not committed."""
    return word.startswith(("build/", "arrow/", "_", "hwy/"))


def strict_problem(tree, word):
    if outside_the_tree(word) and looks_like_path(word):
        return None
    if looks_like_path(word):
        return None if tree.has_path(word) else "no such path"
    if _FLAG.fullmatch(word):
        return None if tree.has_flag(word) else "no such flag"
    if _COMMAND.fullmatch(word):
        return None
    if _SYMBOL.fullmatch(word):
        return None if tree.has_symbol(word) else "no such symbol in the code"
    return "neither a path, a symbol, a flag nor a command"


def check_text(tree, path, text):
    """All names of one document that do not exist, as lines of text."""
    problems = []
    prose = _FENCE.sub(lambda match: "\n" * match.group().count("\n"), text)
    for number, line in enumerate(prose.split("\n"), 1):
        for word in _TICKED.findall(line):
            if path == STRICT:
                found = strict_problem(tree, word)
            elif "/" in word and looks_like_path(word) and not outside_the_tree(word):
                known_top = word.split("/")[0] in {name.split("/")[0] for name in tree.files}
                found = "no such path" if known_top and not tree.has_path(word) else None
            else:
                found = None
            if found:
                problems.append(f"{path}:{number}: `{word}`: {found}")
        for link in _LINK.findall(line):
            target = (tree.root / path).parent / link
            if not target.exists():
                problems.append(f"{path}:{number}: the link {link} leads nowhere")
    return problems


def check(root):
    tree = Tree(root)
    problems = []
    for name in sorted(tree.files):
        if name.endswith(".md"):
            problems += check_text(tree, Path(name), (root / name).read_text())
    return problems


if __name__ == "__main__":
    found = check(ROOT)
    print("\n".join(found), end="\n" if found else "")
    sys.exit(1 if found else 0)
