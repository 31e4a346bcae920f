"""Indexes that the package builds and keeps, searched by itself and by pylance."""

import lance
import numpy as np
import pytest

import kinjo

KINDS = ("IVF_FLAT", "IVF_PQ", "IVF_SQ", "IVF_RQ", "IVF_HNSW_SQ")


@pytest.fixture
def dataset(vectors, tmp_path):
    return kinjo.write_dataset(vectors(2000, 16, seed=6), tmp_path / "d.lance")


def recall(dataset, queries, **options):
    truth = dataset.search(queries, k=10, index="never").to_arrow()
    found = dataset.search(queries, k=10, index="require", **options).to_arrow()

    def pairs(rows):
        return set(zip(rows["_query_index"].to_pylist(), rows["id"].to_pylist()))

    return len(pairs(truth) & pairs(found)) / len(pairs(truth))


@pytest.mark.parametrize("kind", KINDS)
def test_an_index_is_built_and_searched(kind, dataset):
    told = dataset.create_vector_index("vec", kind=kind, num_partitions=4)
    assert (told["type"], told["num_partitions"], told["version"]) == (kind, 4, 2)
    assert [(index["name"], index["type"]) for index in dataset.indices] == [("vec_idx", kind)]
    queries = np.random.default_rng(1).normal(size=(50, 16)).astype("f4")
    assert recall(dataset, queries, nprobes=4, refine_factor=20) >= 0.99
    nearest = {"column": "vec", "q": queries[0], "k": 5, "nprobes": 4, "refine_factor": 20}
    theirs = lance.dataset(dataset.uri).to_table(nearest=nearest)
    ours = dataset.search(queries[0], k=5, nprobes=4, refine_factor=20).to_arrow()
    assert ours["id"].to_pylist() == theirs["id"].to_pylist()


def test_an_index_is_kept_up_to_date(dataset, vectors):
    dataset.create_vector_index(kind="IVF_FLAT", num_partitions=4, metric="cosine")
    assert dataset.optimize_indices()[0]["changed"] is False
    dataset.append(vectors(500, 16, seed=7, first_id=2000))
    assert dataset.indices[0]["uncovered_rows"] == 500
    assert dataset.optimize_indices("vec_idx")[0]["changed"] is True
    assert dataset.indices[0]["uncovered_rows"] == 0
    dataset.rename_index("vec_idx", "by_meaning")
    assert [index["name"] for index in dataset.indices] == ["by_meaning"]
    dataset.drop_index("by_meaning")
    assert dataset.indices == []
    with pytest.raises(kinjo.NotFound):
        dataset.optimize_indices("by_meaning")


def test_a_model_from_elsewhere(dataset):
    centroids = np.random.default_rng(2).normal(size=(3, 16))
    told = dataset.create_vector_index("vec", kind="IVF_FLAT", centroids=centroids)
    assert told["num_partitions"] == 3
    with pytest.raises(kinjo.InvalidArgument, match="centroids has the shape"):
        dataset.create_vector_index("vec", replace=True, centroids=np.zeros((3, 4)))
    with pytest.raises(kinjo.InvalidArgument, match="codebook has"):
        dataset.create_vector_index("vec", replace=True, codebook=np.zeros(7))


def test_what_is_refused(dataset):
    with pytest.raises(kinjo.InvalidArgument):
        dataset.create_vector_index("vec", kind="IVF_NONE")
    with pytest.raises(kinjo.Error):
        dataset.create_vector_index("id")
    with pytest.raises(TypeError, match="nlist"):
        dataset.create_vector_index("vec", nlist=3)
    assert dataset.indices == [] and dataset.version == 1


def test_progress_of_building(dataset):
    told = []
    dataset.create_vector_index("vec", kind="IVF_FLAT", num_partitions=2, progress=told.append)
    assert told[-1].done_rows == told[-1].total_rows > 0


@pytest.mark.slow
@pytest.mark.parametrize("kind", (*KINDS, "IVF_HNSW_FLAT", "IVF_HNSW_PQ"))
def test_lancedb_searches_an_index_of_ours_and_goes_on(kind, dataset, vectors, tmp_path):
    import lancedb

    dataset.create_vector_index("vec", kind=kind, num_partitions=4)
    table = lancedb.connect(tmp_path).open_table("d")
    queries = vectors(20, 16, seed=8)["vec"].to_pylist()
    for more in (0, 200):
        if more:
            table.add(vectors(more, 16, seed=9, first_id=2000))
            table.optimize()
        stats = table.index_stats("vec_idx")
        assert (stats.index_type, stats.num_indexed_rows) == (kind, 2000 + more)
        assert stats.num_unindexed_rows == 0
        truth = kinjo.open(tmp_path / "d.lance").search(
            np.array(queries, "f4"), k=5, index="never"
        )
        expected = truth.to_arrow()["id"].to_pylist()
        found = []
        for query in queries:
            search = table.search(query, vector_column_name="vec").limit(5)
            found += search.nprobes(4).refine_factor(100).ef(1000).to_arrow()["id"].to_pylist()
        places = [place // 5 for place in range(100)]
        assert len(set(zip(places, found)) & set(zip(places, expected))) >= 99
