"""Counts the cells that ran and those that pylance refused, and says so at the end."""

import re
from collections import Counter

import pytest

_TOLD = pytest.StashKey[Counter]()


def pytest_configure(config):
    config.stash[_TOLD] = Counter()


@pytest.fixture
def tell(request):
    """tell(outcome, why="") counts one cell."""

    def count(outcome, why=""):
        # Places in Lance's source and numbers differ from cell to cell.
        request.config.stash[_TOLD][outcome, re.sub(r",? ?[/\w.-]*\.rs:[\d:]+.*", "", why)] += 1

    return count


def pytest_terminal_summary(terminalreporter, config):
    told = config.stash[_TOLD]
    if not told:
        return
    ran = sum(count for (outcome, _), count in told.items() if outcome == "ran")
    terminalreporter.write_line(f"differential cells: {ran} searches compared with pylance")
    for (outcome, why), count in sorted(told.items()):
        if outcome == "skipped":
            terminalreporter.write_line(f"  not compared: {count} kinds, pylance: {why}")
