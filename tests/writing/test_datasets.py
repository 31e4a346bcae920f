"""Datasets that we write, read by pylance: every value, version and tag; pylance changes them, and
we change what pylance wrote."""

import datetime
import decimal
import json
import os
import time

import lance
import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

DATA_VERSIONS = ["2.0", "2.1", "2.2"]


def read(path, version=None):
    return lance.dataset(path, version=version).to_table().sort_by("id")


def check_sound(path, expected):
    """pylance finds nothing wrong, and the rows are these."""
    dataset = lance.dataset(path)
    dataset.validate()
    assert dataset.count_rows() == expected.num_rows
    found = read(path)
    found.validate(full=True)
    assert found.equals(expected.sort_by("id"))


@pytest.mark.parametrize("version", DATA_VERSIONS)
def test_create_append_overwrite(write, rows, tmp_path, version):
    path = tmp_path / "t.lance"
    report = write(path, rows(0, 1000), "--data-version", version)
    assert (report["version"], report["rows"], report["fragments"]) == (1, 1000, 1)
    assert report["bytes"] == sum(f.stat().st_size for f in (path / "data").iterdir())
    check_sound(path, rows(0, 1000))
    assert lance.dataset(path).data_storage_version == version

    assert write(path, rows(1000, 500), "--mode", "append")["version"] == 2
    check_sound(path, pa.concat_tables([rows(0, 1000), rows(1000, 500)]))

    other = rows(0, 10).select(["id", "price"])
    assert write(path, other, "--mode", "overwrite")["version"] == 3
    check_sound(path, other)
    assert read(path, 1).equals(rows(0, 1000))
    assert [f.fragment_id for f in lance.dataset(path).get_fragments()] == [2]
    assert len(lance.dataset(path).versions()) == 3


def test_row_limits(write, rows, tmp_path):
    path = tmp_path / "t.lance"
    assert write(path, rows(0, 1000), "--max-rows-per-file", 300)["fragments"] == 4
    sizes = [f.physical_rows for f in lance.dataset(path).get_fragments()]
    assert sizes == [300, 300, 300, 100]
    check_sound(path, rows(0, 1000))


def test_append_to_pylances(write, rows, tmp_path):
    path = tmp_path / "t.lance"
    for version in DATA_VERSIONS:
        lance.write_dataset(
            rows(0, 100), path, mode="overwrite", data_storage_version=version
        )
        write(path, rows(100, 50), "--mode", "append")
        check_sound(path, pa.concat_tables([rows(0, 100), rows(100, 50)]))
        versions = {
            (f.file_major_version, f.file_minor_version)
            for fragment in lance.dataset(path).get_fragments()
            for f in fragment.data_files()
        }
        assert len(versions) == 1


def test_pylance_changes_ours(write, rows, tmp_path):
    path = tmp_path / "t.lance"
    write(path, rows(0, 1000), "--max-rows-per-file", 400)
    dataset = lance.dataset(path)
    dataset.insert(rows(1000, 300))
    dataset.delete("id % 3 = 0")
    dataset.update({"price": "price + 1"}, where="id < 10")
    dataset.add_columns({"twice": "id * 2"})
    dataset.optimize.compact_files()
    dataset.create_scalar_index("id", "BTREE")
    dataset.tags.create("by_pylance", dataset.version)
    kept = [i for i in range(1300) if i % 3 != 0]
    found = read(path)
    assert found["id"].to_pylist() == kept
    assert found["twice"].to_pylist() == [2 * i for i in kept]
    expected = [i / 4 + (1 if i < 10 else 0) for i in kept]
    assert found["price"].to_pylist() == expected
    lance.dataset(path).validate()
    # And ours again on top of that.
    assert write(path, rows(2000, 10), "--mode", "append")["rows"] == 10
    assert read(path)["twice"].to_pylist()[-10:] == [None] * 10
    lance.dataset(path).optimize.optimize_indices()
    assert lance.dataset(path).to_table(filter="id = 2003")["id"].to_pylist() == [2003]


def test_vector_index_of_pylance_over_ours(write, rows, change, tmp_path):
    path = tmp_path / "t.lance"
    write(path, rows(0, 2000), "--max-rows-per-file", 700)
    dataset = lance.dataset(path)
    dataset.create_index("vec", "IVF_PQ", num_partitions=4, num_sub_vectors=4)
    write(path, rows(2000, 500), "--mode", "append")
    change("delete", path, "--where", "id % 10 = 3")
    dataset = lance.dataset(path)
    query = rows(2100, 1)["vec"].combine_chunks().flatten().to_numpy()
    near = {"column": "vec", "q": query, "k": 3, "nprobes": 4, "refine_factor": 10}
    assert dataset.to_table(nearest=near)["id"].to_pylist()[0] == 2100
    dataset.optimize.optimize_indices()
    stats = lance.dataset(path).stats.index_stats("vec_idx")
    assert stats["num_unindexed_rows"] == 0
    found = lance.dataset(path).to_table(nearest=near | {"k": 50})["id"].to_pylist()
    assert found[0] == 2100
    assert all(i % 10 != 3 for i in found)


@pytest.mark.parametrize("stable", [False, True])
def test_delete(write, rows, change, tmp_path, stable):
    path = tmp_path / "t.lance"
    flags = ["--stable-row-ids"] if stable else []
    write(path, rows(0, 20000), "--max-rows-per-file", 12000, *flags)
    assert change("delete", path, "--where", "id >= 100 AND id < 200")["rows"] == 100
    assert change("delete", path, "--where", "id % 2 = 0")["rows"] == 9950
    assert change("delete", path, "--where", "id >= 12000")["rows"] == 4000
    report = change("delete", path, "--where", "id % 2 = 0")
    assert (report["rows"], report["version"]) == (0, 4)
    kept = [i for i in range(12000) if i % 2 == 1 and not 100 <= i < 200]
    dataset = lance.dataset(path)
    dataset.validate()
    assert dataset.to_table()["id"].to_pylist() == kept
    assert [f.fragment_id for f in dataset.get_fragments()] == [0]
    kinds = {name.split(".")[-1] for name in os.listdir(path / "_deletions")}
    assert kinds == {"arrow", "bin"}
    dataset.delete("id = 1")
    assert lance.dataset(path).count_rows() == len(kept) - 1


def test_delete_errors(write, rows, change, tmp_path):
    path = tmp_path / "t.lance"
    write(path, rows(0, 10))
    change("delete", path, "--where", "no_column = 1", error="no_column")
    change("delete", tmp_path / "nothing", "--where", "id = 1", error="no dataset at")
    change("delete", path, error="--where is needed", exit_code=2)
    assert lance.dataset(path).version == 1


@pytest.mark.parametrize("stable", [False, True])
def test_compact(write, rows, change, tmp_path, stable):
    path = tmp_path / "t.lance"
    flags = ["--stable-row-ids"] if stable else []
    write(path, rows(0, 100), *flags)
    for i in range(1, 6):
        write(path, rows(100 * i, 100), "--mode", "append")
    change("delete", path, "--where", "id % 4 = 1")
    before = lance.dataset(path).to_table(with_row_id=True)
    report = change("compact", path)
    assert (report["old_fragments"], report["fragments"]) == (6, 1)
    assert report["rows"] == 450
    dataset = lance.dataset(path)
    dataset.validate()
    after = dataset.to_table(with_row_id=True)
    if stable:
        assert after.equals(before)
        dataset.delete("id = 0")
        assert lance.dataset(path).count_rows() == 449
    else:
        assert after.drop(["_rowid"]).equals(before.drop(["_rowid"]))
        assert after["_rowid"].to_pylist() == [6 << 32 | i for i in range(450)]
    assert change("compact", path)["old_fragments"] == 0
    lance.dataset(path).insert(rows(1000, 10))
    assert lance.dataset(path).count_rows() == (449 if stable else 450) + 10


@pytest.mark.parametrize("stable", [False, True])
def test_compact_under_an_index(write, rows, change, tmp_path, stable):
    path = tmp_path / "t.lance"
    flags = ["--stable-row-ids"] if stable else []
    write(path, rows(0, 900), "--max-rows-per-file", 300, *flags)
    dataset = lance.dataset(path)
    dataset.create_index("vec", "IVF_FLAT", num_partitions=2)
    dataset.create_scalar_index("id", "BTREE")
    change("delete", path, "--where", "id < 10")
    write(path, rows(900, 20), "--mode", "append")
    write(path, rows(920, 20), "--mode", "append")
    assert change("compact", path)["fragments"] == 2  # the indexed ones, and the others
    dataset = lance.dataset(path)
    unindexed = dataset.stats.index_stats("vec_idx")["num_unindexed_rows"]
    assert unindexed == 40
    query = rows(500, 1)["vec"].combine_chunks().flatten().to_numpy()
    near = {"column": "vec", "q": query, "k": 5, "nprobes": 2}
    brute = dataset.to_table(nearest=near | {"use_index": False})["id"].to_pylist()
    assert dataset.to_table(nearest=near)["id"].to_pylist() == brute
    assert sorted(dataset.to_table(nearest=near | {"k": 1000})["id"].to_pylist()) == [
        *range(10, 940)
    ]
    assert dataset.to_table(filter="id = 77")["id"].to_pylist() == [77]
    dataset.optimize.optimize_indices()
    dataset = lance.dataset(path)
    assert dataset.to_table(nearest=near)["id"].to_pylist() == brute
    assert dataset.to_table(filter="id = 77")["id"].to_pylist() == [77]


def test_compact_where_a_share_is_deleted(write, rows, change, tmp_path):
    path = tmp_path / "t.lance"
    write(path, rows(0, 300), "--max-rows-per-file", 100)
    change("delete", path, "--where", "id >= 100 AND id < 120")
    report = change("compact", path, "--target-rows", 50)
    assert (report["old_fragments"], report["fragments"], report["rows"]) == (1, 2, 80)
    ids = lance.dataset(path).to_table()["id"].to_pylist()
    # Rewritten rows come last.
    assert ids == [*range(100), *range(200, 300), *range(120, 200)]
    flags = "--deleted-share-max", 2
    change("compact", path, *flags, error="--deleted-share-max is 2; it must be from 0 to 1")


def test_columns(write, rows, change, tmp_path):
    path = tmp_path / "t.lance"
    write(path, rows(0, 900), "--max-rows-per-file", 400)
    change("delete", path, "--where", "id % 5 = 2")
    ids = lance.dataset(path).to_table()["id"].to_pylist()
    added = pa.table(
        {
            "score": pa.array([i / 2 for i in ids], pa.float32()),
            "pair": pa.array([{"a": i, "b": str(i)} for i in ids]),
        }
    )
    source = tmp_path / "added.parquet"
    pq.write_table(added, source)
    report = change("columns", "add", path, source)
    assert report["rows"] == len(ids)
    dataset = lance.dataset(path)
    dataset.validate()
    found = dataset.to_table()
    assert found["score"].to_pylist() == added["score"].to_pylist()
    assert found["pair"].to_pylist() == added["pair"].to_pylist()
    assert found["id"].to_pylist() == ids

    change("columns", "add", path, source, error="there is one of that name")
    pq.write_table(added.slice(1).rename_columns(["x", "y"]), source)
    change("columns", "add", path, source, error="fewer than")
    pq.write_table(pa.concat_tables([added, added]).rename_columns(["x", "y"]), source)
    change("columns", "add", path, source, error="more rows than")

    change("columns", "rename", path, "pair.a", "first")
    change("columns", "rename", path, "id", "key")
    change("columns", "drop", path, "score,tags")
    dataset = lance.dataset(path)
    dataset.validate()
    assert dataset.schema.names == ["key", "name", "price", "vec", "pair"]
    assert dataset.to_table()["key"].to_pylist() == ids
    assert dataset.to_table()["pair"][3].as_py() == {"first": ids[3], "b": str(ids[3])}
    change("columns", "drop", path, "key,name,price,vec,pair", error="keep one")
    change("columns", "rename", path, "key", "vec", error="already")
    # The id of a dropped column is not given again.
    pq.write_table(pa.table({"score": pa.array(range(len(ids)), pa.int64())}), source)
    change("columns", "add", path, source)
    assert lance.dataset(path).to_table()["score"].to_pylist() == list(range(len(ids)))
    dataset.delete("key < 10")
    dataset.optimize.compact_files()
    assert lance.dataset(path).count_rows() == len([i for i in ids if i >= 10])


def test_restore_and_tags(write, rows, change, kinjo, tmp_path):
    path = tmp_path / "t.lance"
    write(path, rows(0, 10))
    write(path, rows(10, 10), "--mode", "append")
    kinjo("tag", "create", path, "first", "--version", 1)
    kinjo("tag", "create", path, "now")
    assert change("tag", "list", path) == {"first": 1, "now": 2}
    change("tag", "create", path, "now", error="has a tag 'now' already")
    change("tag", "create", path, "../x", error="tag is '../x'")
    change("tag", "create", path, "x", "--version", 9, error="has no version 9")
    tags = lance.dataset(path).tags.list()
    assert {name: tag["version"] for name, tag in tags.items()} == {"first": 1, "now": 2}
    size = next((path / "_versions").glob("*614.manifest")).stat().st_size
    assert tags["first"]["manifest_size"] == size
    assert abs(tags["first"]["created_at"].timestamp() - time.time()) < 600

    assert change("restore", path, "--version", "first")["version"] == 3
    check_sound(path, rows(0, 10))
    write(path, rows(50, 5), "--mode", "append")
    # Ids are not given twice: version 2 still has its fragment 1.
    assert [f.fragment_id for f in lance.dataset(path).get_fragments()] == [0, 2]
    assert lance.dataset(path, version="now").count_rows() == 20
    kinjo("tag", "update", path, "first", "--version", 3)
    assert lance.dataset(path).tags.list()["first"]["version"] == 3
    lance.dataset(path).tags.create("theirs", 2)
    kinjo("tag", "delete", path, "theirs")
    kinjo("tag", "delete", path, "now")
    change("tag", "delete", path, "now", error="has no tag 'now'; it has first")
    assert list(lance.dataset(path).tags.list()) == ["first"]
    lance.dataset(path).restore()


def all_files(path):
    return {p.relative_to(path).as_posix() for p in path.rglob("*") if p.is_file()}


def test_cleanup(write, rows, change, kinjo, tmp_path):
    path = tmp_path / "t.lance"
    write(path, rows(0, 100))
    write(path, rows(100, 100), "--mode", "append")
    dataset = lance.dataset(path)
    dataset.create_scalar_index("id", "BTREE")
    change("delete", path, "--where", "id = 5")
    kinjo("tag", "create", path, "kept", "--version", 2)
    write(path, rows(0, 7), "--mode", "overwrite")
    before = all_files(path)
    report = change("cleanup", path)
    assert (report["versions"], report["files"]) == (0, 0)
    assert all_files(path) == before
    (path / "data" / "orphan.lance").write_bytes(b"x" * 10)

    report = change("cleanup", path, "--older-than", "0s", "--keep-versions", 2)
    assert report["versions"] == 2  # versions 1 and 3
    assert sorted(v["version"] for v in lance.dataset(path).versions()) == [2, 4, 5]
    assert lance.dataset(path, version=2).to_table().num_rows == 200
    assert lance.dataset(path, version=4).to_table(filter="id = 6").num_rows == 1
    assert (path / "data" / "orphan.lance").exists()

    kinjo("tag", "delete", path, "kept")
    report = change("cleanup", path, "--older-than", "0s")
    assert report["version"] == 5
    assert report["versions"] == 2
    check_sound(path, rows(0, 7))
    left = all_files(path)
    assert len([name for name in left if name.startswith("data/")]) == 2
    assert not [name for name in left if name.startswith(("_deletions", "_indices"))]
    change("cleanup", path, "--orphans-older-than", "0s")
    assert not (path / "data" / "orphan.lance").exists()
    check_sound(path, rows(0, 7))
    lance.dataset(path).insert(rows(7, 3))
    check_sound(path, pa.concat_tables([rows(0, 7), rows(7, 3)]))


def test_cleanup_refuses_branches(write, rows, change, tmp_path):
    path = tmp_path / "t.lance"
    write(path, rows(0, 10))
    lance.dataset(path).create_branch("side")
    change("cleanup", path, "--older-than", "0s", error="has branches")


def test_sources(change, rows, tmp_path):
    table = rows(0, 50)
    flat = table.select(["id", "name", "price"])
    pa.csv.write_csv(flat, tmp_path / "t.csv")
    with open(tmp_path / "t.jsonl", "w") as out:
        for row in table.to_pylist():
            out.write(json.dumps(row) + "\n")
    with pa.ipc.new_file(tmp_path / "t.arrow", table.schema) as writer:
        writer.write_table(table)
    vectors = np.arange(60, dtype=np.float32).reshape(15, 4)
    np.save(tmp_path / "t.npy", vectors)
    for ending, element in [("fvecs", np.float32), ("ivecs", np.int32), ("bvecs", np.uint8)]:
        with open(tmp_path / f"t.{ending}", "wb") as out:
            for vector in vectors.astype(element):
                out.write(np.int32(4).tobytes() + vector.tobytes())

    change("import", tmp_path / "t.csv", tmp_path / "csv.lance")
    found = read(tmp_path / "csv.lance")
    assert found["id"].to_pylist() == flat["id"].to_pylist()
    assert found["price"].to_pylist() == flat["price"].to_pylist()
    change("import", tmp_path / "t.arrow", tmp_path / "arrow.lance")
    check_sound(tmp_path / "arrow.lance", table)
    change("import", tmp_path / "t.jsonl", tmp_path / "jsonl.lance", "--vector-column", "vec")
    found = read(tmp_path / "jsonl.lance")
    assert pa.types.is_fixed_size_list(found.schema.field("vec").type)
    assert found["vec"].to_pylist() == table["vec"].to_pylist()
    # And into a table whose vectors have another element type.
    change("import", tmp_path / "t.jsonl", tmp_path / "arrow.lance", "--mode", "append")
    assert read(tmp_path / "arrow.lance").num_rows == 100
    for ending in ["npy", "fvecs", "ivecs", "bvecs"]:
        change("import", tmp_path / f"t.{ending}", tmp_path / f"{ending}.lance")
        found = lance.dataset(tmp_path / f"{ending}.lance").to_table()
        assert found["vector"].to_pylist() == vectors.tolist(), ending
    change("import", tmp_path / "csv.lance", tmp_path / "copy.lance")
    assert read(tmp_path / "copy.lance").equals(read(tmp_path / "csv.lance"))


def test_refusals(write, rows, change, tmp_path):
    path = tmp_path / "t.lance"
    write(path, rows(0, 10))
    table = rows(10, 10)
    write(path, table, error="there is a dataset at")
    write(path, table.drop(["name"]), "--mode", "append")
    extra = table.append_column("more", table["id"])
    write(path, extra, "--mode", "append", error="a column 'more'")
    text = table.set_column(0, "id", pa.array(["x"] * 10))
    write(path, text, "--mode", "append", error="doesn't fit into int64")
    flags = "--mode", "append", "--data-version", "2.0"
    write(path, table, *flags, error="--data-version is '2.0', but")
    write(path, table, "--mode", "other", error="--mode is 'other'", exit_code=2)
    write(path, table, "--data-version", "3", error="--data-version is '3'", exit_code=2)
    write(path, table, "--max-rows-per-file", 0, error="--max-rows-per-file is 0", exit_code=2)
    write(tmp_path, table, error="and no dataset; name a folder that isn't there yet")
    lists = pa.table({"v": [[1.0, 2.0], [3.0]]})
    write(tmp_path / "v", lists, "--vector-column", "v", error="have one length")
    write(tmp_path / "v", lists, "--vector-column", "w", error="no column 'w'")
    write(tmp_path / "v", table, "--memory-limit", "100KB", error="the least is", exit_code=3)
    dotted = pa.table({"a.b": [1]})
    write(tmp_path / "v", dotted, error="a.b")
    assert not [p for p in (tmp_path / "v").rglob("*") if p.is_file()]
    assert lance.dataset(path).version == 2


def test_unknown_flags_stop_a_writer(write, rows, tmp_path):
    path = tmp_path / "t.lance"
    write(path, rows(0, 10))
    manifest = next((path / "_versions").glob("*.manifest"))
    content = manifest.read_bytes()
    offset = int.from_bytes(content[-16:-8], "little")
    length = int.from_bytes(content[offset : offset + 4], "little")
    message = content[offset + 4 : offset + 4 + length] + bytes([0x50, 0x80, 0x80, 0x10])
    manifest.write_bytes(
        content[:offset] + len(message).to_bytes(4, "little") + message + content[-16:]
    )
    write(path, rows(0, 10), "--mode", "append", error="feature flag bit 18 (unknown)")


def test_old_names_and_settings_are_kept(write, rows, change, tmp_path):
    path = tmp_path / "t.lance"
    table = rows(0, 10)
    field = pa.field("id", pa.int64(), metadata={"unit": "one"})
    table = table.cast(pa.schema([field, *list(table.schema)[1:]], metadata={"a": "b"}))
    dataset = lance.write_dataset(table, path, enable_v2_manifest_paths=False)
    dataset.update_config({"lance.auto_cleanup.interval": "1000"})
    dataset.update_metadata({"owner": "somebody"})
    write(path, rows(10, 10), "--mode", "append")
    change("delete", path, "--where", "id = 3")
    assert (path / "_versions" / "5.manifest").exists()
    dataset = lance.dataset(path)
    assert dataset.config() == {"lance.auto_cleanup.interval": "1000"}
    assert dataset.metadata["owner"] == "somebody"
    assert dataset.schema.metadata == {b"a": b"b"}
    assert dataset.schema.field("id").metadata == {b"unit": b"one"}
    assert dataset.count_rows() == 19


def test_stable_row_ids_stay(write, rows, change, tmp_path):
    path = tmp_path / "t.lance"
    write(path, rows(0, 100), "--stable-row-ids")
    write(path, rows(100, 20), "--mode", "append")
    dataset = lance.dataset(path)
    assert dataset.to_table(with_row_id=True)["_rowid"].to_pylist() == list(range(120))
    dataset.update({"price": "0.0"}, where="id = 50")
    change("delete", path, "--where", "id = 51")
    write(path, rows(120, 5), "--mode", "append")
    found = lance.dataset(path).to_table(with_row_id=True)
    assert found.num_rows == 124
    assert all(row["id"] == row["_rowid"] for row in found.to_pylist())
    columns = ["id", "_row_created_at_version", "_row_last_updated_at_version"]
    before = lance.dataset(path).to_table(columns=columns).sort_by("id")
    change("compact", path)
    found = lance.dataset(path).to_table(with_row_id=True)
    assert all(row["id"] == row["_rowid"] for row in found.to_pylist())
    assert lance.dataset(path).to_table(columns=columns).sort_by("id").equals(before)


def type_table():
    """A column of each kind of type, with nulls."""
    day = datetime.date(2020, 2, 29)
    moment = datetime.datetime(2021, 3, 4, 5, 6, 7)
    columns = {
        "id": pa.array([0, 1, 2], pa.int64()),
        "b": pa.array([True, None, False]),
        "u8": pa.array([1, None, 255], pa.uint8()),
        "f16": pa.array(np.array([1, 2, 3], np.float16)),
        "text": pa.array(["a", None, ""], pa.large_string()),
        "bytes": pa.array([b"a", None, b""], pa.binary()),
        "fixed": pa.array([b"ab", None, b"cd"], pa.binary(2)),
        "date": pa.array([day, None, day], pa.date32()),
        "time": pa.array([1, None, 3], pa.time64("us")),
        "stamp": pa.array([moment, None, moment], pa.timestamp("us", tz="UTC")),
        "span": pa.array([1, None, 3], pa.duration("ms")),
        "money": pa.array([decimal.Decimal("1.25"), None, decimal.Decimal("-3.50")]),
        "pair": pa.array([{"x": 1, "y": "a"}, None, {"x": None, "y": "b"}]),
        "deep": pa.array([[{"x": 1}], None, []], pa.list_(pa.struct([("x", pa.int32())]))),
        "vec": pa.array([[1.0, 2.0], None, [3.0, 4.0]], pa.list_(pa.float32(), 2)),
        "none": pa.nulls(3),
    }
    return pa.table(columns)


@pytest.mark.parametrize("version", ["2.1", "2.2"])
def test_types(change, tmp_path, version):
    table = type_table()
    with pa.ipc.new_file(tmp_path / "t.arrow", table.schema) as writer:
        writer.write_table(table)
    path = tmp_path / "t.lance"
    change("import", tmp_path / "t.arrow", path, "--data-version", version)
    check_sound(path, table)
    change("import", tmp_path / "t.arrow", path, "--mode", "append")
    change("compact", path)
    assert read(path).num_rows == 6
    # pylance's own schema of the same table.
    lance.write_dataset(table, tmp_path / "p.lance", data_storage_version=version)
    assert lance.dataset(path).schema.equals(lance.dataset(tmp_path / "p.lance").schema)
