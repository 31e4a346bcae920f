"""The matrix of data files: type x nulls x rows x file version x option, written by pylance, read
by our scan and by takes of random rows, compared value by value; again after every kind of change.

Each test looks through the pages of all files that it wrote and fails where a layout or an encoding
that pylance can be made to write didn't occur: an encoding that nothing makes is one that nothing
tests. The columns and options are those of matrix_columns.py.
"""

import re

import lance
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from tests.interop import matrix_columns as matrix
from tests.interop.our_reader import OurReader, assert_same

ROWS = (0, 1, 10, 1025)
MANY_ROWS = 100_000

# What must stand in the listing of the pages of a version, as regular expressions.
STRUCTURED = {
    "mini-block": r"^MiniBlock\[",
    "full-zip": r"^FullZip\[",
    "full-zip lists": r"^FullZip\[.* bits_rep=1",
    "all null": r"^Constant\[\] layers=\[3\]",
    "flat": r"MiniBlock\[Flat\d+\]",
    "bits": r"MiniBlock\[Flat1\]",
    "fixed-size list": r"MiniBlock\[FSL\d+\(Flat32\)\]",
    "wide fixed-size list": r"FullZip\[FSL\d+\(Flat32\)\]",
    "null items": r"FSL4\+validity",
    "nested fixed-size list": r"FSL2\(FSL3\(",
    "variable": r"MiniBlock\[Variable32\]",
    "variable 64": r"MiniBlock\[Variable64\]",
    "variable full-zip": r"FullZip\[Variable",
    "inline bit-packing": r"MiniBlock\[InlineBitpacking(32|64)\]",
    "bit-packing out of line": r"(rep|def)=OutOfLineBitpacking16to",
    "FSST": r"MiniBlock\[FSST\(Variable32\)\]",
    "FSST full-zip": r"FullZip\[FSST\(",
    "RLE": r"MiniBlock\[RLE\(",
    "byte-stream split": r"ByteStreamSplit\(Flat",
    "dictionary": r"^MiniBlock.* dictionary=",
    "dictionary of texts": r" dictionary=\w*\(?Variable32",
    "LZ4": r"MiniBlock\[LZ4\(",
    "zstd": r"MiniBlock\[ZSTD\(",
    "zstd full-zip": r"FullZip\[ZSTD\(",
    "packed struct": r"PackedStruct\(Flat",
    "lists": r" rep=",
    "three levels of lists": r"layers=\[\d,\d,\d,\d\]",
}
WANTED = {
    "2.0": {
        "flat": r"NoNulls\(Flat\d+\)",
        "bits": r"NoNulls\(Flat1\)",
        "list": r"^List\(",
        "struct": r"^Struct ",
        "binary": r"Binary\(",
        "dictionary": r"^Dictionary\(.*Binary",
        "dictionary of numbers": r"^Dictionary\([^B]*\)x",
        "FSST": r"^FSST\(",
        "fixed-size list": r"FSL\d+\(",
        "nested fixed-size list": r"FSL2\(.*FSL3\(",
        "packed struct": r"^PackedStruct",
        "zstd": r"Flat\d+/zstd",
        "LZ4": r"Flat\d+/lz4",
    },
    "2.1": STRUCTURED | {"blob": r"^Blob\("},
    "2.2": STRUCTURED | {
        "one value": r"^Constant\[inline\]",
        "one text": r"^Constant\[\] layers=\[1\]",
        "variable packed struct": r"FullZip\[VariablePackedStruct\]",
        "LZ4 dictionary": r" dictionary=LZ4\(",
        "zstd dictionary": r" dictionary=ZSTD\(",
        "fixed-size lists of structs": r"layers=\[1,1,1\]",
    },
}  # fmt: skip
# With nulls these stand there too.
WANTED_NULLS = {
    "2.0": {"nulls": r"SomeNulls\(Flat", "all null": r"^AllNulls"},
    "2.1": {
        "nulls": r"^MiniBlock.* def=",
        "full-zip nulls": r"^FullZip.* bits_def=",
        "null and empty lists": r"layers=\[\d,6",
    },
}
WANTED_NULLS["2.2"] = WANTED_NULLS["2.1"] | {
    "run-length levels": r"(def|rep)=RLE\(",
    "one value or null": r"^Constant\[inline\] .*\[3\]",
}
# Of files without nulls only: nulls keep pylance from writing them.
WITHOUT_NULLS = {
    "2.0": ("flat", "bits"),
    "2.1": (),
    "2.2": ("one text", "fixed-size lists of structs"),
}


@pytest.fixture
def reader(kinjo, tmp_path):
    return OurReader(kinjo, tmp_path)


def check(reader, path, expected, rng, what):
    """The rows of a dataset are those of `expected`, by `id`, in whatever order they lie."""
    got = reader.scan(path)
    theirs = lance.dataset(path).scanner(columns=["id"], with_row_address=True).to_table()
    ids = got["id"].to_numpy()
    assert np.array_equal(ids, theirs["id"].to_numpy()), what
    assert sorted(ids) == sorted(expected["id"].to_pylist()), what
    position = {row: i for i, row in enumerate(expected["id"].to_pylist())}
    in_order = expected.take(pa.array([position[row] for row in ids], pa.int64()))
    assert_same(got, in_order, f"{what}, scanned")
    if len(ids) == 0:
        return
    picks = np.unique(rng.integers(0, len(ids), 40))
    picks = picks[np.argsort(theirs["_rowaddr"].to_numpy()[picks])]
    taken = reader.take(path, theirs["_rowaddr"].to_numpy()[picks], expected.column_names)
    assert_same(taken, in_order.take(pa.array(picks)), f"{what}, taken")


def write(path, made, option, version, rows_per_file=400):
    lance.write_dataset(matrix.table(made, option, version), path, data_storage_version=version,
                        max_rows_per_file=max(1, rows_per_file))  # fmt: skip


def missing(texts, version, nullable):
    """Names of what should have been written and wasn't."""
    wanted = dict(WANTED[version])
    if nullable:
        wanted |= WANTED_NULLS[version]
        wanted = {name: sign for name, sign in wanted.items() if name not in WITHOUT_NULLS[version]}
    return [name for name, sign in wanted.items()
            if not any(re.search(sign, text) for text in texts)]  # fmt: skip


nulls = pytest.mark.parametrize("nullable", [False, True], ids=["valid", "nulls"])
versions = pytest.mark.parametrize("version", matrix.VERSIONS)
# The cells that CI runs, or all there are.
extent = pytest.mark.parametrize(
    "every", [False, pytest.param(True, marks=pytest.mark.slow)], ids=["some", "all"]
)


@nulls
@versions
@extent
def test_every_type_with_every_option(reader, tmp_path, version, nullable, every):
    texts = set()
    for n in ROWS:
        rng = np.random.default_rng(n)
        made = matrix.columns(rng, n, nullable, version)
        for option in matrix.OPTIONS if every or n >= 10 else ("default", "zstd"):
            what = f"{version}, {n} rows, {option}"
            path = tmp_path / f"{n}-{option}"
            # One file has enough values for every encoding, several have borders to cross.
            write(path, made, option, version, 400 if option == "default" else 1 << 20)
            check(reader, path, matrix.expected(made), rng, what)
            texts |= reader.pages(path)
    assert not missing(texts, version, nullable), sorted(texts)


@pytest.mark.parametrize(("written", "named"), [("legacy", "0.1 (legacy)"), ("2.3", "2.3")])
def test_other_versions_are_named_with_the_way_out(kinjo, tmp_path, written, named):
    table = pa.table({"id": [1, 2]})
    lance.write_dataset(table, tmp_path / "d", data_storage_version=written)
    for command in ("scan", "info"):
        done = kinjo(command, tmp_path / "d", exit_code=None)
        assert done.returncode != 0
        assert f"file version {named}" in done.stderr, done.stderr
        assert "data_storage_version='2.2'" in done.stderr, done.stderr


@nulls
@versions
@extent
def test_many_rows(reader, tmp_path, version, nullable, every):
    rng = np.random.default_rng(100)
    columns = matrix.columns if every else matrix.fewer_columns
    made = columns(rng, MANY_ROWS, nullable, version)
    for option in matrix.OPTIONS if every else ("default",):
        path = tmp_path / option
        write(path, made, option, version, 70_000)
        check(reader, path, matrix.expected(made), rng, f"{version}, many rows, {option}")


def delete(dataset, rows):
    dataset.delete("id % 7 = 3")
    return rows.filter(pa.array(rows["id"].to_numpy() % 7 != 3))


def update(dataset, rows):
    """Moves every fifth row to new fragments."""
    dataset.update({"sequence": "id + 1000000"}, where="id % 5 = 1")
    ids = rows["id"].to_numpy()
    values = pc.if_else(pa.array(ids % 5 == 1), pa.array(ids + 1_000_000), rows["sequence"])
    return rows.set_column(rows.column_names.index("sequence"), "sequence", values)


def add_column(dataset, rows):
    """Files of their own beside the others, and a column that no file has."""
    dataset.add_columns({"added": "id * 2"})
    dataset.add_columns(pa.field("late", pa.list_(pa.string())))
    rows = rows.append_column("added", pa.array(rows["id"].to_numpy() * 2))
    return rows.append_column("late", pa.nulls(rows.num_rows, pa.list_(pa.string())))


def drop_column(dataset, rows):
    dropped = ["few", "list", "struct", "f32x16"]
    dataset.drop_columns(dropped)
    dataset.alter_columns({"path": "bool", "name": "renamed"})
    names = ["renamed" if name == "bool" else name for name in rows.column_names]
    return rows.rename_columns(names).drop_columns(dropped)


def compact(dataset, rows):
    dataset.optimize.compact_files(target_rows_per_fragment=1 << 20)
    return rows


CHANGES = (delete, update, add_column, drop_column, compact)


@nulls
@versions
@extent
def test_after_every_change(reader, tmp_path, version, nullable, every):
    for n in ROWS:
        for option in matrix.OPTIONS if every else ("default",):
            rng = np.random.default_rng(n)
            made = matrix.columns(rng, n, nullable, version)
            for name in matrix.NOT_UPDATED[version]:
                del made[name]
            path = tmp_path / f"{n}-{option}"
            write(path, made, option, version)
            rows = matrix.expected(made)
            for change in CHANGES:
                rows = change(lance.dataset(path), rows)
                what = f"{version}, {n} rows, {option}, {change.__name__}"
                check(reader, path, rows, rng, what)
