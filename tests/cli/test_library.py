"""The library as others use it: what it exports, and the examples, compiled by a C and a C++
compiler against the headers alone."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pyarrow.parquet as pq
import pytest

ROOT = Path(__file__).resolve().parents[2]
HEADERS = ROOT / "include"
SANITIZERS = {"__asan_init": "address,undefined", "__tsan_init": "thread"}


@pytest.fixture(scope="session")
def library(kinjo_cli):
    return kinjo_cli.resolve().parent.parent / "src" / "capi" / "libkinjo.so"


def symbols(library, *flags):
    command = ["nm", "-D", *flags, library]
    listing = subprocess.run(command, capture_output=True, text=True, check=True)
    return {line.split()[-1] for line in listing.stdout.splitlines()}


def test_exports_the_header_and_nothing_else(library):
    header = (HEADERS / "kinjo" / "kinjo.h").read_text()
    declared = set(re.findall(r"KINJO_EXPORT [^;]*?\b(kinjo_\w+)\(", header))
    assert len(declared) > 30
    assert symbols(library, "--defined-only") == declared


def test_has_a_versioned_name(library):
    dynamic = subprocess.run(["readelf", "-d", library], capture_output=True, text=True, check=True)
    assert re.search(r"SONAME.*\[libkinjo\.so\.\d+\]", dynamic.stdout)


def compile_example(library, compiler, standard, source, program, flags=None):
    flags = flags or [f"-I{HEADERS}", f"-L{library.parent}", "-lkinjo"]
    command = [shutil.which(compiler) or pytest.fail(f"no {compiler}"), f"-std={standard}",
               "-pedantic", "-Wall", "-Wextra", "-Werror", source, *flags,
               f"-Wl,-rpath,{library.parent}", "-o", program]
    undefined = symbols(library, "--undefined-only")
    for symbol, sanitizers in SANITIZERS.items():
        if symbol in undefined:
            command.append(f"-fsanitize={sanitizers}")
    # What the library itself needs is found by its own run path.
    command.append("-Wl,--allow-shlib-undefined")
    subprocess.run(list(map(str, command)), check=True)


def run_example(program, *arguments):
    done = subprocess.run([program, *map(str, arguments)], capture_output=True, text=True,
                          env=os.environ, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_c_example(library, tables, tmp_path):
    program = tmp_path / "nearest"
    compile_example(library, "gcc", "c99", ROOT / "examples/c/nearest.c", program)
    right = tables / "right.lance"
    lines = run_example(program, right, right, "vec").splitlines()
    assert lines[0] == "query\trank\trow id\tdistance"
    assert len(lines) == 1 + 3 * 3000
    assert re.fullmatch(r"0\t1\t\d+\t\S+", lines[1])


@pytest.fixture(scope="session")
def installed(library, tmp_path_factory):
    """The prefix of a fresh installation of the build under test."""
    prefix = tmp_path_factory.mktemp("installed")
    build = library.parent.parent.parent
    command = ["cmake", "--install", build, "--prefix", prefix]
    subprocess.run(list(map(str, command)), check=True, stdout=subprocess.DEVNULL)
    return prefix


def test_an_installed_tree_holds_what_others_build_with(installed):
    files = {str(path.relative_to(installed)) for path in installed.rglob("*.*")}
    assert {"include/kinjo/kinjo.h", "include/kinjo/kinjo.hpp", "include/kinjo/arrow_c_abi.h",
            "lib/libkinjo.so", "lib/pkgconfig/kinjo.pc"} <= files
    program = [installed / "bin" / "kinjo", "--version"]
    done = subprocess.run(program, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("kinjo ")


def test_a_program_built_by_pkg_config(installed, tables, tmp_path):
    # Somewhere else: the tree may be moved after it was installed.
    moved = tmp_path / "moved"
    shutil.copytree(installed, moved, symlinks=True)
    done = subprocess.run(["pkg-config", "--cflags", "--libs", "kinjo"], capture_output=True,
                          text=True, check=True,
                          env=os.environ | {"PKG_CONFIG_PATH": str(moved / "lib" / "pkgconfig")})
    program = tmp_path / "nearest"
    compile_example(moved / "lib" / "libkinjo.so", "gcc", "c99", ROOT / "examples/c/nearest.c",
                    program, done.stdout.split())
    right = tables / "right.lance"
    assert len(run_example(program, right, right, "vec").splitlines()) == 1 + 3 * 3000


def test_a_program_built_by_cmake(installed, tables, tmp_path, library):
    source = tmp_path / "source"
    source.mkdir()
    (source / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.24)\nproject(user CXX)\n"
        "find_package(Kinjo 0.1 REQUIRED CONFIG)\n"
        f"add_executable(program {ROOT / 'examples/cpp/neighbours_to_parquet.cc'})\n"
        "target_compile_features(program PRIVATE cxx_std_17)\n"
        "target_link_libraries(program PRIVATE Kinjo::kinjo)\n"
        "target_link_options(program PRIVATE LINKER:--allow-shlib-undefined)\n"
    )
    flags = [f"-fsanitize={names}" for symbol, names in SANITIZERS.items()
             if symbol in symbols(library, "--undefined-only")]
    configure = ["cmake", "-G", "Ninja", "-S", source, "-B", tmp_path / "build"]
    configure += [f"-DCMAKE_PREFIX_PATH={installed}", f"-DCMAKE_CXX_FLAGS={' '.join(flags)}"]
    for command in (configure, ["cmake", "--build", tmp_path / "build"]):
        subprocess.run(list(map(str, command)), check=True, stdout=subprocess.DEVNULL)
    text = run_example(tmp_path / "build" / "program", tables / "left.parquet",
                       tables / "right.lance", "vec", tmp_path / "out.parquet")
    assert "1000 rows from 200 left rows" in text


@pytest.mark.parametrize("standard", ["c++17", "c++20"])
def test_the_cpp_example(library, tables, tmp_path, standard):
    program, output = tmp_path / "program", tmp_path / "out.parquet"
    source = ROOT / "examples/cpp/neighbours_to_parquet.cc"
    compile_example(library, "g++", standard, source, program)
    text = run_example(program, tables / "left.parquet", tables / "right.lance", "vec", output)
    assert "KnnJoin" in text
    assert "1000 rows from 200 left rows" in text
    assert pq.read_table(output).num_rows == 1000


@pytest.mark.parametrize("compiler, standard", [("gcc", "c99"), ("g++", "c++11")])
def test_the_c_header_alone(compiler, standard, tmp_path):
    source = tmp_path / ("header.c" if compiler == "gcc" else "header.cc")
    source.write_text('#include "kinjo/kinjo.h"\nint main(void) { return 0; }\n')
    command = [compiler, f"-std={standard}", "-pedantic", "-Wall", "-Wextra", "-Werror",
               f"-I{HEADERS}", "-c", source, "-o", tmp_path / "header.o"]
    subprocess.run(list(map(str, command)), check=True)
