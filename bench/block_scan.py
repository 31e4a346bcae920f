"""The kernels alone: the block scan against the peak of the core it runs on, and the exact scan in
memory, without files, against faiss IndexFlatL2.
"""

import subprocess
import sys

from demo.program import ROOT

PROGRAMS = ROOT / "build" / "release" / "bench" / "kernels"


def run(folder, rounds, threads):
    print("\nblock scan against the core's peak", flush=True)
    subprocess.run([PROGRAMS / "scan_bench"], check=True)
    print("\nexact scan in memory against faiss IndexFlatL2", flush=True)
    subprocess.run(
        [sys.executable, ROOT / "bench" / "kernels" / "exact_vs_faiss.py",
         PROGRAMS / "exact_path_bench", "--rounds", str(rounds), "--threads", str(threads)],
        check=True,
    )
