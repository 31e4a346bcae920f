"""The wheel: what lies in it, what it needs of a machine, and how it lives beside others' Arrow."""

import ast
import inspect
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import kinjo
from kinjo._options import JoinOptions

PACKAGE = Path(kinjo.__file__).parent
# The options of a join in their order, with their defaults.
SIGNATURE = {
    "k": 10, "on": None, "left_on": None, "right_on": None, "how": "inner", "nprobes": None,
    "minimum_nprobes": None, "maximum_nprobes": None, "refine_factor": None, "ef": None,
    "metric": None, "distance_range": None, "where": None, "left_select": None,
    "right_select": None, "by": None, "exclude_self": False, "recall": None, "index": "auto",
    "unordered_pairs": False, "mutual": False, "memory_limit": None, "threads": None,
    "suffix": "_right", "with_row_id": False, "right_version": None, "fast_search": False,
    "approx_mode": "normal", "search_effort": None, "progress": None,
}  # fmt: skip
# What systems of glibc 2.34 have, as Red Hat's ninth.
NEWEST = {"GLIBC": (2, 34), "GLIBCXX": (3, 4, 29), "CXXABI": (1, 3, 13)}


def natives():
    return [*PACKAGE.glob("_native*.so"), *(PACKAGE / "lib").iterdir()]


def output_of(*command):
    done = subprocess.run(list(map(str, command)), check=True, capture_output=True, text=True)
    return done.stdout


@pytest.mark.parametrize("path", natives(), ids=lambda path: path.name)
def test_needs_no_newer_system(path):
    found = re.findall(r"\b(GLIBC|GLIBCXX|CXXABI)_([0-9.]+)", output_of("objdump", "-T", path))
    assert found
    for name, version in set(found):
        assert tuple(map(int, version.split("."))) <= NEWEST[name], f"{name}_{version}"


def test_the_wheel_says_what_it_needs(wheel):
    """Its tag is the oldest system that has the symbols of all that lies in it."""
    needed = {version for path in natives()
              for version in re.findall(r"\bGLIBC_2\.(\d+)", output_of("objdump", "-T", path))}
    tag = re.search(r"-cp3\d+-cp3\d+-manylinux_2_(\d+)_x86_64\.whl$", wheel.name)
    assert tag is not None, wheel.name
    assert int(tag[1]) == max(map(int, needed)) <= NEWEST["GLIBC"][1]


@pytest.mark.parametrize("path", natives(), ids=lambda path: path.name)
def test_native_libraries_find_each_other_under_names_of_their_own(path):
    dynamic = output_of("readelf", "-d", path)
    own = {other.name for other in (PACKAGE / "lib").iterdir()}
    system = re.compile(r"(libc|libm|libdl|libpthread|librt|libgcc_s|libstdc\+\+)\.so\.|ld-linux")
    for name in re.findall(r"NEEDED.*\[(.*)\]", dynamic):
        assert name in own or system.match(name), name
    assert re.findall(r"(?:RPATH|RUNPATH).*\[(.*)\]", dynamic) in (["$ORIGIN"], ["$ORIGIN/lib"])
    if path.parent.name == "lib":
        assert re.fullmatch(r"lib\w+-[0-9a-f]{8}\.so(\.\d+)*", path.name)
        assert f"SONAME                      Library soname: [{path.name}]" in dynamic or re.search(
            rf"SONAME.*\[{re.escape(path.name)}\]", dynamic)


def test_native_libraries_are_stripped():
    for path in natives():
        assert ".symtab" not in output_of("readelf", "-S", "-W", path), path.name


def test_only_the_module_is_loaded_by_python():
    exported = output_of("nm", "-D", "--defined-only", next(PACKAGE.glob("_native*.so")))
    assert "PyInit__native" in exported


def test_the_wheel_has_types_and_no_need_of_other_packages(wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        metadata = next(name for name in names if name.endswith(".dist-info/METADATA"))
        text = archive.read(metadata).decode()
    assert {"kinjo/py.typed", "kinjo/_native.pyi", "kinjo/__init__.py"} <= set(names)
    assert not [name for name in names if name.endswith((".cc", ".h", "CMakeLists.txt"))]
    needs = re.findall(r"^Requires-Dist: (.*)$", text, re.MULTILINE)
    assert all("extra ==" in need for need in needs), needs
    assert f"Version: {kinjo.__version__}" in text


def test_stubs_are_python_and_name_no_type_of_cpp():
    stub = (PACKAGE / "_native.pyi").read_text()
    ast.parse(stub)
    for word in ("std::", "kinjo::", "nanobind", "arrow::"):
        assert word not in stub
    assert "class Join:" in stub and "def join" in (PACKAGE / "_join.py").read_text()


def test_types_tell_users_tools_what_is_meant(tmp_path):
    """Right uses pass mypy's strictest rules, and each wrong one is found."""
    program = Path(__file__).with_name("typed_use.py")
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", tmp_path, program]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_join_is_declared_as_every_face_names_it():
    given = str(inspect.signature(kinjo.join, eval_str=True)).replace(" | None", "")
    for name, default in SIGNATURE.items():
        assert re.search(rf"\b{name}: [^=]* = {re.escape(repr(default))}[,)]", given), name
    parameters = inspect.signature(kinjo.join).parameters
    assert list(parameters)[: len(SIGNATURE) + 2] == ["left", "right", *SIGNATURE]
    passed_on = set(JoinOptions.__annotations__)
    assert passed_on == {*parameters} - {"left", "right"}


def test_every_public_name_is_documented():
    for name in kinjo.__all__:
        assert getattr(kinjo, name).__doc__, name


NEIGHBOURS = """
import sys
import numpy as np

def use_kinjo():
    import kinjo
    right = np.random.default_rng(0).normal(size=(500, 8)).astype("f4")
    assert kinjo.join(right, right, k=3).write_parquet(sys.argv[1]) == 1500
    assert kinjo.runtime()["arrow_version"] == "26.0.1"

def use_pyarrow():
    import pyarrow as pa, pyarrow.compute as pc, pyarrow.parquet as pq
    assert pa.__version__.split(".")[0] != "26"
    table = pa.table({"a": np.arange(100_000)})
    pq.write_table(table, sys.argv[1])
    assert pc.sum(pq.read_table(sys.argv[1])["a"]).as_py() == 4999950000

def use_lance():
    import lance, pyarrow as pa
    table = pa.table({"a": np.arange(1000)})
    assert lance.write_dataset(table, sys.argv[2], mode="overwrite").count_rows("a < 10") == 10

for name in sys.argv[3:]:
    globals()["use_" + name]()
for name in sys.argv[3:]:
    globals()["use_" + name]()
import kinjo, pyarrow as pa
assert pa.table(kinjo.join(np.eye(4, dtype="f4"), np.eye(4, dtype="f4"), k=2)).num_rows == 8
"""
ORDERS = ["kinjo pyarrow lance", "pyarrow lance kinjo", "lance kinjo pyarrow"]


@pytest.mark.parametrize("order", ORDERS)
def test_lives_beside_another_pyarrow_and_pylance(order, script, tmp_path):
    script(NEIGHBOURS, tmp_path / "f.parquet", tmp_path / "d.lance", *order.split())


@pytest.mark.parametrize("order", ORDERS)
def test_lives_beside_libraries_that_everybody_sees(order, script, tmp_path):
    loudly = "import os, sys\nsys.setdlopenflags(os.RTLD_NOW | os.RTLD_GLOBAL)\n"
    script(loudly + NEIGHBOURS, tmp_path / "f.parquet", tmp_path / "d.lance", *order.split())


def test_import_leaves_the_flags_of_loading_alone(script):
    done = script("import sys; before = sys.getdlopenflags(); import kinjo; "
                  "print(sys.getdlopenflags() == before, 'pyarrow' in sys.modules)")
    assert done.stdout == "True False\n"


def other_environment(folder, wheel, *packages):
    """A new environment with the package and others; gives its Python."""
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    python = folder / "bin" / "python"
    install = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*install, wheel, *packages], check=True)
    return python


@pytest.mark.slow
@pytest.mark.parametrize("pyarrow", ["22.0.0", "26.0.1"])
def test_lives_beside_yet_another_pyarrow(pyarrow, script, tmp_path, wheel):
    """Of one more major version, and of the very version that lies in the package."""
    python = other_environment(tmp_path / "venv", wheel, f"pyarrow=={pyarrow}", "numpy", "pylance")
    neighbours = NEIGHBOURS.replace('!= "26"', f'== "{pyarrow.split(".")[0]}"')
    for order in ORDERS:
        script(neighbours, tmp_path / "f.parquet", tmp_path / "d.lance", *order.split(),
               python=python)


@pytest.mark.slow
def test_the_tree_is_installed_by_pip_alone(script, tmp_path):
    """`pip install .`, and from a source distribution: built in an environment of pip's own."""
    root = Path(__file__).resolve().parents[2]
    python = other_environment(tmp_path / "venv", "build", "numpy")
    build = [python, "-m", "build", "--outdir", tmp_path / "dist", root]
    subprocess.run(list(map(str, build)), check=True, timeout=3000)
    made = sorted(path.suffix for path in (tmp_path / "dist").iterdir())
    assert made == [".gz", ".whl"]  # the wheel is made from the source distribution
    wheel = next((tmp_path / "dist").glob("*.whl"))
    subprocess.run([python, "-m", "pip", "install", "--quiet", wheel], check=True)
    script("import kinjo, numpy as np; e = np.eye(4); "
           "assert kinjo.join(e, e, k=2).write_parquet('out.parquet') == 8",
           python=python, cwd=tmp_path)
