"""What the tests of the Python package share: the package itself, as its wheel installed it, tables
of random vectors, and the truth about them."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest


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
