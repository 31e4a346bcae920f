"""Tables as their owners left them, read by ours: nested columns whose parts lie in several files,
branches and clones, versions by time, versions that aren't read, and manifests altered by hand.

What pylance scans of the same version is the truth; test_dataset.py says how that is compared.
"""

import datetime
import os
import shutil
from pathlib import Path

import lance
import pyarrow as pa
import pytest

from tests.interop.test_dataset import check, dataset_dump, dump, table  # noqa: F401

# pylance tells times by a float of seconds; two versions are further apart than this.
LITTLE = datetime.timedelta(microseconds=20)

NESTED = pa.schema(
    [
        ("id", pa.int64()),
        ("s", pa.struct([("a", pa.int32()), ("b", pa.string()), ("deep", pa.struct(
            [("x", pa.int32()), ("y", pa.float32())]))])),
        ("l", pa.list_(pa.struct([("x", pa.int32()), ("y", pa.int32())]))),
    ]
)


def nested(rows):
    """Structs, structs in structs and lists of structs, with nulls at every level."""

    def point(i):
        if i % 7 == 2:
            return None
        return {"x": None if i % 5 == 1 else i, "y": i / 2}

    def struct(i):
        if i % 6 == 4:
            return None
        return {"a": i, "b": None if i % 4 == 3 else f"b{i}", "deep": point(i)}

    def items(i):
        if i % 9 == 5:
            return None
        return [None if j == 2 else {"x": i, "y": i * j} for j in range(i % 4)]

    values = range(rows)
    return pa.table(
        [
            pa.array(values, pa.int64()),
            pa.array([struct(i) for i in values], NESTED.field("s").type),
            pa.array([items(i) for i in values], NESTED.field("l").type),
        ],
        schema=NESTED,
    )


@pytest.mark.parametrize("version", ["2.1", "2.2"])
def test_a_struct_whose_child_was_cast(dump, tmp_path, version):
    """The cast child lies in a file of its own; in lists, beside lengths that both files have.
    (pylance doesn't cast children in version 2.0.)"""
    uri = str(tmp_path / "cast.lance")
    dataset = lance.write_dataset(
        nested(500), uri, data_storage_version=version, max_rows_per_file=300
    )
    dataset.alter_columns({"path": "s.a", "data_type": pa.int64()})
    lance.dataset(uri).alter_columns({"path": "s.deep.y", "data_type": pa.float64()})
    check(dump, uri, batch_rows=(77, 8192))
    lance.dataset(uri).alter_columns({"path": "l.item.y", "data_type": pa.int64()})
    check(dump, uri, batch_rows=(77, 8192))
    dataset = lance.dataset(uri)
    dataset.delete("id % 10 = 3")
    dataset.drop_columns(["s.b"])
    dataset.alter_columns({"path": "s.deep.x", "name": "renamed"})
    check(dump, uri, batch_rows=(77,))
    lance.dataset(uri).optimize.compact_files()
    check(dump, uri, batch_rows=(77,))
    for old in [version["version"] for version in lance.dataset(uri).versions()]:
        check(dump, uri, version=old, batch_rows=(333,))


@pytest.mark.parametrize("version", ["2.1", "2.2"])
def test_a_struct_of_which_a_part_was_updated(dump, tmp_path, version):
    uri = str(tmp_path / "part.lance")
    lance.write_dataset(nested(400), uri, data_storage_version=version, max_rows_per_file=150)
    part = pa.struct([("b", pa.string())])
    changed = pa.table(
        {"id": range(100, 250), "s": pa.array([{"b": f"new {i}"} for i in range(150)], part)}
    )
    lance.dataset(uri).merge_insert("id").when_matched_update_all().execute(changed)
    check(dump, uri, batch_rows=(77, 8192))
    lance.write_dataset(
        pa.table({"s": pa.array([{"b": "only"}, None], part)}), uri, mode="append"
    )
    check(dump, uri, batch_rows=(77, 8192))


def test_a_struct_that_got_a_child(dump, tmp_path):
    """With values (a file of its own) and without (no file has it)."""
    uri = str(tmp_path / "child.lance")
    lance.write_dataset(nested(300), uri, data_storage_version="2.2", max_rows_per_file=200)
    child = pa.struct([("c", pa.int32())])
    values = [None if i % 5 == 2 else {"c": None if i % 3 == 1 else i} for i in range(300)]
    more = pa.table({"s": pa.array(values, child)})
    lance.dataset(uri).add_columns(more.to_reader())
    check(dump, uri, batch_rows=(77, 8192))
    lance.dataset(uri).add_columns(
        pa.schema([pa.field("s", pa.struct([("later", pa.string())]))])
    )
    lance.dataset(uri).delete("id % 4 = 1")
    check(dump, uri, batch_rows=(77, 8192))


def test_branches_and_clones_of_them(dump, kinjo, tmp_path):
    uri = str(tmp_path / "trunk.lance")
    dataset = lance.write_dataset(table(300), uri, max_rows_per_file=200)
    dataset.create_branch("dev/one")
    branch = f"{uri}/tree/dev/one"
    lance.write_dataset(table(40, first_id=300), branch, mode="append")
    lance.dataset(branch).delete("id % 10 = 0")
    check(dump, branch)
    check(dump, branch, version=2)
    lance.dataset(uri).tags.create("on_branch", ("dev/one", 2))
    theirs = lance.dataset(uri, version="on_branch").to_table()["id"].to_pylist()
    ours = kinjo("scan", uri, "--version", "on_branch", "--columns", "id", "--format", "csv").stdout
    assert [int(line) for line in ours.split()[1:]] == theirs == list(range(340))
    lance.write_dataset(table(10, first_id=900), uri, mode="append")
    check(dump, uri)
    clone = str(tmp_path / "clone.lance")
    lance.dataset(uri).shallow_clone(clone, "on_branch")
    lance.dataset(clone).delete("id = 5 OR id = 305")
    check(dump, clone)
    again = str(tmp_path / "again.lance")
    lance.dataset(clone).shallow_clone(again, lance.dataset(clone).version)
    lance.write_dataset(table(7, first_id=1000), again, mode="append")
    check(dump, again)
    wrong = kinjo("restore", uri, "--version", "on_branch", exit_code=1).stderr
    assert "names a version of a branch" in wrong
    wrong = kinjo("tag", "create", uri, "x", "--version", "on_branch", exit_code=1).stderr
    assert "names a version of the branch dev/one" in wrong


def test_a_clone_answers_through_its_parents_index(kinjo, tmp_path):
    uri = str(tmp_path / "parent.lance")
    dataset = lance.write_dataset(table(600), uri)
    dataset.create_index("vec", "IVF_FLAT", num_partitions=2, metric="l2")
    clone = str(tmp_path / "clone.lance")
    lance.dataset(uri).shallow_clone(clone, lance.dataset(uri).version)
    answers = [
        kinjo("join", "--left", uri, "--right", right, "-k", 3, "--nprobes", 2, "--index",
              "require", "--left-select", "id", "--right-select", "id", "--format", "csv").stdout
        for right in (uri, clone)
    ]
    assert answers[0] == answers[1]
    assert len(answers[0].split()) == 1 + 3 * 600


def test_versions_by_time(kinjo, tmp_path):
    uri = str(tmp_path / "times.lance")
    for step in range(4):
        lance.write_dataset(table(3, first_id=3 * step), uri, mode="append" if step else "create")

    def count(time, exit_code=0):
        return kinjo("scan", uri, "--count", "--version", time, exit_code=exit_code)

    local = [version["timestamp"] for version in lance.dataset(uri).versions()]
    made = [time.astimezone(datetime.UTC) for time in local]
    for number, time in enumerate(made):
        later = (time + LITTLE).isoformat()
        assert int(count(later).stdout) == 3 * (number + 1)
        asof = lance.dataset(uri, asof=local[number] + LITTLE)
        assert asof.version == number + 1
    east = made[1].astimezone(datetime.timezone(datetime.timedelta(hours=5, minutes=30)))
    assert int(count((east + LITTLE).isoformat()).stdout) == 6
    early = made[0] - datetime.timedelta(seconds=1)
    assert "has no version made by" in count(early.isoformat(), exit_code=1).stderr
    assert "which is no time" in count("today 12:00", exit_code=1).stderr


def test_detached_versions_are_refused(kinjo, tmp_path):
    uri = str(tmp_path / "detached.lance")
    lance.write_dataset(table(5), uri)
    fragments = lance.fragment.write_fragments(table(3, first_id=5), uri)
    detached = lance.LanceDataset.commit(
        uri, lance.LanceOperation.Append(fragments), read_version=1, detached=True
    )
    assert lance.dataset(uri, version=detached.version).count_rows() == 8
    done = kinjo("scan", uri, "--version", detached.version, exit_code=1)
    assert f"version {detached.version} of {uri} is detached" in done.stderr
    assert int(kinjo("scan", uri, "--count").stdout) == 5


def newest_manifest(uri):
    return min(Path(uri, "_versions").glob("*.manifest"))


def replace_in(path, old, new):
    """Puts bytes of the same number in place of others, wherever they stand."""
    assert len(old) == len(new)
    content = path.read_bytes()
    assert old in content
    path.write_bytes(content.replace(old, new))


def altered_name(dump, uri, folder, name, prefix):
    """What reading says when the manifest names the file by another path of the same length."""
    outside = Path(uri).parent / "outside"
    outside.mkdir()
    shutil.move(Path(uri, folder, name), outside / name)
    path = (prefix + name)[: len(name)] if len(prefix) < len(name) else prefix[: len(name)]
    replace_in(newest_manifest(uri), name.encode(), path.encode())
    return dump(uri, ["id"], error=True)


@pytest.mark.parametrize(
    "prefix", ["../../outside/", "/etc/passwd/", "file:///etc/", "s3://bucket/", "a/../../outside/",
               "..\\\\..\\\\", "./", "a//"]
)
def test_names_of_data_files_stay_in_the_dataset(dump, tmp_path, prefix):
    uri = str(tmp_path / "altered.lance")
    lance.write_dataset(table(10), uri)
    [data_file] = os.listdir(Path(uri, "data"))
    error = altered_name(dump, uri, "data", data_file, prefix)
    assert error.startswith("corrupt: ") and "the manifest names the file" in error


def clone_with_base(tmp_path, base):
    """A clone whose manifest names `base` where its parent's path stood, padded by slashes."""
    parent = tmp_path / ("parent" + "_" * 40 + ".lance")
    lance.write_dataset(table(10), str(parent))
    clone = str(tmp_path / "clone.lance")
    lance.dataset(str(parent)).shallow_clone(clone, 1)
    old = str(parent).encode()
    replace_in(newest_manifest(clone), old, base.encode().ljust(len(old), b"/"))
    return clone


@pytest.mark.parametrize("base", ["../outside", "outside", "./", "gopher://host"])
def test_base_paths_are_absolute(dump, tmp_path, base):
    error = dump(clone_with_base(tmp_path, base), ["id"], error=True)
    assert error.startswith("not_supported: ")


def test_a_base_path_that_is_named_is_read(dump, tmp_path):
    """It is what the dataset declares, and no link may lead out of it either."""
    moved = tmp_path / "moved.lance"
    clone = clone_with_base(tmp_path, str(moved))
    [parent] = tmp_path.glob("parent*")
    parent.rename(moved)
    _, ours = dump(clone, ["id"])
    assert ours["id"].to_pylist() == list(range(10))
    [data_file] = Path(moved, "data").iterdir()
    data_file.rename(tmp_path / "outside.lance")
    data_file.symlink_to(tmp_path / "outside.lance")
    error = dump(clone, ["id"], error=True)
    assert error.startswith("not_supported: ") and "a link leads to" in error


def test_no_link_of_an_index_leads_out(kinjo, tmp_path):
    uri = str(tmp_path / "linked.lance")
    lance.write_dataset(table(600), uri).create_index(
        "vec", "IVF_FLAT", num_partitions=2, metric="l2"
    )
    [index] = Path(uri, "_indices").iterdir()
    index.rename(tmp_path / "outside")
    index.symlink_to(tmp_path / "outside")
    flags = ["--left", uri, "--right", uri, "-k", 1, "--format", "csv"]
    done = kinjo("join", *flags, "--nprobes", 2, "--index", "require", exit_code=1)
    assert "a link leads to" in done.stderr
    # Without the index nothing of it is read.
    kinjo("join", *flags, "--index", "never")


def test_what_pylance_cleaned_up_is_told(kinjo, tmp_path):
    uri = str(tmp_path / "cleaned.lance")
    lance.write_dataset(table(10), uri)
    lance.write_dataset(table(5), uri, mode="overwrite")
    old = lance.dataset(uri, version=1)
    assert old.count_rows() == 10
    lance.dataset(uri).cleanup_old_versions(datetime.timedelta(0))
    done = kinjo("scan", uri, "--version", 1, exit_code=1)
    assert "has no version 1; it has 1 versions from 2 to 2" in done.stderr
