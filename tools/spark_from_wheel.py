"""The plugin for a Spark line that no Maven repository has: compiled against the jars of PySpark's
wheel, by the Scala compiler among them, and tested on them.
"""

import os
import shutil

from tools import building, machine
from tools.terminal import run, step

SOURCES = machine.ROOT / "spark" / "plugin" / "src"
# As for the line before it.
SHIMS = ("scala", "scala-spark4", "scala-nearestby")
# What Spark's own launcher opens for Java 17.
OPENED = ("lang", "lang.invoke", "io", "net", "nio", "util", "util.concurrent",
          "util.concurrent.atomic")
OPENED_SUN = ("nio.ch", "nio.cs", "security.action", "util.calendar")


def build(line, venv):
    """The plugin's jar for the line, after its tests. Maven has built the line before it."""
    folder = machine.ROOT / "build" / f"spark-{line}"
    spark = wheel_jars(venv)
    binding = sorted((machine.ROOT / "build" / "jvm").glob("kinjo-[0-9]*.jar"))[0]
    scalatest = scalatest_jars(folder)
    classes, tests = folder / "classes", folder / "test-classes"
    step(f"plugin for Spark {line}: compile")
    compile_scala(spark, [*spark, binding], sources("main"), classes)
    shutil.copytree(SOURCES / "main" / "resources", classes, dirs_exist_ok=True)
    compile_scala(spark, [*spark, binding, scalatest, classes], sources("test"), tests)
    step(f"plugin for Spark {line}: test")
    run_tests([*spark, binding, scalatest, classes, tests,
               SOURCES / "test" / "resources"], tests, folder)
    jar = folder / f"kinjo-spark-{line}_2.13-0.1.0.jar"
    run(["jar", "--create", "--file", jar, "-C", classes, "."])


def wheel_jars(venv):
    """All of Spark, as one element of a class path."""
    found = sorted(venv.glob("lib/python3*/site-packages/pyspark/jars"))
    return [found[0] / "*"]


def scalatest_jars(folder):
    """ScalaTest, which Maven has, as one element of a class path."""
    target = folder / "scalatest"
    if not target.exists():
        run(["mvn", "-B", "-ntp", "-q", "-f", machine.ROOT / "spark" / "pom.xml", "-Pspark-4.2",
             "-pl", "../bindings/jvm,plugin", "package", "-DskipTests",
             "dependency:copy-dependencies",
             "-DincludeGroupIds=org.scalatest,org.scalactic", f"-DoutputDirectory={target}"])
    return target / "*"


def sources(kind):
    return [str(path) for shim in SHIMS
            for path in sorted((SOURCES / kind / shim).rglob("*.scala"))]


def compile_scala(compiler, libraries, files, target):
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    run(["java", "-Xss4m", "-cp", joined(compiler), "scala.tools.nsc.Main", "-feature",
         "-unchecked", "-Wconf:cat=deprecation&msg=JavaConverters:s,any:w", "-classpath",
         joined(libraries), "-d", target, *files])


def run_tests(libraries, tests, folder):
    opened = [f"--add-opens=java.base/java.{name}=ALL-UNNAMED" for name in OPENED]
    opened += [f"--add-opens=java.base/sun.{name}=ALL-UNNAMED" for name in OPENED_SUN]
    native = building.folder("release") / "bindings" / "jvm" / "native"
    properties = {"kinjo.native.folder": native, "kinjo.golden": machine.ROOT / "tests" / "golden",
                  "kinjo.work": folder / "work"}
    run(["java", "-Xmx2g", *opened, *(f"-D{name}={value}" for name, value in properties.items()),
         "-cp", joined(libraries), "org.scalatest.tools.Runner", "-R", tests, "-oW"])


def joined(elements):
    return os.pathsep.join(map(str, elements))
