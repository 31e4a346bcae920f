"""The golden datasets through the join, against what pylance answered and against brute force."""

import json
from pathlib import Path

import lance
import numpy as np
import pytest

from tests.oracle.brute_force import all_distances, assert_nearest

GOLDEN = Path(__file__).resolve().parent.parent / "golden"
SEARCHES = sorted(path.name.removesuffix(".search.json") for path in GOLDEN.glob("*.search.json"))


@pytest.fixture(params=SEARCHES)
def golden(request):
    """Name, path and recorded searches of a golden dataset."""
    path = GOLDEN / f"{request.param}.lance"
    return request.param, path, json.loads((GOLDEN / f"{request.param}.search.json").read_text())


def rows_of(path):
    table = lance.dataset(str(path)).to_table(columns=["id", "vec"])
    vectors = np.stack(table["vec"].combine_chunks().to_numpy(zero_copy_only=False))
    return table["id"].to_pylist(), vectors.astype(np.float64)


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
    # pylance rounds queries to the column's type, where a join keeps their digits.
    element = np.float16 if name.endswith("f16") else np.float32
    queries = np.array(recorded["queries"], element)
    halves = recorded["metric"] == "cosine" and name.startswith("pq")
    for search in recorded["searches"]:
        flags = ["-k", recorded["k"], "--nprobes", search["nprobes"], "--index", "require"]
        if search["refine_factor"] is not None:
            flags += ["--refine-factor", search["refine_factor"]]
        ids, distances, report = neighbours(queries, path, *flags)
        assert report["path"] == "index"
        for query, want_ids in enumerate(search["ids"]):
            want = np.array(search["distances"][query])
            if halves and search["refine_factor"] is None:
                want = want / 2
            assert_same_answer(ids[query], distances[query], want_ids, want, 1e-4)


def test_all_partitions_and_a_full_refine_equal_brute_force(golden, neighbours):
    _, path, recorded = golden
    row_ids, vectors = rows_of(path)
    queries = np.array(recorded["queries"], np.float32)
    truth = all_distances(queries, vectors, recorded["metric"])
    flags = ["--nprobes", 10_000, "--refine-factor", 700, "--index", "require"]
    ids, distances, report = neighbours(queries, path, *flags)
    assert report["exact_distances"]
    assert_nearest(ids, distances, truth, row_ids, 10)
    exact_ids, exact_distances, report = neighbours(
        queries, path, "--index", "never", "--metric", recorded["metric"]
    )
    assert report["path"] == "exact"
    assert_nearest(exact_ids, exact_distances, truth, row_ids, 10)
    assert (exact_ids, exact_distances) == (ids, distances)


def test_default_probing_fills_every_row(golden, neighbours):
    _, path, recorded = golden
    row_ids, _ = rows_of(path)
    for k in (1, 40, len(row_ids) + 5):
        ids, _, report = neighbours(np.array(recorded["queries"], np.float32), path, "-k", k)
        assert {len(row) for row in ids} == {min(k, len(row_ids))}
        assert all(set(row) <= set(row_ids) for row in ids)
        assert report["short_rows"] == (len(ids) if k > len(row_ids) else 0)
