"""The jar of native libraries: what it needs of a machine, and that its libraries are its own."""

import re
import subprocess
import zipfile

import pytest

from tests.spark.conftest import jars

OLDEST_GLIBC = (2, 34)
OF_THE_SYSTEM = re.compile(r"lib(c|m|dl|pthread|rt|gcc_s|stdc\+\+)\.so\.|ld-linux")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The jar, unpacked."""
    unpacked = tmp_path_factory.mktemp("native")
    with zipfile.ZipFile(next(path for path in jars() if "native" in path.name)) as jar:
        jar.extractall(unpacked)
    return unpacked / "native" / "linux-x86_64"


def output_of(*command):
    done = subprocess.run(list(map(str, command)), check=True, capture_output=True, text=True)
    return done.stdout


def test_index_names_every_library(folder):
    content, *names = (folder / "index.txt").read_text().splitlines()
    assert re.fullmatch("[0-9a-f]{64}", content)
    assert sorted(names) == sorted(file.name for file in folder.glob("*.so*"))


def test_needs_no_newer_glibc(folder):
    for library in folder.glob("*.so*"):
        versions = re.findall(r"GLIBC_(\d+)\.(\d+)", output_of("objdump", "-T", library))
        assert versions
        assert max((int(major), int(minor)) for major, minor in versions) <= OLDEST_GLIBC


def test_libraries_find_each_other_under_names_of_their_own(folder):
    own = {file.name for file in folder.glob("*.so*")}
    for library in folder.glob("*.so*"):
        for name in re.findall(r"NEEDED.*\[(.*)\]", output_of("readelf", "-d", library)):
            assert name in own or OF_THE_SYSTEM.match(name), f"{library.name} needs {name}"


def test_exports_the_entry_alone(folder):
    listed = output_of("objdump", "-T", folder / "libkinjo_jni.so").splitlines()
    defined = [line.split()[-1] for line in listed if " g " in line and "*UND*" not in line]
    assert defined == ["JNI_OnLoad"]
