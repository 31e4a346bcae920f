"""What every Python test may ask for: the built program, ways to run it, the golden datasets.

The program is build/release/cli/kinjo, or what KINJO_CLI names (the sanitized builds do that).
A missing program is a failure and never a skip: a test that did not run has proved nothing.
"""

import json
import os
import subprocess
from pathlib import Path

import hypothesis
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.oracle.brute_force import vector_array

ROOT = Path(__file__).resolve().parent.parent

hypothesis.settings.register_profile("kinjo", deadline=None, database=None, derandomize=True)
hypothesis.settings.load_profile("kinjo")


def pytest_addoption(parser):
    parser.addoption("--slow", action="store_true", help="also run the tests marked slow")


def pytest_collection_modifyitems(config, items):
    if config.getoption("--slow"):
        return
    slow = [item for item in items if item.get_closest_marker("slow")]
    if slow:
        config.hook.pytest_deselected(items=slow)
        items[:] = [item for item in items if not item.get_closest_marker("slow")]


@pytest.fixture(scope="session")
def kinjo_cli():
    """Path of the program under test."""
    path = Path(os.environ.get("KINJO_CLI", ROOT / "build" / "release" / "cli" / "kinjo"))
    if not path.exists():
        pytest.fail(f"{path} is not built; run ./dev build")
    return path


@pytest.fixture(scope="session")
def kinjo(kinjo_cli):
    """kinjo(*args, exit_code=0, **run_options) runs the program and checks its exit code.

    Returns the finished process, with stdout and stderr as text.
    """

    def run(*args, exit_code=0, **options):
        command = [str(kinjo_cli), *map(str, args)]
        options = {"capture_output": True, "text": True, "timeout": 300} | options
        done = subprocess.run(command, **options)
        if exit_code is not None:
            assert done.returncode == exit_code, (
                f"{' '.join(command)}\nexit code {done.returncode}, expected {exit_code}\n"
                f"stderr: {done.stderr}"
            )
        return done

    return run


@pytest.fixture(scope="session")
def golden():
    """The folder of the committed datasets."""
    return ROOT / "tests" / "golden"


@pytest.fixture
def neighbours(kinjo, tmp_path):
    """neighbours(left, right, *flags) joins and returns (ids, distances, report).

    `left` is an Arrow vector array (or a 2-d array, taken as float32), `right` a path; ids and
    distances are a list for each left row, ids being the right column `id`.
    """

    def run(left, right, *flags, threads=2):
        if isinstance(left, np.ndarray):
            left = vector_array(left.astype(np.float32))
        table = pa.table({"vec": left})
        pq.write_table(table, tmp_path / "left.parquet")
        output = tmp_path / "out.arrow"
        done = kinjo(
            "join", "--left", tmp_path / "left.parquet", "--right", right, "--left-select", "",
            "--with-query-index", "--threads", threads, "--json", "--progress", "none",
            "-o", output, *flags,
        )  # fmt: skip
        with pa.ipc.open_file(output) as reader:
            rows = reader.read_all()
        ids = [[] for _ in range(len(left))]
        distances = [[] for _ in range(len(left))]
        columns = rows["_query_index"], rows["id"], rows["_distance"]
        for query, row, distance in zip(*(column.to_pylist() for column in columns)):
            ids[query].append(row)
            distances[query].append(distance)
        return ids, distances, json.loads(done.stderr.strip().splitlines()[-1])

    return run
