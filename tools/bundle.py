"""Makes a program or a module whole: copies of the libraries that it needs are put beside it,
stripped, and renamed by their content, so that in another process they are never taken for what
somebody else brought, nor somebody else's for them. Libraries that every Linux has are left out.

    bundle.py --libraries DIR [--search DIR ...] [--patchelf P] [--strip S] BINARY ...
"""

import argparse
import hashlib
import os
import re
import shutil
import subprocess
from pathlib import Path

# The C and C++ runtimes, which the whole process shares.
OF_THE_SYSTEM = re.compile(
    r"(ld-linux.*|lib(c|m|dl|rt|pthread|util|resolv|gcc_s|stdc\+\+))\.so(\.\d+)*$"
)


def output_of(*command):
    return subprocess.run(
        list(map(str, command)), check=True, capture_output=True, text=True
    ).stdout


class Bundle:
    """The libraries that were copied so far, by the names that others need them by."""

    def __init__(self, folder, search, patchelf, strip):
        self.folder, self.search = folder, search
        self.patchelf, self.strip = patchelf, strip
        self.renamed = {}

    def needed_by(self, binary):
        names = output_of(self.patchelf, "--print-needed", binary).split()
        return [name for name in names if not OF_THE_SYSTEM.match(name)]

    def find(self, name, beside):
        run_path = output_of(self.patchelf, "--print-rpath", beside).strip().split(":")
        folders = [folder.replace("$ORIGIN", str(beside.parent)) for folder in run_path if folder]
        for folder in [*folders, *self.search]:
            if (Path(folder) / name).exists():
                return Path(folder) / name
        listing = output_of(shutil.which("ldconfig") or "/sbin/ldconfig", "-p")
        found = re.search(rf"^\s*{re.escape(name)} .*x86-64.* => (\S+)$", listing, re.MULTILINE)
        if found is None:
            raise SystemExit(f"bundle.py: {beside} needs {name}, which isn't in {self.search}")
        return Path(found[1])

    def add(self, name, needed_by):
        """Copies one library, and those that it needs, and gives its new name."""
        if name in self.renamed:
            return self.renamed[name]
        original = self.find(name, needed_by).resolve()
        digest = hashlib.sha256(original.read_bytes()).hexdigest()[:8]
        stem, _, rest = name.partition(".so")
        self.renamed[name] = f"{stem}-{digest}.so{rest}"
        copy = self.folder / self.renamed[name]
        shutil.copyfile(original, copy)
        copy.chmod(0o755)
        output_of(self.strip, "--strip-unneeded", copy)
        self.rewire(copy, original, "$ORIGIN", "--set-soname", copy.name)
        return copy.name

    def rewire(self, binary, original, run_path, *options):
        """Lets a binary need the copies by their new names."""
        for name in self.needed_by(original):
            options += ("--replace-needed", name, self.add(name, original))
        output_of(self.patchelf, *options, "--set-rpath", run_path, binary)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--libraries", type=Path, required=True)
    parser.add_argument("--search", type=Path, action="append", default=[])
    parser.add_argument("--patchelf", default="patchelf")
    parser.add_argument("--strip", default="strip")
    parser.add_argument("binaries", type=Path, nargs="+")
    arguments = parser.parse_args()
    folder = arguments.libraries
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    bundle = Bundle(folder, arguments.search, arguments.patchelf, arguments.strip)
    for binary in arguments.binaries:
        output_of(arguments.strip, "--strip-unneeded", binary)
        bundle.rewire(binary, binary, f"$ORIGIN/{os.path.relpath(folder, binary.parent)}")


if __name__ == "__main__":
    main()
