"""Draining results in Node.js: a pending handle, which is one batch ahead, against a complete one,
which fetches on demand. Fresh processes in turns, the other one first in every second round; each
drains several times and gives its median. What prefetching changes is the ratio of the two
processes of one round, over the rounds: its geometric mean, and the interval that holds the true
one with 95 % confidence. Elapsed is execute + finished + drain. Also the package's own row objects
against apache-arrow's.

Results of one boolean, float or double column, of wide rows, and of 10,000 small rows; with a
consumer that only takes the batches, and with one that reads a column of each. Rows that wait lie
in a file in memory: on a disk its writing back falls into the next samples, by more than a drain.
"""

import json
import math
import os
import statistics
import subprocess
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.ipc

from tools import node_package

PROGRAM = Path(__file__).resolve().parent / "node_streams.mjs"
ROWS = {
    "boolean": 1_000_000, "float": 1_000_000, "double": 1_000_000, "wide": 200_000, "small": 10_000
}

# Drains in one process, after one that doesn't count.
REPEATS = {"small": 41}
USUAL_REPEATS = 9
MEMORY = Path("/dev/shm")


def columns_of(name, rows, generator):
    if name == "boolean":
        return {"val": pa.array(generator.random(rows) < 0.5)}
    if name == "float":
        return {"val": pa.array(generator.random(rows, dtype=np.float32))}
    if name == "double":
        return {"val": pa.array(generator.random(rows))}
    if name == "small":
        return {"val": pa.array(np.arange(rows))}
    numbers = {f"n{i}": pa.array(generator.integers(0, 1 << 40, rows)) for i in range(16)}
    texts = {f"t{i}": pa.array([f"text-{i}-{row}" for row in range(rows)]) for i in range(4)}
    return numbers | texts


def left_table(folder, name):
    """An Arrow file whose rows all find one neighbour in a right table of a few rows."""
    path = folder / f"{name}.arrow"
    if not path.exists():
        rows = ROWS[name]
        generator = np.random.default_rng(5)
        vectors = pa.FixedSizeListArray.from_arrays(
            pa.array(generator.random(rows * 2, dtype=np.float32)), 2)
        table = pa.table(columns_of(name, rows, generator) | {"vec": vectors})
        with pa.ipc.new_file(path, table.schema) as file:
            file.write_table(table, max_chunksize=65536)
    return path


def right_table(folder):
    path = folder / "right.arrow"
    vectors = pa.FixedSizeListArray.from_arrays(pa.array(np.arange(8, dtype=np.float32)), 2)
    table = pa.table({"vec": vectors})
    with pa.ipc.new_file(path, table.schema) as file:
        file.write_table(table)
    return path


def sample(**asked):
    variables = os.environ | ({"TMPDIR": str(MEMORY)} if MEMORY.is_dir() else {})
    done = subprocess.run(["node", PROGRAM, json.dumps(asked)], capture_output=True, text=True,
                          check=True, env=variables)
    return json.loads(done.stdout)


def cell(samples, kind):
    """Median drain in ms with the least and the most, elapsed in ms, peak memory in MiB."""
    assert {one["kind"] for one in samples} == {kind}
    middle = {key: statistics.median(one[key] for one in samples)
              for key in ("drain_ms", "elapsed_ms", "rss_mib")}
    drains = [one["drain_ms"] for one in samples]
    return middle, f"{middle['drain_ms']:.1f} ({min(drains):.1f}-{max(drains):.1f})"


# Two-sided 95 % points of Student's distribution, by degrees of freedom.
STUDENT = (0, 12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26, 2.23, 2.20, 2.18, 2.16, 2.14)


def interval(differences):
    """Their mean, and the ends of the interval that holds the true one with 95 % confidence."""
    middle, count = statistics.mean(differences), len(differences)
    if count < 2:
        return middle, -math.inf, math.inf
    student = STUDENT[min(count, len(STUDENT)) - 1]
    spread = student * statistics.stdev(differences) / math.sqrt(count)
    return middle, middle - spread, middle + spread


def logs_of(seen):
    """By what prefetching multiplies the drain of a round, as logarithms."""
    return [math.log(ahead["drain_ms"] / demand["drain_ms"])
            for ahead, demand in zip(seen["pending"], seen["complete"])]


def shares(logs):
    return "{:+6.1%} [{:+6.1%}, {:+6.1%}]".format(*map(math.expm1, interval(logs)))


def race(left, right, work, rounds, threads, repeats):
    """Samples of both kinds; each round has one of each."""
    seen = {"complete": [], "pending": []}
    for number in range(rounds):
        order = list(seen) if number % 2 == 0 else list(seen)[::-1]
        for mode in order:
            seen[mode].append(sample(left=left, right=right, mode=mode, work=work,
                                     threads=threads, repeats=repeats))
    return seen


def print_cell(name, work, seen):
    counts = {(one["rows"], one["batches"]) for one in seen["complete"] + seen["pending"]}
    assert len(counts) == 1, counts
    (demand, demand_drain), (ahead, ahead_drain) = (
        cell(samples, kind) for kind, samples in seen.items())
    memory = interval([ahead["rss_mib"] - demand["rss_mib"]
                       for ahead, demand in zip(seen["pending"], seen["complete"])])
    (rows, batches), = counts
    print(f"{name:8} {'works' if work else 'takes':6} {demand_drain:>20} -> {ahead_drain:>20} "
          f"{shares(logs_of(seen))} "
          f"{demand['elapsed_ms']:6.0f} -> {ahead['elapsed_ms']:6.0f} "
          f"{demand['rss_mib']:6.0f} -> {ahead['rss_mib']:5.0f} "
          "{:+4.1f} [{:+5.1f}, {:+5.1f}]".format(*memory), f" {rows}, {batches}", flush=True)


def run(folder, rounds, threads):
    node_package.require()
    folder = folder / "node_streams"
    folder.mkdir(exist_ok=True)
    right = str(right_table(folder))
    print(f"Node.js result streams, {threads} threads, medians of {rounds} processes a cell")
    print(f"{'result':8} {'reader':6} {'drain ms, complete -> pending':>44} "
          f"{'changed [95 %]':>25} {'elapsed ms':>16} {'peak RSS MiB, more':>34}  rows, batches")
    of_large = {False: [], True: []}
    for name in ROWS:
        left = str(left_table(folder, name))
        for work in (False, True):
            repeats = REPEATS.get(name, USUAL_REPEATS)
            seen = race(left, right, work, rounds, threads, repeats)
            print_cell(name, work, seen)
            if name != "small":
                of_large[work] += logs_of(seen)
    for work, logs in of_large.items():
        print(f"large results together, reader {'works' if work else 'takes'}: {shares(logs)}")
    for name in ("double", "wide"):
        ratio = [sample(left=str(left_table(folder, name)), right=right, mode="rows",
                        threads=threads) for _ in range(rounds)]
        ours = statistics.median(one["ours_ms"] for one in ratio)
        arrows = statistics.median(one["arrow_ms"] for one in ratio)
        print(f"{name:8} rows as objects: ours {ours:.0f} ms, apache-arrow's {arrows:.0f} ms, "
              f"{arrows / ours:.1f}x")
