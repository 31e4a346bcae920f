"""Parquet made into a Lance dataset: `kinjo import` against pylance's write of the same file, in
turns, each in a process of its own: rate, and the peak memory beside it. pylance's clock runs for
its write alone, ours for the whole program. Ours ends when the files are on the disk; pylance
leaves that to the system, so it also runs with a sync of its files at the end.
"""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from bench import paired
from demo import program

PEAK = Path(__file__).resolve().parent.parent / "tests" / "memory" / "peak.py"
GROUP_ROWS = 1 << 17
MIB = 1 << 20

# What a user of pylance would write: rows come as a stream, decoded by Arrow's threads.
THEIRS = """
import json, os, pathlib, sys, time
import lance, pyarrow.dataset
begin = time.perf_counter()
rows = pyarrow.dataset.dataset(sys.argv[1]).scanner(batch_size=8192).to_reader()
lance.write_dataset(rows, sys.argv[2], data_storage_version="2.2")
if sys.argv[3] == "synced":
    for path in [sys.argv[2], *pathlib.Path(sys.argv[2]).rglob("*")]:
        handle = os.open(path, os.O_RDONLY)
        os.fsync(handle)
        os.close(handle)
print(json.dumps({"seconds": time.perf_counter() - begin}))
"""


def vectors(random, rows):
    values = random.standard_normal(rows * 256, dtype=np.float32)
    return {"id": np.arange(rows),
            "vector": pa.FixedSizeListArray.from_arrays(pa.array(values), 256)}


def words(random, rows, least, most):
    """Sentences of so many words out of 5,000."""
    known = [f"{chr(97 + i % 26)}{'aeiou'[i % 5]}{i:x}" for i in range(5000)]
    lengths = random.integers(least, most + 1, rows)
    drawn = (5000 * random.random(int(lengths.sum())) ** 3).astype(int)
    ends = np.cumsum(lengths)
    return pa.array(" ".join(known[i] for i in drawn[end - count:end])
                    for end, count in zip(ends, lengths))


def strings(random, rows):
    ids = random.integers(1 << 60, size=rows)
    return {"url": pa.array(f"https://example.org/{i % 977}/{i:x}" for i in ids),
            "title": words(random, rows, 3, 9), "body": words(random, rows, 10, 60),
            "language": pa.array(["en", "de", "ja", "fr"]).take(pa.array(ids % 4))}


def mixed(random, rows):
    columns = {"id": np.arange(rows)}
    for i in range(6):
        columns[f"number{i}"] = random.standard_normal(rows)
        columns[f"count{i}"] = random.integers(10 ** (i + 1), size=rows)
        columns[f"flag{i}"] = pa.array(random.random(rows) < 0.1 * i,
                                       mask=random.random(rows) < 0.05)
        columns[f"code{i}"] = pa.array([f"code {j}" for j in range(10 * 4**i)]).take(
            pa.array(random.integers(10 * 4**i, size=rows)))
    begin = np.concatenate([[0], np.cumsum(random.integers(0, 8, rows))]).astype(np.int32)
    columns["tags"] = pa.ListArray.from_arrays(
        pa.array(begin), pa.array(random.integers(1000, size=begin[-1]).astype(np.int32)))
    columns["seen"] = pa.array(1_700_000_000_000_000 + random.integers(10**13, size=rows),
                               pa.timestamp("us", tz="UTC"))
    values = random.standard_normal(rows * 32, dtype=np.float32)
    columns["vector"] = pa.FixedSizeListArray.from_arrays(pa.array(values), 32)
    return columns


KINDS = {"vectors of 256 floats": (vectors, 400_000), "strings": (strings, 1_000_000),
         "27 mixed columns": (mixed, 1_000_000)}


def make_source(folder, kind):
    make, rows = KINDS[kind]
    path = folder / f"import-{make.__name__}-{rows}.parquet"
    if not path.exists():
        unfinished = path.with_suffix(".unfinished")
        columns = make(np.random.default_rng(6), rows)
        pq.write_table(pa.table(columns), unfinished, row_group_size=GROUP_ROWS)
        unfinished.rename(path)
    return path, rows


class Writer:
    """A program that writes the dataset; told are its size and the peaks of its memory."""

    def __init__(self, command, target):
        self.command = [sys.executable, str(PEAK), *map(str, command)]
        self.target = target
        self.peaks = []

    def run(self):
        shutil.rmtree(self.target, ignore_errors=True)
        begin = paired.now()
        done = subprocess.run(self.command, capture_output=True, text=True)
        seconds = paired.now() - begin
        told = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
        if told[-1]["exit_code"] != 0:
            raise SystemExit(done.stderr)
        self.peaks.append(told[-1]["peak_bytes"])
        return told[0].get("seconds", seconds)

    def note(self):
        size = sum(file.stat().st_size for file in self.target.rglob("*.lance") if file.is_file())
        return f"peak {max(self.peaks) / MIB:,.0f} MiB, {size / MIB:,.1f} MiB written"


def run(folder, rounds, _threads):
    for kind in KINDS:
        source, rows = make_source(folder, kind)
        ours, theirs = folder / "import-ours.lance", folder / "import-theirs.lance"
        writers = [
            Writer([program.PROGRAM, "import", source, ours, "--json", "--progress", "none"], ours),
            Writer([sys.executable, "-c", THEIRS, source, theirs, "synced"], theirs),
            Writer([sys.executable, "-c", THEIRS, source, theirs, "as it is"], theirs),
        ]
        names = ("kinjo import", "pylance, synced", "pylance")
        rivals = [paired.Rival(name, rows, writer.run) for name, writer in zip(names, writers)]
        rates = paired.race(rivals, rounds)
        paired.print_race(f"import of Parquet, {rows:,} rows, {kind}", rivals, rates,
                          [writer.note() for writer in writers], unit="rows/s")
