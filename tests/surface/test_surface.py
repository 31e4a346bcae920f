"""What users of the C ABI meet: the examples run, and the library exports kinjo_* alone."""

import re
import subprocess

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest


@pytest.fixture(scope="session")
def build(kinjo_cli):
    return kinjo_cli.parent.parent


@pytest.fixture
def sides(tmp_path):
    """Vectors on a line: the nearest rows of a left row are known."""
    right = np.arange(12, dtype=np.float32).repeat(2)
    left = np.array([0.1, 11.2], dtype=np.float32).repeat(2)
    for name, values in (("left", left), ("right", right)):
        column = pa.FixedSizeListArray.from_arrays(pa.array(values), 2)
        rows = pa.array(range(len(column)), pa.int32())
        pq.write_table(pa.table({"row": rows, "v": column}), tmp_path / f"{name}.parquet")
    return tmp_path


def run(*words):
    return subprocess.run([str(word) for word in words], capture_output=True, text=True)


def test_the_c_example_prints_the_nearest_rows(build, sides):
    done = run(build / "tests" / "surface" / "nearest", sides / "left.parquet",
               sides / "right.parquet", "v")
    assert done.returncode == 0, done.stderr
    rows = [line.split("\t") for line in done.stdout.splitlines()[1:]]
    assert [row[:3] for row in rows] == [
        ["0", "1", "0"], ["0", "2", "1"], ["0", "3", "2"],
        ["1", "1", "11"], ["1", "2", "10"], ["1", "3", "9"],
    ]


def test_the_c_example_tells_a_missing_file(build, sides):
    done = run(build / "tests" / "surface" / "nearest", sides / "none.parquet",
               sides / "right.parquet", "v")
    assert done.returncode == 1
    assert "not_found" in done.stderr and "none.parquet" in done.stderr


def test_the_cpp_example_writes_parquet(build, sides):
    output = sides / "out.parquet"
    done = run(build / "tests" / "surface" / "neighbours_to_parquet", sides / "left.parquet",
               sides / "right.parquet", "v", output)
    assert done.returncode == 0, done.stderr
    joined = pq.read_table(output)
    assert joined["row"].to_pylist()[:1] == [0]
    assert joined["row_right"].to_pylist()[:1] == [0]


def test_the_library_exports_kinjo_alone(build):
    listed = run("nm", "--dynamic", "--defined-only", build / "src" / "capi" / "libkinjo.so")
    names = [line.split()[-1] for line in listed.stdout.splitlines()]
    # The version script's own node and what sanitizers plant are no part of the surface.
    foreign = [name for name in names
               if not re.match(r"kinjo_\w+(@@\w+)?$|KINJO_[\w.]+$|__(asan|ubsan|odr)", name)]
    assert "kinjo_join_make" in {name.split("@")[0] for name in names}
    assert foreign == []
