"""Datasets written to an object store: what pylance reads there is what it reads of a local one,
and writers that meet keep each other's rows."""

import json
import subprocess
import sys

import lance
import pyarrow.parquet as pq
import pytest


@pytest.fixture
def opened(bucket):
    """opened(key) is pylance's dataset of a key."""

    def open_dataset(key="t.lance"):
        return lance.dataset(bucket.uri(key), storage_options=bucket.storage_options())

    return open_dataset


@pytest.fixture
def write(run, bucket, tmp_path):
    def write_rows(table, *flags, place=None, **options):
        pq.write_table(table, tmp_path / "rows.parquet")
        return run("import", tmp_path / "rows.parquet", place or bucket.uri("t.lance"), *flags,
                   **options)  # fmt: skip

    return write_rows


def test_every_change(run, write, bucket, opened, rows, tmp_path):
    """The same changes to a local dataset and to one in the store: the same rows and versions."""
    places = [tmp_path / "t.lance", bucket.uri("t.lance")]
    query = "[" + ",".join(["0.25"] * 16) + "]"
    found = []
    for place in places:
        write(rows(0, 3000), place=place)
        write(rows(3000, 500), "--mode", "append", place=place)
        run("delete", place, "--where", "id % 5 = 1")
        run("tag", "create", place, "kept")
        run("index", "create", place, "--column", "vec", "--type", "IVF_PQ",
            "--num-partitions", "4")  # fmt: skip
        write(rows(3500, 100), "--mode", "append", place=place)
        run("index", "optimize", place)
        run("columns", "rename", place, "name", "called")
        found.append(run("search", place, "--query", query, "-k", "7", "--nprobes", "4").stdout)
        run("compact", place)
        run("index", "drop", place, "--name", "vec_idx")
        write(rows(0, 10), "--mode", "overwrite", place=place)
        run("restore", place, "--version", "kept")
        run("tag", "update", place, "kept", "--version", "2")
        run("cleanup", place, "--older-than", "0s", "--orphans-older-than", "0s")
    assert found[0] == found[1]
    near, far = lance.dataset(places[0]), opened()
    far.validate()
    assert far.to_table().equals(near.to_table())
    assert far.version == near.version
    assert [v["version"] for v in far.versions()] == [v["version"] for v in near.versions()]
    assert {name: tag["version"] for name, tag in far.tags.list().items()} == {
        name: tag["version"] for name, tag in near.tags.list().items()
    }
    # Cleaned up alike: as many files, whatever their names.
    def folders(names):
        return sorted(name.split("/")[0] for name in names)

    local = [str(path.relative_to(places[0])) for path in places[0].rglob("*") if path.is_file()]
    assert folders(key.removeprefix("t.lance/") for key in bucket.keys("t.lance/")) == folders(
        local
    )


def test_pylance_goes_on_with_ours_and_we_with_theirs(run, write, bucket, opened, rows):
    options = bucket.storage_options()
    write(rows(0, 2000))
    run("index", "create", bucket.uri("t.lance"), "--column", "vec", "--type", "IVF_FLAT",
        "--num-partitions", "4")  # fmt: skip
    lance.write_dataset(rows(2000, 100), bucket.uri("t.lance"), mode="append",
                        storage_options=options)  # fmt: skip
    opened().optimize.optimize_indices()
    run("delete", bucket.uri("t.lance"), "--where", "id < 50")
    run("index", "optimize", bucket.uri("t.lance"))
    dataset = opened()
    dataset.validate()
    query = rows(1234, 1)["vec"][0].as_py()
    nearest = dataset.to_table(nearest={"column": "vec", "q": query, "k": 3, "nprobes": 4})
    assert nearest["id"][0].as_py() == 1234
    found = run("search", bucket.uri("t.lance"), "--query", json.dumps(query), "-k", "3",
                "--nprobes", "4", "-o", "-", "--format", "jsonl").stdout  # fmt: skip
    ids = [json.loads(line)["id"] for line in found.splitlines()]
    assert ids == nearest["id"].to_pylist()


def test_a_place_that_holds_something_else(write, bucket, rows, tmp_path):
    pq.write_table(rows(0, 3), tmp_path / "x.parquet")
    bucket.put("t.lance/x.parquet", tmp_path / "x.parquet")
    done = write(rows(0, 10), exit_code=1)
    assert "x.parquet" in done.stderr
    assert bucket.keys() == ["t.lance/x.parquet"]


def test_create_where_there_is_one(write, opened, rows):
    write(rows(0, 10))
    done = write(rows(10, 10), exit_code=1)
    assert "there is a dataset at s3://" in done.stderr
    assert opened().count_rows() == 10


THEIRS = """
import json, sys
import lance, pyarrow.parquet as pq
uri, source, rounds, first, options = sys.argv[1:6]
table = pq.read_table(source)
for i in range(int(rounds)):
    rows = table.set_column(0, "id", [[int(first) + i]])
    lance.write_dataset(rows, uri, mode="append", storage_options=json.loads(options))
"""
OURS = """
import subprocess, sys
import pyarrow.parquet as pq
cli, uri, source, rounds, first = sys.argv[1:6]
table = pq.read_table(source)
for i in range(int(rounds)):
    one = source + ".one.parquet"
    pq.write_table(table.set_column(0, "id", [[int(first) + i]]), one)
    subprocess.run([cli, "import", one, uri, "--mode", "append", "--progress", "none"], check=True)
    if i % 3 == 2:
        subprocess.run([cli, "delete", uri, "--where", f"id = {int(first) + i - 1}"], check=True,
                       stderr=subprocess.DEVNULL)
"""


def race(kinjo_cli, bucket, opened, write, rows, tmp_path, rounds):
    write(rows(0, 10))
    uri = bucket.uri("t.lance")
    running = []
    for writer in range(3):
        first = 10_000 * (writer + 1)
        source = tmp_path / f"row{writer}.parquet"
        pq.write_table(rows(first, 1), source)
        if writer < 2:
            command = [OURS, kinjo_cli, uri, source, rounds, first]
        else:
            command = [THEIRS, uri, source, rounds, first, json.dumps(bucket.storage_options())]
        running.append(
            subprocess.Popen([sys.executable, "-c", *map(str, command)], stderr=subprocess.PIPE,
                             text=True, env=bucket.environment())  # fmt: skip
        )
    for process in running:
        _, stderr = process.communicate(timeout=1200)
        assert process.returncode == 0, stderr
    expected = set(range(10))
    for writer in range(3):
        gone = {i - 1 for i in range(rounds) if i % 3 == 2} if writer < 2 else set()
        expected |= {10_000 * (writer + 1) + i for i in range(rounds) if i not in gone}
    dataset = opened()
    dataset.validate()
    found = dataset.to_table(["id"])["id"].to_pylist()
    assert len(found) == len(set(found))
    assert set(found) == expected
    commits = 3 * rounds + 2 * (rounds // 3)
    versions = [version["version"] for version in dataset.versions()]
    assert versions == list(range(1, commits + 2))


def test_race(kinjo_cli, bucket, opened, write, rows, tmp_path):
    race(kinjo_cli, bucket, opened, write, rows, tmp_path, rounds=4)


@pytest.mark.slow
def test_long_race(kinjo_cli, bucket, opened, write, rows, tmp_path):
    race(kinjo_cli, bucket, opened, write, rows, tmp_path, rounds=70)


def test_only_one_creates(kinjo_cli, bucket, opened, rows, tmp_path):
    pq.write_table(rows(0, 10), tmp_path / "rows.parquet")
    command = [kinjo_cli, "import", tmp_path / "rows.parquet", bucket.uri("t.lance"),
               "--progress", "none"]  # fmt: skip
    running = [
        subprocess.Popen(list(map(str, command)), stderr=subprocess.PIPE, text=True,
                         env=bucket.environment())  # fmt: skip
        for _ in range(4)
    ]
    ends = [(process.communicate()[1], process.returncode) for process in running]
    assert sorted(code for _, code in ends) == [0, 1, 1, 1], ends
    assert opened().count_rows() == 10
    # Losers took their files away.
    assert len(bucket.keys("t.lance/data/")) == 1
