"""Indexes that `kinjo index create` builds and `kinjo index optimize` keeps, read by pylance: it
opens them, answers as kinjo does, tells what they are, and both go on where the other one ended.
"""

import json

import lance
import numpy as np
import pyarrow as pa
import pytest

from tests.interop.built_indexes import (
    DIM,
    KINDS,
    METRICS,
    PARTITIONS,
    ROWS,
    K,
    Kind,
    assert_same_answers,
    check_all_rows_are_found,
    create,
    make_vectors,
    nearest,
    recall,
    table_of,
    write,
)
from tests.oracle.brute_force import all_distances, vector_array


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("kind", KINDS)
def test_pylance_answers_as_kinjo(kind, metric, kinjo, neighbours, tmp_path):
    kind = KINDS[kind]
    vectors = make_vectors(ROWS)
    path = write(tmp_path / "d", vectors)
    told = create(kinjo, path, kind, metric)
    assert told["num_rows"] == ROWS and told["num_partitions"] == PARTITIONS
    queries = make_vectors(20, seed=2)
    for nprobes in (1, PARTITIONS):
        assert_same_answers(neighbours, path, kind, metric, queries, nprobes)
    lance.dataset(path).validate()


@pytest.mark.parametrize("dtype", [np.float16, np.float64])
@pytest.mark.parametrize("kind", ["FLAT", "PQ8", "SQ", "RQ5", "HNSW_SQ"])
def test_other_elements(kind, dtype, kinjo, neighbours, tmp_path):
    kind = KINDS[kind]
    path = write(tmp_path / "d", make_vectors(ROWS, dtype))
    create(kinjo, path, kind, "l2")
    assert_same_answers(neighbours, path, kind, "l2", make_vectors(15, dtype, 2), PARTITIONS)


@pytest.mark.parametrize("type", ["IVF_FLAT", "IVF_HNSW_FLAT"])
def test_bits(type, kinjo, neighbours, tmp_path):
    kind = Kind(type, exact=True)
    path = write(tmp_path / "d", make_vectors(ROWS, np.uint8))
    create(kinjo, path, kind, "hamming")
    assert_same_answers(
        neighbours, path, kind, "hamming", make_vectors(15, np.uint8, 2), PARTITIONS
    )


@pytest.mark.parametrize("kind", KINDS)
def test_pylance_describes_it_truly(kind, kinjo, tmp_path):
    kind = KINDS[kind]
    path = write(tmp_path / "d", make_vectors(ROWS))
    create(kinjo, path, kind, "cosine", "--name", "mine")
    (described,) = lance.dataset(path).describe_indices()
    assert described.name == "mine" and described.index_type == kind.type
    assert described.field_names == ["vec"] and described.num_rows_indexed == ROWS
    details = described.details
    assert details["metric_type"].lower() == "cosine"
    assert ("hnsw" in details) == kind.graph
    if kind.graph:
        assert details["hnsw"]["max_connections"] == 20
        assert details["hnsw"]["construction_ef"] == 150
    stats = lance.dataset(path).stats.index_stats("mine")
    assert stats["index_type"] == kind.type and stats["num_indexed_rows"] == ROWS
    assert stats["num_unindexed_rows"] == 0
    segment = stats["indices"][0]
    assert segment["metric_type"] == "cosine" and segment["num_partitions"] == PARTITIONS
    assert sum(part["size"] for part in segment["partitions"]) == ROWS
    sizes = [file.stat().st_size for file in (tmp_path / "d" / "_indices").glob("*/*.idx")]
    assert described.total_size_bytes == sum(sizes)


# How much less than pylance's own an index may find, of 2,000 neighbours. Kinjo's three builds have
# fixed seeds, and always find the same; pylance's find more or less by chance, and the least of
# three counts. Over eight builds their standard deviation was at most 0.0007 without codes that are
# trained or rotated, so half a percent is never passed by chance. It was 0.007 with such codes
# (0.013 with one bit), around the mean of ours or below: all three are two of them above it once in
# 100,000 times. (The bench index_build compares at half a percent on large data, with less chance.)
TRAINED_TOLERANCE = 0.015
ONE_BIT_TOLERANCE = 0.03


@pytest.mark.parametrize(
    "kind, metric",
    [(kind, "l2") for kind in KINDS]
    + [("PQ8", "cosine"), ("RQ5", "cosine"), ("HNSW_SQ", "cosine")],
)
def test_finds_as_much_as_pylances_own(kind, metric, kinjo, tmp_path):
    kind = KINDS[kind]
    vectors = make_vectors(4000)
    queries = make_vectors(1000, seed=2)[:200]
    ours = write(tmp_path / "ours", vectors)
    theirs = write(tmp_path / "theirs", vectors)
    own, other = [], []
    for seed in (1, 2, 3):
        create(kinjo, ours, kind, metric, "--seed", seed, "--replace")
        own.append(recall(ours, queries, metric, vectors))
        lance.dataset(theirs).create_index(
            "vec", kind.type, metric=metric, num_partitions=PARTITIONS, replace=True,
            **kind.arguments,
        )  # fmt: skip
        other.append(recall(theirs, queries, metric, vectors))
    tolerance = 0.005
    if kind.arguments.get("num_bits") == 1:
        tolerance = ONE_BIT_TOLERANCE
    elif kind.arguments:
        tolerance = TRAINED_TOLERANCE
    assert np.mean(own) >= min(other) - tolerance


def test_scalar_bounds_hold_every_row(kinjo, neighbours, tmp_path):
    """The model is trained on 512 of the rows; those far outside are nearly all others."""
    vectors = make_vectors(3000)
    vectors[::10] *= np.linspace(3, 30, 300, dtype=np.float32)[:, None]
    path = write(tmp_path / "d", vectors)
    told = create(kinjo, path, KINDS["SQ"], "l2", "--sample-rate", 2)
    assert told["trained_rows"] == 512
    queries = vectors[::10][-50:]
    ids, distances, _ = neighbours(
        vector_array(queries), path, "-k", 1, "--index", "require", "--nprobes", PARTITIONS
    )
    step = (vectors.max() - vectors.min()) / 255
    assert [own[0] for own in ids] == list(range(2500, 3000, 10))
    assert max(own[0] for own in distances) <= DIM * step**2


@pytest.mark.parametrize("stable", [False, True], ids=["addresses", "stable ids"])
@pytest.mark.parametrize("kind", KINDS)
def test_pylance_goes_on(kind, stable, kinjo, neighbours, tmp_path):
    kind = KINDS[kind]
    path = write(tmp_path / "d", make_vectors(ROWS), enable_stable_row_ids=stable)
    create(kinjo, path, kind, "l2")
    lance.write_dataset(table_of(make_vectors(300, seed=5), ROWS), path, mode="append")
    lance.dataset(path).delete("id % 9 = 2")
    for merge in (0, 2):
        lance.dataset(path).optimize.optimize_indices(num_indices_to_merge=merge)
        assert_same_answers(neighbours, path, kind, "l2", make_vectors(15, seed=2), PARTITIONS)
    stats = lance.dataset(path).stats.index_stats("vec_idx")
    assert stats["num_unindexed_rows"] == 0


@pytest.mark.parametrize("stable", [False, True], ids=["addresses", "stable ids"])
@pytest.mark.parametrize("kind", ["FLAT", "PQ8", "SQ", "RQ5", "HNSW_SQ"])
def test_kinjo_goes_on_where_pylance_ended(kind, stable, kinjo, neighbours, tmp_path):
    kind = KINDS[kind]
    path = write(tmp_path / "d", make_vectors(ROWS), enable_stable_row_ids=stable)
    lance.dataset(path).create_index(
        "vec", kind.type, metric="l2", num_partitions=PARTITIONS, **kind.arguments
    )
    lance.write_dataset(table_of(make_vectors(300, seed=5), ROWS), path, mode="append")
    lance.dataset(path).delete("id % 9 = 2")
    for flags, segments in [(["--num-indices-to-merge", 0], 2), (["--num-indices-to-merge", 2], 1)]:
        done = kinjo("index", "optimize", path, "--json", *flags)
        assert json.loads(done.stdout)["changed"]
        assert lance.dataset(path).stats.index_stats("vec_idx")["num_indices"] == segments
        check_all_rows_are_found(kinjo, neighbours, path)
        assert_same_answers(neighbours, path, kind, "l2", make_vectors(10, seed=2), PARTITIONS)
    version = lance.dataset(path).version
    assert not json.loads(kinjo("index", "optimize", path, "--json").stdout)["changed"]
    assert lance.dataset(path).version == version


def test_small_segments_are_merged_and_large_ones_stay(kinjo, neighbours, tmp_path):
    path = write(tmp_path / "d", make_vectors(ROWS), 1)
    create(kinjo, path, KINDS["SQ"], "l2")
    sizes = []
    for number in range(6):
        rows = make_vectors(40, seed=20 + number) * 5  # beyond the bounds of the first segment
        lance.write_dataset(table_of(rows, ROWS + 40 * number), path, mode="append")
        kinjo("index", "optimize", path)
        stats = lance.dataset(path).stats.index_stats("vec_idx")
        sizes.append(sorted(stats["num_indexed_rows_per_delta"]))
        check_all_rows_are_found(kinjo, neighbours, path)
    assert max(len(some) for some in sizes) <= 3  # one more each time they double
    assert all(some[-1] == ROWS for some in sizes) and sum(sizes[-1]) == ROWS + 240


def test_updated_rows_are_found_once(kinjo, neighbours, tmp_path):
    path = write(tmp_path / "d", make_vectors(ROWS))
    create(kinjo, path, KINDS["PQ8"], "l2")
    changed = table_of(make_vectors(ROWS, seed=9)).slice(100, 50)
    dataset = lance.dataset(path)
    dataset.merge_insert("id").when_matched_update_all().execute(changed)
    kinjo("index", "optimize", path, "--num-indices-to-merge", 1)
    check_all_rows_are_found(kinjo, neighbours, path)
    kinjo("index", "optimize", path, "--retrain")
    check_all_rows_are_found(kinjo, neighbours, path)


def test_left_out_rows_and_odd_data(kinjo, neighbours, tmp_path):
    vectors = make_vectors(300)
    vectors[3, 5] = np.nan
    vectors[4, 0] = np.inf
    vectors[5] = 0
    lance.write_dataset(table_of(vectors, nulls=[0, 1, 299]), str(tmp_path / "d"))
    told = create(kinjo, tmp_path / "d", KINDS["PQ8"], "cosine")
    assert (told["null_rows"], told["non_finite_rows"], told["zero_rows"]) == (3, 2, 1)
    assert told["num_rows"] == 294
    assert lance.dataset(tmp_path / "d").describe_indices()[0].num_rows_indexed in (294, 300)
    assert_same_answers(
        neighbours, str(tmp_path / "d"), KINDS["PQ8"], "cosine", make_vectors(10, seed=2), 4
    )


ODD = {
    "one row": lambda: make_vectors(1),
    "255 rows": lambda: make_vectors(255),
    "three vectors": lambda: np.repeat(make_vectors(3), 100, axis=0),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("data", ODD)
def test_little_data_builds(data, kind, kinjo, neighbours, tmp_path):
    vectors = ODD[data]()
    path = write(tmp_path / "d", vectors, 1)
    create(kinjo, path, KINDS[kind], "l2", partitions=16)
    queries = vectors[: min(len(vectors), 5)]
    ids, distances, report = neighbours(
        vector_array(queries), path, "-k", 3, "--index", "require", "--nprobes", 16,
        "--refine-factor", 30,
    )  # fmt: skip
    for own in distances:
        assert len(own) == min(3, len(vectors)) and own[0] == 0
    theirs, found = nearest(lance.dataset(path), queries[0], k=3, nprobes=16, refine_factor=30)
    assert len(theirs) == min(3, len(vectors)) and found[0] == 0


def test_nothing_but_nulls(kinjo, tmp_path):
    vectors = make_vectors(20)
    lance.write_dataset(table_of(vectors, nulls=list(range(20))), str(tmp_path / "d"))
    told = create(kinjo, tmp_path / "d", KINDS["PQ8"], "l2")
    assert told["num_rows"] == 0 and told["null_rows"] == 20
    lance.write_dataset(table_of(vectors, 20), str(tmp_path / "d"), mode="append")
    kinjo("index", "optimize", tmp_path / "d", "--retrain")
    ids, distances = nearest(lance.dataset(tmp_path / "d"), vectors[7], k=1)
    assert ids == [27] and distances[0] == pytest.approx(0, abs=0.5)


def test_names_replacing_dropping_renaming(kinjo, tmp_path):
    path = write(tmp_path / "d", make_vectors(ROWS))
    create(kinjo, path, KINDS["FLAT"], "l2")
    again = kinjo("index", "create", path, "--type", "IVF_SQ", exit_code=1)
    assert "has an index 'vec_idx' already" in again.stderr
    create(kinjo, path, KINDS["SQ"], "l2", "--replace")
    (described,) = lance.dataset(path).describe_indices()
    assert described.index_type == "IVF_SQ"
    kinjo("index", "rename", path, "--name", "vec_idx", "--new-name", "other")
    (described,) = lance.dataset(path).describe_indices()
    assert described.name == "other"
    listed = json.loads(kinjo("index", "list", path, "--json").stdout)
    assert [index["name"] for index in listed["indexes"]] == ["other"]
    assert "other" in kinjo("index", "list", path).stdout
    missing = kinjo("index", "drop", path, "--name", "vec_idx", exit_code=1)
    assert "it has other" in missing.stderr
    kinjo("index", "drop", path, "--name", "other")
    assert lance.dataset(path).describe_indices() == []


def test_the_check_measures(kinjo, tmp_path):
    path = write(tmp_path / "d", make_vectors(ROWS))
    text = kinjo("index", "create", path, "--type", "IVF_FLAT", "--num-partitions", 8,
                 "--check").stdout  # fmt: skip
    assert "8 partitions" in text and "nprobes" in text and "recall@10" in text
    curve = json.loads(kinjo("index", "check", path, "-k", 5, "--json").stdout)
    assert curve["k"] == 5 and curve["index_name"] == "vec_idx"
    assert curve["points"][-1]["nprobes"] == 8 and curve["points"][-1]["recall"] == 1


def test_the_same_bytes_again(kinjo, tmp_path):
    files = {}
    for number, threads in enumerate((1, 2, 3)):
        path = write(tmp_path / str(number), make_vectors(ROWS), 1)
        create(kinjo, path, KINDS["HNSW_PQ"], "l2", "--threads", threads, "--seed", 5)
        files[threads] = sorted(
            (file.name, file.read_bytes())
            for file in (tmp_path / str(number) / "_indices").glob("*/*.idx")
        )
    assert files[1] == files[2] == files[3]


@pytest.mark.parametrize("kind", ["FLAT", "PQ8", "RQ5", "HNSW_SQ"])
def test_vectors_inside_structs(kind, kinjo, neighbours, tmp_path):
    """A column in a struct of structs, where a null struct is no vector; texts lie beside it."""
    kind = KINDS[kind]

    def nested(vectors, first=0):
        rows = table_of(vectors, first)
        vec = rows["vec"].combine_chunks()
        missing = pa.array(np.arange(len(vectors)) % 50 == 7)
        inner = pa.StructArray.from_arrays([vec], ["vec"], mask=missing)
        text = pa.array(["x" * (i % 90) for i in range(len(vectors))])
        return pa.table({"id": rows["id"], "item": pa.StructArray.from_arrays(
            [text, inner], ["text", "inner"])})  # fmt: skip

    path = str(tmp_path / "d")
    vectors = make_vectors(ROWS)
    lance.write_dataset(nested(vectors), path, max_rows_per_file=600)
    column = ["--column", "item.inner.vec"]
    told = create(kinjo, path, kind, "l2", *column)
    assert told["name"] == "item.inner.vec_idx" and told["num_rows"] == ROWS - 30
    assert told["null_rows"] == 30
    lance.write_dataset(nested(make_vectors(200, seed=5), ROWS), path, mode="append")
    assert json.loads(kinjo("index", "optimize", path, "--json").stdout)["changed"]
    kinjo("compact", path)
    dataset = lance.dataset(path)
    [index] = dataset.describe_indices()
    assert dataset.stats.index_stats("item.inner.vec_idx")["num_unindexed_rows"] == 0
    queries = make_vectors(10, seed=3)
    ids, _, _ = neighbours(
        vector_array(queries), path, "-k", K, "--left-on", "vec", "--right-on", "item.inner.vec",
        "--index", "require", "--nprobes", 64, "--refine-factor", 50, "--fast-search",
    )  # fmt: skip
    rows = dataset.to_table()
    inner = rows["item"].combine_chunks().field("inner")
    kept = inner.is_valid().to_numpy(zero_copy_only=False)
    values = np.stack(inner.filter(pa.array(kept)).flatten()[0].to_pylist())
    row_ids = rows["id"].to_numpy()[kept]
    best = np.argsort(all_distances(queries, values, "l2"), axis=1, kind="stable")[:, :K]
    for query, own, true in zip(queries, ids, row_ids[best], strict=True):
        assert len(set(own) & set(true)) >= K - 1
        search = {"column": "item.inner.vec", "q": query, "k": K, "nprobes": 64,
                  "refine_factor": 50}  # fmt: skip
        theirs = dataset.to_table(columns=["id"], nearest=search)["id"].to_pylist()
        assert len(set(theirs) & set(true)) >= K - 1
    for wrong, error in [("item.vec", "has no column 'item.vec'"),
                         ("item.text", "'item.text' has the type string")]:  # fmt: skip
        done = kinjo("index", "create", path, "--column", wrong, exit_code=1)
        assert error in done.stderr
