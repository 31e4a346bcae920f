"""Lance's table of conflicts: each pair of operations once with our commit made from a stale
version and pylance's in between, and once the other way round. Whatever comes of a commit, the
dataset stays sound and no row is lost."""

import subprocess

import lance
import pyarrow as pa
import pytest

OK, RETRY, FAIL = "ok", "retry", "fail"

# Ours is made from the version before theirs; rows of the table in docs/format/table.md.
COLUMNS = [
    "append", "delete_other", "delete_same", "update_other", "update_same", "index_other_name",
    "index_same_name", "compact", "merge", "project", "config", "overwrite", "restore",
]  # fmt: skip
TABLE = {
    "append": [OK, OK, OK, OK, OK, OK, OK, OK, OK, OK, OK, FAIL, FAIL],
    "delete": [OK, OK, RETRY, OK, RETRY, OK, OK, RETRY, RETRY, OK, OK, FAIL, FAIL],
    "index": [OK, OK, OK, OK, OK, OK, RETRY, RETRY, OK, OK, OK, FAIL, FAIL],
    "rewrite": [OK, OK, RETRY, OK, RETRY, RETRY, RETRY, RETRY, RETRY, OK, OK, FAIL, FAIL],
    "merge": [RETRY, RETRY, RETRY, RETRY, RETRY, OK, OK, RETRY, RETRY, RETRY, OK, FAIL, FAIL],
    "project": [OK, OK, OK, OK, OK, OK, OK, OK, RETRY, RETRY, OK, FAIL, FAIL],
    "overwrite": [OK, OK, OK, OK, OK, OK, OK, OK, OK, OK, OK, RETRY, OK],
    "restore": [OK, OK, OK, OK, OK, OK, OK, OK, OK, OK, OK, OK, OK],
    "reserve": [OK, OK, OK, OK, OK, OK, OK, OK, OK, OK, OK, FAIL, FAIL],
}
FRAGMENT_ROWS = 10


@pytest.fixture(scope="session")
def stale_commit(kinjo_cli):
    path = kinjo_cli.parent.parent / "tests" / "interop" / "stale_commit"
    if not path.exists():
        pytest.fail(f"{path} is not built; run ./dev build")

    def run(dataset, version, operation, fragment=0):
        command = [path, dataset, version, operation, fragment]
        done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stderr
        return done.stdout.split(" ", 1)

    return run


@pytest.fixture
def dataset(rows, tmp_path):
    """A dataset of two fragments, at version 2."""
    path = tmp_path / "t.lance"
    lance.write_dataset(rows(0, FRAGMENT_ROWS), path)
    lance.write_dataset(rows(FRAGMENT_ROWS, FRAGMENT_ROWS), path, mode="append")
    return path


# Rows by the fragment that they lie in, and what our commits change: 12 lies in the other one, 3
# and 4 beside, 2 is deleted by our command itself.
WHERE = {"other": "id = 12", "same": "id = 2", "beside": "id = 3 OR id = 4"}


def commit_by_pylance(handle, name, rows):
    """pylance's commit, from the version that the handle has open."""
    kind, _, place = name.partition("_")
    if kind == "append":
        handle.insert(rows(200, 1))
    elif kind == "delete":
        handle.delete(WHERE[place])
    elif kind == "update":
        handle.update({"name": "'x'"}, where=WHERE[place])
    elif kind == "index":
        taken = "ours" if place == "same_name" else "theirs"
        handle.create_index("vec", "IVF_FLAT", name=taken, num_partitions=1)
    elif kind == "compact":
        handle.optimize.compact_files()
    elif kind == "merge":
        handle.add_columns({"theirs": "id + 1"})
    elif kind == "project":
        handle.drop_columns(["name"])
    elif kind == "config":
        handle.update_config({"key": "value"})
    elif kind == "overwrite":
        operation = lance.LanceOperation.Overwrite(
            handle.schema,
            [lance.fragment.LanceFragment.create(handle.uri, rows(600, 1), mode="overwrite")])
        lance.LanceDataset.commit(handle.uri, operation, read_version=handle.version)
    else:
        operation = lance.LanceOperation.Restore(1)
        lance.LanceDataset.commit(handle.uri, operation, read_version=handle.version)


def check_sound(dataset):
    found = lance.dataset(dataset)
    found.validate()
    table = found.to_table()
    assert table.num_rows == found.count_rows()
    ids = [fragment.fragment_id for fragment in found.get_fragments()]
    assert len(set(ids)) == len(ids)
    for version in found.versions():
        lance.dataset(dataset, version=version["version"]).to_table()
    return table


@pytest.mark.parametrize("operation", list(TABLE))
@pytest.mark.parametrize("other", COLUMNS)
def test_ours_is_stale(dataset, rows, stale_commit, operation, other):
    commit_by_pylance(lance.dataset(dataset), other, rows)
    newest = lance.dataset(dataset)
    before = newest.to_table()
    outcome, text = stale_commit(dataset, 2, operation)
    expected = TABLE[operation][COLUMNS.index(other)]
    assert outcome == (OK if expected == OK else "conflict"), text
    after = check_sound(dataset)
    if expected != OK:
        assert lance.dataset(dataset).version == newest.version
        assert "nothing was changed" in text
        assert after.equals(before)
        return
    assert int(text) == newest.version + 1
    rows_now = after["id"].to_pylist() if "id" in after.column_names else []
    if operation == "append":
        assert rows_now == before["id"].to_pylist() + [-1]
    elif operation == "delete":
        assert rows_now == [i for i in before["id"].to_pylist() if i != FRAGMENT_ROWS - 1]
    elif operation == "rewrite":
        assert rows_now == [i for i in before["id"].to_pylist() if i >= FRAGMENT_ROWS] + [-1]
    elif operation == "merge":
        assert set(after["ours"].to_pylist()) == {7}
    elif operation == "project":
        assert "price" not in after.column_names
    elif operation == "overwrite":
        assert rows_now == [-1]
    elif operation == "restore":
        assert rows_now == list(range(FRAGMENT_ROWS))
    else:
        assert after.equals(before)


BASE = set(range(2 * FRAGMENT_ROWS))
# What we commit beneath pylance's open handle, and the ids of the rows that are there then.
AFTER_OURS = {
    "append": BASE | set(range(100, 105)),
    "delete": BASE - {2},
    "index": BASE,
    "compact": BASE,
    "merge": BASE,
    "project": BASE,
    "overwrite": set(range(500, 505)),
    "restore": set(range(FRAGMENT_ROWS)),
}
# What pylance then makes of the version before, and what that does to the ids.
STALE = {
    "append": lambda ids: ids | {200},
    "delete_other": lambda ids: ids - {12},
    "delete_beside": lambda ids: ids - {3, 4},
    "delete_same": lambda ids: ids - {2},
    "update_beside": lambda ids: ids,
    "index_other_name": lambda ids: ids,
    "compact": lambda ids: ids,
    "merge": lambda ids: ids,
    "project": lambda ids: ids,
    "config": lambda ids: ids,
    "overwrite": lambda ids: {600},
    "restore": lambda ids: set(range(FRAGMENT_ROWS)),
}
# The commits of ours beside which pylance refuses its own: the rows of the table above.
REFUSED = {
    "append": ["overwrite", "restore"],
    "delete_other": ["overwrite", "restore"],
    "delete_beside": ["overwrite", "restore"],
    "delete_same": ["overwrite", "restore"],  # made again from the newest version
    "update_beside": ["overwrite", "restore"],
    "index_other_name": ["compact", "overwrite", "restore"],
    "compact": ["delete", "index", "compact", "merge", "overwrite", "restore"],
    "merge": ["append", "delete", "compact", "merge", "project", "overwrite", "restore"],
    "project": ["merge", "project", "overwrite", "restore"],
    "config": [],
    "overwrite": ["overwrite"],
    "restore": [],
}


def commit_ours(name, dataset, rows, write, change, kinjo, tmp_path):
    if name == "append":
        write(dataset, rows(100, 5), "--mode", "append")
    elif name == "overwrite":
        write(dataset, rows(500, 5), "--mode", "overwrite")
    elif name == "delete":
        change("delete", dataset, "--where", "id = 2")
    elif name == "index":
        kinjo("index", "create", dataset, "--column", "vec", "--type", "IVF_FLAT",
              "--num-partitions", 1, "--name", "ours")  # fmt: skip
    elif name == "compact":
        change("compact", dataset)
    elif name == "merge":
        added = pa.table({"ours": pa.array(range(2 * FRAGMENT_ROWS), pa.int64())})
        pa.parquet.write_table(added, tmp_path / "added.parquet")
        change("columns", "add", dataset, tmp_path / "added.parquet")
    elif name == "project":
        change("columns", "drop", dataset, "price")
    else:
        change("restore", dataset, "--version", 1)


@pytest.mark.parametrize("ours", list(AFTER_OURS))
@pytest.mark.parametrize("stale", list(STALE))
def test_theirs_is_stale(dataset, rows, write, change, kinjo, tmp_path, ours, stale):
    """pylance works on a handle that it opened before we committed."""
    handle = lance.dataset(dataset)
    commit_ours(ours, dataset, rows, write, change, kinjo, tmp_path)
    after_ours = lance.dataset(dataset)
    before = after_ours.to_table()
    assert set(before["id"].to_pylist()) == AFTER_OURS[ours]
    try:
        commit_by_pylance(handle, stale, rows)
        refused = False
    except Exception as error:
        assert "conflict" in str(error).lower() or "Incompatible" in str(error), error
        refused = True
    table = check_sound(dataset)
    assert refused == (ours in REFUSED[stale])
    if refused:
        assert table.equals(before)
        return
    assert lance.dataset(dataset).version > after_ours.version
    assert set(table["id"].to_pylist()) == STALE[stale](AFTER_OURS[ours])
    assert len(table) == len(set(table["id"].to_pylist()))
    if ours == "index" or stale == "index_other_name":
        near = {"column": "vec", "q": [0.0] * 8, "k": 1000, "nprobes": 1}
        found = lance.dataset(dataset).to_table(nearest=near)
        assert set(found["id"].to_pylist()) == set(table["id"].to_pylist())


def test_pylance_indexes_beside_our_commits(dataset, rows, write, change):
    handle = lance.dataset(dataset)
    write(dataset, rows(100, 50), "--mode", "append")
    change("delete", dataset, "--where", "id = 2")
    handle.create_index("vec", "IVF_FLAT", num_partitions=1)
    check_sound(dataset)
    found = lance.dataset(dataset).to_table(
        nearest={"column": "vec", "q": [0.0] * 8, "k": 100, "nprobes": 1}
    )
    assert set(found["id"].to_pylist()) == (set(range(20)) | set(range(100, 150))) - {2}


def test_deletes_are_made_again(dataset, rows, stale_commit, change):
    """What the command does on its own newest version always goes through."""
    handle = lance.dataset(dataset)
    handle.delete("id = 2")
    assert stale_commit(dataset, 2, "delete")[0] == "conflict"
    assert change("delete", dataset, "--where", "id = 9")["rows"] == 1
    assert check_sound(dataset).num_rows == 18
