"""Datasets that pylance makes here: every element type on the exact path, odd rows, counters."""

import lance
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.oracle.brute_force import all_distances, assert_nearest, vector_array

DIM = 16


def clustered(rows, dim, seed, clusters=40):
    """The same clusters for every seed."""
    centres = np.random.default_rng(5).normal(size=(clusters, dim)) * 3
    random = np.random.default_rng(seed)
    return (centres[random.integers(clusters, size=rows)] + random.normal(size=(rows, dim))).astype(
        np.float32
    )


def write(path, vectors):
    rows = len(vectors)
    return lance.write_dataset(pa.table({"id": np.arange(rows), "vec": vectors}), str(path))


@pytest.mark.parametrize("metric", ["l2", "cosine", "dot"])
@pytest.mark.parametrize("element", ["float16", "float32", "float64", "uint8", "int8"])
def test_exact_path_of_every_element_type(element, metric, neighbours, tmp_path):
    random = np.random.default_rng(3)
    if element in ("uint8", "int8"):
        low, high = (0, 256) if element == "uint8" else (-128, 128)
        right = random.integers(low, high, size=(900, DIM)).astype(element)
        left = random.integers(low, high, size=(50, DIM)).astype(element)
    else:
        right = random.normal(size=(900, DIM)).astype(element)
        left = random.normal(size=(50, DIM)).astype(element)
    write(tmp_path / "right.lance", vector_array(right))
    left_element = left.astype(np.float32) if element == "float16" else left
    ids, distances, _ = neighbours(
        vector_array(left_element), tmp_path / "right.lance", "--metric", metric
    )
    truth = all_distances(left, right, metric)
    # 1 - q.x cancels, so its error is relative to the product of the lengths.
    scale = 1e-6 * max(1, np.abs(truth).max()) if metric == "dot" else 1e-6
    assert_nearest(ids, distances, truth, range(900), 10, atol=scale)


def test_hamming_is_the_default_of_bytes(neighbours, tmp_path):
    random = np.random.default_rng(4)
    right = random.integers(0, 256, size=(700, 8)).astype(np.uint8)
    left = random.integers(0, 256, size=(30, 8)).astype(np.uint8)
    write(tmp_path / "right.lance", vector_array(right))
    ids, distances, _ = neighbours(vector_array(left), tmp_path / "right.lance")
    bits = np.unpackbits(left[:, None, :] ^ right[None, :, :], axis=2).sum(axis=2)
    order = np.argsort(bits, axis=1, kind="stable")[:, :10]
    assert ids == order.tolist()
    assert distances == np.take_along_axis(bits, order, axis=1).tolist()


@pytest.mark.parametrize("indexed", [False, True])
def test_null_and_odd_rows_never_match(indexed, neighbours, tmp_path):
    right, left = clustered(2000, DIM, 1), clustered(40, DIM, 2)
    right[7, 3], right[8, 0], left[5, 1] = np.nan, np.inf, -np.inf
    values = vector_array(right).to_pylist()
    values[20] = values[1990] = None
    vectors = pa.array(values, pa.list_(pa.float32(), DIM))
    dataset = write(tmp_path / "right.lance", vectors)
    if indexed:
        dataset.create_index("vec", "IVF_FLAT", num_partitions=8)
    left_rows = vector_array(left).to_pylist()
    left_rows[11] = None
    flags = ["--nprobes", 8] if indexed else []
    ids, distances, report = neighbours(
        pa.array(left_rows, pa.list_(pa.float32(), DIM)), tmp_path / "right.lance", *flags
    )
    assert report["path"] == ("index" if indexed else "exact")
    assert (report["skipped_null_rows"], report["skipped_non_finite_rows"]) == (1, 1)
    truth = all_distances(left, right, "l2")
    truth[:, [20, 1990]] = np.nan
    truth[11] = np.nan
    assert_nearest(ids, distances, truth, range(2000), 10)


def test_far_from_the_origin(neighbours, tmp_path):
    right = (clustered(1500, DIM, 1).astype(np.float64) + 1e6).astype(np.float32)
    left = (clustered(40, DIM, 2).astype(np.float64) + 1e6).astype(np.float32)
    write(tmp_path / "right.lance", vector_array(right))
    for metric in ("l2", "cosine"):
        ids, distances, _ = neighbours(left, tmp_path / "right.lance", "--metric", metric)
        truth = all_distances(left, right, metric)
        assert_nearest(ids, distances, truth, range(1500), 10, atol=0 if metric == "l2" else 1e-6)


def test_parquet_on_the_right_with_lists_of_doubles(neighbours, tmp_path):
    random = np.random.default_rng(6)
    right, left = random.normal(size=(1200, 5)), random.normal(size=(60, 5))
    table = pa.table({"id": np.arange(1200), "vec": pa.array(right.tolist())})
    pq.write_table(table, tmp_path / "right.parquet", row_group_size=500)
    ids, distances, _ = neighbours(vector_array(left), tmp_path / "right.parquet")
    assert_nearest(ids, distances, all_distances(left, right, "l2"), range(1200), 10)


@pytest.fixture
def indexed(tmp_path):
    """20,000 rows under IVF_PQ with 64 partitions; a column of text to take."""
    vectors = clustered(20_000, DIM, 7)
    rows = pa.table(
        {
            "id": np.arange(20_000),
            "text": [f"row {i}" for i in range(20_000)],
            "vec": vector_array(vectors),
        }
    )
    dataset = lance.write_dataset(rows, str(tmp_path / "right.lance"))
    dataset.create_index("vec", "IVF_PQ", num_partitions=64, num_sub_vectors=8)
    return tmp_path / "right.lance", vectors


@pytest.mark.parametrize("flags", [[], ["--refine-factor", 4], ["--nprobes", 3]])
def test_threads_change_no_byte(flags, indexed, neighbours):
    left = clustered(500, DIM, 8)
    one = neighbours(left, indexed[0], *flags, threads=1)
    two = neighbours(left, indexed[0], *flags, threads=2)
    assert one[:2] == two[:2]


def test_refine_reaches_the_recall_of_its_probes(indexed, neighbours):
    path, vectors = indexed
    left = clustered(300, DIM, 9)
    ids, distances, report = neighbours(left, path, "--nprobes", 16, "--refine-factor", 10)
    truth = np.argsort(all_distances(left, vectors, "l2"), axis=1, kind="stable")[:, :10]
    hits = sum(len(set(row) & set(best)) for row, best in zip(ids, truth.tolist()))
    assert hits / truth.size >= 0.95
    assert report["partitions_probed"] == 300 * 16
    assert report["partitions_read"] <= 64


def test_a_probe_reads_only_what_it_needs(indexed, neighbours):
    path, vectors = indexed
    flags = ["--nprobes", 2, "--refine-factor", 2, "--right-select", "id"]
    _, _, opened = neighbours(clustered(1, DIM, 10), path, *flags)
    _, _, report = neighbours(clustered(400, DIM, 10), path, *flags)
    # All partitions once (row id and 8 code bytes a row), the refined vectors, the ids taken; what
    # a join of one row reads covers the metadata.
    needed = 20_000 * (8 + 8) + vectors.nbytes + 20_000 * 8
    assert report["partitions_read"] <= 64
    assert report["bytes_read"] <= 1.1 * needed + opened["bytes_read"]
