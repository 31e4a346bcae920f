"""`recall`: the target is reached on rows that chose nothing, and what is reported is true."""

import json

import lance
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.recall import cells

ROWS, DIM, LEFT_ROWS, K = 20_000, 16, 2_000, 10


@pytest.fixture(scope="module")
def right():
    return cells.made_vectors(ROWS, DIM, 1)


@pytest.fixture(scope="module")
def left():
    return cells.made_vectors(LEFT_ROWS, DIM, 2)


@pytest.fixture(scope="module")
def truth(left, right):
    return cells.nearest(left, right, K)


@pytest.fixture(scope="module")
def place(tmp_path_factory, left):
    folder = tmp_path_factory.mktemp("recall")
    cells.write_left(folder / "left.parquet", left)
    return folder


@pytest.fixture(scope="module")
def dataset(kinjo, place, right):
    """dataset(index) -> its path; made once."""

    def made(index):
        path = place / f"{index}.lance"
        if not path.exists():
            cells.write_right(kinjo, path, right, index)
        return path

    return made


def check_report(report, target):
    recall = report["recall"]
    assert recall["target"] == target
    assert recall["low"] <= recall["recall"] <= recall["high"]
    assert recall["nprobes"] >= 1
    assert report["path"] == "index"
    return recall


@pytest.mark.parametrize("target", [0.8, 0.95])
@pytest.mark.parametrize("index", ["IVF_FLAT", "IVF_PQ", "IVF_RQ", "IVF_HNSW_SQ"])
def test_reaches_its_target(index, target, kinjo, place, dataset, truth, tmp_path):
    queries, ids, report = cells.join(
        kinjo, place / "left.parquet", dataset(index), tmp_path / "out.arrow", "--recall", target
    )
    recall = check_report(report, target)
    true = cells.recalls(queries, ids, truth).mean()
    assert true >= target - cells.SLACK, recall
    # One interval in twenty may miss; none may miss by much.
    assert recall["low"] - 0.015 <= true <= recall["high"] + 0.015
    assert recall["choosing_rows"] > 0 and recall["measured_rows"] >= 150
    assert (recall["ef"] > 0) == ("HNSW" in index)
    assert recall["nprobes"] < cells.PARTITIONS
    assert len(ids) == LEFT_ROWS * K


def test_a_higher_target_costs_more(kinjo, place, dataset, tmp_path):
    chosen = [
        cells.join(kinjo, place / "left.parquet", dataset("IVF_FLAT"), tmp_path / "out.arrow",
                   "--recall", target)[2]["recall"]["nprobes"]
        for target in (0.5, 0.8, 0.95, 1)
    ]  # fmt: skip
    assert chosen == sorted(chosen) and chosen[0] < chosen[-1]


def test_under_a_filter(kinjo, place, dataset, left, right, tmp_path):
    passing = np.flatnonzero(np.arange(ROWS) % 10 < 3)
    truth = passing[cells.nearest(left, right[passing], K)]
    queries, ids, report = cells.join(
        kinjo, place / "left.parquet", dataset("IVF_PQ"), tmp_path / "out.arrow",
        "--recall", 0.9, "--where", "group < 3",
    )  # fmt: skip
    check_report(report, 0.9)
    assert set(ids % 10) == {0, 1, 2}
    assert cells.recalls(queries, ids, truth).mean() >= 0.9 - cells.SLACK


def test_appended_and_deleted_rows(kinjo, place, left, right, tmp_path):
    """A delta segment, rows that no segment covers, and rows that are gone."""
    more = cells.made_vectors(6_000, DIM, 3)
    every = np.concatenate([right, more])
    path = tmp_path / "right.lance"
    cells.write_right(kinjo, path, right, "IVF_PQ")
    dataset = lance.dataset(str(path))
    for first in (0, 3_000):
        ids = np.arange(ROWS + first, ROWS + first + 3_000)
        dataset.insert(pa.table({
            "id": ids, "group": ids % 10,
            "vec": cells.vector_array(more[first : first + 3_000])}))  # fmt: skip
        if first == 0:
            dataset.optimize.optimize_indices(num_indices_to_merge=0)
    dataset.delete("group = 4")
    live = np.flatnonzero(np.arange(len(every)) % 10 != 4)
    for flags, rows in ([], live), (["--fast-search"], live[live < ROWS + 3_000]):
        truth = rows[cells.nearest(left, every[rows], K)]
        queries, ids, report = cells.join(
            kinjo, place / "left.parquet", path, tmp_path / "out.arrow", "--recall", 0.95, *flags
        )
        check_report(report, 0.95)
        assert report["rows_scanned"] == (0 if flags else 2_700)
        assert cells.recalls(queries, ids, truth).mean() >= 0.95 - cells.SLACK


def test_the_factor_that_is_given_is_kept(kinjo, place, dataset, tmp_path):
    _, _, report = cells.join(
        kinjo, place / "left.parquet", dataset("IVF_PQ"), tmp_path / "out.arrow",
        "--recall", 0.9, "--refine-factor", 7,
    )  # fmt: skip
    assert check_report(report, 0.9)["refine_factor"] == 7


def test_a_small_left_side_is_measured_whole(kinjo, dataset, left, truth, tmp_path):
    for rows in (1, 20, 250):
        cells.write_left(tmp_path / "left.parquet", left[:rows])
        queries, ids, report = cells.join(
            kinjo, tmp_path / "left.parquet", dataset("IVF_PQ"), tmp_path / "out.arrow",
            "--recall", 0.9,
        )  # fmt: skip
        recall = check_report(report, 0.9)
        true = cells.recalls(queries, ids, truth[:rows]).mean()
        assert true >= 0.9 - 1e-9
        assert recall["low"] == recall["high"] == pytest.approx(true, abs=1e-9)
        assert recall["measured_rows"] == rows


def test_the_exact_path_says_one(kinjo, place, dataset, truth, tmp_path):
    queries, ids, report = cells.join(
        kinjo, place / "left.parquet", dataset("IVF_PQ"), tmp_path / "out.arrow",
        "--recall", 0.9, "--index", "never",
    )  # fmt: skip
    assert cells.recalls(queries, ids, truth).min() == 1
    recall = report["recall"]
    assert (recall["recall"], recall["low"], recall["high"]) == (1, 1, 1)
    assert recall["measured_rows"] == recall["choosing_rows"] == 0


def test_a_stream_without_a_number_of_rows(kinjo, dataset, left, truth, tmp_path):
    """Text files don't tell their rows: the sample comes from the first of them."""
    with open(tmp_path / "left.jsonl", "w") as file:
        for row in left:
            file.write(json.dumps({"vec": row.tolist()}) + "\n")
    queries, ids, report = cells.join(
        kinjo, tmp_path / "left.jsonl", dataset("IVF_PQ"), tmp_path / "out.arrow", "--recall", 0.9
    )
    check_report(report, 0.9)
    assert cells.recalls(queries, ids, truth).mean() >= 0.9 - cells.SLACK


def test_threads_and_memory_choose_alike(kinjo, place, dataset, tmp_path):
    answers = []
    for threads, limit in ((1, "2GiB"), (2, "2GiB"), (2, "96MiB")):
        _, _, report = cells.join(
            kinjo, place / "left.parquet", dataset("IVF_PQ"), tmp_path / "out.arrow",
            "--recall", 0.9, "--threads", threads, "--memory-limit", limit,
        )  # fmt: skip
        answers.append(((tmp_path / "out.arrow").read_bytes(), report["recall"]))
    assert answers[0] == answers[1] == answers[2]


def test_odd_left_rows_are_no_part_of_it(kinjo, dataset, left, truth, tmp_path):
    rows = left.tolist()
    for row in range(0, len(rows), 3):
        rows[row] = None
    pq.write_table(
        pa.table({"vec": pa.array(rows, pa.list_(pa.float32(), DIM))}), tmp_path / "left.parquet"
    )
    queries, ids, report = cells.join(
        kinjo, tmp_path / "left.parquet", dataset("IVF_PQ"), tmp_path / "out.arrow",
        "--recall", 0.9,
    )  # fmt: skip
    recall = check_report(report, 0.9)
    kept = np.arange(LEFT_ROWS) % 3 != 0
    assert cells.recalls(queries, ids, truth)[kept].mean() >= 0.9 - cells.SLACK
    assert 80 < recall["measured_rows"] < 160


@pytest.mark.parametrize(
    "flags, said",
    [
        (["--nprobes", 3], "--recall 0.9 and --nprobes 3 can't be given together"),
        (["--minimum-nprobes", 3], "--recall 0.9 and --minimum-nprobes 3 can't be given together"),
        (["--maximum-nprobes", 3], "--recall 0.9 and --maximum-nprobes 3 can't be given together"),
        (["--ef", 300], "--recall 0.9 and --ef 300 can't be given together"),
        (["--search-effort", 0.7], "--recall 0.9 and --search-effort 0.7 can't be given together"),
    ],
)
def test_what_can_not_be_together(flags, said, kinjo, place, dataset):
    done = kinjo(
        "join", "--left", place / "left.parquet", "--right", dataset("IVF_PQ"), "--recall", 0.9,
        *flags, exit_code=2,
    )  # fmt: skip
    assert said in done.stderr


@pytest.mark.parametrize("target", [0, -0.5, 1.01])
def test_what_is_no_recall(target, kinjo, place, dataset):
    done = kinjo(
        "join", "--left", place / "left.parquet", "--right", dataset("IVF_PQ"), "--recall",
        target, exit_code=2,
    )  # fmt: skip
    assert f"--recall must be above 0 and at most 1, but is {target}" in done.stderr


def test_explain_does_not_choose(kinjo, place, dataset):
    sides = ["--left", place / "left.parquet", "--right"]
    coded = kinjo("explain", *sides, dataset("IVF_PQ"), "--recall", 0.9).stdout
    assert "nprobes=chosen at run, recall=0.9" in coded
    assert "refine_factor=chosen at run" in coded
    flat = kinjo("explain", *sides, dataset("IVF_FLAT"), "--recall", 0.9).stdout
    assert "nprobes=chosen at run" in flat and "Refine" not in flat


def test_analyze_tells_what_was_chosen(kinjo, place, dataset):
    done = kinjo(
        "join", "--left", place / "left.parquet", "--right", dataset("IVF_PQ"), "--recall", 0.9,
        "--analyze",
    )  # fmt: skip
    assert "recall_interval=[0." in done.stdout and "chosen at run" not in done.stdout
    assert "; recall 0." in done.stderr
