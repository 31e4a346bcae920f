"""Our writers and pylance's at the same time on one dataset: no row is lost or doubled, and every
version can be read."""

import subprocess
import sys

import lance
import pyarrow.parquet as pq
import pytest

THEIRS = """
import sys
import lance, pyarrow.parquet as pq
path, source, rounds, first = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
table = pq.read_table(source)
for i in range(rounds):
    ids = [first + i]
    rows = table.set_column(0, "id", [ids])
    lance.write_dataset(rows, path, mode="append")
    if i % 4 == 3:
        lance.dataset(path).delete(f"id = {first + i - 1}")
"""

# Ours: a process a change, as a shell script does it.
OURS = """
import sys, subprocess
import pyarrow.parquet as pq
cli, path, source, rounds, first, scratch = sys.argv[1:7]
rounds, first = int(rounds), int(first)
table = pq.read_table(source)
for i in range(rounds):
    pq.write_table(table.set_column(0, "id", [[first + i]]), scratch)
    subprocess.run([cli, "import", scratch, path, "--mode", "append", "--progress", "none"],
                   check=True)
    if i % 4 == 3:
        subprocess.run([cli, "delete", path, "--where", f"id = {first + i - 1}"], check=True,
                       stderr=subprocess.DEVNULL)
"""


def race(kinjo_cli, rows, tmp_path, rounds, writers):
    path = tmp_path / "t.lance"
    # Without lists: Parquet gives their items another name than Lance.
    lance.write_dataset(rows(0, 10).drop(["tags"]), path)
    running = []
    for writer in range(writers):
        first = 1000 * (writer + 1) * 10
        source = tmp_path / f"row{writer}.parquet"
        pq.write_table(rows(first, 1).drop(["tags"]), source)
        if writer % 2 == 0:
            scratch = tmp_path / f"scratch{writer}.parquet"
            command = [OURS, kinjo_cli, path, source, rounds, first, scratch]
        else:
            command = [THEIRS, path, source, rounds, first]
        arguments = [sys.executable, "-c", *map(str, command)]
        running.append(subprocess.Popen(arguments, stderr=subprocess.PIPE, text=True))
    for process in running:
        _, stderr = process.communicate(timeout=1500)
        assert process.returncode == 0, stderr
    dataset = lance.dataset(path)
    dataset.validate()
    expected = set(range(10))
    for writer in range(writers):
        first = 1000 * (writer + 1) * 10
        expected |= {first + i for i in range(rounds) if i % 4 != 2 or i + 1 >= rounds}
    found = dataset.to_table()["id"].to_pylist()
    assert len(found) == len(set(found))
    assert set(found) == expected
    fragments = [fragment.fragment_id for fragment in dataset.get_fragments()]
    assert len(set(fragments)) == len(fragments)
    commits = writers * (rounds + rounds // 4)
    versions = [version["version"] for version in dataset.versions()]
    assert versions == list(range(1, commits + 2))
    for version in versions[:: max(1, len(versions) // 20)]:
        lance.dataset(path, version=version).to_table()


def test_race(kinjo_cli, rows, tmp_path):
    race(kinjo_cli, rows, tmp_path, rounds=12, writers=2)


@pytest.mark.slow
@pytest.mark.parametrize(("rounds", "writers"), [(200, 2), (60, 4)])
def test_long_race(kinjo_cli, rows, tmp_path, rounds, writers):
    race(kinjo_cli, rows, tmp_path, rounds, writers)


def test_only_one_creates(kinjo, rows, tmp_path, kinjo_cli):
    pq.write_table(rows(0, 10), tmp_path / "rows.parquet")
    for attempt in range(3):
        path = tmp_path / f"t{attempt}.lance"
        command = [kinjo_cli, "import", tmp_path / "rows.parquet", path, "--progress", "none"]
        running = [
            subprocess.Popen(list(map(str, command)), stderr=subprocess.PIPE, text=True)
            for _ in range(4)
        ]
        ends = [(process.communicate()[1], process.returncode) for process in running]
        assert sorted(code for _, code in ends) == [0, 1, 1, 1], ends
        assert lance.dataset(path).count_rows() == 10
        assert len(list((path / "data").iterdir())) == 1
