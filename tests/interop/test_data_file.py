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
ROWS = [0, 1, 10, 1025, pytest.param(100_000, marks=pytest.mark.slow)]


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
        "wide": pa.array(words(rng, min(n, 3000), 240, 480) + ["x"] * max(0, n - 3000)),
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


def pages_of(file_dump, tmp_path, array, version, metadata=None, n_ranges=40):
    """Writes one column, checks it whole and in ranges, returns the texts of its pages."""
    field = pa.field("c", array.type, metadata=metadata)
    table = pa.table([array], pa.schema([field]))
    pages = check(file_dump, tmp_path, table, version, np.random.default_rng(1))
    return [text for column in sorted(pages) for text in pages[column]]


N = 20_000
RNG = np.random.default_rng(5)


def blobs():
    return pa.array([RNG.bytes(40_000 if i % 3 else 10) for i in range(60)], pa.binary())


# What to write (in 2.2 where nothing else is said) and what must then stand in the listing.
ENCODINGS = {
    "flat": (lambda: integers(RNG, N, pa.int32()), "MiniBlock[Flat32]"),
    "bitpacked": (lambda: pa.array(np.arange(N)), "MiniBlock[InlineBitpacking64]"),
    "bitpacked32": (lambda: pa.array((np.arange(N) % 1000).astype("i4")),
                    "MiniBlock[InlineBitpacking32]"),
    "runs": (lambda: pa.array((np.arange(N) // 400).astype("i4")), "RLE(Flat32,Flat8)"),
    "dictionary_int": (lambda: pa.array(RNG.choice(np.array([-5, 10**12, 77]), N)),
                       "dictionary=LZ4(Flat64)"),
    "dictionary_text": (lambda: pa.array(RNG.choice(["red", "green"], N).tolist()),
                        "dictionary=LZ4(Variable32)"),
    "dictionary_many": (lambda: pa.array(RNG.choice(
        [f"value number {i:09} of many" for i in range(1500)], 100_000).tolist()),
        "dictionary=LZ4(Variable32)"),
    "dictionary_outlier": (lambda: pa.array(np.where(RNG.random(N) < 0.9, RNG.integers(0, 2000, N),
                                                     2**62)), "dictionary="),
    "bool": (lambda: pa.array(RNG.random(N) < 0.5), "MiniBlock[Flat1]"),
    "fsst": (lambda: pa.array(words(RNG, N, 5, 30)), "MiniBlock[FSST(Variable32)]"),
    "fsst_large": (lambda: pa.array(words(RNG, N, 5, 30), pa.large_string()),
                   "MiniBlock[FSST(Variable64)]"),
    "variable": (lambda: pa.array([RNG.bytes(20) for _ in range(N)]), "MiniBlock[Variable32]"),
    "wide_text": (lambda: pa.array(words(RNG, 2000, 240, 480)), "FullZip[FSST(Variable32)]"),
    "blobs": (blobs, "FullZip[ZSTD(Variable32)]"),
    "wide_binary": (lambda: pa.array([RNG.bytes(300) for _ in range(500)], pa.binary(300)),
                    "FullZip[Flat2400]"),
    "vectors": (lambda: random_vectors(RNG, N, 16, np.float32), "MiniBlock[FSL16(Flat32)]"),
    "wide_vectors": (lambda: random_vectors(RNG, N, 128, np.float32), "FullZip[FSL128(Flat32)]"),
    "bit_vectors": (lambda: vectors(RNG.random(N * 64) < 0.5, 64), "MiniBlock[FSL64(Flat1)]"),
    "item_nulls": (lambda: vectors(RNG.normal(size=N * 4).astype("f4"), 4, RNG.random(N * 4) < 0.1),
                   "MiniBlock[FSL4+validity(Flat32)]"),
    "wide_item_nulls": (lambda: vectors(RNG.normal(size=N * 128).astype("f4"), 128,
                                        RNG.random(N * 128) < 0.1), "FullZip[FSL128+validity"),
    "null_vectors": (lambda: with_nulls(random_vectors(RNG, N, 128, np.float32), RNG),
                     "FullZip[FSL128"),
    "constant": (lambda: pa.array(np.full(N, 7)), "Constant[inline]"),
    "constant_text": (lambda: pa.array(["abc"] * N), "Constant[]"),
    "constant_wide": (lambda: pa.array([b"\x07" * 40] * N, pa.binary(40)), "Constant[]"),
    "constant_nulls": (lambda: with_nulls(pa.array(np.full(N, 7)), RNG), "Constant[inline]"),
    "constant_text_nulls": (lambda: with_nulls(pa.array(["abc"] * N), RNG), "Constant[]"),
    "null": (lambda: pa.nulls(N), "Constant[]"),
    "all_null": (lambda: pa.nulls(N, pa.int32()), "Constant[]"),
    "all_null_vectors": (lambda: pa.nulls(N, pa.list_(pa.float32(), 8)), "Constant[]"),
    "all_null_lists": (lambda: pa.array([None, []] * (N // 2), pa.list_(pa.int32())), "Constant["),
    "all_null_structs": (lambda: pa.nulls(N, pa.struct({"a": pa.int32(), "b": pa.string()})),
                         "Constant["),
    "def_packed": (lambda: with_nulls(integers(RNG, N, pa.int64()), RNG),
                   "def=OutOfLineBitpacking16to1"),
    "def_runs": (lambda: pa.array([None] * 3000 + list(range(N)), pa.int64()), "def="),
    "lists": (lambda: lists(RNG, N, lambda count: pa.array(RNG.normal(size=count))),
              "rep=OutOfLineBitpacking16to1"),
    "nested_lists": (lambda: lists(RNG, N, lambda c: lists(
        RNG, c, lambda d: integers(RNG, d, pa.int32()), 0, 3), 0, 3),
        "rep=OutOfLineBitpacking16to2"),
    "wide_lists": (lambda: with_nulls(lists(RNG, 2000, lambda c: with_nulls(
        random_vectors(RNG, c, 128, np.float32), RNG), 0, 3), RNG), "bits_rep=1 bits_def=2"),
    "long_lists": (lambda: lists(RNG, 50, lambda c: integers(RNG, c, pa.int32()), 0, 9000),
                   "rep="),
    "map": (lambda: pa.MapArray.from_arrays(
        pa.array(np.arange(0, 2 * N + 1, 2).astype("i4")), pa.array(words(RNG, 2 * N, 1, 5)),
        with_nulls(integers(RNG, 2 * N, pa.int32()), RNG)), "rep="),
    "fixed_lists_of_structs": (lambda: with_nulls(pa.FixedSizeListArray.from_arrays(
        pa.StructArray.from_arrays([integers(RNG, 3 * N, pa.int32()), with_nulls(pa.array(
            words(RNG, 3 * N, 0, 9)), RNG)], ["x", "y"]), 3), RNG), "layers=[3,3,3] items=60000"),
}

NEWEST = ("map", "fixed_lists_of_structs")  # what version 2.2 alone has  # fmt: skip

COMPRESSED = {
    "zstd": (lambda: pa.array(np.linspace(-5, 5, N).astype("f4")), "ZSTD(ByteStreamSplit(Flat32))"),
    "zstd_double": (lambda: pa.array(RNG.normal(size=N)), "ZSTD(ByteStreamSplit(Flat64))"),
    "zstd_flat": (lambda: pa.array(RNG.normal(size=N).astype("f4")), "ZSTD("),
    "lz4": (lambda: pa.array(np.arange(N) * 3), "LZ4("),
    "zstd_text": (lambda: pa.array(words(RNG, N, 5, 30)), "ZSTD("),
    "fsst": (lambda: pa.array((np.arange(N) - 9).astype("i4")), "ByteStreamSplit(Flat32)"),
    "fsst_binary": (lambda: pa.array([RNG.bytes(4) * 9 for _ in range(N)]), "FSST("),
    "none": (lambda: pa.array(np.arange(N)), "MiniBlock[Flat64]"),
}


@pytest.mark.parametrize(("version", "name"), [
    (version, name) for version in ("2.1", "2.2") for name in ENCODINGS
    if version == "2.2" or name not in NEWEST
])  # fmt: skip
def test_encoding_occurs_and_is_read(file_dump, tmp_path, name, version):
    make, wanted = ENCODINGS[name]
    pages = pages_of(file_dump, tmp_path, make(), version)
    if version == "2.2":
        assert any(wanted in text for text in pages), pages


@pytest.mark.parametrize("name", COMPRESSED)
def test_compression_metadata(file_dump, tmp_path, name):
    make, wanted = COMPRESSED[name]
    metadata = {"lance-encoding:compression": name.split("_")[0]}
    if name == "zstd_double":
        metadata["lance-encoding:bss"] = "on"
    pages = pages_of(file_dump, tmp_path, make(), "2.2", metadata)
    assert any(wanted in text for text in pages), pages


@pytest.mark.parametrize("scheme", ["zstd", "lz4", "none", "fsst"])
def test_compression_metadata_in_version_2_0(file_dump, tmp_path, scheme):
    metadata = {"lance-encoding:compression": scheme}
    for number, array in enumerate([pa.array(words(RNG, N, 0, 30)), pa.array(np.arange(N)),
                                    with_nulls(pa.array(words(RNG, N, 5, 30)), RNG)]):
        folder = tmp_path / str(number)
        folder.mkdir()
        pages_of(file_dump, folder, array, "2.0", metadata)


@pytest.mark.parametrize("structure", ["miniblock", "fullzip"])
@pytest.mark.parametrize("nullable", [False, True])
@pytest.mark.parametrize("name", ["bool", "int32", "text", "vectors", "lists"])
def test_structural_encoding_metadata(file_dump, tmp_path, name, structure, nullable):
    n = 3000
    array = {
        "bool": lambda: pa.array(RNG.random(n) < 0.5),
        "int32": lambda: integers(RNG, n, pa.int32()),
        "text": lambda: pa.array(words(RNG, n, 0, 30)),
        "vectors": lambda: random_vectors(RNG, n, 8, np.float32),
        "lists": lambda: lists(RNG, n, lambda count: integers(RNG, count, pa.int32())),
    }[name]()
    if nullable:
        array = with_nulls(array, RNG)
    metadata = {"lance-encoding:structural-encoding": structure}
    pages = pages_of(file_dump, tmp_path, array, "2.2", metadata)
    wanted = "FullZip[" if structure == "fullzip" else "MiniBlock["
    assert any(wanted in text for text in pages), pages


@pytest.mark.parametrize("version", VERSIONS)
def test_many_pages(file_dump, tmp_path, version):
    """Several pages a column, page borders inside ranges."""
    n = 40_000
    whole = pa.table({
        "wide": random_vectors(RNG, n, 128, np.float32),
        "wide_nulls": with_nulls(random_vectors(RNG, n, 128, np.float32), RNG),
        "narrow": random_vectors(RNG, n, 60, np.float32),
        "lists": with_nulls(lists(RNG, n, lambda c: integers(RNG, c, pa.int64()), 0, 90), RNG),
        "text": with_nulls(pa.array(words(RNG, n, 200, 500)), RNG),
    })  # fmt: skip
    table = pa.concat_tables([whole.slice(row, 3000) for row in range(0, n, 3000)])
    pages = check(file_dump, tmp_path, table, version, np.random.default_rng(3))
    assert sum(len(texts) > 1 for texts in pages.values()) >= 5, pages


def test_refused_types_name_themselves(file_dump, tmp_path):
    """Lance writes this type too, and doesn't read it either."""
    pair = pa.list_(pa.list_(pa.struct([("a", pa.int32()), ("b", pa.float64())]), 2))
    table = pa.table({"c": pa.array([[[{"a": 1, "b": 2.0}, {"a": 3, "b": 4.0}]]] * 5, pair)})
    _, file = write(table, tmp_path, "2.2")
    done = subprocess.run([str(file_dump), str(file), str(tmp_path / "o")], capture_output=True,
                          text=True)  # fmt: skip
    assert done.returncode == 1
    assert done.stderr.startswith("not_supported: field 'item'"), done.stderr
