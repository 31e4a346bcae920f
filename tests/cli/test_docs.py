"""docs/cli.md and docs/cli-datasets.md hold the help texts word for word. To bring them up to date
after a change of the flags: python tests/cli/test_docs.py PROGRAM."""

import re
import subprocess
import sys
from pathlib import Path

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGES = [DOCS / "cli.md", DOCS / "cli-datasets.md"]
BLOCK = re.compile(r"(<!-- help: ([\w ]*) -->\n```\n)(.*?)(```\n)", re.DOTALL)


def with_help(page, help_of):
    return BLOCK.sub(lambda block: block[1] + help_of(block[2]) + block[4], page)


def test_the_pages_are_current(kinjo):
    pages = [page.read_text() for page in PAGES]
    shown = {block[2] for page in pages for block in BLOCK.finditer(page)}
    changes = {"import", "delete", "compact", "columns", "restore", "tag", "cleanup"}
    index = {f"index {action}" for action in
             ("create", "list", "optimize", "drop", "rename", "check")}
    assert shown == {"", "join", "search", "tune", "info", "scan"} | changes | index
    for page in pages:
        current = with_help(page, lambda command: kinjo(*command.split(), "--help").stdout)
        assert page == current, "python tests/cli/test_docs.py PROGRAM brings it up to date"


def main(program):
    def help_of(command):
        done = subprocess.run([program, *command.split(), "--help"], capture_output=True, text=True)
        return done.stdout

    for page in PAGES:
        page.write_text(with_help(page.read_text(), help_of))


if __name__ == "__main__":
    main(sys.argv[1])
