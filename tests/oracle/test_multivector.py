"""Multivector columns (lists of vectors): both paths against brute force in float64, and pylance.

The distance of a left list to a right one is the sum over the left vectors of 1 - the greatest
cosine with a right vector. Vectors that are null, zero or not finite are passed over.
"""

import lance
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.oracle.brute_force import assert_nearest

DIM = 16
ELEMENTS = {"float16": pa.float16(), "float32": pa.float32(), "float64": pa.float64()}


def random_lists(rows, seed, element="float32", most=5, clusters=30):
    """Lists of one to `most` vectors around the same centres for every seed."""
    centres = np.random.default_rng(5).normal(size=(clusters, DIM)) * 2
    random = np.random.default_rng(seed)
    lists = []
    for _ in range(rows):
        count = random.integers(1, most + 1)
        near = centres[random.integers(clusters, size=count)] + random.normal(size=(count, DIM))
        lists.append(list(near.astype(element)))
    return lists


def list_array(lists, element="float32", fixed=True):
    """A multivector array; None is a null list or vector."""
    inner = pa.list_(ELEMENTS[element], DIM) if fixed else pa.list_(ELEMENTS[element])
    return pa.array(lists, pa.list_(inner))


def matching(vectors):
    """The unit vectors of a list that can match, in float64; no row when there is none."""
    rows = np.array([v for v in vectors or [] if v is not None], np.float64).reshape(-1, DIM)
    rows = rows[np.isfinite(rows).all(axis=1)]
    rows = rows[(rows != 0).any(axis=1)]
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def list_distances(left, right):
    """[left, right] distances in float64; NaN where a pair can't match."""
    rights = [matching(vectors) for vectors in right]
    out = np.full((len(left), len(right)), np.nan)
    for i, vectors in enumerate(left):
        queries = matching(vectors)
        for j, rows in enumerate(rights):
            if len(queries) and len(rows):
                out[i, j] = (1 - (queries @ rows.T).max(axis=1)).sum()
    return out


def odd_lists(lists):
    """The same with lists and vectors that can't match, in rows 3 to 9."""
    lists = [list(vectors) for vectors in lists]
    zero, bad = np.zeros(DIM, lists[0][0].dtype), np.full(DIM, np.nan, lists[0][0].dtype)
    infinite = lists[0][0].copy()
    infinite[2] = np.inf
    lists[3] = None
    lists[4] = []
    lists[5] = [bad, zero]
    lists[6] = [zero, lists[6][0], bad]
    lists[7] = [None]
    lists[8] = [None, lists[8][0], infinite]
    lists[9] = [infinite, lists[9][0], lists[9][0]]
    return lists


def write(path, lists, element="float32", **options):
    table = pa.table({"id": np.arange(len(lists)), "vec": list_array(lists, element)})
    return lance.write_dataset(table, str(path), **options)


@pytest.fixture(params=["lance", "parquet", "plain parquet"])
def right_side(request, tmp_path):
    """right_side(lists, element) writes the right side and returns its path."""

    def make(lists, element):
        if request.param == "lance":
            write(tmp_path / "right.lance", lists, element)
            return tmp_path / "right.lance"
        array = list_array(lists, element, fixed=request.param == "parquet")
        table = pa.table({"id": np.arange(len(lists)), "vec": array})
        pq.write_table(table, tmp_path / "right.parquet", row_group_size=150)
        return tmp_path / "right.parquet"

    return make


@pytest.mark.parametrize("element", ELEMENTS)
def test_exact_path(element, right_side, neighbours):
    right = odd_lists(random_lists(700, 1, element))
    left = odd_lists(random_lists(60, 2, element, most=7))
    path = right_side(right, element)
    ids, distances, report = neighbours(list_array(left, element), path, "--metric", "cosine")
    assert report["path"] == "exact"
    assert report["exact_distances"]
    assert (report["skipped_null_rows"], report["skipped_non_finite_rows"]) == (3, 1)
    assert_nearest(ids, distances, list_distances(left, right), range(700), 10, atol=1e-5)


def test_more_rows_asked_for_than_there_are(right_side, neighbours):
    right = odd_lists(random_lists(40, 3))
    left = random_lists(5, 4)
    ids, distances, _ = neighbours(list_array(left), right_side(right, "float32"), "-k", 100)
    assert [len(row) for row in ids] == [36] * 5
    assert_nearest(ids, distances, list_distances(left, right), range(40), 100, atol=1e-5)


def test_one_vector_is_a_list_of_one(neighbours, tmp_path):
    right = odd_lists(random_lists(300, 5))
    left = [vectors[0] for vectors in random_lists(30, 6)]
    write(tmp_path / "right.lance", right)
    plain = neighbours(np.array(left), tmp_path / "right.lance")
    lists = neighbours(list_array([[v] for v in left]), tmp_path / "right.lance")
    assert plain[:2] == lists[:2]
    assert_nearest(*plain[:2], list_distances([[v] for v in left], right), range(300), 10, atol=1e-5)


def test_a_list_meets_no_plain_vector(kinjo, tmp_path):
    pq.write_table(pa.table({"v": list_array(random_lists(3, 1))}), tmp_path / "left.parquet")
    plain = pa.array([v[0] for v in random_lists(20, 2)], pa.list_(pa.float32(), DIM))
    lance.write_dataset(pa.table({"w": plain}), str(tmp_path / "right.lance"))
    sides = "--left", tmp_path / "left.parquet", "--right", tmp_path / "right.lance"
    done = kinjo("join", *sides, exit_code=1)
    assert 'left column "v" holds lists of vectors, but right column "w" holds vectors' in done.stderr


@pytest.mark.parametrize("metric", ["l2", "dot", "hamming"])
def test_only_cosine_compares_lists(metric, kinjo, tmp_path):
    pq.write_table(pa.table({"v": list_array(random_lists(3, 1))}), tmp_path / "lists.parquet")
    sides = "--left", tmp_path / "lists.parquet", "--right", tmp_path / "lists.parquet"
    done = kinjo("join", *sides, "--metric", metric, exit_code=1)
    assert f'metric = {metric} can\'t compare right column "v"' in done.stderr


def test_a_vector_of_another_width_is_named(kinjo, tmp_path):
    right = pa.table({"v": list_array(random_lists(3, 1))})
    left = pa.table({"v": pa.array([[[1.0] * DIM], [[2.0] * DIM, [3.0] * (DIM - 1)]])})
    pq.write_table(left, tmp_path / "left.parquet")
    pq.write_table(right, tmp_path / "right.parquet")
    sides = "--left", tmp_path / "left.parquet", "--right", tmp_path / "right.parquet"
    done = kinjo("join", *sides, exit_code=1)
    assert f'left column "v": vector 1 of row 1 has {DIM - 1} elements' in done.stderr


@pytest.mark.parametrize("flags", [["--index", "never"], [], ["--refine-factor", 2]])
def test_threads_and_blocks_change_no_byte(flags, neighbours, tmp_path):
    right = odd_lists(random_lists(900, 7))
    dataset = write(tmp_path / "right.lance", right)
    dataset.create_index("vec", "IVF_FLAT", num_partitions=12, metric="cosine")
    left = list_array(odd_lists(random_lists(70, 8)))
    one = neighbours(left, tmp_path / "right.lance", *flags, threads=1)
    for more in ([], ["--memory-limit", "60MB"]):
        assert neighbours(left, tmp_path / "right.lance", *flags, *more, threads=3)[:2] == one[:2]
