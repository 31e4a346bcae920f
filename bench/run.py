"""./dev bench [NAME ...]: benchmarks against rivals, who take turns in one run."""

import argparse
import importlib
import os
from pathlib import Path

FOLDER = Path(__file__).resolve().parent.parent / "build" / "bench"
NAMES = ("block_scan", "exact", "ivf_pq", "recall", "planner", "scaling", "python_face",
         "import", "scan")
# Run when named: memory and one_query have no rival, those of rivals and index_build take long to
# build, and node_streams needs Node.js, spark what ./dev spark makes.
ON_REQUEST = ("memory", "one_query", "rivals", "index_build", "node_streams", "spark")


def main():
    parser = argparse.ArgumentParser(prog="./dev bench", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME",
                        help=f"{', '.join(NAMES)} (all if none); {', '.join(ON_REQUEST)}")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    arguments = parser.parse_args()
    unknown = set(arguments.names) - {*NAMES, *ON_REQUEST}
    if unknown:
        parser.error(f"no bench {', '.join(sorted(unknown))}; "
                     f"there are: {', '.join(NAMES + ON_REQUEST)}")
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name in arguments.names or NAMES:
        importlib.import_module(f"bench.{name}").run(FOLDER, arguments.rounds, arguments.threads)


if __name__ == "__main__":
    main()
