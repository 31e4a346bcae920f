"""Faults that users of vector databases reported about indexes that aren't fresh: updates, deletes,
compaction, several segments, rows appended since. Each test stands for the kind of its symptom.
"""

import lance
import numpy as np
import pyarrow as pa
import pytest

from tests.oracle.brute_force import all_distances, assert_nearest, vector_array
from tests.oracle.recipes import clusters, normal, write


def everything(neighbours, right, dim, k=3000, flags=()):
    """All ids of an index, in one answer."""
    ids, _, _ = neighbours(np.zeros((1, dim)), right, "-k", k, "--index", "require", *flags)
    return ids[0]


def test_a_row_whose_vector_was_replaced_is_found_once_and_new(neighbours, tmp_path):
    vectors = normal(1000, 16, 1)
    dataset = write(tmp_path / "r", vectors)
    write(tmp_path / "r", normal(1, 16, 2), ids=[1000], mode="append")
    dataset = lance.dataset(str(tmp_path / "r"))
    dataset.create_index("vec", "IVF_PQ", num_partitions=1, num_sub_vectors=4)
    far = vector_array(np.full((1, 16), 9, np.float32))
    dataset.merge_insert("id").when_matched_update_all().execute(
        pa.table({"id": pa.array([1000], pa.int64()), "vec": far})
    )
    lance.dataset(str(tmp_path / "r")).optimize.optimize_indices(num_indices_to_merge=1)
    ids = everything(neighbours, tmp_path / "r", 16)
    assert sorted(ids) == list(range(1001))
    new = np.full((1, 16), 9)
    ids, distances, _ = neighbours(new, tmp_path / "r", "-k", 1, "--refine-factor", 1)
    assert (ids, distances) == ([[1000]], [[0.0]])


def test_optimizing_a_fresh_index_doubles_nothing(neighbours, tmp_path):
    dataset = write(tmp_path / "r", normal(1000, 16, 1))
    dataset.create_index("vec", "IVF_PQ", num_partitions=2, num_sub_vectors=4)
    dataset.optimize.optimize_indices()
    dataset.optimize.optimize_indices(num_indices_to_merge=0)
    ids, _, _ = neighbours(normal(1, 16, 3), tmp_path / "r", "-k", 50)
    assert len(set(ids[0])) == 50


def test_row_address_0_is_an_address(neighbours, tmp_path):
    vectors = normal(600, 8, 1)
    vectors[0] = 50
    dataset = write(tmp_path / "r", vectors)
    dataset.create_index("vec", "IVF_FLAT", num_partitions=4)
    dataset.delete("id > 0 and id < 100")
    query = np.full((1, 8), 50)
    for flags in ((), ("--index", "never")):
        ids, distances, _ = neighbours(query, tmp_path / "r", "-k", 1, *flags)
        assert (ids, distances) == ([[0]], [[0.0]])
    lance.dataset(str(tmp_path / "r")).optimize.compact_files()
    assert neighbours(query, tmp_path / "r", "-k", 1)[0] == [[0]]


def test_stable_row_ids_are_no_addresses(neighbours, tmp_path):
    write(tmp_path / "r", normal(1200, 8, 1), enable_stable_row_ids=True, max_rows_per_file=300)
    dataset = lance.dataset(str(tmp_path / "r"))
    dataset.create_index("vec", "IVF_PQ", num_partitions=4, num_sub_vectors=4)
    dataset.update({"id": "5000"}, where="id = 7")
    dataset.delete("id >= 100 and id < 300")
    dataset.optimize.compact_files(target_rows_per_fragment=10_000)
    live = [row for row in range(1200) if row != 7 and not 100 <= row < 300] + [5000]
    ids, _, _ = neighbours(np.zeros((1, 8)), tmp_path / "r", "-k", 3000)
    assert sorted(ids[0]) == live


def test_deletions_belong_to_the_version_that_is_read(neighbours, tmp_path):
    dataset = write(tmp_path / "r", normal(800, 8, 1))
    dataset.create_index("vec", "IVF_FLAT", num_partitions=4)
    before = dataset.version
    dataset.delete("id % 4 = 1")
    after = set(everything(neighbours, tmp_path / "r", 8))
    old = set(everything(neighbours, tmp_path / "r", 8, flags=("--right-version", before)))
    assert old - after == set(range(1, 800, 4))
    assert after < old


def test_losing_a_fragment_costs_nothing(neighbours, tmp_path):
    """Counted in partitions and scanned rows: a deleted fragment must not send us to a scan."""
    write(tmp_path / "r", normal(1500, 8, 1), max_rows_per_file=500)
    dataset = lance.dataset(str(tmp_path / "r"))
    dataset.create_index("vec", "IVF_FLAT", num_partitions=8)
    queries = normal(20, 8, 2)
    _, _, whole = neighbours(queries, tmp_path / "r", "--nprobes", 2)
    dataset.delete("id >= 500 and id < 1000")
    _, _, less = neighbours(queries, tmp_path / "r", "--nprobes", 2)
    assert less["path"] == whole["path"] == "index"
    assert less["partitions_read"] <= whole["partitions_read"]
    assert less["rows_scanned"] == 0
    assert less["bytes_read"] <= 1.1 * whole["bytes_read"]


def test_every_segment_answers_beside_rows_appended_since(neighbours, tmp_path):
    vectors = clusters(5, 300, 8, 1)
    write(tmp_path / "r", vectors[:600])
    lance.dataset(str(tmp_path / "r")).create_index("vec", "IVF_FLAT", num_partitions=4)
    for begin in (600, 900):
        write(tmp_path / "r", vectors[begin : begin + 300], range(begin, begin + 300), "append")
        lance.dataset(str(tmp_path / "r")).optimize.optimize_indices(num_indices_to_merge=0)
    write(tmp_path / "r", vectors[1200:], range(1200, 1500), "append")
    probes = [3, 700, 1000, 1300]
    ids, distances, _ = neighbours(vectors[probes], tmp_path / "r", "-k", 1)
    assert (ids, distances) == ([[p] for p in probes], [[0.0]] * 4)


def test_fast_search_leaves_out_what_no_index_covers(neighbours, tmp_path):
    dataset = write(tmp_path / "r", normal(1000, 8, 1))
    dataset.create_index("vec", "IVF_FLAT", num_partitions=4)
    write(tmp_path / "r", normal(1000, 8, 2) * 0.01, range(1000, 2000), "append")
    query = np.zeros((1, 8))
    ids, _, report = neighbours(query, tmp_path / "r")
    assert min(ids[0]) >= 1000 and report["rows_scanned"] == 1000
    ids, _, report = neighbours(query, tmp_path / "r", "--fast-search")
    assert max(ids[0]) < 1000 and report["rows_scanned"] == 0


def test_k_counts_for_a_left_row_and_not_for_a_fragment(neighbours, tmp_path):
    write(tmp_path / "r", normal(400, 8, 1), max_rows_per_file=100)
    for flags in ((), ("--index", "never")):
        ids, _, _ = neighbours(normal(6, 8, 2), tmp_path / "r", "-k", 3, *flags)
        assert [len(row) for row in ids] == [3] * 6
    lance.dataset(str(tmp_path / "r")).create_index("vec", "IVF_FLAT", num_partitions=2)
    ids, _, _ = neighbours(normal(6, 8, 2), tmp_path / "r", "-k", 3)
    assert [len(row) for row in ids] == [3] * 6


def test_an_index_of_the_metric_is_found_among_several(neighbours, tmp_path):
    vectors = clusters(4, 200, 8, 1)
    dataset = write(tmp_path / "r", vectors)
    dataset.create_index("vec", "IVF_FLAT", metric="l2", num_partitions=2, name="by_l2")
    dataset.create_index("vec", "IVF_FLAT", metric="cosine", num_partitions=2, name="by_cosine")
    for metric in ("cosine", "l2"):
        flags = ("--metric", metric, "--nprobes", 2)
        ids, distances, report = neighbours(vectors[:5], tmp_path / "r", *flags)
        assert report["index_name"] == f"by_{metric}"
        truth = all_distances(vectors[:5], vectors, metric)
        assert_nearest(ids, distances, truth, range(800), 10)


@pytest.mark.parametrize("rows", [1, 100, 255, 256])
@pytest.mark.parametrize("index", ["IVF_FLAT", "IVF_PQ", "IVF_SQ", "IVF_RQ", "IVF_HNSW_SQ"])
def test_a_small_index_gives_all_its_rows(index, rows, neighbours, tmp_path):
    dataset = write(tmp_path / "r", normal(rows, 16, 1))
    extra = {"num_sub_vectors": 4} if index == "IVF_PQ" else {}
    dataset.create_index("vec", index, num_partitions=1, **extra)
    ids, _, _ = neighbours(normal(3, 16, 2), tmp_path / "r", "-k", 300)
    assert [sorted(row) for row in ids] == [list(range(rows))] * 3


def test_near_duplicates_fill_few_of_many_partitions(neighbours, tmp_path):
    vectors = np.repeat(normal(3, 8, 1), 200, axis=0)
    dataset = write(tmp_path / "r", vectors)
    dataset.create_index("vec", "IVF_FLAT", num_partitions=16)
    assert sorted(everything(neighbours, tmp_path / "r", 8)) == list(range(600))
    ids, _, _ = neighbours(np.zeros((1, 8)), tmp_path / "r", "-k", 700)
    assert sorted(ids[0]) == list(range(600))


def test_a_segment_of_nothing_but_nan(neighbours, tmp_path):
    vectors = normal(600, 8, 1)
    dataset = write(tmp_path / "r", vectors)
    dataset.create_index("vec", "IVF_FLAT", num_partitions=4)
    nan = np.full((50, 8), np.nan, np.float32)
    write(tmp_path / "r", nan, range(600, 650), "append")
    lance.dataset(str(tmp_path / "r")).optimize.optimize_indices(num_indices_to_merge=0)
    ids, _, _ = neighbours(vectors[:2], tmp_path / "r", "-k", 1000)
    assert [sorted(row) for row in ids] == [list(range(600))] * 2


@pytest.mark.parametrize("metric", ["l2", "cosine", "dot"])
def test_seventy_percent_null(metric, neighbours, tmp_path):
    vectors = normal(1000, 8, 1)
    values = [None if i % 10 < 7 else row for i, row in enumerate(vectors.tolist())]
    table = pa.table(
        {"id": np.arange(1000), "vec": pa.array(values, pa.list_(pa.float32(), 8))}
    )
    dataset = lance.write_dataset(table, str(tmp_path / "r"))
    dataset.create_index("vec", "IVF_PQ", metric=metric, num_partitions=2, num_sub_vectors=4)
    ids, _, _ = neighbours(vectors[:2], tmp_path / "r", "-k", 1000)
    assert [sorted(row) for row in ids] == [[i for i in range(1000) if i % 10 >= 7]] * 2
