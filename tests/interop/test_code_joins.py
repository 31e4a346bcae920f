"""Joins through IVF_SQ and IVF_RQ indexes: the partition-major scan with its filter says the same
as a scan that scores every row, and a batch the same as its left rows one by one.
"""

import subprocess
from pathlib import Path

import lance
import numpy as np
import pyarrow as pa
import pytest

ROOT = Path(__file__).resolve().parents[2]
DIM = 40
ROWS = 6000
PARTITIONS = 8
K = 7
INDEXES = {
    "SQ": {"index_type": "IVF_SQ"},
    "RQ1": {"index_type": "IVF_RQ", "num_bits": 1},
    "RQ5": {"index_type": "IVF_RQ", "num_bits": 5},
}


def make_vectors(rows, seed):
    random = np.random.default_rng(seed)
    centers = np.random.default_rng(7).normal(0, 2, (30, DIM)) + 5
    return (centers[random.integers(0, 30, rows)] + random.normal(0, 1, (rows, DIM))).astype("f4")


def make_dataset(path, metric, index):
    vectors = pa.FixedSizeListArray.from_arrays(make_vectors(ROWS, 1).reshape(-1), DIM)
    dataset = lance.write_dataset(pa.table({"id": np.arange(ROWS), "vec": vectors}), str(path))
    dataset.create_index("vec", metric=metric, num_partitions=PARTITIONS, **INDEXES[index])
    return path


def score_all(kinjo_cli, dataset, queries, nprobes):
    """index_probe's answer: row ids, which are the ids here, and distances of each query."""
    (directory,) = (dataset / "_indices").iterdir()
    query_file = dataset.parent / "queries.bin"
    queries.astype(np.float64).tofile(query_file)
    probe = kinjo_cli.parent.parent / "tests" / "interop" / "index_probe"
    command = [probe, directory, query_file, str(K), str(nprobes)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True)
    answers = [([], []) for _ in queries]
    for line in done.stdout.splitlines()[1:]:
        query, row_id, distance = line.split()
        answers[int(query)][0].append(int(row_id))
        answers[int(query)][1].append(float(np.float32(distance)))
    return answers


@pytest.mark.parametrize("metric", ["l2", "cosine", "dot"])
@pytest.mark.parametrize("index", INDEXES)
def test_a_batch_equals_its_rows_and_a_full_scan(index, metric, kinjo_cli, neighbours, tmp_path):
    dataset = make_dataset(tmp_path / "right.lance", metric, index)
    queries = make_vectors(300, 2)
    for nprobes in (2, PARTITIONS):
        flags = ["--index", "require", "-k", K, "--nprobes", nprobes]
        ids, distances, report = neighbours(queries, dataset, *flags)
        assert report["path"] == "index"
        scored = score_all(kinjo_cli, dataset, queries, nprobes)
        assert list(zip(ids, distances, strict=True)) == scored
        for i in range(0, 300, 60):
            alone = neighbours(queries[i : i + 1], dataset, *flags, threads=1)
            assert alone[:2] == (ids[i : i + 1], distances[i : i + 1])


@pytest.mark.parametrize("index", INDEXES)
def test_late_search_goes_on(index, neighbours, tmp_path):
    """More neighbours than the first round meets: all rows are found, whatever the codes."""
    dataset = make_dataset(tmp_path / "right.lance", "l2", index)
    queries = make_vectors(3, 3)
    flags = ["--index", "require", "-k", ROWS, "--minimum-nprobes", 1]
    ids, distances, _ = neighbours(queries, dataset, *flags)
    for row_ids, row_distances in zip(ids, distances, strict=True):
        assert sorted(row_ids) == list(range(ROWS))
        assert row_distances == sorted(row_distances)
