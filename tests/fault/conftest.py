"""Joins into a folder of parts, with and without something going wrong."""

import os

import lance
import pyarrow.parquet as pq
import pytest

from tests.cli.word_tables import word_table


@pytest.fixture(scope="session")
def sides(tmp_path_factory):
    """A folder with left.parquet, few.parquet, right.lance (indexed) and right.parquet."""
    folder = tmp_path_factory.mktemp("sides")
    pq.write_table(word_table(400, seed=3), folder / "few.parquet")
    pq.write_table(word_table(6000, seed=1), folder / "left.parquet")
    table = word_table(3000, seed=2)
    pq.write_table(table, folder / "right.parquet")
    right = lance.write_dataset(table, folder / "right.lance")
    right.create_index("vec", "IVF_PQ", num_partitions=8, num_sub_vectors=4, metric="l2")
    return folder


@pytest.fixture(scope="session")
def faulty_calls(kinjo_cli):
    path = kinjo_cli.parent.parent / "tests" / "fault" / "libfaulty_calls.so"
    if not path.exists():
        pytest.fail(f"{path} is not built; run ./dev build")
    return path


@pytest.fixture
def faulty(faulty_calls):
    """faulty(kind, call, count=None): the environment in which that call goes wrong."""

    def make(kind="", call=0, count=None):
        chosen = {"KINJO_FAULT_KIND": kind, "KINJO_FAULT_CALL": str(call)}
        if count is not None:
            chosen["KINJO_FAULT_COUNT"] = str(count)
        return os.environ | {"LD_PRELOAD": str(faulty_calls)} | chosen

    return make


@pytest.fixture(scope="session")
def files():
    """files(folder): the bytes of every file in it, by name."""

    def read(folder):
        return {path.name: path.read_bytes() for path in folder.iterdir()}

    return read
