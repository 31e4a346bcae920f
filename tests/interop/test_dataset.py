"""Datasets that pylance writes and changes, read by ours: every row, value, row id and row address.

dataset_dump (tests/interop/dataset_dump.cc) scans or takes; what pylance scans of the same version
is the truth.
"""

import os
import subprocess
from pathlib import Path

import hypothesis
import hypothesis.strategies as st
import lance
import numpy as np
import pyarrow as pa
import pytest

ROOT = Path(__file__).resolve().parents[2]
VERSIONS = ["2.0", "2.1", "2.2"]


@pytest.fixture(scope="session")
def dataset_dump():
    cli = os.environ.get("KINJO_CLI")
    build = Path(cli).parent.parent if cli else ROOT / "build" / "release"
    path = build / "tests" / "interop" / "dataset_dump"
    if not path.exists():
        pytest.fail(f"{path} is not built; run ./dev build")
    return path


@pytest.fixture
def dump(dataset_dump, tmp_path):
    """dump(uri, columns, ...) gives (facts, table); with error=True the error text."""

    def run(uri, columns, version="latest", batch_rows=8192, addresses=None, error=False):
        out = tmp_path / "out.arrow"
        out.unlink(missing_ok=True)
        third = batch_rows
        if addresses is not None:
            third = tmp_path / "addresses"
            np.asarray(addresses, np.uint64).tofile(third)
        mode = "scan" if addresses is None else "take"
        command = [dataset_dump, uri, out, version, third, mode, *columns]
        done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=300)
        if error:
            assert done.returncode == 1, done.stderr
            return done.stderr
        assert done.returncode == 0, done.stderr
        facts = [line.split("\t") for line in done.stdout.splitlines()]
        if out.stat().st_size == 0:
            return facts, None
        return facts, pa.ipc.open_file(out).read_all()

    return run


def pylances(dataset, columns=None):
    return dataset.scanner(columns=columns, with_row_id=True, with_row_address=True).to_table()


def fact(facts, name):
    return [line[1:] for line in facts if line[0] == name]


def same(ours, theirs):
    """Equal values; a column at a time so that a difference has a name."""
    assert ours.column_names == theirs.column_names
    for name in theirs.column_names:
        left = ours[name].combine_chunks()
        right = theirs[name].combine_chunks()
        assert left.type == right.type, name
        assert left.equals(right), f"{name}: {first_difference(left, right)}"


def first_difference(left, right):
    if len(left) != len(right):
        return f"{len(left)} rows, expected {len(right)}"
    for row, (ours, theirs) in enumerate(zip(left, right, strict=True)):
        if not ours.equals(theirs):
            return f"row {row} is {ours}, expected {theirs}"
    return "bytes differ"


def check(dump, uri, version=None, batch_rows=(1000, 8192), seed=1):
    """Scans and takes one version and compares everything with pylance."""
    dataset = lance.dataset(uri, version=version)
    theirs = pylances(dataset)
    columns = [name for name in theirs.column_names if name not in ("_rowid", "_rowaddr")]
    asked = "latest" if version is None else version
    for rows in batch_rows:
        facts, ours = dump(uri, columns, version=asked, batch_rows=rows)
        assert fact(facts, "version") == [[str(dataset.version)]]
        assert fact(facts, "num_rows") == [[str(dataset.count_rows())]]
        fragments = [
            [f.fragment_id, f.physical_rows, f.num_deletions, len(f.data_files())]
            for f in dataset.get_fragments()
        ]
        assert fact(facts, "fragment") == [list(map(str, numbers)) for numbers in fragments]
        if len(theirs) == 0:
            assert ours is None
            return
        same(ours, theirs)
    random = np.random.default_rng(seed)
    addresses = theirs["_rowaddr"].to_numpy()
    for share in (0.02, 0.5):
        chosen = np.sort(addresses[random.random(len(addresses)) < share])
        _, ours = dump(uri, columns, version=asked, addresses=chosen)
        places = pa.array(np.flatnonzero(np.isin(addresses, chosen)))
        # Take gives address order, a scan the manifest's order of fragments.
        order = np.argsort(addresses[places.to_numpy()], kind="stable")
        same(ours, theirs.take(places.take(pa.array(order))))


def vectors(random, rows, dim=8, kind="float32"):
    if kind in ("uint8", "int8"):
        info = np.iinfo(kind)
        values = random.integers(info.min, info.max, rows * dim, dtype=kind, endpoint=True)
    else:
        values = random.normal(0, 1, rows * dim).astype(kind)
    return pa.FixedSizeListArray.from_arrays(pa.array(values), dim)


def table(rows, first_id=0, seed=0):
    random = np.random.default_rng(seed + first_id)
    ids = np.arange(first_id, first_id + rows, dtype=np.int64)
    return pa.table(
        {
            "id": ids,
            "text": [None if i % 13 == 5 else f"row {i} " + "x" * (i % 40) for i in ids],
            "number": pa.array(random.integers(0, 1000, rows), pa.int32()),
            "vec": vectors(random, rows),
        }
    )


def all_types(rows, seed=3):
    """Every scalar type, with and without nulls; some values repeat, some are long."""
    random = np.random.default_rng(seed)
    ticks = pa.array(random.integers(-(2**33), 2**33, rows))
    columns = {"bool": pa.array(random.integers(0, 2, rows).astype(bool))}
    for kind in ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"):
        info = np.iinfo(kind)
        columns[kind] = pa.array(random.integers(info.min, info.max, rows, kind, endpoint=True))
    for kind in ("float16", "float32", "float64"):
        columns[kind] = pa.array(random.normal(0, 1, rows).astype(kind))
        columns[f"vec_{kind}"] = vectors(random, rows, 24, kind)
        columns[f"wide_{kind}"] = vectors(random, rows, 160, kind)
    for kind in ("uint8", "int8"):
        columns[f"vec_{kind}"] = vectors(random, rows, 16, kind)
    texts = [f"{value} and {value * 7}" for value in random.integers(0, 10**9, rows).tolist()]
    columns["string"] = pa.array(texts)
    columns["large_string"] = pa.array(texts, pa.large_string())
    columns["repeated"] = pa.array([f"kind {i % 7}" for i in range(rows)])
    columns["long"] = pa.array([texts[i] * (i % 30) for i in range(rows)])
    columns["binary"] = pa.array([text.encode() for text in texts], pa.binary())
    columns["large_binary"] = pa.array([text.encode() for text in texts], pa.large_binary())
    columns["small"] = pa.array(random.integers(0, 100, rows))
    columns["sorted"] = pa.array(np.arange(rows))
    columns["date32"] = pa.array(random.integers(0, 30000, rows).astype(np.int32), pa.date32())
    columns["date64"] = pa.array(random.integers(0, 30000, rows) * 86_400_000, pa.date64())
    for unit in ("s", "ms", "us", "ns"):
        columns[f"timestamp_{unit}"] = ticks.cast(pa.timestamp(unit))
    columns["timestamp_zone"] = ticks.cast(pa.timestamp("us", "Europe/Berlin"))
    result = {}
    for number, (name, array) in enumerate(columns.items()):
        result[name] = array
        places = [i if i % (3 + number % 6) != 2 else None for i in range(rows)]
        result[f"{name}_null"] = array.take(pa.array(places, pa.int64()))
    result["all_null"] = pa.nulls(rows, pa.float32())
    return pa.table(result)


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("rows", [1, 300, 12_000])
def test_every_type(dump, tmp_path, version, rows):
    uri = str(tmp_path / "types.lance")
    lance.write_dataset(
        all_types(rows), uri, data_storage_version=version, max_rows_per_file=max(1, rows * 2 // 3)
    )
    check(dump, uri, batch_rows=(257, 8192))


@pytest.mark.parametrize("version", VERSIONS)
def test_columns_that_are_not_nullable(dump, tmp_path, version):
    uri = str(tmp_path / "required.lance")
    nullable = all_types(400)
    names = [n for n in nullable.column_names if not n.endswith("_null")]
    required = nullable.select(names)
    schema = pa.schema([field.with_nullable(False) for field in required.schema])
    lance.write_dataset(required.cast(schema), uri, data_storage_version=version)
    check(dump, uri)


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("predicate", ["id % 97 = 5", "id % 2 = 0", "id >= 100 AND id < 8900"])
def test_deletions(dump, tmp_path, version, predicate):
    uri = str(tmp_path / "deletions.lance")
    dataset = lance.write_dataset(
        table(12_000), uri, data_storage_version=version, max_rows_per_file=9000
    )
    dataset.delete(predicate)
    dataset.delete("number < 50")
    check(dump, uri, batch_rows=(100, 8192))
    for old in (1, 2):
        check(dump, uri, version=old)


def test_a_deleted_fragment(dump, tmp_path):
    uri = str(tmp_path / "gone.lance")
    dataset = lance.write_dataset(table(3000), uri, max_rows_per_file=1000)
    dataset.delete("id >= 1000 AND id < 2000")
    check(dump, uri)
    dataset.delete("true")
    check(dump, uri)


@pytest.mark.parametrize("stable", [False, True])
def test_a_history_of_changes(dump, tmp_path, stable):
    """Append, add, drop, rename, cast, update, merge, delete, compact: each version in between."""
    uri = str(tmp_path / "history.lance")
    dataset = lance.write_dataset(
        table(2000), uri, max_rows_per_file=700, enable_stable_row_ids=stable
    )
    dataset = lance.write_dataset(table(500, first_id=2000), uri, mode="append")
    dataset.add_columns({"double": "number * 2", "shout": "upper(text)"})
    dataset.add_columns(pa.field("later", pa.float64()))
    dataset = lance.write_dataset(
        table(300, first_id=2500).select(["vec", "id"]), uri, mode="append"
    )
    dataset.delete("id % 11 = 3")
    dataset.update({"text": "'changed'"}, where="id % 10 = 4")
    dataset.drop_columns(["shout"])
    dataset.alter_columns({"path": "text", "name": "words"})
    dataset.alter_columns({"path": "number", "data_type": pa.int64()})
    merged = lance.dataset(uri).to_table().slice(50, 20)
    dataset = lance.dataset(uri)
    dataset.merge_insert("id").when_matched_update_all().when_not_matched_insert_all().execute(
        merged
    )
    dataset.delete("id = 77")
    dataset = lance.dataset(uri)
    dataset.optimize.compact_files(target_rows_per_fragment=1200)
    dataset = lance.write_dataset(dataset.to_table().slice(0, 10), uri, mode="append")
    versions = [version["version"] for version in dataset.versions()]
    assert len(versions) > 12
    facts, _ = dump(uri, ["id"])
    assert [int(line[0]) for line in fact(facts, "exists")] == versions
    for version in versions:
        check(dump, uri, version=version, batch_rows=(333,))
    check(dump, uri)


@pytest.mark.parametrize("stable", [False, True])
@hypothesis.settings(max_examples=15, suppress_health_check=list(hypothesis.HealthCheck))
@hypothesis.given(
    steps=st.lists(
        st.tuples(
            st.sampled_from(["append", "delete", "update", "merge", "compact"]),
            st.integers(0, 40),
        ),
        min_size=1,
        max_size=6,
    )
)
def test_any_sequence_of_writes(dump, tmp_path_factory, stable, steps):
    uri = str(tmp_path_factory.mktemp("steps") / "any.lance")
    dataset = lance.write_dataset(
        table(120), uri, max_rows_per_file=50, enable_stable_row_ids=stable
    )
    next_id = 120
    for step, number in steps:
        dataset = lance.dataset(uri)
        if step == "append":
            lance.write_dataset(table(number + 1, first_id=next_id), uri, mode="append")
            next_id += number + 1
        elif step == "delete":
            dataset.delete(f"id % 41 = {number}")
        elif step == "update":
            dataset.update({"number": "-1"}, where=f"id % 41 = {number}")
        elif step == "merge":
            changed = dataset.to_table().slice(number, 9)
            if len(changed):
                dataset.merge_insert("id").when_matched_update_all().execute(changed)
        else:
            dataset.optimize.compact_files(target_rows_per_fragment=60 + number)
    check(dump, uri, batch_rows=(13,))


@pytest.mark.parametrize("stable", [False, True])
@pytest.mark.parametrize("v2_names", [False, True])
def test_names_of_manifests(dump, tmp_path, stable, v2_names):
    uri = str(tmp_path / "names.lance")
    dataset = lance.write_dataset(
        table(40), uri, enable_v2_manifest_paths=v2_names, enable_stable_row_ids=stable
    )
    for step in range(12):
        dataset.delete(f"id = {step}")
    facts, _ = dump(uri, ["id"])
    assert fact(facts, "version") == [["13"]]
    check(dump, uri)
    check(dump, uri, version=9)


def test_a_branch_and_a_clone_share_files(dump, tmp_path):
    """Their manifests reach the parent's files through base paths."""
    uri = str(tmp_path / "parent.lance")
    dataset = lance.write_dataset(table(300), uri, max_rows_per_file=200)
    dataset.delete("id % 10 = 0")
    clone = str(tmp_path / "clone.lance")
    lance.dataset(uri).shallow_clone(clone, lance.dataset(uri).version)
    lance.write_dataset(table(50, first_id=300), clone, mode="append")
    lance.dataset(clone).delete("id % 10 = 1")
    check(dump, clone)


def test_an_index_of_each_state(dump, tmp_path):
    uri = str(tmp_path / "index.lance")
    dataset = lance.write_dataset(table(1500), uri, max_rows_per_file=800)
    options = {"num_partitions": 2, "num_sub_vectors": 4}
    dataset.create_index("vec", "IVF_PQ", name="pq", metric="cosine", **options)
    dataset.create_scalar_index("id", "BTREE")
    facts, _ = dump(uri, ["id"])
    assert fact(facts, "index") == [["pq", "vec", "IVF_PQ", "cosine", "1", ""]]
    lance.write_dataset(table(300, first_id=1500), uri, mode="append")
    lance.dataset(uri).optimize.optimize_indices(num_indices_to_merge=0)
    facts, _ = dump(uri, ["id"])
    assert fact(facts, "index") == [["pq", "vec", "IVF_PQ", "cosine", "2", ""]]
    dataset = lance.dataset(uri)
    dataset.create_index(
        "vec", "IVF_HNSW_SQ", name="pq", metric="l2", replace=True, num_partitions=1
    )
    facts, _ = dump(uri, ["id"])
    assert fact(facts, "index") == [["pq", "vec", "IVF_HNSW_SQ", "l2", "1", ""]]


def test_errors_name_what_is_wrong(dump, tmp_path):
    uri = str(tmp_path / "errors.lance")
    lance.write_dataset(table(10), uri)
    assert "no column 'absent'; it has: id, text, number, vec" in dump(uri, ["absent"], error=True)
    assert dump(str(tmp_path / "x"), ["id"], error=True).startswith("not_found: no dataset at ")
    assert dump(str(tmp_path), ["id"], error=True).startswith("invalid: ")
    [data_file] = Path(uri, "data").iterdir()
    whole = data_file.read_bytes()
    data_file.write_bytes(whole[:-1])
    assert dump(uri, ["id"], error=True).startswith("corrupt: ")
    data_file.unlink()
    assert dump(uri, ["id"], error=True).startswith("not_found: ")
