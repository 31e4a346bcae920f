"""Our side of tests that compare with pylance: whole scans, takes and the listing of pages, by
`kinjo scan` and the programs of this folder; and the comparison of two tables, value by value.
"""

import os
import subprocess
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.ipc

ROOT = Path(__file__).resolve().parents[2]


class OurReader:
    """Reads datasets; its files lie in `folder`."""

    def __init__(self, kinjo, folder):
        cli = os.environ.get("KINJO_CLI")
        build = Path(cli).parent.parent if cli else ROOT / "build" / "release"
        self.programs = build / "tests" / "interop"
        self.kinjo = kinjo
        self.out = folder / "out.arrow"
        self.addresses = folder / "addresses"

    def run(self, program, *words):
        done = subprocess.run([str(self.programs / program), *map(str, words)], text=True,
                              capture_output=True, timeout=600)  # fmt: skip
        assert done.returncode == 0, f"{program} {words}: {done.stderr}"
        return done.stdout

    def rows(self):
        with pa.OSFile(str(self.out)) as source:
            return pa.ipc.open_file(source).read_all()

    def scan(self, path, *flags):
        self.kinjo("scan", path, *flags, "-o", self.out)
        return self.rows()

    def take(self, path, addresses, names):
        """Rows by their addresses, which rise."""
        np.asarray(addresses, np.uint64).tofile(self.addresses)
        self.run("dataset_dump", path, self.out, "latest", self.addresses, "take", *names)
        return self.rows()

    def pages(self, path):
        """The texts of the pages of every data file."""
        texts = set()
        for file in (path / "data").glob("*.lance"):
            for line in self.run("file_dump", file, self.out, "0:0").splitlines():
                texts.add(line.split("\t")[1])
        return texts


def without_dictionaries(kind):
    """The type with the values of its dictionaries, at any depth; itself where there are none."""
    plain = lambda child: child.with_type(without_dictionaries(child.type))  # noqa: E731
    if pa.types.is_dictionary(kind):
        return kind.value_type
    if pa.types.is_struct(kind):
        return pa.struct([plain(child) for child in kind])
    if pa.types.is_list(kind):
        return pa.list_(plain(kind.value_field))
    if pa.types.is_large_list(kind):
        return pa.large_list(plain(kind.value_field))
    if pa.types.is_fixed_size_list(kind):
        return pa.list_(plain(kind.value_field), kind.list_size)
    if pa.types.is_map(kind):
        return pa.map_(kind.key_field, plain(kind.item_field))
    return kind


def comparable(column):
    """One array: of the storage of extension types and the values of dictionaries, floats as their
    bits (NaN is like NaN, -0.0 unlike 0.0)."""
    array = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    if isinstance(array, pa.ChunkedArray):
        array = pa.concat_arrays(array.chunks) if array.num_chunks else pa.array([], array.type)
    if isinstance(array.type, pa.BaseExtensionType):
        array = array.storage
    kind = without_dictionaries(array.type)
    if kind != array.type:
        array = array.cast(kind)
    if pa.types.is_float64(array.type):
        return array.view(pa.int64())
    return array.view(pa.int32()) if pa.types.is_float32(array.type) else array


def assert_same(got, expected, what):
    for name in expected.column_names:
        left, right = comparable(got[name]), comparable(expected[name])
        assert left.type == right.type, f"{what}: {name}: {left.type}, expected {right.type}"
        if left.equals(right):
            continue
        assert len(left) == len(right), f"{what}: {name}: {len(left)} of {len(right)} rows"
        for row in range(len(right)):
            assert left[row].as_py() == right[row].as_py(), f"{what}: {name}, row {row}"
        raise AssertionError(f"{what}: {name} differs")
