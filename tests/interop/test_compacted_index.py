"""Indexes under compactions, by kinjo and by pylance: a search finds each live row once, wherever
it lies now, and both go on with what the other made of the index."""

import json

import lance
import numpy as np
import pytest

from tests.interop.built_indexes import (
    K,
    KINDS,
    PARTITIONS,
    ROWS,
    assert_same_answers,
    check_all_rows_are_found,
    create,
    make_vectors,
    nearest,
    table_of,
    write,
)
from tests.oracle.brute_force import vector_array


def build(kinjo, path, kind, builder):
    if builder == "kinjo":
        create(kinjo, path, kind, "l2")
        return
    lance.dataset(path).create_index(
        "vec", kind.type, metric="l2", num_partitions=PARTITIONS, **kind.arguments
    )


def found(neighbours, path, kind):
    """Ids and distances of what a search through the index finds as coded."""
    flags = ["--ef", 100] if kind.graph else []
    ids, distances, _ = neighbours(
        make_vectors(20, seed=2), path, "-k", K, "--index", "require", "--nprobes", PARTITIONS,
        "--fast-search", *flags,
    )  # fmt: skip
    return ids, distances


def unindexed(path):
    return lance.dataset(path).stats.index_stats("vec_idx")["num_unindexed_rows"]


def check_pylance_finds_all(path):
    """pylance's refined search over all partitions, against its own brute force."""
    dataset = lance.dataset(path)
    live = set(dataset.to_table()["id"].to_pylist())
    hits = total = 0
    for query in make_vectors(15, seed=3):
        ids, _ = nearest(dataset, query, nprobes=PARTITIONS, refine_factor=50)
        assert len(set(ids)) == K and set(ids) <= live
        truth, _ = nearest(dataset, query, use_index=False)
        hits += len(set(ids) & set(truth))
        total += K
    assert hits >= 0.97 * total


@pytest.mark.parametrize("stable", [False, True], ids=["addresses", "stable ids"])
@pytest.mark.parametrize("builder", ["kinjo", "pylance"])
@pytest.mark.parametrize("kind", KINDS)
def test_kinjo_compacts(kind, builder, stable, kinjo, neighbours, tmp_path):
    kind = KINDS[kind]
    path = write(tmp_path / "d", make_vectors(ROWS), 6, enable_stable_row_ids=stable)
    build(kinjo, path, kind, builder)
    lance.write_dataset(table_of(make_vectors(100, seed=5), ROWS), path, mode="append")
    lance.dataset(path).create_scalar_index("id", "BTREE")
    lance.dataset(path).delete("id % 9 = 2 OR (id >= 300 AND id < 520)")
    before = found(neighbours, path, kind)
    report = json.loads(kinjo("compact", path, "--target-rows", 450, "--json").stdout)
    assert report["old_fragments"] > report["fragments"] > 1
    dataset = lance.dataset(path)
    dataset.validate()
    # The same codes, and the same graphs: to the bit what was found before.
    assert found(neighbours, path, kind) == before
    assert unindexed(path) == 89
    check_all_rows_are_found(kinjo, neighbours, path, fast=False)
    check_pylance_finds_all(path)
    assert dataset.to_table(filter="id = 777")["id"].to_pylist() == [777]
    ids, _, _ = neighbours(
        make_vectors(2), path, "-k", K, "--where", "id = 777", "--index", "require"
    )
    assert ids == [[777], [777]]

    # pylance goes on: new rows, another compaction, deltas merged.
    lance.write_dataset(table_of(make_vectors(60, seed=8), ROWS + 100), path, mode="append")
    lance.dataset(path).delete("id % 11 = 4")
    lance.dataset(path).optimize.compact_files(target_rows_per_fragment=2000)
    check_all_rows_are_found(kinjo, neighbours, path, fast=False)
    check_pylance_finds_all(path)
    for merge in (0, 2):
        lance.dataset(path).optimize.optimize_indices(num_indices_to_merge=merge)
        check_all_rows_are_found(kinjo, neighbours, path)
        assert_same_answers(neighbours, path, kind, "l2", make_vectors(10, seed=2), PARTITIONS)
    assert unindexed(path) == 0


@pytest.mark.parametrize("defer", [False, True], ids=["", "deferred"])
@pytest.mark.parametrize("stable", [False, True], ids=["addresses", "stable ids"])
@pytest.mark.parametrize("builder", ["kinjo", "pylance"])
@pytest.mark.parametrize("kind", ["FLAT", "PQ8", "SQ", "RQ5", "HNSW_SQ"])
def test_pylance_compacts(kind, builder, stable, defer, kinjo, neighbours, tmp_path):
    if stable and defer:
        pytest.skip("with stable row ids nothing is put off")
    kind = KINDS[kind]
    path = write(tmp_path / "d", make_vectors(ROWS), 4, enable_stable_row_ids=stable)
    build(kinjo, path, kind, builder)
    lance.dataset(path).delete("id % 9 = 2")
    lance.dataset(path).optimize.compact_files(
        target_rows_per_fragment=2000, defer_index_remap=defer
    )
    rows = lance.dataset(path).to_table()
    vectors = np.stack(rows["vec"].to_pylist())
    ids, _, report = neighbours(
        vector_array(make_vectors(15, seed=3)), path, "-k", K, "--nprobes", PARTITIONS,
        "--refine-factor", 50,
    )  # fmt: skip
    truth = ((make_vectors(15, seed=3)[:, None] - vectors[None]) ** 2).sum(axis=2)
    nearest_ids = rows["id"].to_numpy()[np.argsort(truth, axis=1, kind="stable")[:, :K]]
    same = sum(len(set(own) & set(true)) for own, true in zip(ids, nearest_ids, strict=True))
    assert same >= (0.97 if report["path"] == "index" else 0.999) * 15 * K
    assert report["path"] == ("exact" if defer else "index")
    if not defer:
        check_all_rows_are_found(kinjo, neighbours, path)
        check_pylance_finds_all(path)
    kinjo("compact", path, exit_code=1 if defer else 0)


def test_several_segments_and_indexes_move_together(kinjo, neighbours, tmp_path):
    """Segments cover different fragments; each goes on covering its own rows."""
    path = write(tmp_path / "d", make_vectors(ROWS), 3)
    create(kinjo, path, KINDS["PQ8"], "l2")
    create(kinjo, path, KINDS["FLAT"], "cosine", "--name", "other")
    for number in range(3):
        rows = make_vectors(50, seed=30 + number)
        lance.write_dataset(table_of(rows, ROWS + 50 * number), path, mode="append")
    kinjo("index", "optimize", path, "--name", "vec_idx", "--num-indices-to-merge", 0)
    lance.dataset(path).delete("id % 5 = 1")
    before = found(neighbours, path, KINDS["PQ8"])
    assert json.loads(kinjo("compact", path, "--json").stdout)["fragments"] == 2
    stats = lance.dataset(path).stats
    assert stats.index_stats("vec_idx")["num_indices"] == 2
    assert stats.index_stats("vec_idx")["num_unindexed_rows"] == 0
    assert stats.index_stats("other")["num_unindexed_rows"] == 120
    ids, distances = found(neighbours, path, KINDS["PQ8"])
    assert (ids, distances) == before
    check_all_rows_are_found(kinjo, neighbours, path)
    # Once more, when nothing is to do; and an index that has dropped its dead rows.
    assert json.loads(kinjo("compact", path, "--json").stdout)["old_fragments"] == 0
    kinjo("index", "optimize", path, "--name", "vec_idx", "--num-indices-to-merge", 2)
    assert len(lance.dataset(path).get_fragments()) == 2
    check_all_rows_are_found(kinjo, neighbours, path)


def test_ids_are_set_aside_first(kinjo, neighbours, tmp_path):
    """Of the two versions of a compaction under an index the first changes no row."""
    path = write(tmp_path / "d", make_vectors(ROWS), 4)
    create(kinjo, path, KINDS["FLAT"], "l2")
    dataset = lance.dataset(path)
    kinjo("compact", path)
    reserved = lance.dataset(path, version=dataset.version + 1)
    assert reserved.count_rows() == ROWS and len(reserved.get_fragments()) == 4
    assert lance.dataset(path).version == dataset.version + 2
    lance.dataset(path).validate()
    check_all_rows_are_found(kinjo, neighbours, path)
