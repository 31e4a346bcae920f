"""The exact path against faiss IndexFlatL2: 10,000 left rows x 100,000 right rows x 128."""

from pathlib import Path

import faiss
import lance
import pyarrow as pa
import pyarrow.parquet as pq

from bench import data, paired
from demo import program

K = 10
DIM = 128


def table(vectors):
    column = pa.FixedSizeListArray.from_arrays(pa.array(vectors.reshape(-1)), DIM)
    return pa.table({"row": pa.array(range(len(vectors)), pa.int64()), "vector": column})


def found_rows(path, left_rows):
    joined = pq.read_table(path, columns=["row", "row_right"])
    found = [set() for _ in range(left_rows)]
    for query, row in zip(joined["row"].to_pylist(), joined["row_right"].to_pylist()):
        found[query].add(row)
    return found


def run(folder: Path, rounds: int, threads: int):
    right, left = data.clustered(100_000, DIM)
    pq.write_table(table(left), folder / "exact-left.parquet")
    lance.write_dataset(table(right), folder / "exact-right.lance", mode="overwrite")
    output = folder / "exact-output.parquet"
    flags = ["--left", folder / "exact-left.parquet", "--right", folder / "exact-right.lance",
             "--on", "vector", "-k", K, "--metric", "l2", "--index", "never", "--threads", threads,
             "--left-select", "row", "--right-select", "row", "-o", output]
    faiss.omp_set_num_threads(threads)
    flat = faiss.IndexFlatL2(DIM)
    flat.add(right)

    def faiss_run():
        begin = paired.now()
        faiss_run.rows = flat.search(left, K)[1]
        return paired.now() - begin

    process = []

    def kinjo_run():
        report, seconds = program.join(*flags)
        process.append(seconds)
        return report["total_s"]

    rivals = [paired.Rival("kinjo", len(left), kinjo_run),
              paired.Rival("kinjo, whole process", len(left), lambda: process[-1]),
              paired.Rival("faiss IndexFlatL2", len(left), faiss_run)]
    rates = paired.race(rivals, rounds)
    exact = [set(map(int, row)) for row in faiss_run.rows]
    agreement = data.recall(found_rows(output, len(left)), exact)
    paired.print_race(f"exact, {len(left):,} x {len(right):,} x {DIM}, k={K}, {threads} threads",
                      rivals, rates)
    print(f"  the two agree on {agreement:.5f} of the neighbours")
