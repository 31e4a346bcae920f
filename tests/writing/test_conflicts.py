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


def build_index(dataset, name):
    """A vector index over both fragments."""
    lance.dataset(dataset).create_index("vec", "IVF_FLAT", name=name, num_partitions=1)


def theirs(dataset, rows, name):
    """What pylance commits."""
    handle = lance.dataset(dataset)
    if name == "append":
        handle.insert(rows(100, 5))
    elif name.startswith("delete"):
        handle.delete("id = 12" if name == "delete_other" else "id = 2")
    elif name.startswith("update"):
        where = "id = 12" if name == "update_other" else "id = 2"
        handle.update({"price": "-1.0"}, where=where)
    elif name == "index_other_name":
        build_index(dataset, "theirs")
    elif name == "index_same_name":
        build_index(dataset, "ours")
    elif name == "compact":
        handle.optimize.compact_files()
    elif name == "merge":
        handle.add_columns({"theirs": "id + 1"})
    elif name == "project":
        handle.drop_columns(["name"])
    elif name == "config":
        handle.update_config({"key": "value"})
    elif name == "overwrite":
        lance.write_dataset(rows(500, 5), dataset, mode="overwrite")
    else:
        lance.dataset(dataset, version=1).restore()


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
    theirs(dataset, rows, other)
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


@pytest.mark.parametrize("other", ["append", "delete", "merge", "project", "overwrite", "restore"])
def test_theirs_is_stale(dataset, rows, write, change, tmp_path, other):
    """pylance works on a handle that it opened before we committed."""
    added = pa.table({"ours": pa.array(range(2 * FRAGMENT_ROWS), pa.int64())})
    pa.parquet.write_table(added, tmp_path / "added.parquet")
    ours = {
        "append": lambda path: write(path, rows(100, 5), "--mode", "append"),
        "delete": lambda path: change("delete", path, "--where", "id = 2"),
        "merge": lambda path: change("columns", "add", path, tmp_path / "added.parquet"),
        "project": lambda path: change("columns", "drop", path, "price"),
        "overwrite": lambda path: write(path, rows(500, 5), "--mode", "overwrite"),
        "restore": lambda path: change("restore", path, "--version", 1),
    }[other]
    # The rows that are there when ours alone was committed.
    base = set(range(2 * FRAGMENT_ROWS))
    after_ours = {
        "append": base | set(range(100, 105)),
        "delete": base - {2},
        "overwrite": set(range(500, 505)),
        "restore": set(range(FRAGMENT_ROWS)),
    }.get(other, base)
    fails = other in ("overwrite", "restore")

    def check(change_handle, expected):
        handle = lance.dataset(dataset)
        version = handle.version
        ours(dataset)
        try:
            change_handle(handle)
            refused = False
        except Exception as error:
            assert "conflict" in str(error).lower() or "Incompatible" in str(error), error
            refused = True
        table = check_sound(dataset)
        found = set(table["id"].to_pylist())
        assert found == (after_ours if refused else expected), (other, refused)
        assert lance.dataset(dataset).version == version + (1 if refused else 2)
        lance.dataset(dataset, version=2).restore()
        return refused

    assert check(lambda handle: handle.insert(rows(200, 1)), after_ours | {200}) == fails
    assert check(lambda handle: handle.delete("id = 3"), after_ours - {3}) == fails
    same = after_ours - {2}
    assert check(lambda handle: handle.delete("id = 2"), same) == fails
    refused = check(lambda handle: handle.update({"name": "'x'"}, where="id = 4"), after_ours)
    assert refused == fails


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
