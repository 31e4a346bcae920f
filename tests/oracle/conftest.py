"""A join through the program, as lists of neighbours."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.oracle.brute_force import vector_array


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
