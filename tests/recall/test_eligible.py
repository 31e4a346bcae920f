"""A recall target beside `by` and `exclude_self`: true neighbours are those that may come out."""

import lance
import numpy as np
import pyarrow as pa
import pytest

from tests.recall import cells

ROWS, DIM, K, GROUPS = 12_000, 16, 10, 4


@pytest.fixture(scope="module")
def items(kinjo, tmp_path_factory):
    """(path, vectors): `id`, `shop` and `vec`, with an IVF_PQ index."""
    vectors = cells.made_vectors(ROWS, DIM, 1)
    path = tmp_path_factory.mktemp("items") / "items.lance"
    ids = np.arange(ROWS)
    table = pa.table({"id": ids, "shop": ids % GROUPS, "vec": cells.vector_array(vectors)})
    lance.write_dataset(table, str(path))
    kinjo("index", "create", path, "--num-partitions", 32, "--num-sub-vectors", 8)
    return path, vectors


def true_ids(vectors, same_shop):
    """The K others nearest to each row."""
    truth = np.empty((ROWS, K), dtype=np.int64)
    for shop in range(GROUPS) if same_shop else [None]:
        rows = np.arange(ROWS) if shop is None else np.arange(shop, ROWS, GROUPS)
        found = rows[cells.nearest(vectors[rows], vectors[rows], K + 1)]
        for row, near in zip(rows, found):
            truth[row] = near[near != row][:K]
    return truth


@pytest.mark.parametrize("flags", [["--exclude-self"], ["--exclude-self=id"]])
@pytest.mark.parametrize("by", [[], ["--by", "shop"]])
def test_reaches_its_target(by, flags, kinjo, items, tmp_path):
    path, vectors = items
    queries, ids, report = cells.join(
        kinjo, path, path, tmp_path / "out.arrow", "--recall", 0.9, *by, *flags
    )
    recall = report["recall"]
    true = cells.recalls(queries, ids, true_ids(vectors, bool(by))).mean()
    assert (queries != ids).all()
    assert true >= 0.9 - cells.SLACK, recall
    assert recall["low"] - 0.015 <= true <= recall["high"] + 0.015
    assert recall["nprobes"] < 32
