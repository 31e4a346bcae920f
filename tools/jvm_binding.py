"""The Java binding: built and tested by Maven, over the native library of the release build."""

from tools import building, machine
from tools.terminal import run, step


def test():
    building.build("release", "kinjo_jni")
    step("Java binding: build and test")
    run(["mvn", "-B", "-ntp", "-f", machine.ROOT / "bindings" / "jvm" / "pom.xml", "test"])
