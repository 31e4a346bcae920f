"""The Spark plugin: built and tested by Maven, one Spark line at a time, with the Java binding and
over the native library of the release build.
"""

from tools import building, machine
from tools.terminal import run, step

# The jar for 4.2 serves 4.3 too.
LINES = ("3.5", "4.0", "4.1", "4.2")
NEWEST = LINES[-1]


def maven(line, goal):
    step(f"Java binding and plugin for Spark {line}: {goal}")
    run(["mvn", "-B", "-q", "-f", machine.ROOT / "spark" / "pom.xml", f"-Pspark-{line}", goal])


def test(lines):
    building.build("release", "kinjo_jni")
    for line in lines:
        maven(line, "test")
