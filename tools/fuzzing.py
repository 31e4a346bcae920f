"""Fuzz targets: every *_fuzz.cc, built with clang's libFuzzer under ASan and UBSan, given a fixed
number of inputs. They start from tests/fuzz/<target>/ and what tests/fuzz/make_corpus.py makes;
what a run finds worth keeping goes to build/asan/fuzz-corpus, a crash to build/asan/fuzz-crashes.
"""

import os
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor

from tools import building, machine
from tools.terminal import Failure, run, step
from tools.testing import SANITIZED

LONGEST_INPUT_BYTES = 1 << 17


def targets():
    """Names of the targets in the tree."""
    return sorted(path.stem for path in (machine.ROOT / "src").rglob("*_fuzz.cc"))


def fuzz(names, inputs):
    known = targets()
    unknown = [name for name in names if name not in known]
    if unknown:
        raise Failure(f"no fuzz target {' '.join(unknown)}; there are: {' '.join(known)}")
    chosen = names or known
    building.build("asan", *chosen)
    made = make_seeds()
    with ThreadPoolExecutor(machine.jobs()) as pool:
        failed = [name for name, fine in zip(chosen, pool.map(
            lambda name: run_target(name, inputs, seed_folders(name, made)), chosen)) if not fine]
    if failed:
        raise Failure(f"{' '.join(failed)}: the inputs are in build/asan/fuzz-crashes")


def make_seeds():
    """Makes the seeds that are too many to commit: small data files of every version and type."""
    made = building.folder("asan") / "made-seeds"
    if not made.exists():
        step("making seeds of data files")
        unfinished = made.with_suffix(".unfinished")
        shutil.rmtree(unfinished, ignore_errors=True)
        run([machine.PYTHON, machine.ROOT / "tests" / "fuzz" / "make_corpus.py", unfinished])
        unfinished.rename(made)
    return made


def seed_folders(name, made):
    """The folders that hold honest inputs of a target."""
    folders = (machine.ROOT / "tests" / "fuzz" / name, made / name)
    return [folder for folder in folders if folder.exists()]


def run_target(name, inputs, seeds):
    """Runs one target to its end; prints its closing figures, or on failure all that it said."""
    folder = building.folder("asan")
    corpus = folder / "fuzz-corpus" / name
    crashes = folder / "fuzz-crashes"
    corpus.mkdir(parents=True, exist_ok=True)
    crashes.mkdir(exist_ok=True)
    step(f"{name}: {inputs} inputs from {sum(len(list(seed.iterdir())) for seed in seeds)} seeds")
    command = [folder / "fuzz" / name, f"-runs={inputs}", "-seed=1", "-timeout=20"]
    command += [f"-max_len={LONGEST_INPUT_BYTES}", "-rss_limit_mb=2048", "-verbosity=0"]
    command += ["-print_final_stats=1", f"-artifact_prefix={crashes}/{name}-", corpus, *seeds]
    done = subprocess.run(command, env=os.environ | SANITIZED, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    executed = [line for line in done.stdout.splitlines() if line.startswith("stat::number")]
    step(f"{name}: {'passed' if done.returncode == 0 else 'FAILED'} {' '.join(executed)}")
    if done.returncode != 0:
        print(done.stdout, flush=True)
    return done.returncode == 0
