"""./dev check and ./dev fmt: formatter, layers, tidy, names in documents, and the linter."""

import re
import subprocess
from concurrent.futures import ThreadPoolExecutor

from tools import building, layers, machine, names, node_package, sources, tidy
from tools.terminal import Failure, run, step

FORMATTER = "clang-format-19"
LINTER = "clang-tidy"


def cpp_files():
    return [str(path) for path in sources.files(machine.ROOT) if sources.is_cpp(path)]


def format_files():
    run([FORMATTER, "-i", *cpp_files()], cwd=machine.ROOT)


def unformatted():
    """One line for each file that the formatter would change."""
    done = subprocess.run(
        [FORMATTER, "--dry-run", "-Werror", *cpp_files()],
        cwd=machine.ROOT, capture_output=True, text=True,
    )
    changed = sorted(set(re.findall(r"^(\S+?):\d+:\d+: error", done.stderr, re.MULTILINE)))
    if done.returncode != 0 and not changed:
        raise Failure(f"{FORMATTER} failed:\n{done.stderr}")
    return [f"{path}:1: not formatted; run ./dev fmt" for path in changed]


def changed_files():
    """Files that differ from the branch's upstream, or from the last commit when it has none."""

    def git(*words):
        done = subprocess.run(["git", *words], cwd=machine.ROOT, capture_output=True, text=True)
        return done.stdout.split("\n") if done.returncode == 0 else None

    base = git("merge-base", "HEAD", "@{upstream}") or ["HEAD"]
    listed = (git("diff", "--name-only", base[0]) or []) + (
        git("ls-files", "--others", "--exclude-standard") or [])
    return set(filter(None, listed))


def is_linted(path):
    """Sources that the release build compiles, without tests."""
    return path.startswith(("src/", "cli/")) and path.endswith(".cc") and not path.endswith(
        ("_test.cc", "_fuzz.cc"))


def lint(files):
    """Runs the linter over source files; returns what it says about them and their headers."""
    building.configure("release")

    def one(path):
        command = [machine.VENV / "bin" / LINTER, "--quiet", "-p", building.folder("release"),
                   "--extra-arg=-Wno-unknown-warning-option", path]
        done = subprocess.run(command, cwd=machine.ROOT, capture_output=True, text=True)
        if done.returncode < 0:
            raise Failure(f"{LINTER} died on {path} with signal {-done.returncode}")
        return done.stdout if done.returncode else ""

    with ThreadPoolExecutor(machine.jobs()) as pool:
        return [said for said in pool.map(one, files) if said]


def check(all_files=False):
    """Runs every check, prints all that is wrong, and fails if anything is."""
    problems = []
    for name, rule in (
        ("format", unformatted),
        ("layers", lambda: layers.check(machine.ROOT)),
        ("tidy", lambda: tidy.check(machine.ROOT)),
        ("names in documents", lambda: names.check(machine.ROOT)),
        ("bindings/node", lambda: node_package.check() if node_package.is_here() else []),
    ):
        step(f"check: {name}")
        found = rule()
        print("".join(line + "\n" for line in found), end="", flush=True)
        problems += found
    linted = [path for path in cpp_files() if is_linted(path)]
    chosen = linted if all_files else sorted(changed_files().intersection(linted))
    step(f"check: {LINTER} on {len(chosen)} files")
    said = lint(chosen) if chosen else []
    print("".join(said), end="", flush=True)
    problems += said
    if problems:
        raise Failure(f"{len(problems)} problems")
