"""Where functions of C++ text begin and end, by braces alone: enough to measure them.

The text must have its comments and strings blanked (sources.blank). A lambda counts to the function
that holds it.
"""

import re
from typing import NamedTuple


class Function(NamedTuple):
    name: str
    begin: int  # first line of the declaration, 1-based
    end: int  # line of the closing brace


_NAMESPACE = re.compile(r"\bnamespace\b|\bextern\s*$")
_TYPE = re.compile(r"\b(class|struct|union|enum)\b")
_ATTRIBUTE = re.compile(r"\b(alignas|__attribute__|[A-Z][A-Z_]{3,})\s*\([^{};]*?\)+")
_NAME = re.compile(r"([~\w:]+|operator\s*[^\s(]+)\s*\(")
_TEMPLATE = re.compile(r"\btemplate\s*<[^{};]*?>(?=\s*[\w\[:])")
_INITIALIZER = re.compile(r"\)\s*(?:noexcept\s*)?:(?!:)")
_QUALIFIERS = {"const", "noexcept", "override", "final", "mutable", "try"}


def _kind(head, enclosing):
    """What the brace after `head` opens: namespace, type, function, initializer or block."""
    if enclosing in ("function", "block", "initializer"):
        return "block"
    if _NAMESPACE.search(head):
        return "namespace"
    plain = _TEMPLATE.sub("", head)
    if _TYPE.search(plain) and "(" not in _ATTRIBUTE.sub("", plain):
        return "type"
    if "(" not in plain:
        return "initializer"
    last_word = re.search(r"(\w+)\s*$", plain)
    if _INITIALIZER.search(plain) and last_word and last_word.group(1) not in _QUALIFIERS:
        return "initializer"
    if re.search(r"[^=!<>]=\s*$", plain) or re.search(r"\(\s*$|,\s*$", plain):
        return "initializer"
    return "function"


def _without_preprocessor(text):
    """Directives blanked, with their continuation lines: their braces need not match."""
    return re.sub(
        r"^[ ]*#(?:[^\n]*\\\n)*[^\n]*$",
        lambda match: "\n" * match.group().count("\n"),
        text,
        flags=re.MULTILINE,
    )


def _first_line(text, begin, end):
    """The line where the declaration in text[begin:end] starts, after blanks."""
    skipped = len(text[begin:end]) - len(text[begin:end].lstrip())
    return text.count("\n", 0, begin + skipped) + 1


def _name(head):
    match = _NAME.search(_TEMPLATE.sub("", head))
    return re.sub(r"\s+", "", match.group(1)) if match else "?"


def find(text):
    """Every function with a body, in the order of their ends."""
    text = _without_preprocessor(text)
    found = []
    stack = []  # (kind, where its head began)
    head_begin = 0
    for match in re.finditer(r"[{};]|\b(?:public|private|protected)\s*:", text):
        position = match.start()
        enclosing = stack[-1][0] if stack else "namespace"
        if match.group() == "{":
            kind = _kind(text[head_begin:position], enclosing)
            stack.append((kind, head_begin))
            if kind != "initializer":
                head_begin = position + 1
            continue
        if match.group() == "}" and stack:
            kind, begin = stack.pop()
            if kind == "function":
                name = _name(text[begin:position])
                line = _first_line(text, begin, position)
                found.append(Function(name, line, text.count("\n", 0, position) + 1))
            if kind == "initializer":
                head_begin = begin
                continue
        if enclosing != "initializer":
            head_begin = match.end()
    return found
