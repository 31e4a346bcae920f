"""Fuzz targets: every *_fuzz.cc, built with clang's libFuzzer under ASan and UBSan, given a fixed
number of inputs. They start from files of the golden datasets; what a run finds worth keeping goes
to build/fuzz/corpus, and a crashing input to build/fuzz/crashes.
"""

import hashlib
import os
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor

from tools import building, machine
from tools.terminal import Failure, step
from tools.testing import SANITIZED

LONGEST_INPUT_BYTES = 1 << 17

# Files below tests/ that are honest inputs of a target.
SEEDS = {
    "lance_file_fuzz": "golden/*.lance/data/*.lance",
    "index_files_fuzz": "fuzz/index_files_fuzz/*",
    "manifest_fuzz": "golden/*.lance/_versions/*.manifest",
    "deletion_file_fuzz": "golden/*.lance/_deletions/*",
}


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
    with ThreadPoolExecutor(machine.jobs()) as pool:
        failed = [name for name, fine in zip(chosen, pool.map(
            lambda name: run_target(name, inputs), chosen)) if not fine]
    if failed:
        raise Failure(f"{' '.join(failed)}: the inputs are in build/fuzz/crashes")


def lay_seeds(name, folder):
    """Copies the seeds of a target into one folder, as libFuzzer wants them."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for path in sorted((machine.ROOT / "tests").glob(SEEDS.get(name, "no seeds"))):
        if path.stat().st_size <= LONGEST_INPUT_BYTES:
            content = path.read_bytes()
            (folder / hashlib.sha256(content).hexdigest()[:16]).write_bytes(content)
    return folder


def run_target(name, inputs):
    """Runs one target to its end; prints its closing figures, or on failure all that it said."""
    folder = building.folder("fuzz")
    corpus = folder / "corpus" / name
    crashes = folder / "crashes"
    corpus.mkdir(parents=True, exist_ok=True)
    crashes.mkdir(exist_ok=True)
    seeds = lay_seeds(name, folder / "seeds" / name)
    step(f"{name}: {inputs} inputs, {len(list(seeds.iterdir()))} seeds")
    command = [folder / "fuzz" / name, f"-runs={inputs}", "-seed=1", "-timeout=20"]
    command += [f"-max_len={LONGEST_INPUT_BYTES}", "-rss_limit_mb=2048", "-verbosity=0"]
    command += ["-print_final_stats=1", f"-artifact_prefix={crashes}/{name}-", corpus, seeds]
    done = subprocess.run(command, env=os.environ | SANITIZED, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    executed = [line for line in done.stdout.splitlines() if line.startswith("stat::number")]
    step(f"{name}: {'passed' if done.returncode == 0 else 'FAILED'} {' '.join(executed)}")
    if done.returncode != 0:
        print(done.stdout, flush=True)
    return done.returncode == 0
