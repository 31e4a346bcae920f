"""Rows to write, and the programs that write them."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

DIMENSION = 8


def make_rows(first, count):
    """Rows with ids first, first + 1, ...; everything else follows from the id."""
    ids = np.arange(first, first + count)
    values = np.sin(np.outer(ids + 1, np.arange(1, DIMENSION + 1) * 0.7))
    vectors = pa.FixedSizeListArray.from_arrays(
        pa.array(values.ravel().astype(np.float32)), DIMENSION
    )
    names = [None if i % 7 == 0 else f"row {i}" for i in ids]
    lists = [None if i % 5 == 0 else list(range(i % 4)) for i in ids]
    return pa.table(
        {
            "id": pa.array(ids, pa.int64()),
            "name": pa.array(names, pa.string()),
            "price": pa.array([i / 4 for i in ids], pa.float64()),
            "tags": pa.array(lists, pa.list_(pa.int32())),
            "vec": vectors,
        }
    )


@pytest.fixture(scope="session")
def rows():
    return make_rows


@pytest.fixture
def change(kinjo):
    """change(command, ..., error=None): a command that changes a dataset, and its JSON report; with
    `error` it must fail with that text in its message."""

    def run(*args, error=None, exit_code=None, **options):
        if error is not None:
            done = kinjo(*args, exit_code=exit_code or 1, **options)
            assert error in done.stderr, done.stderr
            return done.stderr
        return json.loads(kinjo(*args, "--json", **options).stdout)

    return run


@pytest.fixture
def write(change, tmp_path):
    """write(dataset, table, *flags) writes a table by `kinjo import`."""

    def run(dataset, table, *flags, **options):
        path = tmp_path / "rows.parquet"
        pq.write_table(table, path)
        return change("import", path, dataset, *flags, **options)

    return run
