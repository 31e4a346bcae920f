"""Indexes of every kind, what a search through them must find, and datasets to build them over."""

import json
from dataclasses import dataclass, field

import lance
import numpy as np
import pyarrow as pa

from tests.oracle.brute_force import all_distances, assert_nearest, vector_array

K = 10
ROWS = 1500
DIM = 24
PARTITIONS = 4


@dataclass
class Kind:
    """One kind of index: as kinjo's flags, and as pylance's arguments."""

    type: str
    flags: list = field(default_factory=list)
    arguments: dict = field(default_factory=dict)
    exact: bool = False
    tolerance: float = 1e-4

    @property
    def graph(self):
        return "HNSW" in self.type


KINDS = {
    "FLAT": Kind("IVF_FLAT", exact=True),
    "PQ8": Kind("IVF_PQ", ["--num-sub-vectors", 8], {"num_sub_vectors": 8}),
    "PQ4": Kind(
        "IVF_PQ", ["--num-sub-vectors", 8, "--num-bits", 4], {"num_sub_vectors": 8, "num_bits": 4}
    ),
    "SQ": Kind("IVF_SQ"),
    "RQ5": Kind("IVF_RQ", ["--num-bits", 5], {"num_bits": 5}, tolerance=2e-3),
    "RQ1": Kind("IVF_RQ", ["--num-bits", 1], {"num_bits": 1}, tolerance=2e-3),
    "HNSW_FLAT": Kind("IVF_HNSW_FLAT", exact=True),
    "HNSW_PQ": Kind("IVF_HNSW_PQ", ["--num-sub-vectors", 8], {"num_sub_vectors": 8}),
    "HNSW_SQ": Kind("IVF_HNSW_SQ"),
}
METRICS = ["l2", "cosine", "dot"]


def make_vectors(rows, dtype=np.float32, seed=1, dim=DIM):
    random = np.random.default_rng(seed)
    if dtype is np.uint8:
        centers = np.random.default_rng(7).integers(0, 256, (20, dim), np.uint8)
        noise = random.integers(0, 256, (rows, dim), np.uint8)
        noise &= random.integers(0, 256, (rows, dim), np.uint8)
        return centers[random.integers(0, 20, rows)] ^ noise
    centers = np.random.default_rng(7).normal(0, 2, (20, dim))
    return (centers[random.integers(0, 20, rows)] + random.normal(0, 1, (rows, dim))).astype(dtype)


def table_of(vectors, first=0, nulls=()):
    """Columns id and vec; the rows at `nulls` have no vector."""
    ids = pa.array(np.arange(first, first + len(vectors)), pa.int64())
    column = vector_array(vectors)
    if nulls:
        mask = np.isin(np.arange(len(vectors)), nulls)
        column = pa.FixedSizeListArray.from_arrays(
            column.values, vectors.shape[1], mask=pa.array(mask)
        )
    return pa.table({"id": ids, "vec": column})


def write(path, vectors, fragments=2, **options):
    parts = np.array_split(np.arange(len(vectors)), fragments)
    for number, part in enumerate(parts):
        mode = "append" if number else "create"
        table = table_of(vectors[part], part[0])
        lance.write_dataset(table, str(path), mode=mode, **(options if number == 0 else {}))
    return str(path)


def create(kinjo, path, kind, metric, *flags, partitions=PARTITIONS):
    done = kinjo("index", "create", path, "--type", kind.type, "--metric", metric,
                 "--num-partitions", partitions, "--json", *kind.flags, *flags)  # fmt: skip
    return json.loads(done.stdout)


def nearest(dataset, query, **more):
    """pylance's ids and distances of one query."""
    search = {"column": "vec", "q": query, "k": K} | more
    table = dataset.to_table(columns=["id", "_distance"], nearest=search)
    return table["id"].to_pylist(), table["_distance"].to_numpy().astype(np.float64)


def assert_same_answers(neighbours, path, kind, metric, queries, nprobes):
    """kinjo and pylance find the same through the index, but for ties and what pylance prunes."""
    flags = ["--ef", 64] if kind.graph else ["--approx-mode", "accurate"]
    ids, distances, report = neighbours(
        vector_array(queries), path, "-k", K, "--index", "require", "--nprobes", nprobes, *flags
    )
    assert report["path"] == "index"
    dataset = lance.dataset(path)
    more = {"ef": 64} if kind.graph else {}
    if kind.type == "IVF_RQ":
        more = {"approx_mode": "accurate"}
    twice = metric == "cosine" and not kind.exact
    missing = 0
    for query, own, own_distances in zip(queries, ids, distances, strict=True):
        theirs, expected = nearest(dataset, query, nprobes=nprobes, **more)
        if twice:
            expected /= 2
        if kind.type == "IVF_RQ":  # statistical pruning loses a row now and then
            missing += len(set(own) - set(theirs))
            continue
        scale = max(1.0, np.abs(expected).max())
        np.testing.assert_allclose(own_distances, expected, rtol=1e-4, atol=1e-4 * scale)
        gap = 2e-4 * scale
        clear = {i for i, d in zip(own, own_distances) if d < own_distances[-1] - gap}
        assert clear <= set(theirs)
    assert missing <= 0.02 * K * len(queries)


def recall(path, queries, metric, vectors, **more):
    truth = np.argsort(all_distances(queries, vectors, metric), axis=1, kind="stable")[:, :K]
    dataset = lance.dataset(path)
    found = [set(nearest(dataset, query, nprobes=PARTITIONS, **more)[0]) for query in queries]
    return np.mean([len(own & set(true)) / K for own, true in zip(found, truth)])


def check_all_rows_are_found(kinjo, neighbours, path, metric="l2", fast=True):
    """With all partitions and a wide refine the index finds what brute force finds; unless `fast`,
    together with a scan of the rows that it doesn't cover."""
    rows = lance.dataset(path).to_table()
    vectors = np.stack(rows["vec"].to_pylist()).astype(np.float32)
    queries = make_vectors(15, seed=3)
    ids, distances, report = neighbours(
        vector_array(queries), path, "-k", K, "--index", "require", "--nprobes", 64,
        "--refine-factor", 100, *(["--fast-search"] if fast else []),
    )  # fmt: skip
    truth = all_distances(queries, vectors, metric)
    assert_nearest(ids, distances, truth, rows["id"].to_pylist(), K)
