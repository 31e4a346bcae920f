"""Building indexes, beside pylance with the same parameters on the same rows: seconds and peak
memory of whole processes in turns, and what each one's index finds.

A process that builds is measured from its start to its end, and its peak is the kernel's. Recall is
that of one searcher, Kinjo's, through either index; it takes long and is kept under
build/bench/index_build (delete the folder to begin anew). pylance's changes by chance.
"""

import json
import os
import statistics
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from bench import data, paired
from demo import program, words
from tests.memory import sides

os.environ.setdefault("LANCE_LOG", "error")
import lance  # noqa: E402

FOLDER = program.ROOT / "build" / "bench" / "index_build"
PEAK = Path(sides.__file__).with_name("peak.py")
K = 10
QUERIES = 5_000
MIB = 1 << 20

# What pylance's process does: opens the dataset and builds.
PYLANCE = """
import json, os, sys
os.environ.setdefault("LANCE_LOG", "error")
import lance
path, arguments = sys.argv[1], json.loads(sys.argv[2])
lance.dataset(path).create_index("vector", name="vector_idx", replace=True, **arguments)
"""


class Build(NamedTuple):
    """One index: its parameters, and how it is searched for recall."""

    index_type: str
    parameters: dict
    nprobes: int
    ef: int = 0

    @property
    def name(self):
        bits = self.parameters.get("num_bits", 8)
        return self.index_type + (f"({bits})" if bits != 8 else "")

    def flags(self, metric):
        flags = ["--type", self.index_type, "--metric", metric]
        for name, value in self.parameters.items():
            flags += [f"--{name.replace('_', '-')}", str(value)]
        return flags

    def arguments(self, metric):
        return {"index_type": self.index_type, "metric": metric, **self.parameters}


def all_builds(partitions, graph_partitions, sub_vectors, has_rq=True):
    """Every type; RQ codes widths that are multiples of 8 only."""
    ivf = {"num_partitions": partitions}
    graph = {"num_partitions": graph_partitions}
    return [
        Build("IVF_FLAT", ivf, 16),
        Build("IVF_PQ", {**ivf, "num_sub_vectors": sub_vectors}, 16),
        Build("IVF_PQ", {**ivf, "num_sub_vectors": 2 * sub_vectors, "num_bits": 4}, 16),
        Build("IVF_SQ", ivf, 16),
        *([Build("IVF_RQ", {**ivf, "num_bits": 5}, 16)] if has_rq else []),
        Build("IVF_HNSW_FLAT", graph, graph_partitions, 64),
        Build("IVF_HNSW_PQ", {**graph, "num_sub_vectors": sub_vectors}, graph_partitions, 64),
        Build("IVF_HNSW_SQ", graph, graph_partitions, 64),
    ]


class Rows:
    """Rows that are indexed, in one dataset a builder, and the queries."""

    def __init__(self, name, metric, right, left):
        self.name, self.metric, self.count = name, metric, len(right)
        self.left = FOLDER / f"{name}-left.npy"
        self.places = {who: FOLDER / f"{name}-{who}.lance" for who in ("kinjo", "pylance")}
        if not self.left.exists():
            np.save(self.left, np.ascontiguousarray(left))
        column = pa.FixedSizeListArray.from_arrays(pa.array(right.reshape(-1)), right.shape[1])
        for place in self.places.values():
            if not place.exists():
                unfinished = place.with_suffix(".unfinished")
                lance.write_dataset(pa.table({"vector": column}), unfinished, mode="overwrite")
                unfinished.rename(place)

    def build(self, who, build):
        """-> (seconds, peak bytes) of a process that builds."""
        if who == "kinjo":
            command = [str(program.PROGRAM), "index", "create", str(self.places[who]), "--replace",
                       "--name", "vector_idx", "--progress", "none", *build.flags(self.metric)]
        else:
            command = [sys.executable, "-c", PYLANCE, str(self.places[who]),
                       json.dumps(build.arguments(self.metric))]
        begin = paired.now()
        done = subprocess.run([sys.executable, "-S", "-E", str(PEAK), *command],
                              capture_output=True, text=True)
        seconds = paired.now() - begin
        told = json.loads(done.stdout.strip().splitlines()[-1])
        if told["exit_code"] != 0:
            raise SystemExit(done.stderr)
        return seconds, told["peak_bytes"]

    def found(self, who, *flags):
        """Row ids of the neighbours: int64 [queries][K]."""
        output = FOLDER / "found.arrow"
        program.join("--left", self.left, "--right", self.places[who], "-k", K, "--metric",
                     self.metric, *flags, "--with-row-id", "--with-query-index", "--left-select",
                     "", "--right-select", "", "-o", output)
        with pa.memory_map(str(output)) as file:
            table = pa.ipc.open_file(file).read_all()
        found = np.full((QUERIES, K), -1, dtype=np.int64)
        found[table["_query_index"].to_numpy(), table["_rank"].to_numpy() - 1] = (
            table["_rowid"].to_numpy())
        return found

    def exact(self):
        file = FOLDER / f"{self.name}-exact.npy"
        if not file.exists():
            np.save(file, self.found("kinjo", "--index", "never"))
        return np.load(file)

    def recall(self, who, build):
        flags = ["--index", "require", "--nprobes", build.nprobes]
        flags += ["--ef", build.ef] if build.ef else ["--approx-mode", "accurate"]
        found = self.found(who, *flags)
        hits = (found[:, :, None] == self.exact()[:, None, :]).any(axis=1).sum()
        return float(hits) / found.size


def race(rows, build, rounds):
    """Seconds and peaks in turns."""
    seconds = {"kinjo": [], "pylance": []}
    peaks = {"kinjo": [], "pylance": []}
    for _ in range(rounds):
        for who in seconds:
            spent, peak = rows.build(who, build)
            seconds[who].append(spent)
            peaks[who].append(peak / MIB)
    ratios = [other / own for own, other in zip(seconds["kinjo"], seconds["pylance"])]
    print(f"\n{build.name}, {rows.name}: {rows.count:,} rows, {build.parameters}")
    for who in seconds:
        print(f"  {who:<8} {statistics.median(seconds[who]):8.2f} s   "
              f"{max(peaks[who]):8,.0f} MiB at most", flush=True)
    print(f"  kinjo is {statistics.median(ratios):.2f}x as fast "
          f"({min(ratios):.2f} to {max(ratios):.2f})", flush=True)


def compare_recall(rows, builds, known):
    print(f"\nrecall@{K}, {rows.name}: {rows.count:,} rows, {QUERIES:,} queries")
    for build in builds:
        recalls = {}
        for who in rows.places:
            key = f"{rows.name} {who} {build}"
            if key not in known:
                rows.build(who, build)
                known[key] = rows.recall(who, build)
                (FOLDER / "recalls.json").write_text(json.dumps(known, indent=1))
            recalls[who] = known[key]
        print(f"  {build.name:<14} kinjo {recalls['kinjo']:.4f}   pylance {recalls['pylance']:.4f}"
              f"   {recalls['kinjo'] - recalls['pylance']:+.4f}", flush=True)


def run(folder: Path, rounds: int, threads: int):
    del folder, threads  # both builders use what the process may use
    FOLDER.mkdir(parents=True, exist_ok=True)
    right, left = data.clustered(1_000_000, 128, queries=QUERIES)
    some = Rows("clustered-200k", "l2", right[:200_000], left)
    for build in (Build("IVF_PQ", {"num_partitions": 256, "num_sub_vectors": 16}, 16),
                  Build("IVF_RQ", {"num_partitions": 256, "num_bits": 5}, 16),
                  Build("IVF_HNSW_SQ", {"num_partitions": 1}, 1, 64)):
        race(some, build, rounds)
    file = FOLDER / "recalls.json"
    known = json.loads(file.read_text()) if file.exists() else {}
    spread = np.random.default_rng(7).permutation(400_000)[:QUERIES]
    vectors = words.load()[1]
    compare_recall(Rows("words", "cosine", vectors, vectors[spread]),
                   all_builds(512, 8, 25, has_rq=False), known)
    compare_recall(Rows("clustered-1m", "l2", right, left), all_builds(1024, 8, 32), known)
