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
               f"--config-settings=build-dir={FOLDER / 'build'}", machine.ROOT]
    # The option's long name: pip 23.0, Debian 12's, doesn't know the short one yet.
    command += [f"--config-settings=cmake.define.{name}={value}"
                for name, value in definitions.items()]
    path = f"{VENV / 'bin'}:{os.environ.get('PATH', '')}"
    environment = building.environment() | {"PATH": path}
    run(command, env=environment, cwd=machine.ROOT)
    return tag(next(WHEELS.glob("kinjo-*.whl")), environment)


def tag(wheel, environment):
    """Says in the wheel's name which Linux systems it runs on, by the symbols that it needs. All
    that it needs beside the system's lies in it already, so nothing else is changed."""
    done = subprocess.run([PYTHON, "-m", "auditwheel", "repair", "--wheel-dir", WHEELS, wheel],
                          env=environment, cwd=machine.ROOT, capture_output=True, text=True)
    if done.returncode != 0:
        raise Failure(f"auditwheel failed: {done.stderr.strip()}")
    wheel.unlink()
    return next(WHEELS.glob("kinjo-*.whl"))


def install(slow=False):
    """Puts the package, as it is now, into its environment, with what the slow tests need too."""
    machine.install_requirements("python", VENV)
    if slow:
        machine.install_requirements("python-slow", VENV)
        machine.install_requirements("python-model", VENV, "--no-deps")
    wheel = build_wheel()
    run([PYTHON, "-m", "pip", "install", "--quiet", "--no-deps", "--force-reinstall", "--no-index",
         "--disable-pip-version-check", wheel])


def test(*arguments, slow=False):
    """Builds, installs and tests the package; False when nothing was selected."""
    install(slow)
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
