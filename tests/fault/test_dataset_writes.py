"""Each single call that a change to a dataset makes to the file system goes wrong once: the
process dies in it, the disk is full from then on, or it fails. The dataset is then at its last
version or at the next one, whole, and the same change succeeds when it is made again."""

import signal

import lance
import pyarrow.parquet as pq
import pytest

from tests.cli.word_tables import word_table


@pytest.fixture(scope="session")
def source(tmp_path_factory):
    folder = tmp_path_factory.mktemp("source")
    pq.write_table(word_table(30, seed=5), folder / "rows.parquet")
    pq.write_table(word_table(60, seed=5).select(["id"]).rename_columns(["more"]),
                   folder / "column.parquet")  # fmt: skip
    return folder


def changes(source):
    """Commands by name; DATASET stands for the dataset."""
    rows = source / "rows.parquet"
    return {
        "create": ("import", rows, "DATASET"),
        "append": ("import", rows, "DATASET", "--mode", "append", "--max-rows-per-file", 20),
        "overwrite": ("import", rows, "DATASET", "--mode", "overwrite"),
        "delete": ("delete", "DATASET", "--where", "id % 2 = 0"),
        "compact": ("compact", "DATASET"),
        "columns": ("columns", "add", "DATASET", source / "column.parquet"),
        "restore": ("restore", "DATASET", "--version", 1),
        "index": ("index", "create", "DATASET", "--type", "IVF_HNSW_SQ", "--num-partitions", 2),
        "optimize": ("index", "optimize", "DATASET", "--num-indices-to-merge", 1),
    }


# Rows after the change; before it there are 60 in two fragments, none where it is created.
ROWS = {"create": 30, "append": 90, "overwrite": 30, "compact": 60, "columns": 60, "restore": 30}
NAMES = ["create", "append", "overwrite", "delete", "compact", "columns", "restore", "index",
         "optimize"]  # fmt: skip


def prepare(path, source, name):
    if name == "create":
        return
    table = pq.read_table(source / "rows.parquet")
    dataset = lance.write_dataset(table, path)
    if name == "optimize":
        dataset.create_index("vec", "IVF_SQ", num_partitions=2, metric="l2")
    lance.write_dataset(table, path, mode="append")


def folders_of(path):
    """How many segments of indexes there are files of."""
    return len(list(path.glob("_indices/*")))


def check_index(path, before):
    """The index that the newest version has, if any, holds its rows."""
    dataset = lance.dataset(path)
    if dataset.version == before and not dataset.describe_indices():
        return
    stats = dataset.stats.index_stats("vec_idx")
    assert stats["num_indexed_rows"] == (30 if dataset.version == before else 60)
    query = dataset.to_table(columns=["vec"])["vec"][0].as_py()
    search = {"column": "vec", "q": query, "k": 60, "nprobes": 2, "ef": 60}
    found = dataset.to_table(nearest=search)
    assert found.num_rows == 60


def version_of(path):
    """The newest version, 0 where there is no dataset; whatever is there can be read."""
    try:
        dataset = lance.dataset(path)
    except (ValueError, OSError):
        return 0
    dataset.validate()
    assert dataset.to_table().num_rows == dataset.count_rows()
    return dataset.version


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("kind", ["kill", "full", "io"])
def test_every_call(kinjo, faulty, source, tmp_path, name, kind):
    def command(path):
        return [path if word == "DATASET" else word for word in changes(source)[name]]

    whole = tmp_path / "whole"
    prepare(whole, source, name)
    before = version_of(whole)
    folders = folders_of(whole)
    count = tmp_path / "calls"
    kinjo(*command(whole), env=faulty(count=count))
    calls = count.read_text().split()
    assert {"write", "fsync", "link"} <= set(calls)
    rows = lance.dataset(whole).count_rows()
    assert rows == ROWS.get(name, rows)

    failed = 0
    for number, call in enumerate(calls, start=1):
        path = tmp_path / f"t{number}"
        prepare(path, source, name)
        done = kinjo(*command(path), env=faulty(kind, number), exit_code=None)
        version = version_of(path)
        assert version in (before, before + 1), (number, call)
        if kind == "kill":
            assert done.returncode == -signal.SIGKILL
        elif done.returncode == 0:
            assert version == before + 1
        else:
            failed += 1
            assert version == before, (number, call, done.stderr)
            assert str(path) in done.stderr
            assert folders_of(path) == folders
        if name in ("index", "optimize"):
            check_index(path, before)
        if version == before:
            kinjo(*command(path))
        assert version_of(path) == before + 1
        if name in ("index", "optimize"):
            check_index(path, before)
        assert lance.dataset(path).count_rows() == rows
    if kind != "kill":
        assert failed > len(calls) / 3


def test_what_is_left_is_cleaned_up(kinjo, faulty, source, tmp_path):
    path = tmp_path / "t"
    prepare(path, source, "append")
    command = [path if word == "DATASET" else word for word in changes(source)["append"]]
    for number in range(3, 30, 2):
        kinjo(*command, env=faulty("kill", number), exit_code=None)
    dataset = lance.dataset(path)
    kinjo("cleanup", path, "--orphans-older-than", "0s")
    named = {
        file.path for fragment in dataset.get_fragments() for file in fragment.data_files()
    }
    assert {file.name for file in (path / "data").iterdir()} == named
    assert not [file for file in (path / "_versions").iterdir() if file.name.startswith(".tmp_")]
    assert lance.dataset(path).to_table().num_rows == dataset.count_rows()
