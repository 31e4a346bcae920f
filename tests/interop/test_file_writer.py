"""Data files that our writer makes, read by Lance and by our reader: every type, null and version.

Each case writes a table with pylance, hands the same rows (as an Arrow IPC file) and pylance's
schema to file_write (tests/interop/file_write.cc), and compares what pylance's file reader and our
own find in our file with the rows: all of them, a range, and random ones taken.
"""

import os
import subprocess
from pathlib import Path

import lance
import lance.file
import numpy as np
import pyarrow as pa
import pyarrow.ipc
import pytest

from tests.interop import test_data_file as data

ROOT = Path(__file__).resolve().parents[2]
VERSIONS = ["2.0", "2.1", "2.2"]
MINI_BLOCK_VERSIONS = VERSIONS[1:]
ROWS = [0, 1, 10, 1025, 5003]


def program(name):
    cli = os.environ.get("KINJO_CLI")
    build = Path(cli).parent.parent if cli else ROOT / "build" / "release"
    path = build / "tests" / "interop" / name
    if not path.exists():
        pytest.fail(f"{path} is not built; run ./dev build")
    return path


class Written:
    """One file of ours beside pylance's: where it lies, its size and the texts of its pages."""

    def __init__(self, table, folder, version, page_bytes=None, batch_rows=None):
        with pa.ipc.new_file(str(folder / "in.arrow"), table.schema) as out:
            out.write_table(table, max_chunksize=batch_rows)
        self.like = folder / "like.lance"
        with lance.file.LanceFileWriter(str(self.like), table.schema, version=version) as writer:
            for batch in table.to_batches(max_chunksize=batch_rows):
                writer.write_batch(batch)
        self.path = folder / "ours.lance"
        words = [str(program("file_write")), str(folder / "in.arrow"), str(self.like),
                 str(self.path), version]
        if page_bytes:
            words.append(str(page_bytes))
        done = subprocess.run(words, capture_output=True, text=True, timeout=600)
        assert done.returncode == 0, done.stderr
        self.pages = {}
        for line in done.stdout.splitlines():
            column, text = line.split("\t")
            if column != "bytes":
                self.pages.setdefault(int(column), []).append(text)
        self.size = self.path.stat().st_size
        self.like_size = self.like.stat().st_size


def decoded(array):
    """Dictionaries as values: how one is cut is free."""
    if pa.types.is_dictionary(array.type):
        return array.dictionary_decode()
    return array


def same(got, expected, what):
    assert got.num_rows == expected.num_rows, what
    for name in expected.column_names:
        left, right = data.plain(got[name]), data.plain(expected[name])
        left, right = decoded(left), decoded(right)
        assert left.type == right.type, f"{what}: {name}: {left.type} {right.type}"
        if left.equals(right):
            continue
        for row in range(len(right)):
            assert left[row].as_py() == right[row].as_py(), f"{what}: {name}, row {row}"
        raise AssertionError(f"{what}: {name} differs")


def check(table, folder, version, **options):
    """Writes, reads back by both readers; returns what was written."""
    written = Written(table, folder, version, **options)
    reader = lance.file.LanceFileReader(str(written.path))
    assert reader.num_rows() == table.num_rows
    theirs = lance.file.LanceFileReader(str(written.like))
    expected = theirs.read_all().to_table()
    same(reader.read_all().to_table(), expected, f"{version}, by pylance")
    if table.num_rows:
        rng = np.random.default_rng(7)
        rows = np.unique(rng.integers(0, table.num_rows, 50)).tolist()
        same(reader.take_rows(rows).to_table(), theirs.take_rows(rows).to_table(),
             f"{version}, taken by pylance")
        start, count = table.num_rows // 3, max(1, table.num_rows // 5)
        same(reader.read_range(start, count).to_table(), expected.slice(start, count),
             f"{version}, a range by pylance")
    got, _ = data.dump(program("file_dump"), written.path, folder / "dump.arrow")
    same(got, expected, f"{version}, by our reader")
    return written


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("nullable", [False, True])
@pytest.mark.parametrize("case", data.CASES)
@pytest.mark.parametrize("n", ROWS)
def test_values(tmp_path, version, nullable, case, n):
    rng = np.random.default_rng(n + 7 * nullable)
    columns = data.CASES[case](rng, n)
    if nullable:
        columns = {name: data.with_nulls(array, rng) for name, array in columns.items()}
        if version == "2.0":  # has no null structs
            columns.pop("struct", None)
    check(pa.table(columns), tmp_path, version)


def one_column(array, metadata=None):
    return pa.table([array], pa.schema([pa.field("c", array.type, metadata=metadata)]))


NOT_IN = {"2.0": (*data.NEWEST, "all_null_structs"), "2.1": data.NEWEST}


@pytest.mark.parametrize(("version", "name"), [
    (version, name) for version in VERSIONS for name in data.ENCODINGS
    if name not in NOT_IN.get(version, ())
])  # fmt: skip
def test_what_lance_encodes_in_many_ways(tmp_path, name, version):
    make, _ = data.ENCODINGS[name]
    check(one_column(make()), tmp_path, version)


@pytest.mark.parametrize("version", MINI_BLOCK_VERSIONS)
@pytest.mark.parametrize("structure", ["miniblock", "fullzip"])
@pytest.mark.parametrize("nullable", [False, True])
def test_structural_encoding_metadata(tmp_path, structure, nullable, version):
    rng = np.random.default_rng(4)
    n = 3000
    columns = {
        "bool": pa.array(rng.random(n) < 0.5),
        "int32": data.integers(rng, n, pa.int32()),
        "text": pa.array(data.words(rng, n, 0, 30)),
        "vectors": data.random_vectors(rng, n, 8, np.float32),
        "lists": data.lists(rng, n, lambda count: data.integers(rng, count, pa.int32())),
    }
    if nullable:
        columns = {name: data.with_nulls(array, rng) for name, array in columns.items()}
    metadata = {"lance-encoding:structural-encoding": structure}
    schema = pa.schema([pa.field(name, array.type, metadata=metadata)
                        for name, array in columns.items()])
    written = check(pa.table(list(columns.values()), schema), tmp_path, version)
    wanted = "FullZip[" if structure == "fullzip" else "MiniBlock["
    for texts in written.pages.values():
        assert all(wanted in text for text in texts), texts


@pytest.mark.parametrize("name", [*data.COMPRESSED, "lz4_text", "none_text", "zstd_wide"])
def test_compression_metadata(tmp_path, name):
    rng = np.random.default_rng(4)
    if name.endswith(("_text", "_wide")) and name not in data.COMPRESSED:
        low, high = (300, 400) if name.endswith("_wide") else (5, 30)
        array = pa.array([text * 3 for text in data.words(rng, 3000, low, high)])
    elif name == "fsst_binary":
        array = pa.array([text.encode() for text in prose(rng, 3000, 3, 9)])
    else:
        array = data.COMPRESSED[name][0]()
    scheme = name.split("_")[0]
    written = check(one_column(array, {"lance-encoding:compression": scheme}), tmp_path, "2.2")
    texts = " ".join(written.pages[0])
    if name in ("zstd", "zstd_text", "lz4_text", "zstd_wide"):
        assert scheme.upper() + "(" in texts, texts
    if scheme == "none":
        assert not any(word in texts for word in ("FSST", "Bitpacking", "RLE", "dict")), texts
    if name == "fsst_binary":
        assert "FSST" in texts, texts


@pytest.mark.parametrize("version", VERSIONS)
def test_many_pages(tmp_path, version):
    """Several pages a column, rows that cross batches, one row longer than a page."""
    rng = np.random.default_rng(9)
    n = 6000
    long_lists = data.lists(rng, n - 1, lambda c: data.integers(rng, c, pa.int64()), 0, 9)
    one = pa.array([list(range(90_000))], pa.list_(pa.int64()))
    columns = {
        "wide": data.random_vectors(rng, n, 128, np.float32),
        "narrow": data.with_nulls(data.random_vectors(rng, n, 60, np.float32), rng),
        "number": pa.array(np.arange(n)),
        "lists": pa.concat_arrays([long_lists.slice(0, 70), one, long_lists.slice(70)]),
        "text": data.with_nulls(pa.array(data.words(rng, n, 200, 500)), rng),
    }
    written = check(pa.table(columns), tmp_path, version, page_bytes=1 << 14, batch_rows=777)
    assert all(len(texts) > 1 for texts in written.pages.values()), written.pages
    assert len(written.pages[0]) > 20


def nothing_between(rng, n):
    """Lists of lists of which most are empty: many levels for few values."""
    inner = [[[] for _ in range(int(rng.integers(0, 40)))] + ([[7]] if i % 50 == 0 else [])
             for i in range(n)]
    return pa.array(inner, pa.list_(pa.list_(pa.int32())))


@pytest.mark.parametrize("version", VERSIONS)
def test_levels_without_values(tmp_path, version):
    rng = np.random.default_rng(2)
    check(pa.table({
        "sparse": nothing_between(rng, 4000),
        "hollow": pa.array([[[]] * 70_000, None, [[1, 2]], [[]] * 3], pa.list_(pa.list_(pa.int8())))
        .take(pa.array([0, 1, 2, 3] + [3] * 3996)),
    }), tmp_path, version)  # fmt: skip


def urls(rng, n):
    hosts = ["www.example.com", "cdn.example.org", "api.some-shop.net", "blog.example.com"]
    parts = ["products", "items", "images", "users", "search", "archive", "2024", "en"]
    return [
        f"https://{hosts[rng.integers(4)]}/{parts[rng.integers(8)]}/{parts[rng.integers(8)]}"
        f"/{rng.integers(10**9)}?ref={rng.integers(1000)}"
        for _ in range(n)
    ]


def prose(rng, n, low, high):
    pool = ("the of and to in a is that for it as was with be by on not he his but at are this have"
            " from or had an they which one you were all her she there would their we him been has"
            " when who will no more if out so what time people year work water house light question"
            " answer nearest neighbour vector dataset fragment column version index").split()
    return [" ".join(rng.choice(pool, int(k))) for k in rng.integers(low, high, n)]


SIZES = 40_000


def size_columns():
    """What to compare sizes on: name to a maker of an array."""
    n = SIZES
    stamps = lambda rng: np.cumsum(rng.integers(0, 10**8, n)) + 17 * 10**14  # noqa: E731
    return {
        "random_int32": lambda rng: data.integers(rng, n, pa.int32()),
        "random_int64": lambda rng: data.integers(rng, n, pa.int64()),
        "small_int32": lambda rng: pa.array(rng.integers(0, 1000, n).astype("i4")),
        "small_int64": lambda rng: pa.array(rng.integers(0, 1000, n)),
        "negative_int32": lambda rng: pa.array(rng.integers(-50, 1000, n).astype("i4")),
        "int8": lambda rng: data.integers(rng, n, pa.int8()),
        "small_uint8": lambda rng: pa.array(rng.integers(0, 9, n).astype("u1")),
        "int16": lambda rng: data.integers(rng, n, pa.int16()),
        "sorted_ids": lambda rng: pa.array(np.arange(n) + 10_000),
        "gapped_ids": lambda rng: pa.array(np.cumsum(rng.integers(1, 100, n))),
        "runs": lambda rng: pa.array(np.repeat(rng.integers(0, 10**9, n // 300), 300)),
        "few_int64": lambda rng: pa.array(rng.choice(rng.integers(-(10**15), 10**15, 50), n)),
        "bool": lambda rng: pa.array(rng.random(n) < 0.5),
        "floats": lambda rng: pa.array(rng.normal(size=n).astype("f4")),
        "doubles": lambda rng: pa.array(rng.normal(size=n)),
        "halves": lambda rng: pa.array(rng.normal(size=n).astype("f2")),
        "timestamps": lambda rng: pa.array(stamps(rng), pa.timestamp("us", "UTC")),
        "dates": lambda rng: data.temporal(rng, n, pa.date32()),
        "decimals": lambda rng: data.fixed_columns(rng, n)["decimal128"],
        "low_cardinality": lambda rng: pa.array(rng.choice(
            ["red", "green", "dark blue", "yellow", "none"], n).tolist()),
        "some_cardinality": lambda rng: pa.array(rng.choice(urls(rng, 2000), n).tolist()),
        "words": lambda rng: pa.array(data.words(rng, n, 3, 12)),
        "urls": lambda rng: pa.array(urls(rng, n)),
        "text": lambda rng: pa.array(prose(rng, n, 5, 25)),
        "long_text": lambda rng: pa.array(prose(rng, n // 10, 100, 400)),
        "uuids": lambda rng: pa.array([rng.bytes(16).hex() for _ in range(n)]),
        "tiny_text": lambda rng: pa.array([str(k) for k in rng.integers(0, 1000, n)]),
        "large_text": lambda rng: pa.array(prose(rng, n, 5, 25), pa.large_string()),
        "binary": lambda rng: pa.array([rng.bytes(20) for _ in range(n)], pa.binary()),
        "blobs": lambda rng: pa.array([text.encode() for text in prose(rng, 60, 8000, 9000)]),
        "vectors16": lambda rng: data.random_vectors(rng, n, 16, np.float32),
        "vectors128": lambda rng: data.random_vectors(rng, n // 4, 128, np.float32),
        "bytes32": lambda rng: data.random_vectors(rng, n, 32, np.uint8),
        "lists": lambda rng: data.lists(rng, n, lambda c: pa.array(
            rng.integers(0, 99, c).astype("i4"))),
        "float_lists": lambda rng: data.lists(rng, n, lambda c: pa.array(rng.normal(size=c))),
        "text_lists": lambda rng: data.lists(
            rng, n, lambda c: pa.array(data.words(rng, c, 3, 12)), 0, 4),
        "tag_lists": lambda rng: data.lists(rng, n, lambda c: pa.array(rng.choice(
            ["news", "sports", "weather"], c).tolist(), pa.string()), 0, 4),
        "vector_lists": lambda rng: data.lists(rng, n // 10, lambda c: data.random_vectors(
            rng, c, 128, np.float32), 0, 4),
        "nested_lists": lambda rng: data.nested_columns(rng, n)["list_list"],
        "structs": lambda rng: data.nested_columns(rng, n)["struct"],
        "dictionary": lambda rng: pa.array(
            rng.choice(urls(rng, 300), n).tolist()).dictionary_encode(),
        "few_rows": lambda rng: pa.array(rng.integers(0, 99, 10)),
    }  # fmt: skip


@pytest.mark.parametrize(("version", "nullable"), [*((v, False) for v in VERSIONS), ("2.2", True)])
@pytest.mark.parametrize("name", size_columns())
def test_size(tmp_path, name, nullable, version):
    """A file is at most a tenth larger than pylance's of the same rows."""
    rng = np.random.default_rng(17)
    array = size_columns()[name](rng)
    if nullable:
        array = data.with_nulls(array, rng, 0.1)
    written = check(one_column(array), tmp_path, version)
    print(f"{name}: {written.size} bytes, pylance {written.like_size}")
    assert written.size <= 1.1 * written.like_size, (written.pages, written.size, written.like_size)


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("empty", [None, []])
def test_lists_without_any_item(tmp_path, empty, version):
    types = [pa.int32(), pa.string(), pa.list_(pa.int32()), pa.struct({"x": pa.int32()}),
             pa.list_(pa.float32(), 2), pa.dictionary(pa.int32(), pa.string())]
    arrays = [pa.array([empty] * 3, pa.list_(type_)) for type_ in types]
    check(pa.table(arrays, names=[str(i) for i in range(len(types))]), tmp_path, version)
