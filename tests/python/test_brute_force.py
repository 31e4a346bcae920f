"""Random tables against brute force in float64, through the package."""

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

import kinjo
from tests.oracle.brute_force import all_distances, assert_nearest

SPECIAL = (float("nan"), float("inf"), float("-inf"))


@st.composite
def sides(draw):
    """Two matrices of one width with a few odd values, as arrays or as tables."""
    width = draw(st.integers(1, 12))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    element = draw(st.sampled_from(["f4", "f8"]))
    made = []
    for rows in (draw(st.integers(0, 20)), draw(st.integers(0, 60))):
        values = rng.normal(scale=draw(st.sampled_from([1e-3, 1, 1e3])), size=(rows, width))
        values = values.astype(element)
        for row in draw(st.sets(st.integers(0, max(rows - 1, 0)), max_size=3)):
            if rows:
                values[row, draw(st.integers(0, width - 1))] = draw(st.sampled_from(SPECIAL))
        made.append(values)
    return made


def as_table(values):
    flat = pa.array(values.reshape(-1))
    vec = pa.FixedSizeListArray.from_arrays(flat, values.shape[1])
    return pa.table({"row": pa.array(np.arange(len(values)), pa.int64()), "vec": vec})


def lists_of(rows, queries, key, count):
    ids, distances = [[] for _ in range(count)], [[] for _ in range(count)]
    columns = (rows[name].to_pylist() for name in (queries, key, "_distance"))
    for query, row, distance in zip(*columns):
        ids[query].append(row)
        distances[query].append(distance)
    return ids, distances


@given(sides(), st.integers(1, 70), st.sampled_from(["l2", "cosine", "dot"]),
       st.booleans(), st.integers(1, 3))
def test_a_join_in_memory_is_brute_force(both, k, metric, tables, threads):
    left, right = both
    options = {"k": k, "metric": metric, "threads": threads}
    if tables:
        rows = kinjo.join(as_table(left), as_table(right), **options).to_arrow()
        ids, found = lists_of(rows, "row", "row_right", len(left))
    else:
        rows = kinjo.join(left, right, **options).to_arrow()
        ids, found = lists_of(rows, "_query_index", "_rowid", len(left))
    if not left.size or not right.size:
        assert rows.num_rows == 0
        return
    with np.errstate(invalid="ignore"):
        truth = all_distances(left, right, metric)
    finite = [np.where(np.isfinite(side), side, 0).astype("f8") for side in both]
    norms = [np.linalg.norm(side, axis=1).max() for side in finite]
    scale = max(1.0, norms[0] * norms[1]) if metric == "dot" else 1.0
    assert_nearest(ids, found, truth, range(len(right)), k, rtol=1e-5, atol=2e-6 * scale)


@given(sides(), st.integers(1, 5))
def test_a_left_join_keeps_every_row(both, k):
    left, right = both
    rows = kinjo.join(as_table(left), as_table(right), k=k, how="left").to_arrow()
    assert sorted(set(rows["row"].to_pylist())) == list(range(len(left)))
    unmatched = [rank is None for rank in rows["_rank"].to_pylist()]
    assert unmatched == [value is None for value in rows["_distance"].to_pylist()]
    finite = np.isfinite(left).all(axis=1)
    candidates = int(np.isfinite(right).all(axis=1).sum())
    expected = sum(min(k, candidates) or 1 if ok else 1 for ok in finite)
    assert rows.num_rows == expected
