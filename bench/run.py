"""./dev bench [NAME ...]: benchmarks against rivals, who take turns in one run."""

import argparse
import importlib
import os
from pathlib import Path

FOLDER = Path(__file__).resolve().parent.parent / "build" / "bench"
NAMES = ("block_scan", "exact", "ivf_pq")


def main():
    parser = argparse.ArgumentParser(prog="./dev bench", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(NAMES) + "; all if none")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    arguments = parser.parse_args()
    unknown = set(arguments.names) - set(NAMES)
    if unknown:
        parser.error(f"no bench {', '.join(sorted(unknown))}; there are: {', '.join(NAMES)}")
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name in arguments.names or NAMES:
        importlib.import_module(f"bench.{name}").run(FOLDER, arguments.rounds, arguments.threads)


if __name__ == "__main__":
    main()
