"""Recall of the join through an IVF_PQ index, against brute force in double precision: high at the
default probing with a refine, and never lower when more is asked for.
"""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

ROWS, WIDTH, QUERIES, K = 100_000, 128, 200, 10


def clustered(count, rng, centres):
    """Points around centres, as real embeddings lie."""
    chosen = centres[rng.integers(len(centres), size=count)]
    return (chosen + rng.standard_normal((count, WIDTH))).astype(np.float32)


@pytest.fixture(scope="module")
def sides(spark, kinjo, tmp_path_factory):
    """(left, URI of the right, the right answers: for each left row a set of ids)."""
    folder = tmp_path_factory.mktemp("recall")
    rng = np.random.default_rng(11)
    centres = 2 * rng.standard_normal((1_000, WIDTH))
    points, queries = clustered(ROWS, rng, centres), clustered(QUERIES, rng, centres)
    flat = pa.FixedSizeListArray.from_arrays(pa.array(points.reshape(-1)), WIDTH)
    pq.write_table(pa.table({"id": pa.array(range(ROWS), pa.int64()), "vec": flat}),
                   folder / "right.parquet")
    dataset = folder / "right.lance"
    kinjo("import", folder / "right.parquet", dataset)
    kinjo("index", "create", dataset, "--num-partitions", 128, "--num-sub-vectors", 32)
    numbers = pa.array(range(QUERIES), pa.int64())
    left = spark.createDataFrame(pa.table({"number": numbers, "query": queries.tolist()}))
    wide = points.astype(np.float64)
    norms = (wide**2).sum(1)
    nearest = [set(np.argpartition(norms - 2 * wide @ query, K)[:K].tolist())
               for query in queries.astype(np.float64)]
    return left.cache(), str(dataset), nearest


def recall(sides, **options):
    left, uri, nearest = sides
    rows = left.kNearestJoin(uri, "query", K, **options).select("number", "id").toArrow()
    found = zip(rows["number"].to_pylist(), rows["id"].to_pylist())
    hits = sum(row in nearest[number] for number, row in found)
    return hits / (K * QUERIES)


def test_defaults_with_a_refine_of_ten(sides):
    assert recall(sides, refine_factor=10) >= 0.95


def test_more_probes_never_find_less(sides):
    found = [recall(sides, refine_factor=10, nprobes=nprobes) for nprobes in (1, 4, 16, 64, 128)]
    assert found == sorted(found)
    assert found[0] < found[-1]


def test_more_candidates_never_find_less(sides):
    found = [recall(sides, nprobes=64, refine_factor=factor) for factor in (1, 2, 5, 10, 20)]
    assert found == sorted(found)
    assert found[0] < found[-1]
