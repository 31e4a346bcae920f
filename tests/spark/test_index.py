"""An index that executors built, seen and searched by pylance."""

import lance
import numpy as np
import pytest

from tests.spark import cluster_sides

QUERIES, K = 40, 10


@pytest.mark.parametrize("kind", ["IVF_PQ", "IVF_SQ", "IVF_HNSW_SQ"])
def test_pylance_searches_it(spark, kinjo, tmp_path, kind):
    import kinjo_spark

    _, uri = cluster_sides.make_sides(kinjo, tmp_path, QUERIES)
    version = kinjo_spark.create_index(
        spark, str(uri), column="vec", type=kind, name="vec_idx", replace=True,
        num_partitions=8, segments=3)
    dataset = lance.dataset(str(uri))
    assert dataset.version == version
    [told] = [index for index in dataset.describe_indices() if index.name == "vec_idx"]
    assert told.num_rows_indexed == cluster_sides.RIGHT_ROWS
    statistics = dataset.stats.index_stats("vec_idx")
    assert statistics["index_type"] == kind and statistics["num_indices"] == 3
    vectors = np.stack(dataset.to_table(columns=["vec"])["vec"].to_numpy()).astype(np.float64)
    queries = cluster_sides.vectors(QUERIES, 1).flatten().to_numpy().reshape(QUERIES, -1)
    hits = 0
    for query in queries:
        rows = dataset.to_table(columns=["id", "_distance"], nearest={
            "column": "vec", "q": query, "k": K, "nprobes": 8, "refine_factor": 100, "ef": 1000,
            "use_index": True})
        true = np.argsort(((vectors - query) ** 2).sum(1))[:K]
        hits += len(set(rows["id"].to_pylist()) & set(true.tolist()))
    assert hits >= 0.98 * K * QUERIES
