"""Rows that lie oddly, hold odd values or never come: each has a defined answer, rows or an error
of a known class that says what, never a crash, a hang or another row's neighbours."""

import lance
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import kinjo
from tests.python.conftest import ODD_WIDTH as WIDTH, matrix, nearest, table_of


# Layouts of Arrow: the same rows lie otherwise in memory.


def chunked(table):
    return pa.concat_tables([table.slice(0, 1), table.slice(1, 0), table.slice(1, 10),
                             table.slice(11)])


def cut_from_a_longer_one(table):
    padded = pa.concat_tables([table.slice(0, 7), table, table.slice(0, 3)]).combine_chunks()
    return padded.slice(7, table.num_rows)


def as_list(kind):
    def change(table):
        changed = table["vec"].combine_chunks().cast(kind(pa.float32()))
        return table.set_column(table.schema.get_field_index("vec"), "vec", changed)
    return change


def of_batch(table):
    return table.combine_chunks().to_batches()[0].slice(0)


def with_nulls_between(table):
    """Rows of null vectors among the others, whose children hold numbers all the same."""
    values = np.stack(table["vec"].to_numpy(zero_copy_only=False))
    doubled = np.repeat(values, 2, axis=0)
    valid = np.arange(len(doubled)) % 2 == 0
    vec = pa.FixedSizeListArray.from_arrays(
        pa.array(doubled.reshape(-1)), WIDTH, mask=pa.array(~valid))
    return pa.table({"row": np.repeat(table["row"].to_numpy(), 2), "vec": vec})


LAYOUTS = [chunked, cut_from_a_longer_one, lambda t: cut_from_a_longer_one(chunked(t)),
           as_list(pa.list_), as_list(pa.large_list), of_batch, with_nulls_between,
           lambda t: cut_from_a_longer_one(with_nulls_between(t)),
           lambda t: cut_from_a_longer_one(as_list(pa.list_)(t)), pl.from_arrow,
           lambda t: pl.from_arrow(t).slice(0), lambda t: t.replace_schema_metadata({"a": "b"})]


@pytest.mark.parametrize("number", range(len(LAYOUTS)))
def test_rows_are_the_same_however_they_lie(number, plain):
    left, right, expected = plain
    change = LAYOUTS[number]
    assert nearest(change(left), right) == expected
    assert nearest(left, change(right)) == expected
    assert nearest(change(left), change(right)) == expected


def test_columns_of_every_kind_come_along(plain):
    """Beside the vectors: they are carried, whatever they are."""
    values = matrix(6)
    strange = {
        "dictionary": pa.array(["a", "b", None, "a", "b", "a"]).dictionary_encode(),
        "views": pa.array(["a", "a text that is longer than twelve", None] * 2, pa.string_view()),
        "nothing": pa.nulls(6),
        "struct": pa.array([{"x": i, "y": None} for i in range(6)]),
        "map": pa.array([[("k", i)] for i in range(6)], pa.map_(pa.string(), pa.int64())),
        "decimal": pa.array([f"{i}.5" for i in range(6)]).cast(pa.decimal128(5, 2)),
        "time": pa.array(np.arange(6).astype("datetime64[ns]"), pa.timestamp("ns", "UTC")),
        "empty": pa.array([[]] * 6, pa.list_(pa.int8())),
        "bytes": pa.array([b"\x00\xff"] * 6),
    }
    table = table_of(values, **strange)
    rows = kinjo.join(table, table, k=1, on="vec").to_arrow()
    for name in strange:
        assert rows[name].to_pylist() == table[name].to_pylist(), name
        assert rows[f"{name}_right"].to_pylist() == table[name].to_pylist(), name


def test_a_dictionary_of_vectors_is_no_vector_column(plain):
    _, right, _ = plain
    table = pa.table({"vec": pa.array(["a", "b"]).dictionary_encode()})
    with pytest.raises(kinjo.Error, match="vec"):
        kinjo.join(table, right, on="vec").to_arrow()


EMPTIES = [lambda t: t.slice(0, 0), lambda t: pa.Table.from_batches([], t.schema),
           lambda t: t.schema.empty_table().to_reader(), lambda t: pl.from_arrow(t.slice(0, 0)),
           lambda t: np.zeros((0, WIDTH), "f4")]


@pytest.mark.parametrize("number", range(len(EMPTIES)))
def test_sides_without_rows(number, plain):
    left, right, _ = plain
    empty = EMPTIES[number]
    assert kinjo.join(empty(left), right).to_arrow().num_rows == 0
    assert kinjo.join(left, empty(right)).to_arrow().num_rows == 0
    kept = kinjo.join(left, empty(right), how="left").to_arrow()
    assert kept["_rank"].to_pylist() == [None] * 30
    assert kinjo.join(empty(left), empty(right)).to_pandas().empty


def test_frames_without_columns_or_vectors(plain):
    _, right, _ = plain
    for nothing in (pd.DataFrame(), pl.DataFrame(), pa.table({}), pd.DataFrame({"vec": []}),
                    pa.table({"vec": pa.nulls(3)}), pd.DataFrame({"vec": ["a", "b"]})):
        with pytest.raises(kinjo.Error) as raised:
            kinjo.join(nothing, right).to_arrow()
        assert raised.value.code in ("invalid", "not_found"), nothing


@pytest.mark.parametrize("column", [
    pl.Series("vec", [[1.0, 2.0]]), pd.Series([1.0]), pa.array([[1.0, 2.0]]),
    pa.chunked_array([pa.array([[1.0, 2.0]])]),
], ids=lambda column: type(column).__name__)
def test_a_column_is_no_table(column, plain):
    for sides in ((column, plain[1]), (plain[0], column)):
        with pytest.raises(kinjo.InvalidArgument, match="one column"):
            kinjo.join(*sides)


def test_frames_that_arrow_does_not_take(plain):
    _, right, _ = plain
    mixed = pd.DataFrame({"vec": [np.zeros(WIDTH), "a", 3]})
    twice = pd.DataFrame([[1, 2]], columns=["a", "a"])
    for frame in (mixed, twice):
        with pytest.raises(kinjo.InvalidArgument, match="the left DataFrame can't become Arrow"):
            kinjo.join(frame, right)
        with pytest.raises(kinjo.InvalidArgument, match="the right DataFrame can't become Arrow"):
            kinjo.join(right, frame)


def test_a_frame_with_rows_of_other_widths(plain):
    _, right, _ = plain
    frame = pd.DataFrame({"vec": [np.zeros(WIDTH), np.zeros(WIDTH + 1)]})
    with pytest.raises(kinjo.InvalidArgument, match="row 1"):
        kinjo.join(frame, right).to_arrow()


def test_values_that_are_no_numbers_match_nothing(plain):
    _, right, _ = plain
    for odd in (np.nan, np.inf, -np.inf):
        values = matrix(5)
        values[2, 1] = odd
        rows = kinjo.join(table_of(values), right, k=1, how="left").to_arrow()
        assert [rank for rank in rows["_rank"].to_pylist()] == [1, 1, None, 1, 1]
        assert 2 not in {pair[1] for pair in nearest(right, table_of(values), k=5)}
        array = kinjo.join(values, values, k=1)
        assert array.to_arrow()["_query_index"].to_pylist() == [0, 1, 3, 4]
        assert array.report["skipped_non_finite_rows"] == 1


@pytest.mark.parametrize("dtype", ["f2", "f8", "i1", "u1"])
def test_other_element_types_through_arrow(dtype):
    values = np.arange(40).reshape(10, WIDTH).astype(dtype)
    rows = kinjo.join(table_of(values), table_of(values), k=1, metric="l2").to_arrow()
    assert rows["row_right"].to_pylist() == list(range(10))
    narrowed = kinjo.join(values, values.astype("f4"), k=1, metric="l2").to_arrow()
    assert narrowed["_rowid"].to_pylist() == list(range(10))


# Arrays of NumPy.


class Matrix(np.ndarray):
    """A subclass, as units' and images' libraries have."""


def test_arrays_of_odd_memory():
    values = np.asfortranarray(np.random.default_rng(0).normal(size=(40, 12)).astype("f4"))
    expected = kinjo.join(values[:, ::3].copy(), values[:, ::3].copy(), k=3).to_arrow()
    read_only = values[:, ::3].copy()
    read_only.flags.writeable = False
    odd = [values[:, ::3], read_only, values[:, ::3].view(Matrix), np.asmatrix(values[:, ::3]),
           values[::-1, ::3][::-1], np.ma.array(values[:, ::3]),
           np.frombuffer(b"\0" + values[:, ::3].tobytes(), "u1")[1:].view("f4").reshape(40, 4)]
    for array in odd:
        assert kinjo.join(array, array, k=3).to_arrow().equals(expected), type(array)
        assert kinjo.join(array, read_only, k=3).to_arrow().equals(expected), type(array)


@pytest.mark.parametrize("array, message", [
    (np.array(3.0), "shape"),
    (np.array([]), "shape"),
    (np.array([np.zeros(4), np.zeros(4), None], dtype=object), "numpy.stack"),
    (np.zeros((2, 4), bool), "bool"),
    (np.zeros((2, 4), "datetime64[s]"), "datetime64"),
    (np.zeros(2, [("a", "f4")]), "type"),
    (np.ma.array(np.zeros((2, 4)), mask=[[1, 0, 0, 0]] * 2), "masked elements"),
])  # fmt: skip
def test_arrays_that_are_refused(array, message):
    for sides in ((array, matrix(3)), (matrix(3), array)):
        with pytest.raises(kinjo.InvalidArgument, match=message):
            kinjo.join(*sides)


def test_what_an_array_becomes_later_changes_nothing():
    """A NumPy array is copied when the join is made."""
    left, right = matrix(20, 1), matrix(50, 2)
    expected = kinjo.join(left, right, k=2).to_arrow()
    result = kinjo.join(left, right, k=2)
    left[:], right[:] = 0, 1
    assert result.to_arrow().equals(expected)


# Objects that promise Arrow and don't keep it.


class Promising:
    def __init__(self, stream):
        self.stream = stream

    def __arrow_c_stream__(self, requested_schema=None):
        return self.stream() if callable(self.stream) else self.stream


def test_streams_that_are_none(plain):
    left, right, _ = plain

    def fail():
        raise LookupError("not today")

    with pytest.raises(LookupError, match="not today"):
        kinjo.join(Promising(fail), right)
    used = left.__arrow_c_stream__()
    pa.RecordBatchReader.from_stream(Promising(used)).close()
    for bad in (None, 3, "x", used, left.schema.__arrow_c_schema__()):
        for sides in ((Promising(bad), right), (left, Promising(bad))):
            with pytest.raises((TypeError, ValueError)):
                kinjo.join(*sides).to_arrow()


def test_a_stream_whose_batches_change_their_mind(plain):
    """pyarrow checks its own; what comes through another's hands is checked here."""
    left, right, _ = plain
    other = pa.table({"row": ["text"], "vec": [1.0]})

    def batches():
        yield from left.to_batches()
        yield from other.to_batches()

    reader = pa.RecordBatchReader.from_batches(left.schema, batches())
    with pytest.raises(kinjo.Error):
        kinjo.join(reader, right).to_arrow()


class Own(Exception):
    pass


@pytest.mark.parametrize("error", [Own("a well of my own"), MemoryError("no more"),
                                   StopIteration("odd"), SystemExit(3)])
@pytest.mark.parametrize("after", [0, 3])
def test_a_generator_that_raises(error, after, plain):
    left, right, _ = plain

    def batches():
        for _ in range(after):
            yield from left.to_batches()
        raise error

    def reader():
        return pa.RecordBatchReader.from_batches(left.schema, batches())

    for sides in ((reader(), right), (left, reader())):
        with pytest.raises(kinjo.Error):
            kinjo.join(*sides).to_arrow()
    assert kinjo.join(left, right, k=1).to_arrow().num_rows == 30


ON_THE_RIGHT = """
import os, signal, sys
import numpy as np, pyarrow as pa
import kinjo

vec = pa.FixedSizeListArray.from_arrays(pa.array(np.ones(64, "f4")), 4)
batch = pa.record_batch([vec], ["v"])

def batches():
    for read in range(10**9):
        if read == 5:
            os.kill(os.getpid(), signal.SIGINT)
        yield batch

try:
    kinjo.join(batch, pa.RecordBatchReader.from_batches(batch.schema, batches()))
except KeyboardInterrupt:
    print("stopped")
assert kinjo.join(batch, batch, k=1).to_arrow().num_rows == 16
"""


def test_ctrl_c_stops_the_reading_of_a_right_side(script):
    assert script(ON_THE_RIGHT).stdout == "stopped\n"


def test_a_branch_is_not_taken_for_the_main_line(plain, tmp_path):
    """pylance gives a branch that was checked out the same path and numbers of its own."""
    _, right, _ = plain
    main = lance.write_dataset(right, tmp_path / "d.lance")
    branch = main.create_branch("dev")
    lance.write_dataset(right.slice(0, 5), branch, mode="append")
    main = lance.write_dataset(right.slice(0, 9), main, mode="append")
    checked_out = main.checkout_version(("dev", None))
    assert checked_out.version == main.version and checked_out.count_rows() == 95
    assert kinjo.join(right, main, k=200).to_arrow().num_rows == 90 * 99
    with pytest.raises(kinjo.InvalidArgument, match="is of a branch"):
        kinjo.join(right, checked_out)
    place = tmp_path / "d.lance" / "tree" / "dev"
    assert kinjo.join(right, place, k=200).to_arrow().num_rows == 90 * 95
    assert kinjo.join(right, lance.dataset(place), k=200).to_arrow().num_rows == 90 * 95
