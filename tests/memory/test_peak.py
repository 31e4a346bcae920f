"""tests/memory/peak.py tells what a child took, and not what its parent did."""

import json
import subprocess
import sys
from pathlib import Path

PEAK = Path(__file__).with_name("peak.py")
MIB = 1 << 20


def peak_of(code):
    command = [sys.executable, "-S", "-E", str(PEAK), sys.executable, "-S", "-E", "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def test_the_peak_grows_with_what_is_touched_and_freed():
    little = peak_of("pass")["peak_bytes"]
    much = peak_of("x = bytearray(64 << 20); del x")["peak_bytes"]
    assert 60 * MIB < much - little < 80 * MIB


def test_the_parent_does_not_count():
    held = bytearray(256 << 20)
    assert peak_of("pass")["peak_bytes"] < 64 * MIB
    assert len(held) == 256 << 20


def test_a_failure_is_told():
    assert peak_of("raise SystemExit(3)")["exit_code"] == 3
