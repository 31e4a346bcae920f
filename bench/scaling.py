"""How time grows with either side, and what a memory limit costs, each in one paired run:

- with the left side, at a fixed right side: linear;
- with the right side, at fixed probes of partitions of one size: less than linear;
- partitions that are streamed under 256 MiB against all of them in memory (at most 1.5 times);
- a limit that changes no way, which only makes the program take the system's allocator.
"""

import statistics
from pathlib import Path

import lance
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from bench import data, paired
from demo import program

DIM = 128
PARTITION_ROWS = 800
RIGHT_ROWS = (50_000, 100_000, 200_000, 400_000)
LEFT_ROWS = (1_250, 2_500, 5_000, 10_000, 20_000)
FLAGS = ("--on", "vector", "-k", 10, "--metric", "l2", "--nprobes", 16, "--left-select", "row",
         "--right-select", "row")  # fmt: skip


def table(vectors):
    column = pa.FixedSizeListArray.from_arrays(pa.array(vectors.reshape(-1)), DIM)
    return pa.table({"row": pa.array(range(len(vectors)), pa.int64()), "vector": column})


def make(folder):
    """-> ({rows: left file}, {rows: right dataset}), made once."""
    lefts = {rows: folder / f"scaling-left-{rows}.parquet" for rows in LEFT_ROWS}
    rights = {rows: folder / f"scaling-{rows}.lance" for rows in RIGHT_ROWS}
    if all(path.exists() for path in (*lefts.values(), *rights.values())):
        return lefts, rights
    right, left = data.clustered(max(RIGHT_ROWS), DIM, queries=max(LEFT_ROWS))
    for rows, path in lefts.items():
        pq.write_table(table(left[:rows]), path)
    for rows, path in rights.items():
        if path.exists():
            continue
        print(f"making {path.name} ...", flush=True)
        unfinished = folder / "unfinished.lance"
        dataset = lance.write_dataset(table(right[:rows]), unfinished, mode="overwrite")
        dataset.create_index("vector", index_type="IVF_FLAT", metric="l2",
                             num_partitions=rows // PARTITION_ROWS)
        unfinished.rename(path)
    return lefts, rights


def join(left, right, threads, output, *more):
    """-> the report."""
    report, _ = program.join("--left", left, "--right", right, "--threads", threads, *FLAGS, *more,
                             "-o", output)
    return report


def print_curve(title, rows, seconds):
    """Seconds and what they grow by where the rows double: the slope of their logarithms."""
    print(f"\n{title}")
    for count, spent in zip(rows, seconds):
        print(f"  {count:>9,} rows  {spent:8.4f} s  {count / spent:>12,.0f} rows/s", flush=True)
    slope = np.polyfit(np.log(rows), np.log(seconds), 1)[0]
    print(f"  time grows as rows^{slope:.2f}")


def run(folder: Path, rounds: int, threads: int):
    lefts, rights = make(folder)
    output = folder / "scaling-output.parquet"
    most_left, most_right = lefts[max(LEFT_ROWS)], rights[max(RIGHT_ROWS)]
    spent = {rows: [] for rows in (*lefts, *rights)}
    for _ in range(rounds):
        for rows, left in lefts.items():
            spent[rows].append(join(left, most_right, threads, output)["total_s"])
        for rows, right in rights.items():
            spent[rows].append(join(lefts[10_000], right, threads, output)["total_s"])
    print_curve(f"left side, beside {max(RIGHT_ROWS):,} right rows, {threads} threads", LEFT_ROWS,
                [min(spent[rows]) for rows in LEFT_ROWS])
    print_curve(f"right side, beside 10,000 left rows, 16 partitions of {PARTITION_ROWS} rows each",
                RIGHT_ROWS, [min(spent[rows]) for rows in RIGHT_ROWS])

    def timed(*more):
        return lambda: join(most_left, most_right, threads, output, *more)["total_s"]

    rivals = [paired.Rival("no limit given", max(LEFT_ROWS), timed()),
              paired.Rival("8 GiB, the same way", max(LEFT_ROWS), timed("--memory-limit", "8GiB")),
              paired.Rival("256 MiB, streamed", max(LEFT_ROWS), timed("--memory-limit", "256MiB"))]
    rates = paired.race(rivals, rounds)
    way = join(most_left, most_right, threads, output, "--memory-limit", "256MiB")["way"]
    paired.print_race(f"memory limits, {max(LEFT_ROWS):,} x {max(RIGHT_ROWS):,} x {DIM}, IVF_FLAT",
                      rivals, rates)
    slower = statistics.median(one / other for one, other in zip(rates[0], rates[2]))
    print(f"  under 256 MiB ({way}) the join takes {slower:.2f} times as long")
