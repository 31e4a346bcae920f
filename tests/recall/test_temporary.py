"""A recall target without an index: a join that is large enough builds one in memory, says so, and
reaches its target; every other join scores all rows, and says that.
"""

import lance
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.oracle.brute_force import vector_array
from tests.recall import cells

ROWS, DIM, LEFT_ROWS, K = 20_000, 16, 12_000, 10


@pytest.fixture(scope="module")
def right():
    return cells.made_vectors(ROWS, DIM, 1)


@pytest.fixture(scope="module")
def left():
    return cells.made_vectors(LEFT_ROWS, DIM, 2)


@pytest.fixture(scope="module")
def place(tmp_path_factory, left, right):
    folder = tmp_path_factory.mktemp("built")
    cells.write_left(folder / "left.parquet", left)
    cells.write_left(folder / "few.parquet", left[:500])
    ids = np.arange(ROWS)
    table = pa.table({"id": ids, "group": ids % 10, "vec": vector_array(right)})
    pq.write_table(table, folder / "right.parquet")
    with pa.ipc.new_file(folder / "right.arrow", table.schema) as writer:
        writer.write_table(table)
    dataset = lance.write_dataset(table, str(folder / "right.lance"), max_rows_per_file=7_000)
    dataset.delete("id % 7 = 3")
    return folder


def live(right_name):
    ids = np.arange(ROWS)
    return ids[ids % 7 != 3] if right_name == "right.lance" else ids


@pytest.mark.parametrize("right_name", ["right.lance", "right.parquet", "right.arrow"])
@pytest.mark.parametrize("metric", ["l2", "cosine"])
def test_reaches_its_target(right_name, metric, kinjo, place, left, right, tmp_path):
    queries, ids, report = cells.join(
        kinjo, place / "left.parquet", place / right_name, tmp_path / "out.arrow",
        "--recall", 0.9, "--metric", metric,
    )  # fmt: skip
    assert (report["path"], report["index_name"]) == ("index", "temporary")
    assert report["exact_distances"]
    assert report["choose_s"] > 0
    rows = live(right_name)
    truth = rows[cells.nearest(left, right[rows], K, metric)]
    true = cells.recalls(queries, ids, truth).mean()
    recall = report["recall"]
    assert true >= 0.9 - cells.SLACK
    assert recall["low"] - 0.015 <= true <= recall["high"] + 0.015
    assert 1 <= recall["nprobes"] < 141
    assert set(ids) <= set(rows)
    assert len(ids) == LEFT_ROWS * K


def test_gives_the_same_bytes_however_it_runs(kinjo, place, tmp_path):
    answers = []
    for flags in (["--threads", 1], ["--threads", 2], ["--memory-limit", "256MiB"]):
        _, _, report = cells.join(
            kinjo, place / "left.parquet", place / "right.lance", tmp_path / "out.arrow",
            "--recall", 0.9, *flags,
        )  # fmt: skip
        assert report["index_name"] == "temporary"
        answers.append((tmp_path / "out.arrow").read_bytes())
    assert answers.count(answers[0]) == len(answers)


@pytest.mark.parametrize(
    "left_name, flags",
    [
        ("few.parquet", ["--recall", 0.9]),
        ("left.parquet", ["--recall", 1]),
        ("left.parquet", ["--recall", 0.9, "--index", "never"]),
        ("left.parquet", ["--recall", 0.9, "--where", "group < 5"]),
        ("left.parquet", ["--recall", 0.9, "--memory-limit", "16MiB"]),
        ("left.parquet", []),
    ],
)
def test_where_none_is_built_the_answer_is_exact(left_name, flags, kinjo, place, tmp_path):
    _, _, report = cells.join(
        kinjo, place / left_name, place / "right.lance", tmp_path / "out.arrow", *flags
    )
    assert (report["path"], report["index_name"]) == ("exact", "")
    if "--recall" in flags:
        recall = report["recall"]
        assert (recall["recall"], recall["low"], recall["high"]) == (1, 1, 1)


def test_explain_says_so(kinjo, place):
    sides = ["--left", place / "left.parquet", "--right", place / "right.parquet"]
    built = kinjo("explain", *sides, "--recall", 0.9).stdout
    assert "path: index; a temporary one is built for recall = 0.9" in built
    assert "temporary index: IVF_FLAT of 141 partitions" in built
    assert "nprobes=chosen at run" in built
    assert "temporary" not in kinjo("explain", *sides).stdout
    assert "temporary" not in kinjo("explain", *sides, "--recall", 0.9, "--index", "never").stdout


def test_can_be_forced_either_way(kinjo, place, tmp_path, monkeypatch):
    for word, left_name, path in (("build", "few.parquet", "index"),
                                  ("scan", "left.parquet", "exact")):  # fmt: skip
        monkeypatch.setenv("KINJO_WAYS", f"temporary={word}")
        _, _, report = cells.join(
            kinjo, place / left_name, place / "right.lance", tmp_path / "out.arrow",
            "--recall", 0.9,
        )  # fmt: skip
        assert report["path"] == path


def test_left_rows_find_others_than_themselves(kinjo, place, right, tmp_path, monkeypatch):
    monkeypatch.setenv("KINJO_WAYS", "temporary=build")
    rows = live("right.lance")
    queries, ids, report = cells.join(
        kinjo, place / "right.lance", place / "right.lance", tmp_path / "out.arrow",
        "--recall", 0.9, "--exclude-self",
    )  # fmt: skip
    assert report["index_name"] == "temporary"
    assert not (rows[queries] == ids).any()
    some = np.arange(0, len(rows), 20)
    distances = ((right[rows[some], None, :] - right[None, rows, :]) ** 2).sum(axis=2)
    distances[np.arange(len(some)), some] = np.inf
    truth = rows[np.argpartition(distances, K - 1, axis=1)[:, :K]]
    kept = np.isin(queries, some)
    found = cells.recalls(np.searchsorted(some, queries[kept]), ids[kept], truth)
    assert found.mean() >= 0.9 - 2 * cells.SLACK


def test_a_run_is_continued_by_one_that_builds_it_too(kinjo, place, tmp_path, monkeypatch):
    flags = ["join", "--left", place / "left.parquet", "--right", place / "right.parquet",
             "--right-select", "id", "--left-select", "", "--recall", 0.9, "--resume",
             "--part-rows", 5_000, "-o", tmp_path / "parts"]  # fmt: skip
    kinjo(*flags)
    assert len(list((tmp_path / "parts").glob("*.parquet"))) == 3
    kinjo(*flags)
    monkeypatch.setenv("KINJO_WAYS", "temporary=scan")
    done = kinjo(*flags, exit_code=None)
    assert done.returncode != 0
    assert "temporary index was 141 partitions and is not there" in done.stderr


def test_tune_measures_it(kinjo, place):
    done = kinjo("tune", "--left", place / "left.parquet", "--right", place / "right.parquet",
                 "--recall", 0.9)  # fmt: skip
    assert "temporary" in done.stdout


def test_what_no_float_holds_is_joined_all_the_same(kinjo, tmp_path, monkeypatch):
    """One double vector far away moves the mean, and with it all others, out of float's range."""
    monkeypatch.setenv("KINJO_WAYS", "temporary=build")
    vectors = np.random.default_rng(5).normal(size=(4_000, 8))
    vectors[17] *= 1e200
    np.save(tmp_path / "right.npy", vectors)
    np.save(tmp_path / "left.npy", vectors[:600] + 0.001)
    right = tmp_path / "right.lance"
    kinjo("import", tmp_path / "right.npy", right)
    flags = "--left", tmp_path / "left.npy", "--right", right, "-k", 1, "--with-row-id"
    answers = []
    for recall in (["--recall", 0.9], ["--index", "never"]):
        kinjo("join", *flags, *recall, "-o", tmp_path / "out.arrow")
        rows = pa.ipc.open_file(tmp_path / "out.arrow").read_all()
        assert rows.num_rows == 600
        answers.append(rows["_rowid"].to_numpy())
    assert (answers[0] == answers[1]).mean() >= 0.9


def test_partitions_too_unequal_for_the_limit_are_no_error(kinjo, tmp_path, monkeypatch):
    """Nearly all rows are one vector, and so in one partition: then all rows are scored."""
    monkeypatch.setenv("KINJO_WAYS", "temporary=build")
    vectors = np.zeros((60_000, 64), np.float32)
    vectors[:300] = np.random.default_rng(6).normal(size=(300, 64))
    cells.write_left(tmp_path / "left.parquet", vectors[:600])
    pq.write_table(
        pa.table({"id": np.arange(60_000), "vec": vector_array(vectors)}),
        tmp_path / "right.parquet",
    )
    _, _, report = cells.join(
        kinjo, tmp_path / "left.parquet", tmp_path / "right.parquet", tmp_path / "out.arrow",
        "--recall", 0.9, "--memory-limit", "192MiB", "--threads", 8,
    )  # fmt: skip
    assert report["recall"]["recall"] == 1
    assert report["scored_all_passing"]
