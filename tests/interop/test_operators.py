"""The operators of a nearest search on datasets that pylance writes: the plan of
src/exec/operators/nearest_plan.h, run by the program nearest_plan.

The probes dataset: centroid j = (cos, sin)(2 pi j / 100); row i is centroid i mod 100 moved by up
to 1e-4, its label i mod 61, its userid i; the centroids and a 2 x 8-bit codebook are given; 1 or 20
segments. The query is centroid 0 turned by -1e-4 rad, so that no two partitions are equally far.
"""

import os
import subprocess
from pathlib import Path

import lance
import numpy as np
import pyarrow as pa
import pytest

ROOT = Path(__file__).resolve().parents[2]
CENTROIDS = 100
ROWS = 10_000
K = 50
LABEL = "label = 17"


@pytest.fixture(scope="session")
def nearest_plan(tmp_path_factory):
    """nearest_plan(uri, query, **options) -> (counters, row ids, distances)."""
    cli = os.environ.get("KINJO_CLI")
    build = Path(cli).parent.parent if cli else ROOT / "build" / "release"
    path = build / "tests" / "interop" / "nearest_plan"
    if not path.exists():
        pytest.fail(f"{path} is not built; run ./dev build")
    query_file = tmp_path_factory.mktemp("nearest_plan") / "query.bin"

    def run(uri, query, **options):
        np.asarray(query, dtype=np.float64).tofile(query_file)
        command = [path, uri, query_file, *(f"{name}={value}" for name, value in options.items())]
        done = subprocess.run(command, capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stderr
        lines = done.stdout.splitlines()
        counters = dict(line.split()[1:] for line in lines if line.startswith("#"))
        rows = [line.split(", ") for line in lines if not line.startswith("#")]
        counts = {name: int(count) for name, count in counters.items()}
        return counts, [int(row) for row, _ in rows], np.array([float(d) for _, d in rows])

    return run


def fixed_size_list(values):
    flat = pa.array(np.ascontiguousarray(values, dtype=np.float32).reshape(-1))
    return pa.FixedSizeListArray.from_arrays(flat, values.shape[1])


def unit_circle():
    angles = 2 * np.pi * np.arange(CENTROIDS) / CENTROIDS
    return np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)


@pytest.fixture(scope="session", params=[1, 20], ids=["1 segment", "20 segments"])
def probes(request, tmp_path_factory):
    """(dataset, number of segments) of the probes data."""
    segments = request.param
    path = str(tmp_path_factory.mktemp("probes") / f"{segments}.lance")
    random = np.random.default_rng(4)
    moved = np.tile(unit_circle(), (ROWS // CENTROIDS, 1))
    moved = moved + random.uniform(-1e-4, 1e-4, moved.shape).astype(np.float32)
    table = pa.table(
        {
            "vector": fixed_size_list(moved),
            "label": pa.array(np.arange(ROWS) % 61, pa.uint32()),
            "userid": pa.array(np.arange(ROWS), pa.uint64()),
        }
    )
    rows = ROWS // segments
    for segment in range(segments):
        part = table.slice(segment * rows, rows)
        dataset = lance.write_dataset(part, path, mode="create" if segment == 0 else "append")
        if segment > 0:
            dataset.optimize.optimize_indices(num_indices_to_merge=0)
            continue
        dataset.create_index(
            "vector",
            "IVF_PQ",
            metric="l2",
            num_partitions=CENTROIDS,
            num_sub_vectors=2,
            ivf_centroids=unit_circle(),
            pq_codebook=np.linspace(-1e-4, 1e-4, 256, dtype=np.float32)
            .reshape(1, 256, 1)
            .repeat(2, axis=0),
        )
    return lance.dataset(path), segments


def turned(angle=-1e-4):
    return np.array([np.cos(angle), np.sin(angle)])


def ids_of(dataset, row_ids):
    """The userids of rows."""
    userids = dataset.scanner(columns=["userid"], with_row_id=True).to_table()
    known = dict(zip(userids["_rowid"].to_pylist(), userids["userid"].to_pylist(), strict=True))
    return [known[row_id] for row_id in row_ids]


def search(nearest_plan, probes, **options):
    dataset, _ = probes
    options = {"k": K, "minimum_nprobes": 10, "scores_unreached": 0} | options
    return nearest_plan(dataset.uri, turned(), **options)


def test_without_a_maximum_the_late_search_ends_at_k(nearest_plan, probes):
    counters, row_ids, distances = search(nearest_plan, probes, where=LABEL)
    assert len(row_ids) == K
    assert np.isfinite(distances).all()
    assert 10 * probes[1] < counters["partitions_searched"] < 100 * probes[1]


def test_a_filter_that_nothing_passes(nearest_plan, probes):
    counters, row_ids, _ = search(nearest_plan, probes, where="label = 17 AND label = 18")
    assert row_ids == []
    assert counters["partitions_searched"] == 10 * probes[1]


@pytest.mark.parametrize("maximum, rows", [(10, 16), (20, 32), (30, 48)])
def test_the_maximum_is_a_hard_cap(nearest_plan, probes, maximum, rows):
    counters, row_ids, distances = search(
        nearest_plan, probes, where=LABEL, maximum_nprobes=maximum
    )
    assert len(row_ids) == rows
    assert counters["partitions_searched"] == maximum * probes[1]
    assert counters["partitions_ranked"] == 100 * probes[1]
    dataset, _ = probes
    scanner = dataset.scanner(
        columns=["_distance"],
        nearest={
            "column": "vector",
            "q": turned().astype(np.float32),
            "k": K,
            "minimum_nprobes": 10,
            "maximum_nprobes": maximum,
        },
        filter=LABEL,
        prefilter=True,
        with_row_id=True,
    )
    found = scanner.to_table()
    assert sorted(found["_rowid"].to_pylist()) == sorted(row_ids)
    np.testing.assert_allclose(
        np.sort(distances), np.sort(found["_distance"]), rtol=1e-5, atol=1e-12
    )


def test_rows_that_no_probe_reaches(nearest_plan, probes):
    counters, row_ids, distances = search(nearest_plan, probes, where="userid < 20")
    assert sorted(ids_of(probes[0], row_ids)) == list(range(20))
    assert np.isinf(distances).sum() == 15
    assert counters["partitions_searched"] == 10 * probes[1]
    for option in ({"refine_factor": 1}, {"scores_unreached": 1}):
        _, row_ids, distances = search(nearest_plan, probes, where="userid < 20", **option)
        assert ids_of(probes[0], row_ids) == list(range(20))
        assert np.isfinite(distances).all()


def test_more_than_there_is(nearest_plan, probes):
    counters, row_ids, _ = search(nearest_plan, probes, k=40_000)
    assert len(set(row_ids)) == ROWS
    assert counters["partitions_searched"] == 100 * probes[1]


@pytest.mark.parametrize("maximum, rows", [(10, 17), (20, 33), (30, 49)])
def test_partitions_that_tie_come_by_their_id(nearest_plan, probes, maximum, rows):
    """At centroid 0 partition 5 ties with 95, 10 with 90, 15 with 85: the lower one is in."""
    dataset, _ = probes
    _, row_ids, _ = nearest_plan(
        dataset.uri, turned(0), k=K, minimum_nprobes=10, maximum_nprobes=maximum, where=LABEL
    )
    assert len(row_ids) == rows
    partitions = {userid % CENTROIDS for userid in ids_of(dataset, row_ids)}
    assert maximum // 2 in partitions
    assert CENTROIDS - maximum // 2 not in partitions


def test_flat_search_of_ten_files(nearest_plan, tmp_path):
    random = np.random.default_rng(1)
    vectors = random.normal(size=(400, 128)).astype(np.float32)
    keys = pa.array(np.arange(400), pa.int32())
    table = pa.table({"key": keys, "vector": fixed_size_list(vectors)})
    dataset = lance.write_dataset(table, tmp_path / "flat.lance", max_rows_per_file=40)
    assert len(dataset.get_fragments()) == 10
    _, row_ids, distances = nearest_plan(dataset.uri, vectors[5], k=10, index=0)
    exact = ((vectors.astype(np.float64) - vectors[5]) ** 2).sum(axis=1)
    best = np.argsort(exact, kind="stable")[:10]
    addresses = [(int(row) // 40) << 32 | int(row) % 40 for row in best]
    assert row_ids == addresses
    np.testing.assert_allclose(distances, exact[best], rtol=1e-6)


# Kinds of indexes: what pylance is told, and what a search is told.
KINDS = {
    "IVF_FLAT": {},
    "IVF_PQ": {"num_sub_vectors": 4},
    "IVF_SQ": {},
    "IVF_RQ": {"num_bits": 4},
    "IVF_HNSW_FLAT": {},
    "IVF_HNSW_PQ": {"num_sub_vectors": 4},
    "IVF_HNSW_SQ": {},
}
EF = 400
PARTITIONS = 6


def exact_distances(vectors, query, metric):
    wide = vectors.astype(np.float64)
    if metric == "hamming":
        return np.unpackbits(vectors ^ query.astype(np.uint8), axis=1).sum(axis=1)
    if metric == "l2":
        return ((wide - query) ** 2).sum(axis=1)
    if metric == "cosine":
        wide = wide / np.linalg.norm(wide, axis=1)[:, None]
        query = query / np.linalg.norm(query)
    return 1 - wide @ query


def write_rows(path, vectors, index_type, metric, segments=1):
    """Columns g (row mod 7) and vector, with an index of so many segments over all rows."""
    elements = pa.array(vectors.reshape(-1))
    column = pa.FixedSizeListArray.from_arrays(elements, vectors.shape[1])
    table = pa.table({"g": pa.array(np.arange(len(vectors)) % 7), "vector": column})
    rows = len(vectors) // segments
    for segment in range(segments):
        part = table.slice(segment * rows, rows)
        dataset = lance.write_dataset(part, path, mode="create" if segment == 0 else "append")
        if segment == 0:
            dataset.create_index(
                "vector", index_type, metric=metric, num_partitions=PARTITIONS, **KINDS[index_type]
            )
        else:
            dataset.optimize.optimize_indices(num_indices_to_merge=0)
    return lance.dataset(path)


def bytes_or_floats(random, metric, rows, width):
    if metric == "hamming":
        return random.integers(0, 256, (rows, width), np.uint8)
    return random.normal(size=(rows, width)).astype(np.float32)


CELLS = [(kind, metric) for kind in KINDS for metric in ("l2", "cosine", "dot")]
CELLS += [("IVF_FLAT", "hamming"), ("IVF_HNSW_FLAT", "hamming")]


@pytest.mark.parametrize("index_type, metric", CELLS)
def test_all_partitions_and_a_refine_equal_brute_force(nearest_plan, tmp_path, index_type, metric):
    random = np.random.default_rng(2)
    vectors = bytes_or_floats(random, metric, 1500, 16)
    path = str(tmp_path / "rows.lance")
    write_rows(path, vectors[:1000], index_type, metric)
    table = pa.table(
        {
            "g": pa.array(np.arange(1000, 1500) % 7),
            "vector": pa.FixedSizeListArray.from_arrays(pa.array(vectors[1000:].reshape(-1)), 16),
        }
    )
    lance.write_dataset(table, path, mode="append")  # stays un-indexed
    lance.dataset(path).delete("g = 3")
    query = bytes_or_floats(random, metric, 1, 16)[0].astype(np.float64)
    exact = exact_distances(vectors, query, metric)
    rows = np.arange(1500)
    passing = (rows % 7 != 3) & (rows % 7 < 5)
    best = rows[passing][np.argsort(exact[passing], kind="stable")[:20]]
    _, row_ids, distances = nearest_plan(
        path, query, k=20, minimum_nprobes=PARTITIONS, refine_factor=50, ef=1000, where="g < 5"
    )
    assert row_ids == [int(r) if r < 1000 else 1 << 32 | int(r) - 1000 for r in best]
    np.testing.assert_allclose(distances, exact[best], rtol=1e-5, atol=1e-6)


def cells_and_segments():
    """pylance can't append to a graph over bytes."""
    return [
        (*cell, segments)
        for cell in CELLS
        for segments in (1, 3)
        if cell != ("IVF_HNSW_FLAT", "hamming") or segments == 1
    ]


@pytest.mark.parametrize("index_type, metric, segments", cells_and_segments())
def test_codes_order_rows_as_in_pylance(nearest_plan, tmp_path, index_type, metric, segments):
    """Without a refine, with and without a filter. RQ in pylance looks at the sign bits first and
    may lose a neighbour by it: there the rows that both found have the same distances."""
    more = {"approx_mode": "accurate"} if index_type == "IVF_RQ" else {}
    random = np.random.default_rng(5)
    vectors = bytes_or_floats(random, metric, 1200, 16)
    dataset = write_rows(str(tmp_path / "rows.lance"), vectors, index_type, metric, segments)
    for where in ("", "g < 4"):
        query = bytes_or_floats(random, metric, 1, 16)[0]
        found = dataset.scanner(
            columns=["_distance"],
            nearest={"column": "vector", "q": query, "k": K, "nprobes": PARTITIONS, "ef": EF}
            | more,
            filter=where or None,
            prefilter=True,
            with_row_id=True,
        ).to_table()
        halves = metric == "cosine" and index_type not in ("IVF_FLAT", "IVF_HNSW_FLAT")
        theirs = dict(
            zip(
                found["_rowid"].to_pylist(),
                found["_distance"].to_numpy() / (2 if halves else 1),
                strict=True,
            )
        )
        counters, row_ids, distances = nearest_plan(
            dataset.uri, query.astype(np.float64), k=K, minimum_nprobes=PARTITIONS, ef=EF,
            where=where,
        )  # fmt: skip
        assert counters["partitions_searched"] == counters["partitions_ranked"]
        assert len(set(row_ids)) == K and (np.diff(distances) >= 0).all()
        if index_type == "IVF_RQ":
            common = [i for i, row in enumerate(row_ids) if row in theirs]
            assert len(common) >= 0.9 * K
            expected = [theirs[row_ids[i]] for i in common]
            np.testing.assert_allclose(distances[common], expected, rtol=1e-3, atol=1e-3)
            continue
        np.testing.assert_allclose(distances, sorted(theirs.values()), rtol=1e-5, atol=2e-6)
        nearer = distances < distances[-1] - 1e-4  # than what may tie with the last
        assert {row for row, sure in zip(row_ids, nearer, strict=True) if sure} <= set(theirs)
