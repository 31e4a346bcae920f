"""How much memory a run of the program took."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

PEAK = Path(__file__).with_name("peak.py")


@pytest.fixture
def peak(kinjo_cli):
    """peak(*arguments): bytes at most, by the kernel's count, of a run that must succeed."""

    def run(*arguments):
        command = [sys.executable, "-S", "-E", str(PEAK), str(kinjo_cli), *map(str, arguments)]
        done = subprocess.run(command, capture_output=True, text=True)
        told = json.loads(done.stdout.strip().splitlines()[-1])
        assert told["exit_code"] == 0, done.stderr
        return told["peak_bytes"]

    return run
