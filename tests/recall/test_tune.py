"""`kinjo tune`: the curve as a table, as JSON and as a picture."""

import json
import xml.etree.ElementTree

import pytest

from tests.recall import cells

ROWS, DIM, LEFT_ROWS, K = 8_000, 16, 1_500, 5


@pytest.fixture(scope="module")
def sides(kinjo, tmp_path_factory):
    folder = tmp_path_factory.mktemp("tune")
    cells.write_left(folder / "left.parquet", cells.made_vectors(LEFT_ROWS, DIM, 2))
    right = cells.made_vectors(ROWS, DIM, 1)
    for index in ("IVF_FLAT", "IVF_PQ", "IVF_HNSW_SQ"):
        cells.write_right(kinjo, folder / f"{index}.lance", right, index, partitions=16)
    return folder


def tune(kinjo, folder, index, *flags):
    done = kinjo(
        "tune", "--left", folder / "left.parquet", "--right", folder / f"{index}.lance", "-k", K,
        "--json", *flags,
    )  # fmt: skip
    return json.loads(done.stdout)


@pytest.mark.parametrize("index", ["IVF_FLAT", "IVF_PQ", "IVF_HNSW_SQ"])
def test_the_curve_rises_to_all(index, kinjo, sides):
    curve = tune(kinjo, sides, index, "--recall", 0.9)
    points = curve["points"]
    assert curve["index_type"] == index and curve["k"] == K and curve["target"] == 0.9
    [pick] = [point for point in points if point["pick"]]
    assert pick["recall_high"] >= 0.9
    assert points[0]["nprobes"] == 1 and points[-1]["nprobes"] == 16
    assert points[-1]["recall"] > 0.93 and points[-1]["recall"] >= pick["recall"] - 0.02
    ladder = [point for point in points if not point["pick"] and point["ef"] == pick["ef"]]
    for lower, higher in zip(ladder, ladder[1:]):
        assert lower["recall"] <= higher["recall"] + 0.02
        assert lower["partitions_probed"] < higher["partitions_probed"]
    for point in points:
        assert point["recall_low"] <= point["recall"] <= point["recall_high"]
        assert point["queries_per_s"] > 0 and point["bytes_read"] > 0
        assert (point["ef"] > 0) == ("HNSW" in index)
        assert (point["refine_factor"] == 0) or index != "IVF_FLAT"


def test_each_point_is_what_the_join_does(kinjo, sides, tmp_path):
    """A point's recall is that of a join with its settings, within the interval's reach."""
    truth = cells.nearest(
        cells.made_vectors(LEFT_ROWS, DIM, 2), cells.made_vectors(ROWS, DIM, 1), K
    )
    for point in tune(kinjo, sides, "IVF_PQ")["points"]:
        flags = ["-k", K, "--nprobes", point["nprobes"]]
        if point["refine_factor"]:
            flags += ["--refine-factor", point["refine_factor"]]
        queries, ids, _ = cells.join(
            kinjo, sides / "left.parquet", sides / "IVF_PQ.lance", tmp_path / "out.arrow", *flags
        )
        true = cells.recalls(queries, ids, truth).mean()
        assert point["recall_low"] - 0.01 <= true <= point["recall_high"] + 0.01, point


def test_the_table_marks_the_pick(kinjo, sides):
    done = kinjo("tune", "--left", sides / "left.parquet", "--right", sides / "IVF_PQ.lance")
    lines = done.stdout.splitlines()
    assert "95 % interval" in lines[2] and "queries/s" in lines[2]
    [marked] = [line for line in lines if "<- for 0.9500" in line]
    assert " to " in marked


def test_the_picture_is_svg(kinjo, sides, tmp_path):
    plot = tmp_path / "plot.svg"
    kinjo(
        "tune", "--left", sides / "left.parquet", "--right", sides / "IVF_PQ.lance", "-o", plot,
        "--recall", 0.9,
    )  # fmt: skip
    drawn = xml.etree.ElementTree.parse(plot).getroot()
    name = "{http://www.w3.org/2000/svg}"
    assert drawn.tag == f"{name}svg"
    texts = [text.text for text in drawn.iter(f"{name}text")]
    assert "target 0.9000" in texts and any(text.startswith("nprobes ") for text in texts)
    assert len(list(drawn.iter(f"{name}circle"))) > 4
    for circle in drawn.iter(f"{name}circle"):
        assert 0 < float(circle.get("cx")) < 760 and 0 < float(circle.get("cy")) < 460
    assert list(tmp_path.iterdir()) == [plot]


def test_other_endings_are_refused(kinjo, sides, tmp_path):
    done = kinjo(
        "tune", "--left", sides / "left.parquet", "--right", sides / "IVF_PQ.lance", "-o",
        tmp_path / "plot.png", exit_code=2,
    )  # fmt: skip
    assert ".svg" in done.stderr and list(tmp_path.iterdir()) == []


def test_the_exact_path_is_one_point(kinjo, sides):
    curve = tune(kinjo, sides, "IVF_PQ", "--index", "never")
    [point] = curve["points"]
    assert curve["path"] == "exact" and point["recall"] == point["recall_low"] == 1


def test_a_self_join_is_tuned_without_the_rows_themselves(kinjo, sides):
    right = sides / "IVF_PQ.lance"
    done = kinjo(
        "tune", "--left", right, "--right", right, "-k", 1, "--exclude-self", "--by", "group",
        "--json",
    )  # fmt: skip
    points = json.loads(done.stdout)["points"]
    # Rows that find themselves would all be met in the nearest partition.
    assert points[0]["nprobes"] == 1 and points[0]["recall"] < 0.9
    assert points[-1]["recall"] > 0.9
