"""Fuzz targets: every *_fuzz.cc, built with clang's libFuzzer under ASan and UBSan, given a fixed
number of inputs. Seeds are the files of tests/fuzz/<target>/, where there are any; what a run finds
worth keeping goes to build/fuzz/corpus, and a crashing input to build/fuzz/crashes.
"""

import os

from tools import building, machine
from tools.terminal import Failure, run, step
from tools.testing import SANITIZED

LONGEST_INPUT_BYTES = 1 << 16


def targets():
    """Names of the targets in the tree."""
    return sorted(path.stem for path in (machine.ROOT / "src").rglob("*_fuzz.cc"))


def fuzz(names, inputs):
    known = targets()
    unknown = [name for name in names if name not in known]
    if unknown:
        raise Failure(f"no fuzz target {' '.join(unknown)}; there are: {' '.join(known)}")
    chosen = names or known
    building.build("fuzz", *chosen)
    for name in chosen:
        run_target(name, inputs)


def run_target(name, inputs):
    folder = building.folder("fuzz")
    corpus = folder / "corpus" / name
    crashes = folder / "crashes"
    corpus.mkdir(parents=True, exist_ok=True)
    crashes.mkdir(exist_ok=True)
    seeds = machine.ROOT / "tests" / "fuzz" / name
    step(f"{name}: {inputs} inputs")
    command = [folder / "fuzz" / name, f"-runs={inputs}", "-seed=1", "-timeout=20"]
    command += [f"-max_len={LONGEST_INPUT_BYTES}", "-rss_limit_mb=2048", "-verbosity=0"]
    command += ["-print_final_stats=1", f"-artifact_prefix={crashes}/{name}-", corpus]
    run(command + ([seeds] if seeds.exists() else []), env=os.environ | SANITIZED)
