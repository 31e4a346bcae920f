"""What a search through IVF_PQ takes as a + b |R|: peaks of growth over rows, widths and concurrent
probes, ten repetitions of the same probe, with the index resident and streamed.

The peak is the kernel's, of a process that joins, less that of one that only opens the sides and
plans. A probe is a left row; "concurrent" are the threads that search. Prints the table and, for
each way, the line fitted by least squares with its residuals.
"""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq

from demo import program
from tests.memory import sides

PEAK = Path(sides.__file__).with_name("peak.py")
FOLDER = Path(__file__).resolve().parent.parent / "build" / "memory"
ROWS = (100_000, 300_000, 1_000_000)
WIDTHS = (128, 384)
THREADS = (1, 4)
REPETITIONS = (1, 10)
LEFT_ROWS = 200
LIMITS = {"resident": "4GiB", "streamed": "96MiB"}
MIB = 1 << 20


def make_left(width, repetitions):
    """The same probes, so many times."""
    once = sides.make_left(FOLDER, LEFT_ROWS, width)
    path = once.with_name(f"{once.stem}-times-{repetitions}.parquet")
    table = pq.read_table(once)
    with pq.ParquetWriter(path, table.schema) as writer:
        for _ in range(repetitions):
            writer.write_table(table)
    return path


def peak(*arguments):
    command = [sys.executable, "-S", "-E", str(PEAK), str(program.PROGRAM), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True)
    told = json.loads(done.stdout.strip().splitlines()[-1])
    if told["exit_code"] != 0:
        raise SystemExit(done.stderr)
    return told["peak_bytes"]


def growth(left, right, threads, limit):
    # Blocks of one repetition: the second finds what the first left.
    flags = ["--left", left, "--right", right, "--on", "vec", "--threads", threads,
             "--nprobes", 32, "--memory-limit", limit, "--left-select", "q",
             "--right-select", "id"]  # fmt: skip
    joined = peak("join", *flags, "--progress", "none", "-o", FOLDER / "out.arrow")
    return (joined - peak("explain", *flags)) / MIB


def print_line(title, rows, mebibytes):
    """The fit of `mebibytes` over millions of rows, and how far the points lie from it."""
    millions = np.array(rows) / 1e6
    b, a = np.polyfit(millions, mebibytes, 1)
    off = np.array(mebibytes) - (a + b * millions)
    print(f"{title}: a = {a:.1f} MiB, b = {b:.1f} MiB a million rows, residuals "
          + " ".join(f"{value:+.1f}" for value in off))  # fmt: skip


def run(_folder, _rounds, _threads):
    FOLDER.mkdir(parents=True, exist_ok=True)
    print(f"growth in MiB at {', '.join(f'{rows:,}' for rows in ROWS)} rows")
    for width in WIDTHS:
        rights = [sides.make_right(FOLDER, rows, width, "IVF_PQ") for rows in ROWS]
        for repetitions in REPETITIONS:
            left = make_left(width, repetitions)
            for way, limit in LIMITS.items():
                for threads in THREADS:
                    title = f"width {width}, {way}, {threads} at a time, {repetitions} times"
                    grown = [growth(left, right, threads, limit) for right in rights]
                    print(f"{title}: " + " ".join(f"{value:.1f}" for value in grown), flush=True)
                    print_line("  fitted", ROWS, grown)
