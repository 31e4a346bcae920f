"""Joins with a recall target, beside what brute force finds: made data with every kind of index."""

import json

import lance
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from tests.oracle.brute_force import vector_array

PARTITIONS = 64
SLACK = 0.01  # how far below its target a join may end up

# What each kind of index is built with, unless a test says otherwise.
INDEXES = {
    "IVF_FLAT": [],
    "IVF_PQ": ["--num-sub-vectors", 8],
    "IVF_SQ": [],
    "IVF_RQ": ["--num-bits", 1],
    "IVF_HNSW_SQ": [],
}


def made_vectors(rows, dim, seed, centres=200):
    """Points around the same centres for every seed, not apart from each other."""
    places = np.random.default_rng(77).normal(size=(centres, dim))
    random = np.random.default_rng(seed)
    return (places[random.integers(centres, size=rows)] + random.normal(size=(rows, dim))).astype(
        np.float32
    )


def write_right(kinjo, path, vectors, index, *flags, partitions=PARTITIONS):
    """Writes `id`, `group` (id modulo 10) and `vec` with an index.

    The index is Kinjo's, which is the same in every run: a target is a promise about most cells,
    so that a test of one cell can hold only for an index that doesn't change.
    """
    ids = np.arange(len(vectors))
    table = pa.table({"id": ids, "group": ids % 10, "vec": vector_array(vectors)})
    dataset = lance.write_dataset(table, str(path))
    kinjo("index", "create", path, "--column", "vec", "--type", index, "--num-partitions",
          partitions, *(flags or INDEXES[index]))  # fmt: skip
    return dataset


def write_left(path, vectors):
    pq.write_table(pa.table({"vec": vector_array(vectors)}), path)


def nearest(left, right, k, metric="l2"):
    """The true ids of each left row, by float64 sums."""
    left, right = left.astype(np.float64), right.astype(np.float64)
    if metric == "cosine":
        left = left / np.linalg.norm(left, axis=1, keepdims=True)
        right = right / np.linalg.norm(right, axis=1, keepdims=True)
    norms = (right**2).sum(axis=1)
    found = []
    for first in range(0, len(left), 256):
        some = norms - 2 * left[first : first + 256] @ right.T
        found.append(np.argpartition(some, k - 1, axis=1)[:, :k])
    return np.concatenate(found)


def join(kinjo, left, right, output, *flags):
    """-> (ids of each left row, the report)."""
    done = kinjo(
        "join", "--left", left, "--right", right, "--left-select", "", "--right-select", "id",
        "--with-query-index", "--json", "--progress", "none", "-o", output, *flags,
    )  # fmt: skip
    with pa.ipc.open_file(output) as reader:
        rows = reader.read_all()
    queries = rows["_query_index"].to_numpy()
    ids = rows["id"].to_numpy()
    return queries, ids, json.loads(done.stderr.strip().splitlines()[-1])


def recalls(queries, ids, truth):
    """The share of its true rows that each left row got."""
    found = np.zeros(len(truth))
    wanted = [set(row) for row in truth.tolist()]
    for query, row in zip(queries.tolist(), ids.tolist()):
        found[query] += row in wanted[query]
    return found / truth.shape[1]
