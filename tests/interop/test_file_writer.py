"""Data files that our writer makes, read by Lance and by our reader: every type, null and version.

Each case writes a table with pylance, hands the same rows (as an Arrow IPC file) and pylance's schema
to file_write (tests/interop/file_write.cc), and compares what pylance's file reader and our own reader
find in our file with the rows: all of them, and random ones taken.
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
VERSIONS = ["2.1", "2.2"]
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
    check(pa.table(columns), tmp_path, version)
