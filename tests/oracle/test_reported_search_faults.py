"""Faults that users of vector databases reported about searching: filters, probes, ties, distances,
batches. Each test stands for the kind of its symptom.
"""

import re

import lance
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.oracle.brute_force import all_distances, assert_nearest, vector_array
from tests.oracle.recipes import clusters, normal, write


def make_index(path, index="IVF_FLAT", **options):
    if index.endswith("PQ"):
        options = {"num_sub_vectors": 4} | options
    lance.dataset(str(path)).create_index("vec", index, **({"num_partitions": 4} | options))


@pytest.fixture
def grouped(tmp_path):
    """Ten clusters of 200, their number in column `grp`, each in a partition of its own."""
    vectors = clusters(10, 200, 16, 1)
    group = pa.array(np.repeat(np.arange(10), 200))
    write(tmp_path / "r", vectors, columns={"grp": group})
    centres = vector_array(vectors.reshape(10, 200, 16).mean(axis=1))
    make_index(tmp_path / "r", num_partitions=10, ivf_centroids=centres)
    return tmp_path / "r", vectors


def test_a_selective_filter_finds_its_rows_in_far_partitions(grouped, neighbours):
    right, vectors = grouped
    ids, _, _ = neighbours(vectors[:1], right, "-k", 5, "--where", "grp = 9")
    assert len(ids[0]) == 5 and all(1800 <= row < 2000 for row in ids[0])
    flags = ("-k", 5, "--where", "grp = 9", "--nprobes", 1)
    assert neighbours(vectors[:1], right, *flags)[0] == [[]]


def test_a_near_empty_partition_does_not_end_the_search(neighbours, tmp_path):
    centroids = np.array([[0, 0], [10, 0], [0, 10], [10, 10]], np.float32)
    vectors = np.concatenate([np.repeat(centroids[:1], 3, 0), np.repeat(centroids[1:], 300, 0)])
    vectors += normal(len(vectors), 2, 1) * 0.1
    write(tmp_path / "r", vectors)
    centres = vector_array(centroids)
    make_index(tmp_path / "r", ivf_centroids=centres)
    ids, _, _ = neighbours(np.zeros((1, 2)), tmp_path / "r", "-k", 10)
    assert len(ids[0]) == 10
    ids, _, _ = neighbours(np.zeros((1, 2)), tmp_path / "r", "-k", 10, "--nprobes", 1)
    assert sorted(ids[0]) == [0, 1, 2]


def test_the_limit_comes_after_every_predicate(neighbours, tmp_path):
    rows = 1000
    columns = {
        "a": pa.array(np.ones(rows, np.int64)),
        "b": pa.array([i >= 20 for i in range(rows)]),
    }
    vectors = np.arange(rows, dtype=np.float32)[:, None].repeat(4, 1)
    write(tmp_path / "r", vectors, columns=columns)
    lance.dataset(str(tmp_path / "r")).create_scalar_index("a", "BTREE")
    flags = ("-k", 5, "--where", "a = 1 and b = true")
    for more in ((), ("--index", "never")):
        ids, _, _ = neighbours(np.zeros((1, 4)), tmp_path / "r", *flags, *more)
        assert ids == [[20, 21, 22, 23, 24]]


def test_a_filter_is_applied_before_the_search_on_every_path(grouped, neighbours):
    right, vectors = grouped
    for flags in ((), ("--index", "never"), ("--refine-factor", 2)):
        ids, _, _ = neighbours(vectors[:1], right, "-k", 3, "--where", "id = 1999", *flags)
        assert ids == [[1999]]


def test_one_filter_over_segments_a_scalar_index_and_a_batch(neighbours, tmp_path):
    vectors = normal(1000, 8, 1)
    grp = np.arange(1000) % 3
    write(tmp_path / "r", vectors[:600], columns={"grp": pa.array(grp[:600])})
    make_index(tmp_path / "r")
    lance.dataset(str(tmp_path / "r")).create_scalar_index("grp", "BTREE")
    write(tmp_path / "r", vectors[600:], range(600, 1000), "append", {"grp": pa.array(grp[600:])})
    lance.dataset(str(tmp_path / "r")).optimize.optimize_indices(
        num_indices_to_merge=0, index_names=["vec_idx"]
    )
    queries = np.repeat(vectors[:1], 3, axis=0)
    ids, distances, _ = neighbours(queries, tmp_path / "r", "--where", "grp = 1", "--nprobes", 4)
    truth = all_distances(queries, vectors[grp == 1], "l2")
    assert_nearest(ids, distances, truth, np.flatnonzero(grp == 1), 10)
    assert ids[0] == ids[1] == ids[2]


def test_ties_have_one_order(neighbours, tmp_path):
    write(tmp_path / "r", np.ones((40, 4), np.float32), max_rows_per_file=8)
    for threads in (1, 2):
        ids, _, _ = neighbours(np.ones((3, 4)), tmp_path / "r", "-k", 6, threads=threads)
        assert ids == [[0, 1, 2, 3, 4, 5]] * 3


def test_a_query_between_two_centroids_takes_the_lower_partition(neighbours, tmp_path):
    vectors = np.array([[i, i + 15] for i in range(64)], np.float32)
    write(tmp_path / "r", vectors)
    make_index(tmp_path / "r", ivf_centroids=vector_array(np.array([[0, 15], [63, 78]], "f4")),
               num_partitions=2)  # fmt: skip
    border = np.array([[31.5, 46.5]])
    one, _, _ = neighbours(border, tmp_path / "r", "-k", 5, "--nprobes", 1)
    assert all(row <= 31 for row in one[0])
    both, distances, _ = neighbours(border, tmp_path / "r", "-k", 5, "--nprobes", 2)
    assert_nearest(both, distances, all_distances(border, vectors, "l2"), range(64), 5)


def test_cosine_of_zero_vectors(neighbours, tmp_path):
    right = np.array([[0, 0], [1, 0], [0, 1], [-1, 0]], np.float32)
    write(tmp_path / "r", right)
    queries = np.array([[1, 0], [0, 0]], np.float32)
    ids, distances, report = neighbours(queries, tmp_path / "r", "--metric", "cosine")
    assert ids == [[1, 2, 3], []] and distances[0] == [0, 1, 2]
    assert report["skipped_non_finite_rows"] == 1


@pytest.mark.parametrize("index", ["IVF_FLAT", "IVF_PQ", "IVF_SQ", "IVF_RQ"])
@pytest.mark.parametrize("metric", ["l2", "cosine", "dot"])
@pytest.mark.parametrize("where", [None, "id % 2 = 0"])
def test_the_metric_counts_with_and_without_a_filter(index, metric, where, neighbours, tmp_path):
    vectors = normal(1500, 16, 1) * np.linspace(0.5, 3, 1500)[:, None].astype(np.float32)
    write(tmp_path / "r", vectors)
    make_index(tmp_path / "r", index, metric=metric, num_partitions=2)
    flags = ["--nprobes", 2, "--refine-factor", 20, "--index", "require"]
    rows = np.arange(1500)
    if where:
        flags += ["--where", where]
        rows = rows[rows % 2 == 0]
    queries = normal(10, 16, 2)
    ids, _, _ = neighbours(queries, tmp_path / "r", *flags)
    truth = all_distances(queries, vectors[rows], metric)
    best = rows[np.argsort(truth, axis=1)[:, :10]]
    recall = np.mean([len(set(a) & set(b)) / 10 for a, b in zip(ids, best)])
    assert recall >= 0.95


def test_sq_under_dot_with_negative_bounds(neighbours, tmp_path):
    vectors = normal(3000, 32, 1)
    write(tmp_path / "r", vectors)
    make_index(tmp_path / "r", "IVF_SQ", metric="dot", num_partitions=1)
    queries = normal(20, 32, 2)
    ids, _, _ = neighbours(queries, tmp_path / "r", "--index", "require")
    best = np.argsort(all_distances(queries, vectors, "dot"), axis=1)[:, :10]
    assert np.mean([len(set(a) & set(b)) / 10 for a, b in zip(ids, best)]) >= 0.95


@pytest.mark.parametrize("dim", [1024, 1536, 2048, 3072])
def test_rq_sums_of_wide_vectors_do_not_overflow(dim, neighbours, tmp_path):
    vectors = normal(400, dim, 1)
    write(tmp_path / "r", vectors)
    make_index(tmp_path / "r", "IVF_RQ", num_partitions=1)
    queries = normal(5, dim, 2)
    flags = ("--refine-factor", 5, "--index", "require")
    ids, _, _ = neighbours(queries, tmp_path / "r", *flags)
    best = np.argsort(all_distances(queries, vectors, "l2"), axis=1)[:, :10]
    assert np.mean([len(set(a) & set(b)) / 10 for a, b in zip(ids, best)]) >= 0.9


@pytest.mark.parametrize("index", ["IVF_FLAT", "IVF_PQ"])
@pytest.mark.parametrize("element", ["float16", "float64"])
def test_half_and_double_columns_end_in_an_answer(element, index, neighbours, tmp_path):
    vectors = normal(600, 16, 1).astype(element)
    table = pa.table({"id": np.arange(600), "vec": vector_array(vectors)})
    lance.write_dataset(table, str(tmp_path / "r"))
    make_index(tmp_path / "r", index)
    queries = normal(8, 16, 2).astype(element)
    flags = ("--nprobes", 4, "--refine-factor", 60, "--index", "require")
    ids, distances, _ = neighbours(vector_array(queries), tmp_path / "r", *flags)
    assert_nearest(ids, distances, all_distances(queries, vectors, "l2"), range(600), 10)


def test_half_floats_are_summed_in_more(neighbours, tmp_path):
    vectors = (normal(500, 64, 1) * 300).astype(np.float16)
    table = pa.table({"id": np.arange(500), "vec": vector_array(vectors)})
    lance.write_dataset(table, str(tmp_path / "r"))
    queries = (normal(4, 64, 2) * 300).astype(np.float16)
    ids, distances, _ = neighbours(vector_array(queries), tmp_path / "r")
    assert_nearest(ids, distances, all_distances(queries, vectors, "l2"), range(500), 10)
    assert min(map(min, distances)) > 65_504


def test_large_but_close_vectors_are_found(neighbours, tmp_path):
    vectors = (np.full((300, 4), 3e19) * (1 + np.arange(300)[:, None] * 1e-6)).astype(np.float32)
    write(tmp_path / "r", vectors)
    ids, _, _ = neighbours(vectors[[5, 250]], tmp_path / "r", "-k", 1)
    assert ids == [[5], [250]]


def test_float64_keeps_its_digits_far_from_the_origin(neighbours, tmp_path):
    vectors = np.array([[1e9], [1e9 + 1], [1e9 + 2]])
    table = pa.table({"id": np.arange(3), "vec": vector_array(vectors)})
    lance.write_dataset(table, str(tmp_path / "r"))
    ids, distances, _ = neighbours(vector_array(vectors[1:2]), tmp_path / "r", "-k", 1)
    assert (ids, distances) == ([[1]], [[0.0]])


@pytest.mark.parametrize("k", [7, 20, 3000])
def test_more_than_there_is_gives_what_there_is(k, neighbours, tmp_path):
    write(tmp_path / "r", normal(7, 4, 1))
    ids, _, report = neighbours(normal(5, 4, 2), tmp_path / "r", "-k", k)
    assert [sorted(row) for row in ids] == [list(range(7))] * 5
    assert report["short_rows"] == (5 if k > 7 else 0)


def test_k_in_the_thousands(neighbours, tmp_path):
    vectors = normal(5000, 4, 1)
    write(tmp_path / "r", vectors)
    queries = normal(2, 4, 2)
    ids, distances, _ = neighbours(queries, tmp_path / "r", "-k", 3000)
    assert_nearest(ids, distances, all_distances(queries, vectors, "l2"), range(5000), 3000)


def test_a_filter_of_ids_gives_each_once(neighbours, tmp_path):
    write(tmp_path / "r", np.eye(3, dtype=np.float32))
    ids, _, _ = neighbours(np.eye(3)[:1], tmp_path / "r", "-k", 2, "--where", "id in (0, 2)")
    assert ids == [[0, 2]]


def test_one_short_row_does_not_spoil_the_batch(grouped, neighbours):
    right, vectors = grouped
    queries = vectors[[0, 400, 1999]].copy()
    queries[1] = np.nan
    ids, _, _ = neighbours(queries, right, "-k", 4)
    alone = [neighbours(queries[i : i + 1], right, "-k", 4)[0][0] for i in range(3)]
    assert ids == alone and ids[1] == []


def test_unit_vectors_have_cosine_distances_from_0_to_2(neighbours, tmp_path):
    angles = np.arange(8) * np.pi / 4
    vectors = np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)
    write(tmp_path / "r", vectors)
    ids, distances, _ = neighbours(vectors, tmp_path / "r", "-k", 8, "--metric", "cosine")
    assert all(0 <= d <= 2 for row in distances for d in row)
    assert [row[0] for row in ids] == list(range(8))


@pytest.mark.parametrize("flags", [(), ("--nprobes", 4, "--refine-factor", 3)])
def test_k_is_a_prefix_of_a_larger_k(flags, neighbours, tmp_path):
    vectors = np.random.default_rng(3).integers(0, 3, (2000, 8)).astype(np.float32)
    write(tmp_path / "r", vectors)
    if flags:
        make_index(tmp_path / "r")
    queries = vectors[:10] + 0.5
    small = neighbours(queries, tmp_path / "r", "-k", 10, *flags)[0]
    large = neighbours(queries, tmp_path / "r", "-k", 100, *flags)[0]
    assert small == [row[:10] for row in large]


@pytest.mark.parametrize("index", [None, "IVF_FLAT", "IVF_HNSW_FLAT"])
def test_the_lower_bound_comes_before_the_cut(index, neighbours, tmp_path):
    vectors = np.arange(300, dtype=np.float32)[:, None].repeat(4, 1)
    write(tmp_path / "r", vectors)
    if index:
        make_index(tmp_path / "r", index, num_partitions=1)
    flags = ("-k", 5, "--distance-range", "324,1e9")
    ids, distances, _ = neighbours(np.zeros((1, 4)), tmp_path / "r", *flags)
    assert ids == [[9, 10, 11, 12, 13]] and distances[0][0] == 324
    flags = ("--distance-range", "4,16")
    assert neighbours(np.zeros((1, 4)), tmp_path / "r", *flags)[1] == [[4.0]]


def test_results_come_in_left_order_through_row_groups(kinjo, tmp_path):
    vectors = normal(500, 4, 1)
    write(tmp_path / "r", vectors)
    left = pa.table({"key": [f"k{i}" for i in range(90)], "vec": vector_array(vectors[:90][::-1])})
    pq.write_table(left, tmp_path / "l.parquet", row_group_size=7)
    for form in ("parquet", "csv", "jsonl"):
        out = tmp_path / f"o.{form}"
        kinjo("join", "--left", tmp_path / "l.parquet", "--right", tmp_path / "r", "-k", 1,
              "--left-select", "key", "-o", out)  # fmt: skip
        if form == "parquet":
            keys = pq.read_table(out)["key"].to_pylist()
        else:
            keys = re.findall(r"k\d+", out.read_text())
        assert keys == [f"k{i}" for i in range(90)]


@pytest.mark.parametrize("scale", [1e-3, 1e3])
def test_each_row_has_a_norm_of_its_own(scale, neighbours, tmp_path):
    vectors = normal(400, 8, 1)
    write(tmp_path / "r", vectors)
    make_index(tmp_path / "r", metric="cosine")
    queries = normal(6, 8, 2)
    queries[::2] *= scale
    flags = ("--metric", "cosine", "--nprobes", 4)
    batch = neighbours(queries, tmp_path / "r", *flags)[:2]
    alone = [neighbours(queries[i : i + 1], tmp_path / "r", *flags)[:2] for i in range(6)]
    assert batch == ([a[0][0] for a in alone], [a[1][0] for a in alone])


def test_a_batch_picks_the_same_among_ties_as_one_query(neighbours, tmp_path):
    vectors = np.random.default_rng(3).integers(0, 3, (2000, 8)).astype(np.float32)
    write(tmp_path / "r", vectors)
    make_index(tmp_path / "r")
    batch = neighbours(vectors[:12], tmp_path / "r", "--nprobes", 2)[0]
    alone = [
        neighbours(vectors[i : i + 1], tmp_path / "r", "--nprobes", 2)[0][0] for i in range(12)
    ]
    assert batch == alone


def test_equal_left_rows_each_get_their_rows(neighbours, tmp_path):
    vectors = normal(300, 4, 1)
    write(tmp_path / "r", vectors)
    ids, _, _ = neighbours(vectors[[5, 5, 9, 5]], tmp_path / "r", "-k", 3)
    assert ids[0] == ids[1] == ids[3] and ids[0][0] == 5 and ids[2][0] == 9


def test_hard_rows_go_on_alone(grouped, neighbours):
    """One row that needs many partitions must not send the others through them."""
    right, vectors = grouped
    easy = vectors[200:240]
    flags = ("-k", 20, "--where", "grp = 1 or id = 1900", "--minimum-nprobes", 1)
    alone = neighbours(easy, right, *flags)[2]["partitions_probed"]
    mixed = neighbours(np.concatenate([easy, vectors[1900:1901]]), right, *flags)[2]
    assert mixed["partitions_probed"] <= alone + 10
