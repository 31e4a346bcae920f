"""The Python package: its wheel from the release build's libkinjo, put into an environment of its
own (build/python/venv) that has the libraries its users have, and its tests, run there."""

import os
import shutil
import subprocess

from tools import building, machine
from tools.terminal import Failure, run, step

FOLDER = machine.ROOT / "build" / "python"
VENV = FOLDER / "venv"
PYTHON = VENV / "bin" / "python"
WHEELS = FOLDER / "wheel"
TESTS = "tests/python"


def build_wheel():
    """Builds the wheel into build/python/wheel and gives its path."""
    building.build("release", "kinjo")
    step("building the wheel of the Python package")
    shutil.rmtree(WHEELS, ignore_errors=True)
    library = building.folder("release") / "src" / "capi" / "libkinjo.so"
    definitions = {"KINJO_LIBRARY": library, "ARROW_WHEEL_DIR": machine.arrow_wheel()}
    if shutil.which("ccache"):
        definitions["CMAKE_CXX_COMPILER_LAUNCHER"] = "ccache"
    command = [PYTHON, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation",
               "--disable-pip-version-check", "--wheel-dir", WHEELS,
               f"-Cbuild-dir={FOLDER / 'build'}", machine.ROOT]
    command += [f"-Ccmake.define.{name}={value}" for name, value in definitions.items()]
    path = f"{VENV / 'bin'}:{os.environ.get('PATH', '')}"
    run(command, env=building.environment() | {"PATH": path}, cwd=machine.ROOT)
    return next(WHEELS.glob("kinjo-*.whl"))


def install():
    """Puts the package, as it is now, into its environment."""
    machine.install_requirements("python", VENV)
    wheel = build_wheel()
    run([PYTHON, "-m", "pip", "install", "--quiet", "--no-deps", "--force-reinstall", "--no-index",
         "--disable-pip-version-check", wheel])


def test(*arguments, slow=False):
    """Builds, installs and tests the package; False when nothing was selected."""
    install()
    step("tests of the Python package")
    command = [PYTHON, "-m", "pytest", "-q", *(arguments or [TESTS])]
    if slow:
        command.append("--slow")
    variables = os.environ | {"PYTHONDONTWRITEBYTECODE": "1", "KINJO_WHEEL_DIR": str(WHEELS)}
    done = subprocess.run(list(map(str, command)), cwd=machine.ROOT, env=variables)
    nothing_selected = 5
    if done.returncode not in (0, nothing_selected):
        raise Failure("tests of the Python package failed")
    return done.returncode == 0
