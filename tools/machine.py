"""What a machine needs before it can build Kinjo, and putting it there: Debian packages and a
Python environment under build/venv (the Python package has one of its own). A step that is already done costs a file comparison.

Lists lie beside this file: debian-<group>.txt and requirements-<group>.txt.
"""

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

from tools.terminal import Failure, run, step

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / "build" / "venv"
PYTHON = VENV / "bin" / "python"
OLDEST_PYTHON = (3, 11)


def read_list(path):
    """The lines of a list, without comments and blanks."""
    lines = (line.split("#")[0].strip() for line in Path(path).read_text().splitlines())
    return [line for line in lines if line]


def missing_packages(names):
    """Those Debian packages that are not installed."""
    answer = subprocess.run(
        ["dpkg-query", "--show", "--showformat=${Package} ${db:Status-Status}\n", *names],
        capture_output=True,
        text=True,
    )
    states = dict(line.split(" ", 1) for line in answer.stdout.splitlines())
    return [name for name in names if states.get(name) != "installed"]


def install_packages(group):
    """Installs the Debian packages of a group, as far as they are missing."""
    names = read_list(ROOT / "tools" / f"debian-{group}.txt")
    if shutil.which("dpkg-query") is None:
        raise Failure(f"this is not a Debian system; install by hand what gives: {' '.join(names)}")
    missing = missing_packages(names)
    if not missing:
        return
    if os.geteuid() != 0:
        raise Failure(
            "Debian packages are missing and only root can install them. Run once:\n"
            f"  sudo apt-get update && sudo apt-get install -y {' '.join(missing)}"
        )
    step(f"installing Debian packages: {' '.join(missing)}")
    environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    quiet = {"env": environment, "stdout": subprocess.DEVNULL, "stdin": subprocess.DEVNULL}
    run(["apt-get", "-qq", "update"], **quiet)
    run(["apt-get", "-qq", "install", "-y", "--no-install-recommends", *missing], **quiet)


def stamp_is_current(stamp, content):
    return stamp.exists() and stamp.read_text() == content


def make_venv(venv=VENV):
    """Makes a Python environment, anew when it can't run (a moved tree, another Python)."""
    if sys.version_info < OLDEST_PYTHON:
        raise Failure(f"Python {'.'.join(map(str, OLDEST_PYTHON))} or newer is needed")
    stamp = venv / "stamp-place"
    place = f"{venv}\n{sys.version_info[:2]}\n"
    if stamp_is_current(stamp, place) and (venv / "bin" / "python").exists():
        return
    step(f"making the Python environment {venv.relative_to(ROOT)}")
    shutil.rmtree(venv, ignore_errors=True)
    run([sys.executable, "-m", "venv", venv])
    stamp.write_text(place)


def install_requirements(group, venv=VENV):
    """Installs one pinned list into an environment, once a version of the list."""
    make_venv(venv)
    listed = ROOT / "tools" / f"requirements-{group}.txt"
    stamp = venv / f"stamp-{group}"
    digest = hashlib.sha256(listed.read_bytes()).hexdigest() + "\n"
    if stamp_is_current(stamp, digest):
        return
    step(f"installing Python packages: {' '.join(read_list(listed))}")
    run([venv / "bin" / "python", "-m", "pip", "install", "--quiet", "--no-input", "--disable-pip-version-check",
         "--requirement", listed])
    stamp.write_text(digest)


def prepare(*groups):
    """Brings the machine to where the groups' verbs can run. `base` is always in."""
    for group in ("base", *groups):
        if (ROOT / "tools" / f"debian-{group}.txt").exists():
            install_packages(group)
    for group in ("base", *groups):
        if (ROOT / "tools" / f"requirements-{group}.txt").exists():
            install_requirements(group)


def arrow_wheel():
    """The folder of the pyarrow package, which holds Arrow's headers and libraries."""
    found = sorted(VENV.glob("lib/python3*/site-packages/pyarrow"))
    if not found:
        raise Failure("pyarrow is not in build/venv; remove build/venv and run ./dev setup")
    return found[0]


def jobs():
    """How many compilers to run: a core each, and 1.5 GiB of memory each."""
    cores = len(os.sched_getaffinity(0))
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return max(1, min(cores, memory // (3 << 29)))
