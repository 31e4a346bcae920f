"""Calls that nobody should make have a defined answer: an error of a known class that names the
argument, never a crash or a hang; and what is used up stays used up."""

import copy
import itertools
import os
import pickle
import threading

import numpy as np
import pyarrow as pa
import pytest

import kinjo
from tests.python.conftest import ODD_WIDTH as WIDTH, nearest


class Own(Exception):
    pass


# Numbers at their ends.


def test_a_k_beyond_the_rows(plain):
    left, right, _ = plain
    for k in (91, 10**6, 2**24):
        assert kinjo.join(left, right, k=k).to_arrow().num_rows == 30 * 90
    for k in (2**24 + 1, 2**40, 2**62):
        with pytest.raises(kinjo.InvalidArgument, match=f"k must be at most 16777216, but is {k}"):
            kinjo.join(left, right, k=k)


@pytest.mark.parametrize("options, message", [
    ({"k": 0}, "k"), ({"k": -1}, "k"), ({"k": 2**63}, "beyond 64 bits"),
    ({"k": -(2**63)}, "k"), ({"threads": 0}, "threads"), ({"threads": -3}, "threads"),
    ({"memory_limit": 0}, "memory_limit"), ({"memory_limit": "-1GiB"}, "memory_limit"),
    ({"distance_range": (2, 1)}, "distance_range"),
    ({"distance_range": (float("nan"), 1)}, "distance_range"),
    ({"where": "row <\0 3"}, "where holds a zero byte"),
    ({"where": "row < \ud800"}, "where holds a character"),
    ({"recall": float("nan")}, "recall must not be NaN"),
    ({"search_effort": float("nan")}, "search_effort must not be NaN"),
    ({"suffix": ""}, "suffix"), ({"how": "outer"}, "how"), ({"metric": "L2\0"}, "zero byte"),
    ({"by": [""]}, "by"), ({"right_version": ""}, "right_version is an empty text"),
])  # fmt: skip
def test_numbers_and_texts_that_are_refused(options, message, plain):
    left, right, _ = plain
    with pytest.raises(kinjo.Error, match=message) as raised:
        kinjo.join(left, right, **options).to_arrow()
    assert raised.value.code in ("invalid", "not_found", "capacity")


@pytest.mark.parametrize("options, message", [
    ({"with_row_id": "no"}, "with_row_id must be True or False, not str"),
    ({"mutual": 1}, "mutual must be True or False, not int"),
    ({"fast_search": None}, "fast_search must be True or False"),
    ({"exclude_self": 1}, "exclude_self must be True, False or a column, not int"),
    ({"by": {"a": "b"}}, "by must be a list of strings, not dict"),
    ({"left_select": {"row"}}, "left_select must be a list of strings, not set"),
    ({"left_select": b"row"}, "left_select must be a list of strings, not bytes"),
    ({"right_select": [3]}, "right_select must be a string, not int"),
    ({"right_version": 1.5}, "right_version must be a whole number"),
    ({"distance_range": "12"}, "distance_range must be a number, not str"),
    ({"k": None}, "k must be a whole number, not NoneType"),
])  # fmt: skip
def test_options_of_the_wrong_kind(options, message, plain):
    left, right, _ = plain
    with pytest.raises(TypeError, match=message):
        kinjo.join(left, right, **options)


def test_values_of_numpy_are_options(plain):
    left, right, _ = plain
    expected = kinjo.join(left, right, k=3, with_row_id=True, distance_range=(0, 9)).to_arrow()
    found = kinjo.join(left, right, k=np.uint8(3), with_row_id=np.True_, mutual=np.False_,
                       exclude_self=np.False_, distance_range=np.array([0, 9])).to_arrow()
    assert found.equals(expected)


# Paths.


def test_paths_that_are_none(plain, tmp_path):
    left, right, _ = plain
    for bad, kind in (("a\0b", kinjo.InvalidArgument), (b"\xff.parquet", kinjo.InvalidArgument),
                      ("", kinjo.InvalidArgument), (tmp_path / "no.lance", kinjo.NotFound)):
        for call in (lambda: kinjo.join(bad, right), lambda: kinjo.join(left, bad),
                     lambda: kinjo.open(bad)):
            with pytest.raises(kind):
                call()
    for bad in ("a\0b", b"\xff", ""):
        with pytest.raises(kinjo.InvalidArgument):
            kinjo.write_dataset(left, bad)
        result = kinjo.join(left, right)
        with pytest.raises(kinjo.InvalidArgument):
            result.write_parquet(bad)
        assert result.to_arrow().num_rows == 300  # nothing was read
    for call in (lambda: kinjo.open(3), lambda: kinjo.write_dataset(left, None),
                 lambda: kinjo.join(left, right).write_parquet(None)):
        with pytest.raises(TypeError, match="must be a path or URI, not"):
            call()


def test_paths_of_bytes_and_with_odd_letters(plain, tmp_path):
    left, right, expected = plain
    place = tmp_path / "ein Körper 本.lance"
    kinjo.write_dataset(right, os.fsencode(place))
    assert nearest(left, os.fsencode(place)) == nearest(left, str(place)) == expected


# Arguments of Dataset's methods.


@pytest.fixture
def dataset(plain, tmp_path):
    return kinjo.write_dataset(plain[1], tmp_path / "d.lance")


@pytest.mark.parametrize("call, kind", [
    (lambda d: d.count_rows(3), TypeError),
    (lambda d: d.count_rows("row <\0 1"), kinjo.InvalidArgument),
    (lambda d: d.to_arrow(limit="3"), TypeError),
    (lambda d: d.to_arrow(limit=2.0), TypeError),
    (lambda d: d.to_arrow(offset="3"), TypeError),
    (lambda d: d.to_arrow(offset=-1), kinjo.InvalidArgument),
    (lambda d: d.to_arrow(where=b"row < 1"), TypeError),
    (lambda d: d.to_arrow(with_row_id="yes"), TypeError),
    (lambda d: d.scan(batch_rows=0).to_arrow(), kinjo.InvalidArgument),
    (lambda d: d.delete(None), TypeError),
    (lambda d: d.delete("no_such_column = 1"), kinjo.Error),
    (lambda d: d.append(7), TypeError),
    (lambda d: d.append(pa.table({"other": [1]})), kinjo.InvalidArgument),
    (lambda d: d.compact(target_rows="many"), TypeError),
    (lambda d: d.compact(deleted_share_max="all"), TypeError),
    (lambda d: d.create_vector_index("vec", replace="yes"), TypeError),
    (lambda d: d.create_vector_index("vec", num_partitions="4"), TypeError),
    (lambda d: d.create_vector_index("vec", num_partitions=0), kinjo.InvalidArgument),
    (lambda d: d.create_vector_index(3), TypeError),
    (lambda d: d.optimize_indices("none"), kinjo.NotFound),
    (lambda d: d.optimize_indices(retrain=1) or d.optimize_indices("x", retrain=1), TypeError),
    (lambda d: d.drop_index(3), TypeError),
    (lambda d: d.drop_index("none"), kinjo.NotFound),
    (lambda d: d.rename_index("none", None), TypeError),
    (lambda d: d.search([1.0] * WIDTH, nprobes="3"), TypeError),
    (lambda d: d.search([1.0] * (WIDTH + 1)).to_arrow(), kinjo.InvalidArgument),
    (lambda d: d.search([[1.0] * WIDTH, 3]), kinjo.InvalidArgument),
    (lambda d: d.search([None] * WIDTH), kinjo.InvalidArgument),
    (lambda d: d.search([10**400] * WIDTH), kinjo.InvalidArgument),
    (lambda d: d.search([[[[1.0]]]]), kinjo.InvalidArgument),
    (lambda d: d.search({"vec": [1.0]}), TypeError),
    (lambda d: kinjo.open(d.uri, 1.5), TypeError),
    (lambda d: kinjo.open(d.uri, True), TypeError),
    (lambda d: kinjo.open(d.uri, -1), kinjo.Error),
    (lambda d: kinjo.open(d.uri, 99), kinjo.NotFound),
    (lambda d: kinjo.open(d.uri, "no such tag"), kinjo.NotFound),
    (lambda d: kinjo.open(d.uri, ""), kinjo.Error),
    (lambda d: kinjo.write_dataset(d, d.uri), kinjo.Error),
    (lambda d: kinjo.write_dataset(d, d.uri + "2", stable_row_ids="no"), TypeError),
    (lambda d: kinjo.write_dataset(d, d.uri + "2", data_version=2.1), TypeError),
    (lambda d: kinjo.write_dataset(d, d.uri + "2", max_rows_per_file="1k"), TypeError),
    (lambda d: kinjo.tune(d, d, progress=True), TypeError),
])  # fmt: skip
def test_methods_of_a_dataset_refuse(call, kind, dataset):
    with pytest.raises(kind) as raised:
        call(dataset)
    assert "incompatible function arguments" not in str(raised.value)
    assert (dataset.version, dataset.count_rows(), dataset.indices) == (1, 90, [])


# Callbacks.


@pytest.mark.parametrize("error", [Own("enough"), KeyboardInterrupt(), SystemExit(2)])
def test_whatever_a_progress_function_raises_stops_the_run(error, plain, tmp_path):
    left, right, _ = plain
    endless = pa.RecordBatchReader.from_batches(
        left.schema, itertools.cycle(left.to_batches()))

    def progress(_):
        raise error

    calls = [
        lambda: kinjo.join(left, right, progress=progress).to_arrow(),
        lambda: kinjo.join(left, right, progress=progress).to_polars(),
        lambda: list(kinjo.join(left, right, progress=progress)),
        lambda: kinjo.join(left, right, progress=progress).analyze(),
        lambda: kinjo.join(left, right, progress=progress).write_parquet(tmp_path / "out.parquet"),
        lambda: kinjo.write_dataset(left, tmp_path / "d.lance", progress=progress),
        lambda: kinjo.join(endless, right, progress=progress).write_parquet(tmp_path / "never"),
    ]
    for call in calls:
        with pytest.raises(type(error)) as raised:
            call()
        assert raised.value is error
    assert not list(tmp_path.glob("*never*"))


def test_a_progress_function_may_use_the_package(script):
    """It closes, cancels or reads the very join that calls it; nothing hangs."""
    done = script("""
import numpy as np, kinjo
values = np.random.default_rng(0).normal(size=(4000, 8)).astype("f4")
for name in ("close", "cancel", "explain", "report", "join"):
    def progress(told):
        if name == "join":
            kinjo.join(values[:2], values[:5], k=1).to_arrow()
        elif name == "report":
            result.report
        else:
            getattr(result, name)()
    result = kinjo.join(values, values, k=3, progress=progress)
    try:
        rows = result.to_arrow().num_rows
        print(name, rows)
    except kinjo.Error as error:
        print(name, error.code)
""")
    told = dict(line.split() for line in done.stdout.splitlines())
    assert {name: told[name] for name in ("explain", "report", "join")} == {
        "explain": "12000", "report": "12000", "join": "12000"}
    assert told["close"] in ("12000", "cancelled", "state")
    assert told["cancel"] in ("12000", "cancelled")


def test_a_left_side_may_ask_and_cancel_the_join_that_reads_it(script):
    """The thread that reads a left side in Python wants the interpreter while others wait."""
    done = script("""
import numpy as np, pyarrow as pa, kinjo
values = np.random.default_rng(0).normal(size=(300, 8)).astype("f4")
vec = pa.FixedSizeListArray.from_arrays(pa.array(values.reshape(-1)), 8)
batch = pa.record_batch([vec], ["v"])

def batches():
    for i in range(10**9):
        assert "KnnJoin" in result.explain() and result.report["path"] == "exact"
        if i == 30:
            result.cancel()
        yield batch

result = kinjo.join(pa.RecordBatchReader.from_batches(batch.schema, batches()), values, k=3)
try:
    for _ in result:
        result.report
except kinjo.Cancelled:
    print("cancelled")
""")
    assert done.stdout == "cancelled\n"


# Using things up.


def test_closing_is_for_ever_and_may_be_said_twice(plain):
    left, right, _ = plain
    result = kinjo.join(left, right)
    result.close()
    result.close()
    for use in (result.to_arrow, result.to_pandas, result.to_polars, result.__arrow_c_stream__,
                lambda: list(result), lambda: result.write_parquet("never.parquet")):
        with pytest.raises(kinjo.ClosedError, match="is closed"):
            use()
    assert result.columns[-1] == "_rank" and "KnnJoin" in result.explain() and "closed" in repr(
        result)
    read = kinjo.join(left, right)
    table = read.to_arrow()
    read.close()
    read.cancel()
    assert table.num_rows == 300 and read.report["result_rows"] == 300


def test_rows_live_longer_than_what_they_came_from(plain):
    left, right, _ = plain
    result = kinjo.join(left, right)
    expected = kinjo.join(left, right).to_arrow()
    batches = []
    with result:
        for batch in result:
            batches.append(batch)
    reader = pa.RecordBatchReader.from_stream(kinjo.join(left, right))
    del result
    assert pa.Table.from_batches(batches).equals(expected)
    assert reader.read_all().equals(expected)


def test_many_threads_want_one_result(plain):
    left, right, _ = plain
    result = kinjo.join(left, right)
    outcomes = []

    def read():
        try:
            outcomes.append(result.to_arrow().num_rows)
        except kinjo.ClosedError:
            outcomes.append("refused")

    threads = [threading.Thread(target=read) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    assert sorted(map(str, outcomes)) == ["300", *["refused"] * 7]


def test_a_result_is_no_value_to_copy_or_to_pickle(plain):
    left, right, _ = plain
    result = kinjo.join(left, right)
    for use in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError, match="can't be copied or pickled"):
            use(result)


def test_errors_may_be_pickled(plain):
    """Pools of processes hand them over."""
    left, right, _ = plain
    with pytest.raises(kinjo.InvalidArgument) as raised:
        kinjo.join(left, right, metric="l3")
    again = pickle.loads(pickle.dumps(raised.value))
    assert type(again) is kinjo.InvalidArgument and str(again) == str(raised.value)
    told = kinjo.CorruptFile("bad byte", "file.lance", 17)
    again = pickle.loads(pickle.dumps(told))
    assert (again.path, again.offset) == ("file.lance", 17)
