"""Running the two test runners, ctest and pytest, against one build, and printing what they say at
their end. Under sanitizers Arrow's pool is the system's, else overruns of its buffers go unseen.
"""

import os
import re
import subprocess

from tools import building, machine, node_package, python_package, spark_plugin
from tools.terminal import Failure, step

SANITIZED = {
    "ARROW_DEFAULT_MEMORY_POOL": "system",
    "ASAN_OPTIONS": "detect_leaks=1:abort_on_error=0",
    "UBSAN_OPTIONS": "print_stacktrace=1:halt_on_error=1",
    "TSAN_OPTIONS": "ignore_noninstrumented_modules=1:halt_on_error=1",
}
_PASSING_LINE = re.compile(r"^\s*(Start\s+\d+:|\d+/\d+ Test\s+#\d+: .* Passed )")


def sanitizer_environment(preset):
    return SANITIZED if preset in ("asan", "tsan") else {}


def ctest(preset, *, name=None, rooms=(), environment=None):
    """Runs C++ unit tests; `name` is a regular expression over test names, `rooms` picks rooms.

    Returns False when a name matches no test; any failing test is a Failure.
    """
    step(f"C++ unit tests of build/{preset} {name or ''} {' '.join(rooms)}".rstrip())
    command = ["ctest", "--test-dir", str(building.folder(preset)), "--output-on-failure"]
    command += ["--parallel", str(machine.jobs()), "--no-tests=error"]
    if name:
        command += ["--tests-regex", name]
    if rooms:
        command += ["--label-regex", f"^({'|'.join(rooms)})$"]
    variables = os.environ | sanitizer_environment(preset) | (environment or {})
    none_found = False
    with subprocess.Popen(
        command, env=variables, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        for line in process.stdout:
            none_found |= "No tests were found" in line
            if not _PASSING_LINE.match(line):
                print(line, end="", flush=True)
    if process.returncode != 0 and not (none_found and name):
        raise Failure(f"C++ unit tests of build/{preset} failed")
    return not none_found


def pytest(*arguments, preset="release", marks=None):
    """Runs the Python tests with the program of a preset; False when nothing was selected. Those of
    the Python package and of the Spark plugin run elsewhere (tools/python_package.py,
    tools/spark_plugin.py)."""
    step(f"Python tests with build/{preset}/cli/kinjo")
    command = [str(machine.PYTHON), "-m", "pytest", "-q", *(arguments or ["tests"])]
    command += [f"--ignore={python_package.TESTS}", f"--ignore={spark_plugin.TESTS}"]
    # Each worker begins with tests that lie together, so most fixtures are made once.
    command += ["-n", str(machine.jobs()), "--dist", "worksteal"]
    if marks:
        command += ["-m", marks]
    variables = os.environ | sanitizer_environment(preset)
    variables["KINJO_CLI"] = str(building.folder(preset) / "cli" / "kinjo")
    variables["PYTHONDONTWRITEBYTECODE"] = "1"
    done = subprocess.run(command, cwd=machine.ROOT, env=variables)
    nothing_selected = 5
    if done.returncode not in (0, nothing_selected):
        raise Failure("Python tests failed")
    return done.returncode == 0


def test(words, slow=False):
    """Builds, then runs both runners: everything, or what a filter picks.

    A filter that is a path (or a pytest node id) goes to pytest alone; any other word picks C++
    tests by regular expression and Python tests by -k.
    """
    options = ["--slow"] if slow else []
    building.build("release")
    if words and all(word.startswith(python_package.TESTS) for word in words):
        if not python_package.test(*words, slow=slow):
            raise Failure(f"no test in {' '.join(words)}")
        return
    if node_package.is_here():
        node_package.build()
    else:
        step("no Node 20 and npm on this machine: the Node.js package isn't tested")
    paths = [word for word in words if (machine.ROOT / word.split("::")[0]).exists()]
    names = [word for word in words if word not in paths]
    if paths and not names:
        if not pytest(*paths, *options):
            raise Failure(f"no test in {' '.join(paths)}")
        return
    if not words:
        ctest("release")
        pytest("tests", *options)
        python_package.test(slow=slow)
        if node_package.is_here():
            node_package.test(slow=slow)
        return
    found = ctest("release", name="|".join(names))
    found |= pytest(*(paths or ["tests"]), "-k", " or ".join(names), *options)
    if not found:
        raise Failure(f"no test matches {' '.join(names)}")
