"""The Java binding and the Spark plugin: built by Maven, one Spark line at a time, over the native
library of the release build.
"""

from tools import building, machine
from tools.terminal import run, step

LINES = ("3.5", "4.0", "4.1", "4.2")  # the jar for 4.2 serves 4.3 too


def maven(goal, line):
    step(f"Java binding and plugin for Spark {line}: {goal}")
    run(["mvn", "-B", "-q", "-f", machine.ROOT / "spark" / "pom.xml", f"-Pspark-{line}", goal])


def build():
    building.build("release", "kinjo_jni")


def test(lines):
    build()
    for line in lines:
        maven("test", line)
