"""Plain reading against pylance's own reader, in turns, each in a process of its own, the files in
the page cache: a whole column of vectors, a whole column of strings, and ten thousand rows here and
there of each. Each process reads twice; the second time counts, and beside it its peak of memory.
"""

import json
import subprocess
import sys

import numpy as np
import pyarrow as pa

from bench import paired
from bench.ivf_pq import lance
from demo import program

PEAK = program.ROOT / "tests" / "memory" / "peak.py"
PROGRAM = program.ROOT / "build" / "release" / "bench" / "scan_rows"
VECTORS, WIDTH = 400_000, 256
STRINGS = 1_000_000
TAKEN = 10_000
MIB = 1 << 20

# What a user of pylance would write.
THEIRS = """
import json, sys, time
import lance, numpy
dataset = lance.dataset(sys.argv[1])
def read(numbers):
    if numbers is None:
        return sum(b.num_rows for b in dataset.scanner(columns=[sys.argv[2]]).to_batches())
    return dataset.take(numpy.fromfile(numbers, "u8").tolist(), columns=[sys.argv[2]]).num_rows
first, second = sys.argv[3:] or (None, None)
read(first)
begin = time.perf_counter()
rows = read(second)
print(json.dumps({"seconds": time.perf_counter() - begin, "rows": rows}))
"""


def vectors():
    random = np.random.default_rng(6)
    step = 50_000
    for first in range(0, VECTORS, step):
        values = pa.array(random.standard_normal(step * WIDTH, dtype=np.float32))
        yield pa.record_batch({"value": pa.FixedSizeListArray.from_arrays(values, WIDTH)})


def strings():
    """Sentences of 5 to 40 words out of 5,000."""
    random = np.random.default_rng(7)
    known = np.array([f"{chr(97 + i % 26)}{'aeiou'[i % 5]}{i:x}" for i in range(5000)])
    step = 50_000
    for _ in range(0, STRINGS, step):
        lengths = random.integers(5, 41, step)
        drawn = known[(5000 * random.random(int(lengths.sum())) ** 3).astype(int)]
        ends = np.cumsum(lengths)
        texts = [" ".join(drawn[end - count:end]) for end, count in zip(ends, lengths)]
        yield pa.record_batch({"value": pa.array(texts)})


def make(folder, rows):
    path = folder / f"scan-{rows.__name__}.lance"
    if not path.exists():
        batches = rows()
        first = next(batches)

        def all_batches():
            yield first
            yield from batches

        unfinished = folder / f"scan-{rows.__name__}.unfinished.lance"
        lance.write_dataset(all_batches(), unfinished, schema=first.schema, mode="overwrite")
        unfinished.rename(path)
    return path


class Reader:
    """A program that reads; kept are the peaks of its memory."""

    def __init__(self, *command):
        self.command = [sys.executable, PEAK, *command]
        self.peaks = []
        self.rows = 0

    def run(self):
        done = subprocess.run(list(map(str, self.command)), capture_output=True, text=True)
        told = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
        if told[-1]["exit_code"] != 0:
            raise SystemExit(done.stderr)
        self.peaks.append(told[-1]["peak_bytes"])
        self.rows = told[0]["rows"]
        return told[0]["seconds"]

    def note(self):
        return f"peak {max(self.peaks) / MIB:,.0f} MiB"


def race(title, rounds, rows, *words):
    readers = [Reader(PROGRAM, *words), Reader(sys.executable, "-c", THEIRS, *words)]
    rivals = [paired.Rival(name, rows, reader.run)
              for name, reader in zip(("kinjo", "pylance"), readers)]
    rates = paired.race(rivals, rounds)
    if {reader.rows for reader in readers} != {rows}:
        raise SystemExit(f"{title}: read were {[reader.rows for reader in readers]} rows")
    paired.print_race(title, rivals, rates, [reader.note() for reader in readers], unit="rows/s")


def run(folder, rounds, _threads):
    for make_rows, count in ((vectors, VECTORS), (strings, STRINGS)):
        path = make(folder, make_rows)
        [fragment] = lance.dataset(path).get_fragments()
        if fragment.fragment_id != 0:
            raise SystemExit(f"{path} isn't of one fragment, number 0")
        race(f"all {count:,} {make_rows.__name__}", rounds, count, path, "value")
        numbers = []
        for seed in (1, 2):
            numbers.append(folder / f"scan-{make_rows.__name__}-{seed}.u64")
            chosen = np.random.default_rng(seed).choice(count, TAKEN, replace=False)
            np.sort(chosen).astype(np.uint64).tofile(numbers[-1])
        race(f"{TAKEN:,} of them", rounds, TAKEN, path, "value", *numbers)
