"""What a join's caller does with its rows, and what the package tells about them."""

import io
import re

import duckdb
import matplotlib
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import kinjo
from kinjo._progress import NotebookBar, Progress, TerminalBar
from kinjo._sizes import bytes_of


@pytest.fixture
def joined(vectors):
    """joined(**options) is a fresh join of 20 rows with 100."""
    left, right = vectors(20, seed=1), vectors(100, seed=2)

    def make(**options):
        return kinjo.join(left, right, **{"k": 3} | options)

    return make


def test_every_way_to_read_gives_the_same(joined, tmp_path):
    table = joined().to_arrow()
    assert table.num_rows == 60
    assert pa.Table.from_batches(list(joined())).equals(table)
    assert pa.table(joined()).equals(table)
    frame = joined().to_pandas()
    assert isinstance(frame, pd.DataFrame)
    assert frame["_distance"].tolist() == table["_distance"].to_pylist()
    for polars_frame in (joined().to_polars(), pl.DataFrame(joined())):
        assert polars_frame["id_right"].to_list() == table["id_right"].to_pylist()
    result = joined()
    assert duckdb.sql("select count(*), max(_rank) from result").fetchall() == [(60, 3)]
    assert joined().write_parquet(tmp_path / "out.parquet", compression="snappy") == 60
    written = pq.read_table(tmp_path / "out.parquet")
    assert written["id_right"].to_pylist() == table["id_right"].to_pylist()
    assert pq.ParquetFile(tmp_path / "out.parquet").metadata.row_group(0).column(
        0).compression == "SNAPPY"
    with pytest.raises(kinjo.Error):
        joined().write_parquet(tmp_path / "out.parquet", overwrite=False)


def test_rows_are_read_once(joined):
    for first in (lambda r: r.to_arrow(), lambda r: list(r), lambda r: pa.table(r),
                  lambda r: r.analyze()):
        result = joined()
        first(result)
        for again in (result.to_arrow, result.to_polars, result.__arrow_c_stream__,
                      lambda: list(result), lambda: result.write_parquet("never.parquet")):
            with pytest.raises(kinjo.ClosedError, match="has run already"):
                again()
    with joined() as result:
        pass
    with pytest.raises(kinjo.ClosedError, match="is closed"):
        result.to_arrow()


def test_explain_analyze_and_report(joined):
    result = joined()
    plan = result.explain()
    assert plan.startswith("KnnJoin: path=exact, k=3") and "metrics" not in plan
    assert len(result.explain(verbose=True)) > len(plan)
    assert result.report["result_rows"] == 0
    assert "output_rows=60" in result.analyze()
    report = result.report
    assert (report["left_rows"], report["result_rows"], report["path"]) == (20, 60, "exact")
    assert report["exact_distances"] is True


def test_what_a_result_shows_of_itself(joined):
    result = joined(where="id < 50", right_select=["id"])
    text = repr(result)
    for fact in ("left Table", "right Table", "k=3, where='id < 50'", "not begun",
                 "columns id, vec, id_right, _distance, _rank"):
        assert fact in text
    html = result._repr_html_()
    assert "where=&#x27;id &lt; 50&#x27;" in html and "<pre>KnnJoin: " in html
    result.to_arrow()
    assert "rows read" in repr(result)
    assert result.schema == joined(where="id < 50", right_select=["id"]).to_arrow().schema
    assert pa.schema(result) == result.schema


def test_a_dataset_and_what_it_shows(golden):
    dataset = kinjo.open(str(golden / "pq8_l2.lance"))
    assert dataset.schema.names == ["id", "name", "vec"]
    assert (dataset.version, dataset.versions, dataset.tags) == (2, [1, 2], {})
    assert [(i["name"], i["type"], i["metric"]) for i in dataset.indices] == [
        ("vec_idx", "IVF_PQ", "l2")]
    assert len(dataset) == dataset.count_rows() == 700
    assert dataset.count_rows("id >= 690 and name is not null") == 10
    assert "IVF_PQ" in repr(dataset) and "<td" in dataset._repr_html_()


def test_rows_of_a_dataset(golden):
    dataset = kinjo.open(golden / "pq8_l2.lance")
    all_rows = dataset.to_arrow()
    assert all_rows.column_names == ["id", "name", "vec"] and all_rows.num_rows == 700
    some = dataset.to_arrow(["name", "id"], "id % 100 = 5", limit=4, with_row_id=True)
    assert some.column_names == ["name", "id", "_rowid"]
    assert some["id"].to_pylist() == [5, 105, 205, 305]
    assert pl.DataFrame(dataset.scan(["id"], limit=3))["id"].to_list() == [0, 1, 2]
    after = dataset.to_arrow(["id"], "id % 100 = 5", limit=2, offset=3)
    assert after["id"].to_pylist() == [305, 405]
    assert dataset.to_arrow(offset=698)["id"].to_pylist() == [698, 699]
    assert dataset.to_arrow(offset=700).num_rows == 0
    batches = list(dataset.scan(batch_rows=64))
    assert max(batch.num_rows for batch in batches) == 64
    assert sum(batch.num_rows for batch in batches) == 700
    for arguments, kind in ((dict(columns=["no"]), kinjo.NotFound),
                            (dict(where="id <"), kinjo.InvalidArgument),
                            (dict(limit=-1), kinjo.InvalidArgument),
                            (dict(columns="id"), TypeError)):  # fmt: skip
        with pytest.raises(kind):
            dataset.to_arrow(**arguments)


def test_searches(golden):
    dataset = kinjo.open(golden / "pq8_l2.lance")
    query = np.random.default_rng(3).normal(size=16)
    one = dataset.search(query, k=4).to_arrow()
    assert one.column_names == ["id", "name", "_distance", "_rank"] and one.num_rows == 4
    for same in (list(query), tuple(query), pa.table({"q": [list(query)]})):
        found = dataset.search(same, 4).to_arrow()
        assert found["id"].to_pylist() == one["id"].to_pylist()
    many = dataset.search(np.stack([query, -query]), k=4).to_arrow()
    assert many["_query_index"].to_pylist() == [0] * 4 + [1] * 4
    assert dataset.search([list(query), list(-query)], k=4).to_arrow().equals(many)
    limited = dataset.search(query, k=2, where="id < 100", right_select="id", index="never")
    assert max(limited.to_arrow()["id"].to_pylist()) < 100
    for bad, kind in (([], kinjo.InvalidArgument), ([[]], kinjo.InvalidArgument),
                      ([[1.0], [1.0, 2.0]], kinjo.InvalidArgument), (["a"], ValueError)):
        with pytest.raises(kind):
            dataset.search(bad)
    with pytest.raises(TypeError, match="no option nprobe"):
        dataset.search(query, nprobe=3)


def test_errors_have_their_class_and_code(golden, tmp_path):
    left = golden / "pq8_l2.lance"
    cases = [
        (kinjo.InvalidArgument, "invalid", lambda: kinjo.join(left, left, metric="l3")),
        (kinjo.NotFound, "not_found", lambda: kinjo.open(tmp_path / "no.lance")),
        (kinjo.IndexNotUsable, "refused",
         lambda: kinjo.join(left, left, index="require", metric="cosine")),
        (kinjo.MemoryLimit, "capacity", lambda: kinjo.join(left, left, memory_limit="1MiB")),
    ]
    for kind, code, call in cases:
        with pytest.raises(kind) as raised:
            call()
        assert raised.value.code == kind.code == code
        assert isinstance(raised.value, kinjo.Error)
    assert issubclass(kinjo.InvalidArgument, ValueError)
    (tmp_path / "bad.parquet").write_bytes(b"PAR1 is all there is PAR1")
    with pytest.raises(kinjo.CorruptFile) as raised:
        kinjo.join(tmp_path / "bad.parquet", left).to_arrow()
    assert str(tmp_path) in str(raised.value) or str(tmp_path) in raised.value.path


def test_messages_spell_options_as_the_package_does(golden):
    left = golden / "pq8_l2.lance"
    with pytest.raises(kinjo.MemoryLimit) as raised:
        kinjo.join(left, left, memory_limit=1000)
    assert "memory_limit" in str(raised.value) and "memory_limit_bytes" not in str(raised.value)
    assert kinjo._errors.respell("right_tag = x, 'right_tag' stays") == (
        "right_version = x, 'right_tag' stays")
    with pytest.raises(kinjo.InvalidArgument, match="memory_limit is 'much'"):
        kinjo.join(left, left, memory_limit="much")


@pytest.mark.parametrize("options, message", [
    ({"k": "3"}, "k must be a whole number, not str"),
    ({"k": 3.0}, "k must be a whole number, not float"),
    ({"k": True}, "k must be a whole number, not bool"),
    ({"on": 3}, "on must be a string, not int"),
    ({"by": 3}, "by must be a list of strings, not int"),
    ({"recall": "high"}, "recall must be a number, not str"),
    ({"progress": 3}, "progress must be"),
    ({"distance_range": (1,)}, "distance_range must be a pair"),
    ({"nprobe": 3}, "nprobe"),
])  # fmt: skip
def test_options_of_another_kind(options, message, golden):
    with pytest.raises(TypeError, match=message):
        kinjo.join(golden / "pq8_l2.lance", golden / "pq8_l2.lance", **options)


def test_a_range_may_be_open_at_either_end():
    far = np.array([[-1e4], [-2], [0], [2], [1e4]], "f4")  # dot: the distance is 1 - q * x

    def distances(*bounds):
        rows = kinjo.join(np.ones((1, 1), "f4"), far, metric="dot", distance_range=bounds)
        return rows.to_arrow()["_distance"].to_pylist()

    assert distances(None, None) == [-9999, -1, 1, 3, 10001]
    assert distances(None, 1) == [-9999, -1]
    assert distances(1, None) == [1, 3, 10001]
    assert distances(-1, 3) == [-1, 1]


@pytest.mark.parametrize("size, expected", [
    ("4GiB", 4 * 2**30), ("4 GB", 4 * 10**9), ("1.5MiB", 3 * 2**19), ("500MB", 500 * 10**6),
    ("64K", 64 * 1024), ("7", 7), ("7B", 7), ("1TiB", 2**40), (12, 12), (None, None),
])  # fmt: skip
def test_sizes(size, expected):
    assert bytes_of("memory_limit", size) == expected


def test_numbers_of_numpy_are_numbers(joined):
    plain = joined(k=4, threads=1, distance_range=(0.5, 9)).to_arrow()
    numpy = joined(k=np.int32(4), threads=np.int64(1),
                   distance_range=(np.float32(0.5), np.float64(9))).to_arrow()
    assert numpy.equals(plain)


def test_progress_is_told_and_an_error_of_its_function_stops_the_join(joined, tmp_path):
    told = []
    joined(progress=told.append).to_arrow()
    assert told[-1].done_rows == told[-1].total_rows == 20
    assert isinstance(told[-1], Progress) and told[-1].elapsed_s >= 0

    def fail(_):
        raise LookupError("enough")

    with pytest.raises(LookupError, match="enough"):
        joined(progress=fail).to_arrow()
    with pytest.raises(LookupError, match="enough"):
        joined(progress=fail).write_parquet(tmp_path / "out.parquet")


def test_a_bar_is_drawn_over_itself():
    stream = io.StringIO()
    bar = TerminalBar(stream, shown_after_s=1)
    bar(Progress(0, 200, 0.1, 0, None))
    assert stream.getvalue() == ""
    bar(Progress(50, 200, 1.5, 33.3, 4.5))
    bar(Progress(200, 200, 6, 33.3, 0))
    lines = stream.getvalue().split("\r")
    assert lines[1].startswith("join:  25%|██████") and "50/200 rows [00:01<00:04, 33" in lines[1]
    assert lines[2].startswith("join: 100%|████████████████████████|")
    assert stream.getvalue().endswith("\n") and stream.getvalue().count("\n") == 1
    unknown = io.StringIO()
    TerminalBar(unknown, 0)(Progress(50, None, 3700, 10, None))
    assert "50 rows [1:01:40, 10 rows/s]" in unknown.getvalue()


def test_a_bar_in_a_notebook():
    shown = []

    class Handle:
        def update(self, html):
            shown.append(html)

    def display(html, display_id):
        shown.append(html)
        return Handle()

    bar = NotebookBar(display, str, shown_after_s=0)
    bar(Progress(5, 10, 1, 5, 1))
    bar(Progress(10, 10, 2, 5, 0))
    assert "value='5'" in shown[0] and "value='10'" in shown[1]
    assert re.search(r"<code>join: 100% 10/10 rows", shown[1])


def test_tune(golden):
    matplotlib.use("Agg")
    path = golden / "pq8_l2.lance"
    curve = kinjo.tune(path, path, k=5, recall=0.9)
    assert curve.picked["recall"] >= 0.9 and curve.target == 0.9 and curve.index_name == "vec_idx"
    assert len(curve) == curve.to_arrow().num_rows == len(curve.to_pandas()) == len(
        curve.to_polars()) == len(list(curve))
    assert curve.points[-1]["recall"] >= curve.points[0]["recall"]
    assert repr(curve).splitlines()[0].startswith("nprobes") and "<-" in repr(curve)
    assert "<table>" in curve._repr_html_()
    axes = curve.plot()
    assert axes.get_xlabel() == "recall@5" and len(axes.lines[0].get_xdata()) == len(curve)
    with pytest.raises(AttributeError):
        curve.nonsense


def test_a_recall_target_over_rows_in_memory():
    rng = np.random.default_rng(0)
    right = rng.normal(size=(64, 16))[rng.integers(0, 64, 30_000)] * 5
    right = (right + rng.normal(size=right.shape)).astype("f4")
    left = right[:4000] + np.float32(0.01)

    def pairs(**options):
        rows = kinjo.join(left, right, k=10, **options).to_arrow()
        assert rows.num_rows == 40_000
        return set(zip(rows["_query_index"].to_pylist(), rows["_rowid"].to_pylist()))

    assert len(pairs(recall=0.9) & pairs()) >= 0.88 * 40_000


@pytest.mark.parametrize("rows", [100_000, pytest.param(10_000_000, marks=pytest.mark.slow)])
def test_rows_cross_without_a_copy(rows, vectors):
    """pyarrow's own pool has nothing to hold: the batches it reads are Kinjo's."""
    left, right = vectors(rows // 100, seed=1), vectors(150, seed=2)
    pool = pa.default_memory_pool()
    before = pool.bytes_allocated()
    crossed = most = 0
    batches = []
    for batch in kinjo.join(left, right, k=100, threads=1, left_select=["id"]):
        crossed += batch.num_rows
        batches.append(batch)
        most = max(most, pool.bytes_allocated() - before)
    assert crossed == rows
    assert sum(batch.nbytes for batch in batches) > 20 * rows
    assert most < 100_000
