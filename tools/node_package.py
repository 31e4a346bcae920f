"""The Node.js package: its npm dependencies by their lock, the addon with its libraries bundled,
the compiled TypeScript, its checks and its tests. A step whose inputs did not change costs a
comparison.
"""

import hashlib
import os
import shutil
import subprocess
from pathlib import Path

from tools import building, machine
from tools.terminal import Failure, run, step

FOLDER = machine.ROOT / "bindings" / "node"
OLDEST = 20
# Node's long-lived and current lines; npm has their programs as packages.
VERSIONS = ("20", "22", "24", "26")
PREBUILT = FOLDER / "prebuilds" / "linux-x64"
ADDON = "kinjo_node.node"


def is_here():
    """True when the machine has a Node and an npm that will do."""
    if shutil.which("node") is None or shutil.which("npm") is None:
        return False
    said = subprocess.run(["node", "--version"], capture_output=True, text=True).stdout
    return said.startswith("v") and int(said[1:].split(".")[0]) >= OLDEST


def require():
    if not is_here():
        raise Failure(f"Node {OLDEST} or newer and npm are needed for bindings/node")


def stamp_of(*files):
    digest = hashlib.sha256()
    for file in files:
        digest.update(Path(file).read_bytes())
    return digest.hexdigest() + "\n"


def install():
    """node_modules as the lock says."""
    require()
    stamp = FOLDER / "node_modules" / "stamp-lock"
    wanted = stamp_of(FOLDER / "package-lock.json")
    if machine.stamp_is_current(stamp, wanted):
        return
    step("installing npm packages of bindings/node")
    run(["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--silent"], cwd=FOLDER)
    stamp.write_text(wanted)


def bundle(built):
    """prebuilds/: the addon and every library that it needs, renamed and stripped."""
    library = building.folder("release") / "src" / "capi" / "libkinjo.so.0"
    stamp = PREBUILT / "stamp-built"
    wanted = stamp_of(built, library)
    if machine.stamp_is_current(stamp, wanted):
        return
    step("bundling the addon of bindings/node")
    shutil.rmtree(PREBUILT, ignore_errors=True)
    PREBUILT.mkdir(parents=True)
    shutil.copy(built, PREBUILT / ADDON)
    building.bundle(PREBUILT / ADDON, PREBUILT / "lib")
    stamp.write_text(wanted)


def build():
    """Everything that `npm install` of the folder then takes as it is."""
    install()
    targets = ("kinjo_node", "kinjo_node_scripted")
    building.build("release", *targets)
    bundle(building.folder("release") / "bindings" / "node" / ADDON)
    step("compiling bindings/node")
    run(["npm", "run", "--silent", "build"], cwd=FOLDER)


def check():
    """What the compiler, the linter and the formatter of TypeScript say; one line a problem."""
    install()
    problems = []
    for script in ("typecheck", "lint", "format"):
        done = subprocess.run(["npm", "run", "--silent", script], cwd=FOLDER, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if done.returncode:
            problems += [f"bindings/node ({script}): {line}" for line in done.stdout.splitlines()]
    return problems


def programs():
    """Each line of Node, by npm packages that are kept in build/."""
    for version in VERSIONS:
        place = machine.ROOT / "build" / "nodes" / version
        program = place / "node_modules" / "node" / "bin" / "node"
        if not program.exists():
            step(f"installing Node {version}")
            place.mkdir(parents=True, exist_ok=True)
            run(["npm", "install", "--prefix", place, "--no-audit", "--no-fund", "--silent",
                 f"node@{version}"])
        yield program


def test(program="node", slow=False):
    step(f"tests of bindings/node with {program}")
    variables = os.environ | ({"KINJO_SLOW": "1"} if slow else {})
    tests = sorted(str(path.relative_to(FOLDER)) for path in FOLDER.glob("test/*.test.mjs"))
    run([program, "--test", "--test-reporter=dot", *tests], cwd=FOLDER, env=variables)
