"""The k-means of training_bench.cc and faiss.Kmeans, paired: turn and turn about in one run on the
same rows. What counts are the ratios: of the seconds, and of the costs (mean squared distance of a
row to its centroid).

python bench/training/training_vs_faiss.py BUILD/bench/training/training_bench [--clusters N] ...
"""

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import faiss
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import data  # noqa: E402


def run_kinjo(program, file, options):
    """Seconds, cost, passes and imbalance of one run of the program."""
    command = [program, file, options.dim, options.clusters, options.threads]
    done = subprocess.run(
        [str(part) for part in command], check=True, capture_output=True, text=True
    )
    return tuple(map(float, done.stdout.split()))


def run_faiss(rows, options):
    """Seconds, and the cost of the centroids that come out."""
    start = time.perf_counter()
    kmeans = faiss.Kmeans(options.dim, options.clusters, niter=options.faiss_iterations, seed=7)
    kmeans.train(rows)
    seconds = time.perf_counter() - start
    return seconds, float(np.mean(kmeans.index.search(rows, 1)[0]))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program", type=Path)
    parser.add_argument("--clusters", type=int, default=1024)
    parser.add_argument("--rows-per-cluster", type=int, default=256)
    parser.add_argument("--dim", type=int, default=128)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--faiss-iterations", type=int, default=25)
    options = parser.parse_args()

    rows, _ = data.clustered(options.clusters * options.rows_per_cluster, options.dim, queries=1)
    faiss.omp_set_num_threads(options.threads)
    ours, theirs = [], []
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "rows"
        rows.tofile(file)
        for _ in range(options.rounds):
            ours.append(run_kinjo(options.program, file, options))
            theirs.append(run_faiss(rows, options))
    print(f"kinjo: {min(run[0] for run in ours):.2f} s, cost {ours[0][1]:.6g},"
          f" {ours[0][2]:.0f} passes, imbalance {ours[0][3]:.2f}")
    print(f"faiss: {min(run[0] for run in theirs):.2f} s, cost {theirs[0][1]:.6g}")
    times = statistics.median(b[0] / a[0] for a, b in zip(ours, theirs))
    print(f"ratio of times {times:.2f}, of costs {ours[0][1] / theirs[0][1]:.4f}")


if __name__ == "__main__":
    main()
