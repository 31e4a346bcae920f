"""Brute force in float64, and what it means for an answer to agree with it."""

import numpy as np
import pyarrow as pa


def vector_array(values, element=None):
    """A fixed-size list array of the rows of a 2-d array."""
    flat = pa.array(np.ascontiguousarray(values).reshape(-1))
    if element is not None and flat.type != element:
        flat = flat.cast(element)
    return pa.FixedSizeListArray.from_arrays(flat, values.shape[1])


def all_distances(left, right, metric):
    """[left, right] distances in float64; NaN where a pair can't match."""
    if metric == "hamming":
        return np.stack([np.bitwise_count(right ^ row).sum(axis=1) for row in left]).astype("f8")
    left, right = np.asarray(left, np.float64), np.asarray(right, np.float64)
    if metric == "l2":
        distances = np.stack([((right - row) ** 2).sum(axis=1) for row in left])
    elif metric == "dot":
        distances = 1 - left @ right.T
    else:
        norms = np.linalg.norm(left, axis=1)[:, None] * np.linalg.norm(right, axis=1)[None, :]
        with np.errstate(invalid="ignore", divide="ignore"):
            distances = 1 - left @ right.T / norms
    finite = np.isfinite(left).all(axis=1)[:, None] & np.isfinite(right).all(axis=1)[None, :]
    return np.where(finite, distances, np.nan)


def assert_nearest(ids, found, truth, row_ids, k, rtol=1e-5, atol=1e-6):
    """The found rows are the k nearest of `truth`, but for ties within the tolerance.

    truth[q, i] is the true distance of left row q to the right row whose id is row_ids[i].
    """
    column_of = {row_id: i for i, row_id in enumerate(row_ids)}
    for query, (row, distances) in enumerate(zip(ids, found)):
        true = truth[query]
        best = np.sort(true[~np.isnan(true)])[:k]
        assert len(row) == len(best), f"left row {query}"
        assert len(set(row)) == len(row), f"left row {query}: a row came twice"
        assert distances == sorted(distances), f"left row {query}: not sorted"
        np.testing.assert_allclose(distances, best, rtol=rtol, atol=atol)
        own = [true[column_of[row_id]] for row_id in row]
        np.testing.assert_allclose(distances, own, rtol=rtol, atol=atol)
