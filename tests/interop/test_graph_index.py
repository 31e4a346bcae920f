"""HNSW and hamming indexes that pylance writes: the rows that `kinjo join` finds are pylance's own.

A search in a graph depends on every edge it follows, so equal answers say that graphs, distances
and the search itself are read and done as pylance does. Both sides are told the same `ef`.
"""

import lance
import numpy as np
import pyarrow as pa
import pytest

from tests.oracle.brute_force import all_distances, assert_nearest, vector_array

K = 10
ROWS = 2400
PARTITIONS = 4
KINDS = {
    "FLAT": {"index_type": "IVF_HNSW_FLAT"},
    "PQ8": {"index_type": "IVF_HNSW_PQ", "num_sub_vectors": 8},
    "PQ4": {"index_type": "IVF_HNSW_PQ", "num_sub_vectors": 8, "num_bits": 4},
    "SQ": {"index_type": "IVF_HNSW_SQ"},
}


def make_vectors(rows, dim, dtype, seed):
    random = np.random.default_rng(seed)
    if dtype is np.uint8:
        centers = np.random.default_rng(7).integers(0, 256, (20, dim), np.uint8)
        noise = random.integers(0, 256, (rows, dim), np.uint8)
        noise &= random.integers(0, 256, (rows, dim), np.uint8)
        return centers[random.integers(0, 20, rows)] ^ noise
    centers = np.random.default_rng(7).normal(0, 2, (20, dim))
    return (centers[random.integers(0, 20, rows)] + random.normal(0, 1, (rows, dim))).astype(dtype)


def make_dataset(path, vectors, metric, index, deltas=1, deletions=False):
    """A dataset of columns id and vec whose index has so many segments."""
    parts = np.array_split(np.arange(len(vectors)), deltas)
    for number, part in enumerate(parts):
        table = pa.table({"id": pa.array(part, pa.int64()), "vec": vector_array(vectors[part])})
        lance.write_dataset(table, str(path), mode="append" if number else "create")
        dataset = lance.dataset(str(path))
        if number == 0:
            partitions = {"num_partitions": PARTITIONS}
            dataset.create_index("vec", metric=metric, **(partitions | index))
        else:
            dataset.optimize.optimize_indices(num_indices_to_merge=0)
    if deletions:
        lance.dataset(str(path)).delete("id % 7 = 3 OR id BETWEEN 100 AND 180")
    return lance.dataset(str(path))


def nearest(dataset, query, **more):
    """pylance's ids and distances of one query."""
    search = {"column": "vec", "q": query, "k": K} | more
    table = dataset.to_table(columns=["id", "_distance"], nearest=search)
    return table["id"].to_pylist(), table["_distance"].to_numpy().astype(np.float64)


def assert_same_rows(ids, distances, expected_ids, expected_distances, tolerance):
    """Equal distances, and equal sets of ids but for rows that tie with the last one."""
    relative, absolute = tolerance
    np.testing.assert_allclose(distances, expected_distances, rtol=relative, atol=absolute)
    gap = 2 * (relative * abs(expected_distances[-1]) + absolute)
    ours = {i for i, d in zip(ids, distances, strict=True) if d < distances[-1] - gap}
    theirs = {
        i
        for i, d in zip(expected_ids, expected_distances, strict=True)
        if d < expected_distances[-1] - gap
    }
    assert ours <= set(expected_ids) and theirs <= set(ids)


def compare(neighbours, dataset, queries, halves, nprobes, ef, tolerance=(1e-5, 2e-6), **more):
    ids, distances, report = neighbours(
        vector_array(queries), dataset.uri, "-k", K, "--index", "require", "--nprobes", nprobes,
        "--ef", ef, *(word for flag in more.items() for word in flag),
    )  # fmt: skip
    assert report["path"] == "index"
    for query, own_ids, own_distances in zip(queries, ids, distances, strict=True):
        expected_ids, expected = nearest(dataset, query, nprobes=nprobes, ef=ef)
        if halves:
            expected /= 2
        assert_same_rows(own_ids, own_distances, expected_ids, expected, tolerance)


@pytest.mark.parametrize("dtype", [np.float16, np.float32])
@pytest.mark.parametrize("metric", ["l2", "cosine", "dot"])
@pytest.mark.parametrize("kind", KINDS)
def test_same_rows_as_pylance(kind, metric, dtype, neighbours, tmp_path):
    vectors = make_vectors(ROWS, 24, dtype, 1)
    dataset = make_dataset(tmp_path / "d", vectors, metric, KINDS[kind])
    queries = make_vectors(40, 24, dtype, 2)
    halves = metric == "cosine" and kind != "FLAT"  # pylance's cosine of codes is twice 1 - cos
    for nprobes in (1, PARTITIONS):
        for ef in (K, 3 * K, 150):
            compare(neighbours, dataset, queries, halves, nprobes, ef)


@pytest.mark.parametrize("deletions", [False, True], ids=["whole", "deleted"])
@pytest.mark.parametrize("deltas", [1, 3])
@pytest.mark.parametrize("kind", KINDS)
def test_deltas_and_deletions(kind, deltas, deletions, neighbours, tmp_path):
    vectors = make_vectors(ROWS, 24, np.float32, 1)
    dataset = make_dataset(tmp_path / "d", vectors, "l2", KINDS[kind], deltas, deletions)
    queries = make_vectors(40, 24, np.float32, 2)
    for nprobes in (1, PARTITIONS):
        compare(neighbours, dataset, queries, False, nprobes, 40)


# pylance can't append to an IVF_HNSW_FLAT index of uint8.
HAMMING = [("IVF_FLAT", 1), ("IVF_FLAT", 3), ("IVF_HNSW_FLAT", 1)]


@pytest.mark.parametrize("deletions", [False, True], ids=["whole", "deleted"])
@pytest.mark.parametrize("index_type,deltas", HAMMING)
def test_hamming(index_type, deltas, deletions, neighbours, tmp_path):
    vectors = make_vectors(ROWS, 16, np.uint8, 1)
    index = {"index_type": index_type}
    dataset = make_dataset(tmp_path / "d", vectors, "hamming", index, deltas, deletions)
    queries = make_vectors(40, 16, np.uint8, 2)
    for nprobes in (1, 2, PARTITIONS):
        if index_type == "IVF_FLAT":
            compare(neighbours, dataset, queries, False, nprobes, 60, (0, 0))
        else:
            compare_walks(neighbours, dataset, queries, nprobes)


def compare_walks(neighbours, dataset, queries, nprobes):
    """Of whole numbers many tie, and how a walk goes on between ties is nobody's promise: a narrow
    beam is held to the sum of the distances, and only one that takes all rows to each of them."""
    for ef in (60, ROWS):
        _, distances, _ = neighbours(
            vector_array(queries), dataset.uri, "-k", K, "--index", "require",
            "--nprobes", nprobes, "--ef", ef,
        )  # fmt: skip
        expected = [nearest(dataset, query, nprobes=nprobes, ef=ef)[1] for query in queries]
        assert np.sum(distances) == pytest.approx(np.sum(expected), rel=0.005)
        if ef == ROWS:
            # Rows that no edge leads to are found by us and not by pylance.
            assert (np.array(distances) <= np.array(expected)).all()


@pytest.mark.parametrize("metric", ["l2", "cosine", "dot", "hamming"])
@pytest.mark.parametrize("kind", KINDS)
def test_all_partitions_and_a_refine_are_brute_force(kind, metric, neighbours, tmp_path):
    if metric == "hamming" and kind != "FLAT":
        pytest.skip("pylance indexes uint8 vectors by FLAT only")
    dtype = np.uint8 if metric == "hamming" else np.float32
    vectors = make_vectors(ROWS, 24, dtype, 1)
    deltas = 1 if metric == "hamming" else 2
    dataset = make_dataset(tmp_path / "d", vectors, metric, KINDS[kind], deltas, True)
    live = dataset.to_table(columns=["id"])["id"].to_numpy()
    queries = make_vectors(30, 24, dtype, 2)
    ids, distances, report = neighbours(
        vector_array(queries), dataset.uri, "-k", K, "--index", "require",
        "--nprobes", PARTITIONS, "--refine-factor", 60,
    )  # fmt: skip
    assert report["exact_distances"]
    truth = all_distances(queries, vectors[live], metric)
    assert_nearest(ids, distances, truth, live.tolist(), K)


@pytest.mark.parametrize("kind", KINDS)
def test_k_is_a_prefix_and_batches_change_nothing(kind, neighbours, tmp_path):
    """With the same ef and partitions, whatever the threads, and for each query alone."""
    vectors = make_vectors(ROWS, 24, np.float32, 1)
    dataset = make_dataset(tmp_path / "d", vectors, "l2", KINDS[kind], 2, True)
    queries = make_vectors(30, 24, np.float32, 2)
    flags = ["--nprobes", 2, "--ef", 40, "--index", "require"]
    ids, distances, _ = neighbours(vector_array(queries), dataset.uri, "-k", 40, *flags)
    assert {len(row) for row in ids} == {40}
    for k in (1, 7, 25):
        head = neighbours(vector_array(queries), dataset.uri, "-k", k, *flags)
        assert head[:2] == ([row[:k] for row in ids], [row[:k] for row in distances])
    for threads in (1, 5):
        again = neighbours(
            vector_array(queries), dataset.uri, "-k", 40, *flags, threads=threads
        )
        assert again[:2] == (ids, distances)
    for i in range(0, 30, 7):
        alone = neighbours(vector_array(queries[i : i + 1]), dataset.uri, "-k", 40, *flags)
        assert alone[:2] == (ids[i : i + 1], distances[i : i + 1])


@pytest.mark.parametrize("kind", KINDS)
def test_distance_range_bounds_the_beam(kind, neighbours, tmp_path):
    vectors = make_vectors(ROWS, 24, np.float32, 1)
    dataset = make_dataset(tmp_path / "d", vectors, "l2", KINDS[kind])
    for query in make_vectors(10, 24, np.float32, 2):
        near = nearest(dataset, query, nprobes=PARTITIONS, ef=200, k=200)[1]
        lower, upper = float(near[20]) + 1e-3, float(near[150]) + 1e-3
        ids, distances, _ = neighbours(
            vector_array(query[None]), dataset.uri, "-k", K, "--index", "require",
            "--nprobes", PARTITIONS, "--ef", 30, "--distance-range", f"{lower!r},{upper!r}",
        )  # fmt: skip
        expected = nearest(
            dataset, query, nprobes=PARTITIONS, ef=30, distance_range=(lower, upper)
        )
        assert_same_rows(ids[0], distances[0], *expected, (1e-5, 2e-6))


def test_distance_range_passes_over_a_heap_of_nearer_rows(neighbours, tmp_path):
    """More rows than the beam holds lie just below the range."""
    query = make_vectors(1, 16, np.float32, 2)
    noise = np.random.default_rng(3).normal(0, 0.3, (1600, 16)).astype(np.float32)
    vectors = np.vstack([np.repeat(query, 400, axis=0), query + noise])
    index = KINDS["FLAT"] | {"num_partitions": 1}
    dataset = make_dataset(tmp_path / "d", vectors, "cosine", index)
    ids, distances, _ = neighbours(
        vector_array(query), dataset.uri, "-k", K, "--index", "require",
        "--distance-range", "0.000001,",
    )  # fmt: skip
    assert len(ids[0]) == K
    assert min(ids[0]) >= 400 and min(distances[0]) >= 1e-6


def test_distance_range_of_long_vectors(neighbours, tmp_path):
    """Products near 0 of vectors so long that float32 sums keep no digit of them."""
    random = np.random.default_rng(2)
    query = (random.normal(0, 2000, (1, 64))).astype(np.float32)
    unit = query[0].astype(np.float64) / np.linalg.norm(query[0].astype(np.float64))
    vectors = random.normal(0, 2000, (3000, 64))
    vectors = (vectors - np.outer(vectors @ unit, unit)).astype(np.float32)
    truth = all_distances(query, vectors, "dot")[0]
    lower, upper = (float(np.float32(end)) for end in np.quantile(truth, [0.45, 0.47]))
    index = KINDS["FLAT"] | {"num_partitions": 1}
    dataset = make_dataset(tmp_path / "d", vectors, "dot", index)
    ids, _, _ = neighbours(
        vector_array(query), dataset.uri, "-k", 200, "--index", "require",
        "--distance-range", f"{lower!r},{upper!r}",
    )  # fmt: skip
    reported = truth.astype(np.float32)
    within = np.flatnonzero((reported >= lower) & (reported < upper))
    assert len(within) > 20
    assert set(ids[0]) == set(within.tolist())


@pytest.mark.parametrize("passing", ["id % 3 = 0", "id % 4 != 1 AND id > 300", "id < 90"])
@pytest.mark.parametrize("kind", KINDS)
def test_filters_before_the_beam(kind, passing, neighbours, tmp_path):
    """Rows that don't pass are walked over; when few pass, all those are scored."""
    vectors = make_vectors(ROWS, 24, np.float32, 1)
    dataset = make_dataset(tmp_path / "d", vectors, "l2", KINDS[kind])
    queries = make_vectors(25, 24, np.float32, 2)
    ids, distances, _ = neighbours(
        vector_array(queries), dataset.uri, "-k", K, "--index", "require", "--where", passing,
        "--nprobes", PARTITIONS, "--ef", 30,
    )  # fmt: skip
    for query, own_ids, own_distances in zip(queries, ids, distances, strict=True):
        search = {"column": "vec", "q": query, "k": K, "nprobes": PARTITIONS, "ef": 30}
        table = dataset.to_table(
            columns=["id", "_distance"], nearest=search, filter=passing, prefilter=True
        )
        expected = table["id"].to_pylist(), table["_distance"].to_numpy().astype(np.float64)
        assert_same_rows(own_ids, own_distances, *expected, (1e-5, 2e-6))


def test_every_eligible_row_comes_when_all_partitions_are_visited(neighbours, tmp_path):
    """Also rows that no edge of a graph leads to, and however few a filter passes."""
    vectors = make_vectors(900, 8, np.float32, 1)
    vectors[::3] = vectors[0]  # heaps of equal rows make islands
    dataset = make_dataset(tmp_path / "d", vectors, "l2", KINDS["FLAT"], 1, True)
    live = dataset.count_rows()
    queries = make_vectors(5, 8, np.float32, 2)
    ids, _, report = neighbours(
        vector_array(queries), dataset.uri, "-k", 2000, "--index", "require"
    )
    assert {len(set(row)) for row in ids} == {len(row) for row in ids} == {live}
    assert report["short_rows"] == 5


def test_ef_below_k_is_refused(kinjo, tmp_path):
    vectors = make_vectors(300, 8, np.float32, 1)
    dataset = make_dataset(tmp_path / "d", vectors, "l2", KINDS["FLAT"])
    done = kinjo(
        "search", dataset.uri, "--query", "[0, 0, 0, 0, 0, 0, 0, 0]", "-k", 10,
        "--refine-factor", 3, "--ef", 29, exit_code=2,
    )  # fmt: skip
    assert "ef" in done.stderr and "30" in done.stderr
