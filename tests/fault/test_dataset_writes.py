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


INDEX = ("index", "create", "DATASET", "--type", "IVF_PQ", "--num-partitions", 2,
         "--num-sub-vectors", 2, "--num-bits", 4)  # fmt: skip


def changes(source):
    """Commands by name; DATASET stands for the dataset."""
    rows = source / "rows.parquet"
    return {
        "create": ("import", rows, "DATASET"),
        "append": ("import", rows, "DATASET", "--mode", "append", "--max-rows-per-file", 20),
        "overwrite": ("import", rows, "DATASET", "--mode", "overwrite"),
        "join": ("join", "--left", rows, "--right", rows, "-k", 1, "--format", "lance", "-o",
                 "DATASET"),
        "delete": ("delete", "DATASET", "--where", "id % 2 = 0"),
        "compact": ("compact", "DATASET"),
        "remap": ("compact", "DATASET"),
        "columns": ("columns", "add", "DATASET", source / "column.parquet"),
        "restore": ("restore", "DATASET", "--version", 1),
        "drop": ("columns", "drop", "DATASET", "word"),
        "rename": ("columns", "rename", "DATASET", "word", "text"),
        "index": INDEX,
        "graph": ("index", "create", "DATASET", "--type", "IVF_HNSW_SQ", "--num-partitions", 2),
        "optimize": ("index", "optimize", "DATASET"),
        "index_rename": ("index", "rename", "DATASET", "--name", "vec_idx", "--new-name", "other"),
        "index_drop": ("index", "drop", "DATASET", "--name", "vec_idx"),
    }


# Rows after the change; before it there are 60 in two fragments, none where it is created.
ROWS = {"create": 30, "append": 90, "overwrite": 30, "join": 30, "compact": 60, "remap": 60,
        "columns": 60, "restore": 30}  # fmt: skip
NAMES = ["create", "append", "overwrite", "join", "delete", "compact", "remap", "columns",
         "restore", "drop", "rename", "index", "graph", "optimize", "index_rename",
         "index_drop"]  # fmt: skip
# A compaction that carries an index over sets ids of fragments aside in a version before.
VERSIONS = {"remap": 2}


@pytest.fixture
def prepare(kinjo, source):
    """Makes the dataset that a change begins with."""

    def make(path, name):
        if name == "create":
            return
        table = pq.read_table(source / "rows.parquet")
        lance.write_dataset(table, path)
        if name in ("optimize", "index_rename", "index_drop"):
            kinjo(*[path if word == "DATASET" else word for word in INDEX])
        lance.write_dataset(table, path, mode="append")
        if name == "remap":
            kinjo(*[path if word == "DATASET" else word for word in INDEX])

    return make


def check_indexes(path, name):
    """What the change was for; whatever indexes there are, a search finds every row."""
    dataset = lance.dataset(path)
    names = [index.name for index in dataset.describe_indices()]
    wanted = {"index": "vec_idx", "graph": "vec_idx", "optimize": "vec_idx", "remap": "vec_idx",
              "index_rename": "other"}  # fmt: skip
    assert names == [wanted[name]] if name in wanted else "vec_idx" not in names
    if name in ("index", "graph", "optimize", "remap"):
        assert dataset.stats.index_stats("vec_idx")["num_unindexed_rows"] == 0
    if "vec" in dataset.schema.names:
        near = {"column": "vec", "q": [0.0] * 16, "k": 1000, "nprobes": 2}
        assert dataset.to_table(nearest=near).num_rows == dataset.count_rows()


def folders_of(path):
    """How many segments of indexes there are files of."""
    return len(list(path.glob("_indices/*")))


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
def test_every_call(kinjo, faulty, source, prepare, tmp_path, name, kind):
    def command(path):
        return [path if word == "DATASET" else word for word in changes(source)[name]]

    whole = tmp_path / "whole"
    prepare(whole, name)
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
        prepare(path, name)
        done = kinjo(*command(path), env=faulty(kind, number), exit_code=None)
        version = version_of(path)
        made = VERSIONS.get(name, 1)
        assert before <= version <= before + made, (number, call)
        if kind == "kill":
            assert done.returncode == -signal.SIGKILL
        elif done.returncode == 0:
            assert version == before + made
        else:
            failed += 1
            assert version < before + made, (number, call, done.stderr)
            assert str(path) in done.stderr
            assert folders_of(path) == folders
        if version < before + made:
            kinjo(*command(path))
            assert version_of(path) == version + made
        assert lance.dataset(path).count_rows() == rows
        check_indexes(path, name)
    if kind != "kill":
        assert failed > len(calls) / 3


@pytest.mark.parametrize("kind", ["kill", "full", "io"])
def test_every_call_of_a_cleanup(kinjo, faulty, prepare, tmp_path, kind):
    """Old versions and files are all, some or not at all there; the newest version is whole."""

    def dataset(path):
        prepare(path, "append")
        kinjo("delete", path, "--where", "id = 3")
        kinjo("compact", path)
        (path / "data" / "orphan.lance").write_bytes(b"x")

    command = "cleanup", "--older-than", "0s", "--orphans-older-than", "0s"
    whole = tmp_path / "whole"
    dataset(whole)
    count = tmp_path / "calls"
    kinjo(*command, whole, env=faulty(count=count))
    calls = count.read_text().split()
    assert "unlink" in calls
    for number in range(1, len(calls) + 1):
        path = tmp_path / f"t{number}"
        dataset(path)
        before = version_of(path)
        kinjo(*command, path, env=faulty(kind, number), exit_code=None)
        assert version_of(path) == before
        kinjo(*command, path)
        assert version_of(path) == before
        assert len(list((path / "data").iterdir())) == 1
        assert len(lance.dataset(path).versions()) == 1
        assert lance.dataset(path).count_rows() == 58


@pytest.mark.parametrize("action", ["create", "update", "delete"])
@pytest.mark.parametrize("kind", ["kill", "full", "io"])
def test_every_call_of_a_tag(kinjo, faulty, prepare, tmp_path, kind, action):
    """A tag is what it was, or what it is to be."""
    version = [] if action == "delete" else ["--version", 2]

    def dataset(path):
        prepare(path, "append")
        kinjo("tag", "create", path, "other", "--version", 1)
        if action != "create":
            kinjo("tag", "create", path, "t", "--version", 1)

    def tagged(path):
        tags = {name: tag["version"] for name, tag in lance.dataset(path).tags.list().items()}
        assert tags.pop("other") == 1
        return tags

    before = {} if action == "create" else {"t": 1}
    after = {} if action == "delete" else {"t": 2}
    whole = tmp_path / "whole"
    dataset(whole)
    count = tmp_path / "calls"
    kinjo("tag", action, whole, "t", *version, env=faulty(count=count))
    assert tagged(whole) == after
    for number in range(1, len(count.read_text().split()) + 1):
        path = tmp_path / f"t{number}"
        dataset(path)
        kinjo("tag", action, path, "t", *version, env=faulty(kind, number), exit_code=None)
        found = tagged(path)
        assert found in (before, after)
        if found == before:
            kinjo("tag", action, path, "t", *version)
        assert tagged(path) == after
        assert version_of(path) == 2


def test_what_is_left_is_cleaned_up(kinjo, faulty, source, prepare, tmp_path):
    path = tmp_path / "t"
    prepare(path, "append")
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
