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
    truth = list_distances([[v] for v in left], right)
    assert_nearest(*plain[:2], truth, range(300), 10, atol=1e-5)


def test_a_list_meets_no_plain_vector(kinjo, tmp_path):
    pq.write_table(pa.table({"v": list_array(random_lists(3, 1))}), tmp_path / "left.parquet")
    plain = pa.array([v[0] for v in random_lists(20, 2)], pa.list_(pa.float32(), DIM))
    lance.write_dataset(pa.table({"w": plain}), str(tmp_path / "right.lance"))
    sides = "--left", tmp_path / "left.parquet", "--right", tmp_path / "right.lance"
    done = kinjo("join", *sides, exit_code=1)
    message = 'left column "v" holds lists of vectors, but right column "w" holds vectors'
    assert message in done.stderr


@pytest.mark.parametrize("metric", ["l2", "dot", "hamming"])
def test_only_cosine_compares_lists(metric, kinjo, tmp_path):
    pq.write_table(pa.table({"v": list_array(random_lists(3, 1))}), tmp_path / "lists.parquet")
    sides = "--left", tmp_path / "lists.parquet", "--right", tmp_path / "lists.parquet"
    done = kinjo("join", *sides, "--metric", metric, exit_code=1)
    assert f'--metric {metric} can\'t compare right column "v"' in done.stderr


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


SUB_VECTORS = {"num_sub_vectors": 8}
INDEXES = {
    "IVF_FLAT": {},
    "IVF_PQ": SUB_VECTORS,
    "IVF_SQ": {},
    "IVF_RQ": {},
    "IVF_HNSW_FLAT": {},
    "IVF_HNSW_PQ": SUB_VECTORS,
    "IVF_HNSW_SQ": {},
}
PARTITIONS = 6


def build(dataset, index):
    options = INDEXES[index] | {"num_partitions": PARTITIONS, "metric": "cosine"}
    dataset.create_index("vec", index, **options)


def write_history(path, index, element="float32"):
    """An index of two deltas, deleted rows in both, and rows that none covers; the live lists.

    Returns (ids, lists).
    """
    lists = odd_lists(random_lists(600, 11, element))
    dataset = write(path, lists[:350], element)
    build(dataset, index)
    rest = pa.table({"id": np.arange(350, 500), "vec": list_array(lists[350:500], element)})
    dataset = lance.write_dataset(rest, str(path), mode="append")
    dataset.optimize.optimize_indices(num_indices_to_merge=0)
    dataset = lance.dataset(str(path))
    dataset.delete("id % 7 = 3")
    rest = pa.table({"id": np.arange(500, 600), "vec": list_array(lists[500:], element)})
    lance.write_dataset(rest, str(path), mode="append")
    ids = [i for i in range(600) if i % 7 != 3 or i >= 500]
    return ids, [lists[i] for i in ids]


@pytest.mark.parametrize("index", INDEXES)
def test_enough_refine_equals_brute_force(index, neighbours, tmp_path):
    right = odd_lists(random_lists(500, 9))
    build(write(tmp_path / "right.lance", right), index)
    left = odd_lists(random_lists(40, 10, most=4))
    # Ten vectors are looked for a row asked for: more than there are.
    flags = ["--nprobes", PARTITIONS, "--refine-factor", 3, "-k", 200]
    ids, distances, report = neighbours(list_array(left), tmp_path / "right.lance", *flags)
    assert (report["path"], report["exact_distances"]) == ("index", True)
    assert (report["skipped_null_rows"], report["skipped_non_finite_rows"]) == (3, 1)
    assert_nearest(ids, distances, list_distances(left, right), range(500), 200, atol=1e-5)


@pytest.mark.parametrize("index", INDEXES)
def test_deltas_deletions_and_unindexed_rows(index, neighbours, tmp_path):
    row_ids, right = write_history(tmp_path / "right.lance", index)
    left = random_lists(40, 12, most=4)
    truth = list_distances(left, right)
    flags = "-k", 200, "--nprobes", PARTITIONS, "--refine-factor", 3
    ids, distances, report = neighbours(list_array(left), tmp_path / "right.lance", *flags)
    # Rows without index are merged with the rest on exact distances.
    assert report["exact_distances"]
    assert report["rows_scanned"] == 100
    assert_nearest(ids, distances, truth, row_ids, 200, atol=1e-5)
    flags += ("--fast-search",)
    ids, distances, _ = neighbours(list_array(left), tmp_path / "right.lance", *flags)
    covered = np.array(row_ids) < 500
    indexed = [row for row, inside in zip(row_ids, covered) if inside]
    assert_nearest(ids, distances, truth[:, covered], indexed, 200, atol=1e-5)


@pytest.mark.parametrize("element", ELEMENTS)
def test_elements_of_an_index(element, neighbours, tmp_path):
    right = odd_lists(random_lists(400, 15, element))
    build(write(tmp_path / "right.lance", right, element), "IVF_FLAT")
    left = random_lists(30, 16, element)
    flags = ["--nprobes", PARTITIONS, "--refine-factor", 3, "-k", 150]
    ids, distances, _ = neighbours(list_array(left, element), tmp_path / "right.lance", *flags)
    assert_nearest(ids, distances, list_distances(left, right), range(400), 150, atol=1e-5)


@pytest.mark.parametrize("flags", [[], ["--refine-factor", 1], ["--nprobes", 1]])
def test_one_row_of_many_near_vectors_does_not_hide_the_others(flags, neighbours, tmp_path):
    random = np.random.default_rng(17)
    centre = random.normal(size=DIM)
    crowd = [(centre + 0.01 * random.normal(size=DIM)).astype(np.float32) for _ in range(500)]
    right = [crowd, *random_lists(200, 18)]
    dataset = write(tmp_path / "right.lance", right)
    dataset.create_index("vec", "IVF_FLAT", num_partitions=1, metric="cosine")
    left = [[centre.astype(np.float32)], [crowd[3], crowd[7]]]
    ids, _, report = neighbours(list_array(left), tmp_path / "right.lance", "-k", 5, *flags)
    assert [len(set(row)) for row in ids] == [5, 5]
    assert [row[0] for row in ids] == [0, 0]
    assert report["capped_rows"] == 0


def pylance_nearest(path, left, k, **options):
    """What Lance gives for each left list, nearest first."""
    dataset = lance.dataset(str(path))
    ids, distances = [], []
    for vectors in left:
        query = {"column": "vec", "q": np.array(vectors), "k": k, "metric": "cosine"}
        columns = ["id", "_distance"]
        found = dataset.to_table(columns=columns, nearest=query | options)
        ids.append(found["id"].to_pylist())
        distances.append(found["_distance"].to_pylist())
    return ids, distances


def assert_same_but_for_ties(ours, theirs, atol):
    for own_ids, own, other_ids, other in zip(*ours[:2], *theirs):
        np.testing.assert_allclose(own, other, rtol=1e-5, atol=atol)
        # Below the last distance the rows are the same.
        clear = [i for i, distance in enumerate(other) if distance < other[-1] - 4 * atol]
        assert set(own_ids[: len(clear)]) <= set(other_ids)


def candidates_of(vectors, right, k, refine):
    """The rows that the search of one list refines, were the index exact and probed whole."""
    rows = np.concatenate([matching(row) for row in right])
    owner = np.repeat(np.arange(len(right)), [len(row) for row in right])
    distances = 1 - matching(vectors) @ rows.T
    estimates = np.zeros(len(right))
    met = np.zeros(len(right), bool)
    for found in distances:
        nearest = np.argsort(found)[: 10 * k]
        best = np.full(len(right), found[nearest[-1]])
        np.minimum.at(best, owner[nearest], found[nearest])
        met[owner[nearest]] = True
        estimates += best
    return np.argsort(np.where(met, estimates, np.inf))[: k * refine]


@pytest.mark.parametrize("where", ["id % 3 = 1", "id < 20", "id IN (3, 4, 8, 590)", "id < 0"])
@pytest.mark.parametrize("index", ["none", "IVF_FLAT", "IVF_PQ", "IVF_HNSW_SQ"])
def test_filters(index, where, neighbours, tmp_path):
    if index == "none":
        right = odd_lists(random_lists(600, 11))
        write(tmp_path / "right.lance", right)
        row_ids = list(range(600))
    else:
        row_ids, right = write_history(tmp_path / "right.lance", index)
    passing = set(
        lance.dataset(str(tmp_path / "right.lance")).to_table(filter=where)["id"].to_pylist()
    )
    left = random_lists(30, 23, most=4)
    truth = list_distances(left, right)[:, [row in passing for row in row_ids]]
    flags = ["--where", where, "-k", 150, "--refine-factor", 4]
    ids, distances, _ = neighbours(list_array(left), tmp_path / "right.lance", *flags)
    kept = [row for row in row_ids if row in passing]
    assert_nearest(ids, distances, truth, kept, 150, atol=1e-5)


@pytest.mark.parametrize("index", INDEXES)
def test_recall_with_refine(index, neighbours, tmp_path):
    right = random_lists(1500, 13)
    build(write(tmp_path / "right.lance", right), index)
    left = random_lists(60, 14)
    truth = list_distances(left, right)
    flags = ["--nprobes", PARTITIONS, "--refine-factor", 4]
    ids, distances, _ = neighbours(list_array(left), tmp_path / "right.lance", *flags)
    best = np.argsort(truth, axis=1)[:, :10].tolist()
    hits = sum(len(set(row) & set(near)) for row, near in zip(ids, best))
    by_definition = [set(candidates_of(vectors, right, 10, 4)) for vectors in left]
    possible = sum(len(found & set(near)) for found, near in zip(by_definition, best))
    assert hits >= 0.95 * possible
    for query, row in enumerate(ids):
        assert len(set(row)) == 10
        assert distances[query] == sorted(distances[query])
        np.testing.assert_allclose(distances[query], truth[query][row], atol=1e-5)


@pytest.mark.parametrize("refine", [None, 2])
@pytest.mark.parametrize("index", ["IVF_FLAT", "IVF_PQ", "IVF_SQ"])
def test_agrees_with_pylance(index, refine, neighbours, tmp_path):
    right = random_lists(1200, 19)
    build(write(tmp_path / "right.lance", right), index)
    left = random_lists(50, 20)
    flags = ["--nprobes", PARTITIONS]
    options = {"nprobes": PARTITIONS}
    if refine is not None:
        flags += ["--refine-factor", refine]
        options["refine_factor"] = refine
    ids, distances, report = neighbours(list_array(left), tmp_path / "right.lance", *flags)
    assert report["exact_distances"] == (refine is not None)
    their_ids, theirs = pylance_nearest(tmp_path / "right.lance", left, 10, **options)
    if index != "IVF_FLAT" and refine is None:
        # Lance sums the doubled cosine distances of quantised vectors.
        theirs = [[distance / 2 for distance in row] for row in theirs]
    assert_same_but_for_ties((ids, distances), (their_ids, theirs), 1e-5)


def test_agrees_with_pylance_without_index(neighbours, tmp_path):
    right = random_lists(600, 21)
    write(tmp_path / "right.lance", right)
    left = random_lists(30, 22)
    ours = neighbours(list_array(left), tmp_path / "right.lance")
    theirs = pylance_nearest(tmp_path / "right.lance", left, 10)
    assert_same_but_for_ties(ours, theirs, 1e-5)


def test_one_code_for_all_vectors_is_mended_by_refine(neighbours, tmp_path):
    """firnflow 53: one sub-vector of PQ codes makes every row tie; the true vectors tell."""
    eye = np.eye(2, dtype=np.float32)
    diagonal = np.full((2, 2), 0.7, np.float32)
    lists = [list(eye), [eye[0], eye[0]], list(diagonal)] + [[eye[0]]] * 300
    vectors = pa.array(lists, pa.list_(pa.list_(pa.float32(), 2)))
    dataset = lance.write_dataset(
        pa.table({"id": np.arange(len(lists)), "vec": vectors}), str(tmp_path / "right.lance")
    )
    dataset.create_index("vec", "IVF_PQ", num_partitions=1, num_sub_vectors=1, metric="cosine")
    left = pa.array([list(eye)], pa.list_(pa.list_(pa.float32(), 2)))
    flags = ["-k", 3, "--refine-factor", 200]
    ids, distances, _ = neighbours(left, tmp_path / "right.lance", *flags)
    assert ids[0] == [0, 2, 1]
    np.testing.assert_allclose(distances[0], [0, 2 - np.sqrt(2), 1], atol=1e-6)


@pytest.mark.parametrize("form", ["lance", "parquet"])
def test_lists_of_vectors_inside_a_struct(form, neighbours, tmp_path):
    right, left = random_lists(300, 1), random_lists(6, 2)
    doc = pa.StructArray.from_arrays([list_array(right)], names=["mv"])
    table = pa.table({"id": np.arange(300), "doc": doc})
    path = tmp_path / f"right.{form}"
    if form == "lance":
        lance.write_dataset(table, str(path))
    else:
        pq.write_table(table, path)
    ids, distances, _ = neighbours(list_array(left), path, "--right-on", "doc.mv")
    assert_nearest(ids, distances, list_distances(left, right), range(300), 10)
