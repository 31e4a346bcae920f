"""The planner's pick against every way of the same join, forced in turns (docs/planning.md): left
size x right size x filter x memory limit, through an index and exactly. In nine of ten cells
the pick must take at most 1.3 times as long as the best way.
"""

import itertools
import json
import os
import subprocess
from pathlib import Path

import lance
import pyarrow as pa
import pyarrow.parquet as pq

from demo import program, words

WITHIN = 1.3
LEFT_ROWS = {"index": (1, 100, 2_000), "exact": (1, 40, 1_500)}
PAIRS_MAX = 100  # left rows from which on scoring pair by pair takes minutes
RIGHT_ROWS = {40_000: 128, 400_000: 1024}  # and partitions
FILTERS = ("", "lot < 10")
LIMITS = ("40MiB", "2GiB")
FLAGS = {
    "index": ("--index", "require", "--nprobes", 16, "--refine-factor", 4),
    "exact": ("--index", "never"),
}
WAYS = {
    "index": ("index=resident", "index=streamed", "index=one-by-one"),
    "exact": ("exact=shared", "exact=own", "exact=kept", "exact=pairs"),
}


def ways_of(path, left, where):
    """The ways to force, as KINJO_WAYS has them."""
    ways = WAYS[path]
    if path == "exact":
        return ways if left <= PAIRS_MAX else ways[:-1]
    if not where:
        return ways
    return [f"{way},filter={when}" for way in ways for when in ("first", "beside")]


def make_right(folder, rows, partitions):
    path = folder / f"planner-{rows}.lance"
    if not path.exists():
        print(f"making {path.name} ...", flush=True)
        names, vectors = words.load()
        lots = pa.array([row % 100 for row in range(rows)], pa.int32())
        table = words.table(names[:rows], vectors[:rows]).append_column("lot", lots)
        unfinished = folder / "unfinished.lance"
        dataset = lance.write_dataset(table, unfinished, mode="overwrite")
        dataset.create_index("vector", index_type="IVF_PQ", name="vector_idx", metric="cosine",
                             num_partitions=partitions, num_sub_vectors=words.NUM_SUB_VECTORS)
        unfinished.rename(path)
    return path


def make_left(folder, rows):
    path = folder / f"planner-left-{rows}.parquet"
    if not path.exists():
        pq.write_table(pq.read_table(words.LEFT).slice(0, rows), path)
    return path


def seconds_of(flags, ways):
    """-> (seconds of one run, the way that it went), or None where that way can't be gone."""
    command = [str(program.PROGRAM), "join", "--json", "--progress", "none", *map(str, flags)]
    variables = {**os.environ, **({"KINJO_WAYS": ways} if ways else {})}
    done = subprocess.run(command, capture_output=True, text=True, env=variables)
    if done.returncode == 0:
        report = program.report_of(done.stdout + done.stderr)
        return report["total_s"], report["way"], report["estimated_s"]
    told = json.dumps(done.stderr)
    if "KINJO_WAYS" in told or "memory-limit" in told:
        return None
    raise SystemExit(done.stderr)


def measure(flags, ways, rounds):
    """-> ({way: least seconds}, the pick's seconds, name and estimate); rivals take turns."""
    rivals = {"": [], **{way: [] for way in ways}}
    for _ in range(rounds):
        for way, runs in list(rivals.items()):
            run = seconds_of(flags, way)
            if run is None:
                del rivals[way]
            else:
                runs.append(run)
    pick = min(rivals.pop(""))
    return {way: min(runs)[0] for way, runs in rivals.items()}, pick


def run(folder: Path, rounds: int, threads: int):
    words.make()
    rights = {rows: make_right(folder, rows, parts) for rows, parts in RIGHT_ROWS.items()}
    good = cells = 0
    print(f"{'path':<6}{'left':>7}{'right':>9}  {'filter':<9}{'limit':>7}"
          "   seconds, estimate: pick   (seconds: best way)   pick / best")
    for path in FLAGS:
        grid = itertools.product(LEFT_ROWS[path], RIGHT_ROWS, FILTERS, LIMITS)
        for left, right, where, limit in grid:
            flags = ["--left", make_left(folder, left), "--right", rights[right], "--on", "vector",
                     "-k", 10, "--threads", threads, "--left-select", "word", "--right-select",
                     "word", "--memory-limit", limit, "-o", folder / "planner-output.parquet",
                     *FLAGS[path], *(["--where", where] if where else [])]
            seconds, (spent, name, estimate) = measure(flags, ways_of(path, left, where), rounds)
            best = min(seconds, key=seconds.get)
            ratio = spent / min(spent, seconds[best])
            cells += 1
            good += ratio <= WITHIN
            print(f"{path:<6}{left:>7,}{right:>9,}  {where:<9}{limit:>7}   {spent:.4f}, "
                  f"{estimate:.4f}: {name}   ({seconds[best]:.4f}: {best})   {ratio:.2f}",
                  flush=True)
    print(f"within {WITHIN} of the best way: {good} of {cells} cells ({good / cells:.0%})")
