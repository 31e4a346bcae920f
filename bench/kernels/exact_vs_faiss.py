"""The exact path of exact_path_bench.cc and faiss IndexFlatL2, paired: turn and turn about in one
run on the same data, best of each, and the answers compared. Processor time is given beside the
wall's, since it suffers less where the machine is busy with something else.

python bench/kernels/exact_vs_faiss.py BUILD/bench/kernels/exact_path_bench [--rows N] ...
"""

import argparse
import subprocess
import tempfile
import time
from pathlib import Path

import faiss
import numpy as np


def clustered(rng, rows, dim, clusters):
    """Rows around random centres, as embeddings lie, rather than one ball."""
    centres = rng.standard_normal((clusters, dim)).astype(np.float32)
    noise = rng.standard_normal((rows, dim)).astype(np.float32)
    return centres[rng.integers(0, clusters, rows)] + 0.5 * noise


def run_kinjo(program, files, options):
    """Wall and processor seconds, and row numbers, of one run of the program."""
    command = [program, files["left"], files["right"], options.dim, options.k, options.threads]
    output = files["out"]
    done = subprocess.run(
        [str(part) for part in [*command, output]], check=True, capture_output=True, text=True
    )
    seconds = tuple(map(float, done.stdout.split()))
    return seconds, np.fromfile(output, np.int64).reshape(-1, options.k)


def run_faiss(index, left, k):
    """Wall and processor seconds, and row numbers, of one search of the whole left side."""
    wall, cpu = time.perf_counter(), time.process_time()
    _, rows = index.search(left, k)
    return (time.perf_counter() - wall, time.process_time() - cpu), rows


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program", type=Path)
    parser.add_argument("--left", type=int, default=10_000)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--dim", type=int, default=128)
    parser.add_argument("--k", type=int, default=10)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()

    rng = np.random.default_rng(1)
    both = clustered(rng, options.left + options.rows, options.dim, 1000)
    left, right = both[: options.left], both[options.left :]
    faiss.omp_set_num_threads(options.threads)
    index = faiss.IndexFlatL2(options.dim)
    index.add(right)
    seconds = {"kinjo": [], "faiss": []}
    with tempfile.TemporaryDirectory() as folder:
        files = {name: Path(folder) / name for name in ("left", "right", "out")}
        left.tofile(files["left"])
        right.tofile(files["right"])
        for _ in range(options.rounds):
            kinjo_s, kinjo_rows = run_kinjo(options.program, files, options)
            faiss_s, faiss_rows = run_faiss(index, left, options.k)
            seconds["kinjo"].append(kinjo_s)
            seconds["faiss"].append(faiss_s)
    same = np.mean(np.sort(kinjo_rows, 1) == np.sort(faiss_rows, 1))
    operations = 2 * options.left * options.rows * options.dim
    best = {name: np.min(taken, axis=0) for name, taken in seconds.items()}
    for name, (wall, cpu) in best.items():
        rate = f"{options.left / wall:,.0f} rows/s, {operations / wall / 1e9:.1f} GFLOP/s"
        print(f"{name}: {wall:.3f} s ({cpu:.3f} s of processors), {rate}")
    wall, cpu = best["faiss"] / best["kinjo"]
    print(f"ratio {wall:.2f}, of processor time {cpu:.2f}; same rows {same:.6f}")


if __name__ == "__main__":
    main()
