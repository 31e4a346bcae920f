"""What a search through IVF_PQ takes as a + b |R|: peaks of growth over rows, widths and concurrent
probes, ten repetitions of the same probe, with the index resident and streamed.

The right sides take 21 GB of disk. The peak is the kernel's, of a process that joins, less that of
one that only opens the sides and plans. A probe is a left row; "concurrent" are the threads that
search. Prints the table and, for each way, the line fitted by least squares with its residuals.
"""

import json
import subprocess
import sys
from pathlib import Path

import lance
import numpy as np
import pyarrow.parquet as pq

from demo import program
from tests.memory import sides

PEAK = Path(sides.__file__).with_name("peak.py")
FOLDER = Path(__file__).resolve().parent.parent / "build" / "memory"
ROWS = {128: (1_000_000, 5_000_000, 20_000_000), 384: (1_000_000, 5_000_000)}
THREADS = (1, 4)
REPETITIONS = (1, 10)
LEFT_ROWS = 200
LIMITS = {"resident": "4GiB", "streamed": "96MiB"}
MIB = 1 << 20


def make_right(rows, width):
    """A dataset with the index that Kinjo builds by default, but of a byte for 8 dimensions."""
    path = sides.make_right(FOLDER, rows, width)
    if not lance.dataset(str(path)).describe_indices():
        subprocess.run(
            [str(program.PROGRAM), "index", "create", str(path), "--column", "vec",
             "--num-sub-vectors", str(width // 8), "--sample-rate", "64"],
            check=True)  # fmt: skip
    return path


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
    for width, sizes in ROWS.items():
        print(f"growth in MiB at {', '.join(f'{rows:,}' for rows in sizes)} rows of width {width}")
        rights = [make_right(rows, width) for rows in sizes]
        for repetitions in REPETITIONS:
            left = make_left(width, repetitions)
            for way, limit in LIMITS.items():
                for threads in THREADS:
                    grown = [growth(left, right, threads, limit) for right in rights]
                    title = f"width {width}, {way}, {threads} at a time, {repetitions} times"
                    print(f"{title}: " + " ".join(f"{value:.1f}" for value in grown), flush=True)
                    print_line("  fitted", sizes, grown)
