"""The golden datasets through the join, against what pylance answered and against brute force."""

import json
from pathlib import Path

import lance
import numpy as np
import pytest

from tests.oracle.brute_force import all_distances, assert_nearest, vector_array

GOLDEN = Path(__file__).resolve().parent.parent / "golden"
SEARCHES = sorted(
    str(path.relative_to(GOLDEN)).removesuffix(".search.json")
    for path in GOLDEN.rglob("*.search.json")
)


@pytest.fixture(params=SEARCHES)
def golden(request):
    """Name, path and recorded searches of a golden dataset."""
    path = GOLDEN / f"{request.param}.lance"
    return request.param, path, json.loads((GOLDEN / f"{request.param}.search.json").read_text())


def rows_of(path):
    table = lance.dataset(str(path)).to_table(columns=["id", "vec"])
    vectors = np.stack(table["vec"].combine_chunks().to_numpy(zero_copy_only=False))
    if vectors.dtype != np.uint8:
        vectors = vectors.astype(np.float64)
    return table["id"].to_pylist(), vectors


def queries_of(name, recorded):
    """The recorded queries in the type that pylance searched with: it rounds them to the column's,
    where a join keeps their digits."""
    element = np.float16 if name.endswith("f16") else np.float32
    if recorded["metric"] == "hamming":
        element = np.uint8
    return np.array(recorded["queries"], element)


def assert_same_answer(ids, distances, want_ids, want, rtol):
    """Equal distances within rtol; equal ids but among distances that rtol can't tell apart."""
    np.testing.assert_allclose(distances, want, rtol=rtol, atol=1e-6)
    for place, (got, expected) in enumerate(zip(ids, want_ids)):
        if got == expected:
            continue
        near = [
            other
            for other, distance in zip(want_ids, want)
            if abs(distance - want[place]) <= 2 * rtol * abs(want[place]) + 1e-6
        ]
        last = abs(want[-1] - want[place]) <= 2 * rtol * abs(want[place]) + 1e-6
        assert got in near or last, f"place {place}: {got}, pylance has {expected}"


def test_same_probes_give_pylances_answer(golden, neighbours):
    name, path, recorded = golden
    queries = queries_of(name, recorded)
    halves = recorded["metric"] == "cosine" and name.startswith("pq")
    for search in recorded["searches"]:
        flags = ["-k", recorded["k"], "--nprobes", search["nprobes"], "--index", "require"]
        if search["refine_factor"] is not None:
            flags += ["--refine-factor", search["refine_factor"]]
        if "ef" in search:
            flags += ["--ef", search["ef"]]
        ids, distances, report = neighbours(vector_array(queries), path, *flags)
        assert report["path"] == "index"
        for query, want_ids in enumerate(search["ids"]):
            want = np.array(search["distances"][query])
            if halves and search["refine_factor"] is None:
                want = want / 2
            assert_same_answer(ids[query], distances[query], want_ids, want, 1e-4)


def test_all_partitions_and_a_full_refine_equal_brute_force(golden, neighbours):
    name, path, recorded = golden
    row_ids, vectors = rows_of(path)
    queries = queries_of(name, recorded)
    truth = all_distances(queries, vectors, recorded["metric"])
    left = vector_array(queries)
    flags = ["--nprobes", 10_000, "--refine-factor", 700, "--index", "require"]
    ids, distances, report = neighbours(left, path, *flags)
    assert report["exact_distances"]
    assert_nearest(ids, distances, truth, row_ids, 10)
    exact_ids, exact_distances, report = neighbours(
        left, path, "--index", "never", "--metric", recorded["metric"]
    )
    assert report["path"] == "exact"
    assert_nearest(exact_ids, exact_distances, truth, row_ids, 10)
    assert (exact_ids, exact_distances) == (ids, distances)


def test_default_probing_fills_every_row(golden, neighbours):
    name, path, recorded = golden
    row_ids, _ = rows_of(path)
    for k in (1, 40, len(row_ids) + 5):
        ids, _, report = neighbours(vector_array(queries_of(name, recorded)), path, "-k", k)
        assert {len(row) for row in ids} == {min(k, len(row_ids))}
        assert all(set(row) <= set(row_ids) for row in ids)
        assert report["short_rows"] == (len(ids) if k > len(row_ids) else 0)
