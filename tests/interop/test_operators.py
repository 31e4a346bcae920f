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


@pytest.mark.parametrize("metric", ["l2", "cosine", "dot"])
@pytest.mark.parametrize("index_type", ["IVF_FLAT", "IVF_PQ"])
def test_all_partitions_and_a_refine_equal_brute_force(nearest_plan, tmp_path, index_type, metric):
    random = np.random.default_rng(2)
    vectors = random.normal(size=(1500, 16)).astype(np.float32)
    table = pa.table({"g": pa.array(np.arange(1500) % 7), "vector": fixed_size_list(vectors)})
    path = str(tmp_path / "rows.lance")
    dataset = lance.write_dataset(table.slice(0, 1000), path)
    options = {"num_sub_vectors": 4} if index_type == "IVF_PQ" else {}
    dataset.create_index("vector", index_type, metric=metric, num_partitions=6, **options)
    lance.write_dataset(table.slice(1000), path, mode="append")  # stays un-indexed
    lance.dataset(path).delete("g = 3")
    query = random.normal(size=16).astype(np.float32).astype(np.float64)
    dot = vectors.astype(np.float64) @ query
    exact = {
        "l2": ((vectors - query) ** 2).sum(axis=1),
        "dot": 1 - dot,
        "cosine": 1 - dot / np.linalg.norm(vectors.astype(np.float64), axis=1)
        / np.linalg.norm(query),
    }[metric]
    rows = np.arange(1500)
    passing = (rows % 7 != 3) & (rows % 7 < 5)
    best = rows[passing][np.argsort(exact[passing], kind="stable")[:20]]
    _, row_ids, distances = nearest_plan(
        path, query, k=20, minimum_nprobes=6, refine_factor=50, where="g < 5"
    )
    assert row_ids == [int(r) if r < 1000 else 1 << 32 | int(r) - 1000 for r in best]
    np.testing.assert_allclose(distances, exact[best], rtol=1e-5, atol=1e-6)
