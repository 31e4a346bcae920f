"""Data files that pylance writes, read by our reader: every value, every type, every page encoding.

Each case writes one dataset with pylance in one file version, reads the data file with file_dump
(tests/interop/file_dump.cc) and compares with what pylance itself reads: the whole file and random
row ranges. The encodings that a case is there for are looked up in file_dump's listing, so a case
can't pass by testing something else.
"""

import os
import subprocess
from decimal import Decimal
from pathlib import Path

import lance
import numpy as np
import pyarrow as pa
import pyarrow.ipc
import pytest

ROOT = Path(__file__).resolve().parents[2]
VERSIONS = ["2.0", "2.1", "2.2"]
ROWS = [0, 1, 10, 1025, 100_000]


@pytest.fixture(scope="session")
def file_dump():
    cli = os.environ.get("KINJO_CLI")
    build = Path(cli).parent.parent if cli else ROOT / "build" / "release"
    path = build / "tests" / "interop" / "file_dump"
    if not path.exists():
        pytest.fail(f"{path} is not built; run ./dev build")
    return path


def with_nulls(array, rng, share=0.2):
    """The array with a share of its values null, at least one when it has any."""
    mask = rng.random(len(array)) < share
    if len(mask):
        mask[rng.integers(len(mask))] = True
    indices = pa.array(np.arange(len(array)), mask=mask, type=pa.int64())
    return array.take(indices)


def vectors(values, dimension, item_nulls=None):
    """A fixed-size-list array over flat values, with null items where `item_nulls` says."""
    items = pa.array(values, mask=item_nulls) if item_nulls is not None else pa.array(values)
    return pa.FixedSizeListArray.from_arrays(items, dimension)


def random_vectors(rng, n, dimension, dtype):
    if np.issubdtype(dtype, np.floating):
        return vectors(rng.normal(size=n * dimension).astype(dtype), dimension)
    info = np.iinfo(dtype)
    return vectors(rng.integers(info.min, info.max, n * dimension, dtype, endpoint=True), dimension)


def words(rng, n, low, high):
    letters = "abcdefghij klmnop qrstuv"
    lengths = rng.integers(low, high + 1, n)
    picks = rng.integers(0, len(letters), int(lengths.sum()))
    text = "".join(letters[i] for i in picks)
    ends = np.concatenate([[0], np.cumsum(lengths)])
    return [text[ends[i] : ends[i + 1]] for i in range(n)]


def integers(rng, n, type_):
    info = np.iinfo(type_.to_pandas_dtype())
    return pa.array(rng.integers(info.min, info.max, n, info.dtype, endpoint=True), type_)


def temporal(rng, n, type_):
    width = 32 if type_ in (pa.date32(), pa.time32("s"), pa.time32("ms")) else 64
    high = 86_400 if pa.types.is_time(type_) else 2**30
    storage = pa.array(rng.integers(0, high, n), pa.int32() if width == 32 else pa.int64())
    if type_ == pa.date64():
        storage = pa.array(rng.integers(0, 20_000, n) * 86_400_000, pa.int64())
    return storage.view(type_)


def lists(rng, n, values, low=0, high=8):
    """A list array over `values(count)`, with empty lists."""
    lengths = rng.integers(low, high + 1, n)
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    return pa.ListArray.from_arrays(pa.array(offsets), values(int(offsets[-1])))


def fixed_columns(rng, n):
    columns = {
        "bool": pa.array(rng.random(n) < 0.5),
        "sequence": pa.array(np.arange(n)),
        "small_int32": pa.array(rng.integers(0, 1000, n).astype("i4")),
        "equal": pa.array(np.full(n, 7, "i4")),
        "runs": pa.array((np.arange(n) // 400 * 7919).astype("i4")),
        "few": pa.array(rng.choice(np.array([-5, 10**12, 77]), n)),
        "decimal128": pa.array([Decimal(int(v)) / 100 for v in rng.integers(-(10**12), 10**12, n)],
                               pa.decimal128(20, 2)),
        "decimal256": pa.array([Decimal(int(v)) for v in rng.integers(-(10**12), 10**12, n)],
                               pa.decimal256(50, 0)),
        "fixed_binary16": pa.array([rng.bytes(16) for _ in range(n)], pa.binary(16)),
        "fixed_binary33": pa.array([b"\x01" * 33 for _ in range(n)], pa.binary(33)),
    }
    for type_ in (pa.int8(), pa.uint8(), pa.int16(), pa.uint16(), pa.int32(), pa.uint32(),
                  pa.int64(), pa.uint64()):
        columns[str(type_)] = integers(rng, n, type_)
    for dtype in ("f2", "f4", "f8"):
        columns[dtype] = pa.array(rng.normal(size=n).astype(dtype))
    for type_ in (pa.date32(), pa.date64(), pa.time32("s"), pa.time32("ms"), pa.time64("us"),
                  pa.time64("ns"), pa.timestamp("us"), pa.timestamp("ns", "UTC"),
                  pa.timestamp("s", "+05:30"), pa.duration("ms")):
        columns[str(type_)] = temporal(rng, n, type_)
    return columns


def text_columns(rng, n):
    unique = words(rng, n, 0, 30)
    return {
        "unique": pa.array(unique, pa.string()),
        "large": pa.array(unique, pa.large_string()),
        "few": pa.array(rng.choice(["red", "green", "", "a rather long colour name"], n).tolist(),
                        pa.string()),
        "equal": pa.array(["abc"] * n, pa.string()),
        "equal_large": pa.array(["abc"] * n, pa.large_string()),
        "wide": pa.array(words(rng, min(n, 3000), 240, 480) + ["x"] * max(0, n - 3000), pa.string()),
        "binary": pa.array([rng.bytes(20) for _ in range(n)], pa.binary()),
        "large_binary": pa.array([rng.bytes(int(k)) for k in rng.integers(0, 40, n)],
                                 pa.large_binary()),
        "dictionary": pa.array(rng.choice(["one", "two", "three"], n).tolist(),
                               pa.string()).dictionary_encode(),
    }


def vector_columns(rng, n):
    n_wide = min(n, 5000)  # the widest ones would only make the test slow
    columns = {
        "f32x2": random_vectors(rng, n, 2, np.float32),
        "f32x16": random_vectors(rng, n, 16, np.float32),
        "f32x63": random_vectors(rng, n, 63, np.float32),
        "f32x64": random_vectors(rng, n, 64, np.float32),
        "f16x32": random_vectors(rng, n, 32, np.float16),
        "f16x128": random_vectors(rng, n, 128, np.float16),
        "f64x8": random_vectors(rng, n, 8, np.float64),
        "f64x32": random_vectors(rng, n, 32, np.float64),
        "u8x16": random_vectors(rng, n, 16, np.uint8),
        "u8x256": random_vectors(rng, n, 256, np.uint8),
        "i8x24": random_vectors(rng, n, 24, np.int8),
        "boolx64": vectors(rng.random(n * 64) < 0.5, 64),
        "boolx3": vectors(rng.random(n * 3) < 0.5, 3),
        "items_f32x4": vectors(rng.normal(size=n * 4).astype("f4"), 4, rng.random(n * 4) < 0.1),
        "items_f32x128": vectors(rng.normal(size=n * 128).astype("f4"), 128,
                                 rng.random(n * 128) < 0.1),
    }
    nested = random_vectors(rng, n_wide * 2, 3, np.float32)
    columns["nested"] = pa.concat_arrays(
        [pa.FixedSizeListArray.from_arrays(nested, 2)]
        + ([pa.FixedSizeListArray.from_arrays(
            random_vectors(rng, (n - n_wide) * 2, 3, np.float32), 2)] if n > n_wide else [])
    )
    return columns


def nested_columns(rng, n):
    floats = lambda count: pa.array(rng.normal(size=count).astype("f4"))  # noqa: E731
    ints = lambda count: pa.array(rng.integers(0, 99, count).astype("i4"))  # noqa: E731
    return {
        "list": lists(rng, n, floats),
        "list_no_empty": lists(rng, n, ints, 1),
        "list_text": lists(rng, n, lambda count: pa.array(words(rng, count, 0, 9), pa.string())),
        "list_nulls": lists(rng, n, lambda count: with_nulls(ints(count), rng)),
        "list_list": lists(rng, n, lambda count: lists(rng, count, ints, 0, 4), 0, 3),
        "list_vector": lists(rng, n, lambda count: random_vectors(rng, count, 8, np.float32), 0, 3),
        "list_wide": lists(rng, n, lambda count: random_vectors(rng, count, 64, np.float32), 0, 2),
        "large_list": lists(rng, n, ints).cast(pa.large_list(pa.int32())),
        "struct": pa.StructArray.from_arrays(
            [ints(n), pa.array(words(rng, n, 0, 9), pa.string()), lists(rng, n, floats, 0, 3)],
            ["a", "b", "c"]),
        "list_struct": lists(rng, n, lambda count: pa.StructArray.from_arrays(
            [ints(count), with_nulls(floats(count), rng)], ["x", "y"]), 0, 3),
    }


CASES = {
    "fixed": fixed_columns,
    "text": text_columns,
    "vectors": vector_columns,
    "nested": nested_columns,
}


def write(table, folder, version, **options):
    path = folder / "data.lance"
    lance.write_dataset(table, path, data_storage_version=version, **options)
    (file,) = (path / "data").glob("*.lance")
    return path, file


def dump(file_dump, file, out, ranges=()):
    words_ = [str(file_dump), str(file), str(out), *(f"{a}:{b}" for a, b in ranges)]
    done = subprocess.run(words_, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, f"{' '.join(words_)}\n{done.stderr}"
    pages = {}
    for line in done.stdout.splitlines():
        column, text = line.split("\t")
        pages.setdefault(int(column), []).append(text)
    with pa.OSFile(str(out)) as source:
        return pa.ipc.open_file(source).read_all(), pages


def random_ranges(rng, n, count):
    """Rising ranges that don't overlap; some touch, some are single rows."""
    cuts = np.unique(np.concatenate([rng.integers(0, n + 1, 2 * count), [n]]))
    ranges = [(int(a), int(b)) for a, b in zip(cuts[:-1], cuts[1:]) if rng.random() < 0.4]
    ranges = [(a, min(b, a + int(rng.integers(1, 300)))) for a, b in ranges]
    return ranges or [(n - 1, n)]


def plain(column):
    """One array, dictionaries as values: how a dictionary is cut is free."""
    array = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    if isinstance(array, pa.ChunkedArray):
        array = pa.concat_arrays(array.chunks) if array.num_chunks else pa.array([], array.type)
    return array.dictionary_decode() if pa.types.is_dictionary(array.type) else array


def compare(got, expected, what):
    for name in expected.column_names:
        left, right = plain(got[name]), plain(expected[name])
        assert left.type == right.type, f"{what}: {name}"
        assert left.equals(right), f"{what}: column {name} differs"


def check(file_dump, tmp_path, table, version, rng, **options):
    """Writes, reads whole and in ranges, compares; returns the listing of pages."""
    path, file = write(table, tmp_path, version, **options)
    expected = lance.dataset(path).to_table()
    got, pages = dump(file_dump, file, tmp_path / "whole.arrow")
    compare(got, expected, f"{version}, all rows")
    n = table.num_rows
    for count in (3, 40):
        ranges = random_ranges(rng, n, count)
        got, _ = dump(file_dump, file, tmp_path / "part.arrow", ranges)
        rows = np.concatenate([np.arange(a, b) for a, b in ranges])
        compare(got, expected.take(rows), f"{version}, rows {ranges[:5]}...")
    return pages


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("nullable", [False, True])
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("n", ROWS)
def test_values(file_dump, tmp_path, version, nullable, case, n):
    rng = np.random.default_rng(n + 7 * nullable)
    columns = CASES[case](rng, n)
    if nullable:
        columns = {name: with_nulls(array, rng) for name, array in columns.items()}
        if version == "2.0":  # has no null structs
            columns.pop("struct", None)
    table = pa.table(columns)
    if n == 0:
        lance.write_dataset(table, tmp_path / "d.lance", data_storage_version=version)
        for file in (tmp_path / "d.lance" / "data").glob("*.lance"):
            got, _ = dump(file_dump, file, tmp_path / "whole.arrow")
            assert got.num_rows == 0
        return
    check(file_dump, tmp_path, table, version, rng)
