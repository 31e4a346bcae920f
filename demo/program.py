"""Running the kinjo program and reading its report, for the demo and the benches."""

import json
import os
import subprocess
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PROGRAM = Path(os.environ.get("KINJO_CLI", ROOT / "build" / "release" / "cli" / "kinjo"))


def shown(command):
    """The command as a person would type it at the root of the tree."""
    words = [str(word).replace(f"{ROOT}/", "") for word in command]
    return " ".join(words)


def run(*words):
    """Runs the program; -> (what it printed, seconds of the whole process)."""
    command = [str(PROGRAM), *map(str, words)]
    begin = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True)
    seconds = time.perf_counter() - begin
    if done.returncode != 0:
        raise SystemExit(f"{shown(command)}\nfailed: {done.stderr.strip()}")
    return done.stdout + done.stderr, seconds


def join(*flags):
    """Runs `kinjo join`; -> (its JSON report, seconds of the whole process)."""
    text, seconds = run("join", "--json", "--progress", "none", *flags)
    return report_of(text), seconds


def report_of(text):
    """The last line of a program's output that is a JSON object."""
    for line in reversed(text.splitlines()):
        if line.startswith("{"):
            return json.loads(line)
    raise SystemExit(f"no JSON report in: {text.strip()!r}")
