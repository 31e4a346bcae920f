"""What the tests of the Python package share: the package itself, as its wheel installed it, tables
of random vectors, and the truth about them."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import kinjo


@pytest.fixture(scope="session")
def wheel():
    """The wheel that the package under test came from."""
    folder = os.environ.get("KINJO_WHEEL_DIR")
    wheels = sorted(Path(folder).glob("kinjo-*.whl")) if folder else []
    if not wheels:
        pytest.fail("no wheel; run ./dev python")
    return wheels[-1]


@pytest.fixture(scope="session")
def script():
    """script(text, *arguments) runs a Python program in a process of its own, with this Python."""

    def run(text, *arguments, python=sys.executable, exit_code=0, **options):
        command = [str(python), "-c", text, *map(str, arguments)]
        options = {"capture_output": True, "text": True, "timeout": 120} | options
        done = subprocess.run(command, **options)
        assert done.returncode == exit_code, f"exit code {done.returncode}\n{done.stderr}"
        return done

    return run


def vectors_table(rows, width=8, seed=0, first_id=0):
    """`id` and `vec`: normal float32 vectors."""
    values = np.random.default_rng(seed).normal(size=(rows, width)).astype(np.float32)
    vec = pa.FixedSizeListArray.from_arrays(pa.array(values.reshape(-1)), width)
    return pa.table({"id": pa.array(np.arange(first_id, first_id + rows)), "vec": vec})


@pytest.fixture
def vectors():
    return vectors_table


ODD_WIDTH = 4


def matrix(rows, seed=0, dtype="f4"):
    return np.random.default_rng(seed).normal(size=(rows, ODD_WIDTH)).astype(dtype)


def table_of(values, **columns):
    """`row`, others, and `vec`: the rows of a matrix."""
    flat = pa.array(np.ascontiguousarray(values).reshape(-1))
    vec = pa.FixedSizeListArray.from_arrays(flat, values.shape[1])
    return pa.table({"row": np.arange(len(values)), **columns, "vec": vec})


def nearest(left, right, **options):
    """Pairs of row numbers."""
    rows = kinjo.join(left, right, **{"k": 2} | options).to_arrow()
    return list(zip(rows["row"].to_pylist(), rows["row_right"].to_pylist()))


@pytest.fixture(scope="module")
def plain():
    left, right = table_of(matrix(30, 1)), table_of(matrix(90, 2))
    return left, right, nearest(left, right)
