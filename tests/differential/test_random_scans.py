"""Random tables written by pylance, scanned by Kinjo; and written by Kinjo, read by pylance.

Every run draws its schemas and rows anew; a failure tells the seed of its table, and
KINJO_SCAN_SEED=SEED runs that one alone. Tables that pylance refuses to write, or doesn't read back
as they were given, are not compared; were they half of them, the test would fail.
"""

import os
import secrets
import subprocess

import lance
import lance.file
import numpy as np
import pyarrow as pa
import pyarrow.ipc
import pytest

from tests.differential.random_tables import random_table
from tests.interop.our_reader import OurReader, assert_same

VERSIONS = ("2.0", "2.1", "2.2")
ROUNDS = 10
TABLES_IN_ROUND = 20


class Refused(Exception):
    """pylance doesn't write this table, or reads it back otherwise."""


def by_pylance(path, table, version):
    """Writes the table; makes sure that pylance gives it back."""
    try:
        lance.write_dataset(table, path, data_storage_version=version, max_rows_per_file=120)
        dataset = lance.dataset(path)
        # Alone: it doesn't read fixed-size lists of structs beside other columns.
        for name in table.column_names:
            assert_same(dataset.to_table(columns=[name]), table.select([name]), "by pylance")
    except (AssertionError, OSError, ValueError, pa.ArrowException) as error:
        raise Refused(str(error)[:200]) from error
    except BaseException as error:  # a panic of pylance is none of Python's exceptions
        if type(error).__name__ != "PanicException":
            raise
        raise Refused(str(error)[:200]) from error


def check_scans(reader, path, table, rng, what):
    assert_same(reader.scan(path), table, f"{what}, scanned")
    n = table.num_rows
    offset, limit = int(rng.integers(0, n + 1)), int(rng.integers(0, n + 1))
    part = reader.scan(path, "--offset", offset, "--limit", limit)
    assert_same(part, table.slice(offset, limit), f"{what}, rows {offset} and {limit} on")
    if n == 0:
        return
    addresses = lance.dataset(path).scanner(columns=["id"], with_row_address=True).to_table()
    picks = np.unique(rng.integers(0, n, 20))
    taken = reader.take(path, addresses["_rowaddr"].to_numpy()[picks], table.column_names)
    assert_same(taken, table.take(pa.array(picks)), f"{what}, taken")


def check_writes(reader, folder, path, table, version, what):
    """Our writer's file of the same rows and schema, read by pylance."""
    with pa.ipc.new_file(str(folder / "in.arrow"), table.schema) as out:
        out.write_table(table.combine_chunks())
    like, ours = next((path / "data").glob("*.lance")), folder / "ours.lance"
    words = [reader.programs / "file_write", folder / "in.arrow", like, ours, version, "20000"]
    done = subprocess.run(list(map(str, words)), capture_output=True, text=True, timeout=300)
    if done.stderr.startswith("not_supported: "):
        return False
    assert done.returncode == 0, f"{what}, written: {done.stderr}"
    try:
        for name in table.column_names:
            back = lance.file.LanceFileReader(str(ours), columns=[name]).read_all().to_table()
            assert_same(back, table.select([name]), f"{what}, written")
    except (OSError, ValueError) as error:
        raise AssertionError(f"{what}, written: {name}: {error}") from error
    return True


def run_one(seed, kinjo, folder, compared):
    rng = np.random.default_rng(seed)
    version = VERSIONS[rng.integers(3)]
    table = random_table(rng, version)
    what = f"KINJO_SCAN_SEED={seed}, {version}, {table.schema}"
    folder.mkdir()
    path = folder / "made.lance"
    try:
        by_pylance(path, table, version)
    except Refused as refused:
        print(f"{what}: not compared: {refused}")
        return
    reader = OurReader(kinjo, folder)
    compared["scanned"] += 1
    check_scans(reader, path, table, rng, what)
    if table.num_rows:
        compared["written"] += check_writes(reader, folder, path, table, version, what)


@pytest.mark.parametrize("number", range(ROUNDS))
def test_random_tables(number, kinjo, tmp_path):
    """Two hundred tables in all."""
    chosen = os.environ.get("KINJO_SCAN_SEED")
    first = int(chosen) if chosen else secrets.randbits(40)
    count = 1 if chosen else TABLES_IN_ROUND
    print(f"seeds from {first} on")
    compared = {"scanned": 0, "written": 0}
    for seed in range(first, first + count):
        run_one(seed, kinjo, tmp_path / str(seed), compared)
    print(compared)
    assert compared["scanned"] >= count // 2, f"seeds from {first} on: {compared}"
