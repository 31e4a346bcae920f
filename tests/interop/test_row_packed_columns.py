"""Columns that store a row as one piece: packed structs, and blobs, whose rows say where their
values lie. Read by `kinjo scan` and compared with what was written.
"""

import datetime

import lance
import numpy as np
import pyarrow as pa
import pyarrow.ipc
import pytest

ROWS = 2500
BLOB = {"lance-encoding:blob": "true"}
PACKED = {"lance-encoding:packed": "true"}
VERSIONS = ("2.0", "2.1", "2.2")
FIXED = pa.struct([("a", pa.int16()), ("t", pa.time32("s")), ("b", pa.float64())])
VARIABLE = pa.struct([("a", pa.int32()), ("name", pa.string()), ("b", pa.int16()),
                      ("bytes", pa.binary())])


def fixed_rows():
    return [{"a": i % 1000, "t": datetime.time(i % 24, i % 60), "b": i * 0.25} for i in range(ROWS)]


def variable_rows():
    return [{"a": i, "name": "x" * (i % 9), "b": -i, "bytes": bytes([i % 256]) * (i % 300)}
            for i in range(ROWS)]


def blob_rows(nulls=False):
    values = [bytes([i % 256]) * (i % 700) for i in range(ROWS)]
    return [None if nulls and i % 7 == 3 else value for i, value in enumerate(values)]


def write(path, version, kind, rows, metadata):
    schema = pa.schema([pa.field("id", pa.int64()), pa.field("c", kind, metadata=metadata)])
    table = pa.Table.from_arrays([pa.array(range(len(rows))), pa.array(rows, kind)], schema=schema)
    lance.write_dataset(table, path, data_storage_version=version, max_rows_per_file=1000)


def scanned(kinjo, path, out, *flags):
    kinjo("scan", path, *flags, "-o", out)
    return pa.ipc.open_file(out).read_all()


def expect_rows(kinjo, path, tmp_path, kind, rows):
    """Whole, and in pieces that begin and end within pages."""
    table = scanned(kinjo, path, tmp_path / "all.arrow")
    assert table.schema.field("c").type == kind
    assert table.column("c").to_pylist() == rows
    for offset, limit in ((0, 1), (997, 10), (2033, 400)):
        part = scanned(kinjo, path, tmp_path / "part.arrow", "--offset", offset, "--limit", limit)
        assert part.column("c").to_pylist() == rows[offset : offset + limit]
    picked = scanned(kinjo, path, tmp_path / "picked.arrow", "--where", "id % 411 = 5")
    assert picked.column("c").to_pylist() == rows[5::411]


@pytest.mark.parametrize("version", VERSIONS)
def test_packed_structs_of_fixed_width(kinjo, tmp_path, version):
    write(tmp_path / "d", version, FIXED, fixed_rows(), PACKED)
    expect_rows(kinjo, tmp_path / "d", tmp_path, FIXED, fixed_rows())


def test_packed_structs_with_texts(kinjo, tmp_path):
    write(tmp_path / "d", "2.2", VARIABLE, variable_rows(), PACKED)
    expect_rows(kinjo, tmp_path / "d", tmp_path, VARIABLE, variable_rows())


@pytest.mark.parametrize("nulls", [False, True])
@pytest.mark.parametrize("version", VERSIONS)
def test_blobs_are_their_bytes(kinjo, tmp_path, version, nulls):
    write(tmp_path / "d", version, pa.large_binary(), blob_rows(nulls), BLOB)
    expect_rows(kinjo, tmp_path / "d", tmp_path, pa.large_binary(), blob_rows(nulls))


@pytest.mark.parametrize("version", VERSIONS)
def test_blobs_of_no_bytes_and_no_values(kinjo, tmp_path, version):
    for number, rows in enumerate(([b""] * 50, [None] * 50, [b"", None, b"x"] * 10)):
        write(tmp_path / f"d{number}", version, pa.large_binary(), rows, BLOB)
        table = scanned(kinjo, tmp_path / f"d{number}", tmp_path / "all.arrow")
        assert table.column("c").to_pylist() == rows


@pytest.mark.parametrize("version", VERSIONS)
def test_a_join_brings_blobs_along(kinjo, tmp_path, version):
    vectors = np.eye(32, dtype=np.float32)
    rows = [bytes([i]) * i for i in range(32)]
    schema = pa.schema([pa.field("vec", pa.list_(pa.float32(), 32)),
                        pa.field("c", pa.large_binary(), metadata=BLOB)])
    column = pa.FixedSizeListArray.from_arrays(pa.array(vectors.reshape(-1)), 32)
    lance.write_dataset(pa.Table.from_arrays([column, pa.array(rows, pa.large_binary())],
                                           schema=schema),
                        tmp_path / "r", data_storage_version=version)
    np.save(tmp_path / "left.npy", vectors[::-1].copy())
    kinjo("join", "--left", tmp_path / "left.npy", "--right", tmp_path / "r", "-k", 1, "-o",
          tmp_path / "out.lance")
    assert lance.dataset(tmp_path / "out.lance").to_table().column("c").to_pylist() == rows[::-1]


@pytest.mark.parametrize("version", VERSIONS)
def test_a_join_brings_packed_structs_along(kinjo, tmp_path, version):
    vectors = np.eye(32, dtype=np.float32)
    rows = [{"a": i, "t": datetime.time(i % 24), "b": i / 2} for i in range(32)]
    schema = pa.schema([pa.field("vec", pa.list_(pa.float32(), 32)),
                        pa.field("c", FIXED, metadata=PACKED)])
    column = pa.FixedSizeListArray.from_arrays(pa.array(vectors.reshape(-1)), 32)
    lance.write_dataset(pa.Table.from_arrays([column, pa.array(rows, FIXED)], schema=schema),
                        tmp_path / "r", data_storage_version=version)
    np.save(tmp_path / "left.npy", vectors[::-1].copy())
    kinjo("join", "--left", tmp_path / "left.npy", "--right", tmp_path / "r", "-k", 1, "-o",
          tmp_path / "out.lance")
    assert lance.dataset(tmp_path / "out.lance").to_table().column("c").to_pylist() == rows[::-1]


@pytest.mark.parametrize(("kind", "rows", "metadata", "word"), [
    (FIXED, fixed_rows(), PACKED, "packed struct"),
    (pa.large_binary(), blob_rows(), BLOB, "blob"),
])  # fmt: skip
def test_what_would_write_one_is_refused(kinjo, tmp_path, kind, rows, metadata, word):
    """Compaction rewrites rows; deleting and reading go on."""
    write(tmp_path / "d", "2.2", kind, rows, metadata)
    before = sorted(path.name for path in (tmp_path / "d").rglob("*"))
    done = kinjo("compact", tmp_path / "d", exit_code=None)
    assert done.returncode != 0
    assert "'c'" in done.stderr and word in done.stderr, done.stderr
    assert sorted(path.name for path in (tmp_path / "d").rglob("*")) == before
    kinjo("delete", tmp_path / "d", "--where", "id < 1500")
    table = scanned(kinjo, tmp_path / "d", tmp_path / "all.arrow")
    assert table.column("c").to_pylist() == rows[1500:]
