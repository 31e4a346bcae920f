"""What must pass before a change lands, as named steps in order. Cheap ones come first."""

import json
import subprocess
import time

from tools import building, checking, fuzzing, machine, spark_plugin, testing
from tools.terminal import Failure, run, step

FUZZ_INPUTS = 100_000
THREADED_ROOMS = ("base", "stream", "join")
SIMD_ROOMS = ("kernels", "index", "join")
SANITIZED_TESTS = ("tests/cli", "tests/conformance", "tests/interop")


def check():
    machine.prepare("check")
    checking.check(all_files=True)


def test():
    machine.prepare("test")
    testing.test([])


def simd():
    """Unit tests of the rooms that calculate, at each SIMD level of the machine."""
    machine.prepare()
    building.build("release")
    for level in simd_levels():
        testing.ctest("release", rooms=SIMD_ROOMS, environment={"KINJO_SIMD": level})


def simd_levels():
    program = building.folder("release") / "cli" / "kinjo"
    answer = subprocess.run([program, "info", "--cpu", "--json"], capture_output=True, text=True)
    if answer.returncode != 0:
        raise Failure(f"kinjo info --cpu failed: {answer.stderr.strip()}")
    return json.loads(answer.stdout)["simd_levels"]


def asan():
    """C++ unit tests, and the Python tests that read files and flags, with the sanitized program.

    Those that compare answers (oracle, differential) run without: they take the same code again.
    """
    machine.prepare("test", "clang")
    building.build("asan")
    testing.ctest("asan")
    testing.pytest(*SANITIZED_TESTS, preset="asan")


def tsan():
    machine.prepare("clang")
    building.build("tsan", *(f"{room}_test" for room in THREADED_ROOMS))
    testing.ctest("tsan", rooms=THREADED_ROOMS)


def fuzz():
    machine.prepare("test", "clang")
    fuzzing.fuzz([], FUZZ_INPUTS)


def demo():
    """The demo checks its own recall."""
    machine.prepare("demo")
    building.build("release", "cli/kinjo")
    run([machine.PYTHON, "-m", "demo.demo"], cwd=machine.ROOT)


def spark():
    """The Java binding and the Spark plugin on the newest line. `./dev spark` also runs what takes
    longer: the tests from Python, on clusters."""
    machine.prepare("jvm")
    spark_plugin.build(spark_plugin.NEWEST)


STEPS = (check, test, simd, demo, spark, asan, tsan, fuzz)


def step_names():
    return [function.__name__ for function in STEPS]


def run_steps(without=()):
    """Runs the steps; the first that fails ends the run."""
    for function in STEPS:
        if function.__name__ in without:
            continue
        begin = time.monotonic()
        step(f"ci: {function.__name__}")
        function()
        step(f"ci: {function.__name__} took {time.monotonic() - begin:.0f} s")
