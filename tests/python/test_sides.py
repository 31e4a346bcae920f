"""What a side of a join may be: each kind gives the rows that the same data gives from a file."""

import duckdb
import lance
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import kinjo

WIDTH = 8


@pytest.fixture(scope="module")
def sides(tmp_path_factory):
    """A left and a right table, and where they lie as Parquet and Lance."""
    from tests.python.conftest import vectors_table

    folder = tmp_path_factory.mktemp("sides")
    left = vectors_table(40, WIDTH, seed=1)
    left = left.append_column("text", pa.array([f"a text of some length {i}" for i in range(40)]))
    right = vectors_table(300, WIDTH, seed=2).append_column("name", pa.array(map(str, range(300))))
    pq.write_table(left, folder / "left.parquet")
    pq.write_table(right, folder / "right.parquet")
    lance.write_dataset(right, folder / "right.lance")
    return left, right, folder


@pytest.fixture(scope="module")
def expected(sides):
    _, _, folder = sides
    joined = kinjo.join(folder / "left.parquet", folder / "right.parquet", k=3, on="vec")
    return joined.to_arrow()


def pandas_of(table):
    """A frame whose vectors are NumPy arrays in an object column, as people have them."""
    frame = table.drop_columns("vec").to_pandas()
    frame["vec"] = list(vectors_of(table))
    return frame


def vectors_of(table):
    return table["vec"].combine_chunks().flatten().to_numpy().reshape(-1, WIDTH)


LEFTS = {
    "table": lambda t: t,
    "batch": lambda t: t.combine_chunks().to_batches()[0],
    "chunks": lambda t: pa.concat_tables([t.slice(0, 7), t.slice(7, 0), t.slice(7)]),
    "reader": lambda t: pa.RecordBatchReader.from_batches(t.schema, iter(t.to_batches())),
    "polars": pl.from_arrow,
    "lazy": lambda t: pl.from_arrow(t).lazy(),
    "pandas": pandas_of,
    "duckdb": lambda t: duckdb.from_arrow(t),
    "duckdb_list": lambda t: duckdb.sql("select id, vec::float[] as vec, text from t"),
}


@pytest.mark.parametrize("kind", LEFTS)
def test_a_left_side(kind, sides, expected):
    left, _, folder = sides
    joined = kinjo.join(LEFTS[kind](left), folder / "right.lance", k=3, on="vec").to_arrow()
    for column in ("id", "text", "id_right", "name", "_distance", "_rank"):
        assert joined[column].to_pylist() == expected[column].to_pylist(), column


RIGHTS = {
    "path": lambda right, folder: str(folder / "right.lance"),
    "kinjo": lambda right, folder: kinjo.open(folder / "right.lance"),
    "lance": lambda right, folder: lance.dataset(folder / "right.lance"),
    "parquet": lambda right, folder: folder / "right.parquet",
    "table": lambda right, folder: right,
    "reader": lambda right, folder: right.to_reader(max_chunksize=50),
    "polars": lambda right, folder: pl.from_arrow(right),
    "pandas": lambda right, folder: pandas_of(right),
    "duckdb": lambda right, folder: duckdb.from_arrow(right),
}


@pytest.mark.parametrize("kind", RIGHTS)
def test_a_right_side(kind, sides, expected):
    left, right, folder = sides
    joined = kinjo.join(left, RIGHTS[kind](right, folder), k=3, on="vec").to_arrow()
    assert joined["id_right"].to_pylist() == expected["id_right"].to_pylist()
    assert joined["_distance"].to_pylist() == expected["_distance"].to_pylist()


def test_arrays_are_vectors_and_their_rows_are_numbered(sides, expected):
    left, right, _ = sides
    result = kinjo.join(vectors_of(left), vectors_of(right), k=3)
    assert result.columns == ["vector", "_distance", "_rank", "_rowid", "_query_index"]
    rows = result.to_arrow()
    assert rows["_query_index"].to_pylist() == expected["id"].to_pylist()
    assert rows["_rowid"].to_pylist() == expected["id_right"].to_pylist()
    assert rows["_distance"].to_pylist() == expected["_distance"].to_pylist()


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "i1", "u1", "i2", "i4", "i8", "u4", ">f4"])
def test_arrays_of_every_element_type(dtype):
    values = np.arange(24).reshape(6, 4).astype(dtype)
    rows = kinjo.join(values, values, k=1, metric="l2").to_arrow()
    assert rows["_rowid"].to_pylist() == list(range(6))
    assert rows["_distance"].to_pylist() == [0.0] * 6


def test_arrays_in_any_order_of_memory():
    values = np.random.default_rng(0).normal(size=(20, 6)).astype("f4")
    whole = kinjo.join(values[::2, ::3].copy(), values[:, ::3].copy(), k=2).to_arrow()
    strided = kinjo.join(values[::2, ::3], np.asfortranarray(values[:, ::3]), k=2).to_arrow()
    assert strided.equals(whole)


@pytest.mark.parametrize("array, message", [
    (np.zeros((2, 0), "f4"), r"shape \(2, 0\)"),
    (np.zeros((1, 1, 1, 1), "f4"), "shape"),
    (np.zeros((2, 2), "c8"), "complex64"),
    (np.array([["a"]]), "type"),
    (np.full((1, 2), 2**53 + 1), "float64 would round"),
])  # fmt: skip
def test_arrays_that_are_no_vectors(array, message):
    with pytest.raises(kinjo.InvalidArgument, match=message):
        kinjo.join(array, np.zeros((2, 2), "f4"))


def test_one_object_on_both_sides_is_a_self_join(sides):
    _, right, folder = sides
    expected = kinjo.join(folder / "right.lance", folder / "right.lance", k=2, exclude_self=True)
    expected = expected.to_arrow()["id_right"].to_pylist()
    frame, array = pl.from_arrow(right), vectors_of(right)
    for side in (right, frame, pandas_of(right), kinjo.open(folder / "right.lance"),
                 lance.dataset(folder / "right.lance")):
        joined = kinjo.join(side, side, k=2, exclude_self=True).to_arrow()
        assert joined["id_right"].to_pylist() == expected, type(side)
    joined = kinjo.join(array, array, k=2, exclude_self=True).to_arrow()
    assert joined["_rowid"].to_pylist() == expected


def test_pairs_and_clusters_of_rows_in_memory(sides):
    _, right, folder = sides
    for options in ({"unordered_pairs": True}, {"mutual": True},
                    {"clusters": True, "distance_range": (None, 4.0)}):  # fmt: skip
        memory = kinjo.join(right, right, k=5, **options).to_arrow()
        files = kinjo.join(folder / "right.parquet", folder / "right.parquet", k=5, **options)
        assert memory.equals(files.to_arrow()), options


def test_a_pandas_index_comes_along_when_it_has_a_name(sides):
    left, right, _ = sides
    frame = pandas_of(left)
    assert "__index_level_0__" not in kinjo.join(frame[frame.id > 5], right, k=1).columns
    assert "key" in kinjo.join(frame.rename_axis("key"), right, k=1).columns


def test_a_result_is_a_left_side(sides):
    left, right, _ = sides
    near = kinjo.join(left, right, k=1, left_select=["id", "vec"], right_select=["name"])
    again = kinjo.join(near, right, k=2, left_on="vec", left_select=["id"]).to_arrow()
    assert again["id"].to_pylist() == [i for i in range(40) for _ in range(2)]


def test_versions_and_tags_of_the_right_side(sides, tmp_path):
    _, right, _ = sides
    written = lance.write_dataset(right.slice(0, 10), tmp_path / "d.lance")
    lance.write_dataset(right.slice(10, 10), tmp_path / "d.lance", mode="append")
    written.tags.create("small", 1)
    count = {}
    for version in (None, 1, 2, "small"):
        opened = kinjo.open(tmp_path / "d.lance", version)
        count[version] = opened.count_rows()
        by_option = kinjo.join(right, tmp_path / "d.lance", k=50, right_version=version)
        by_handle = kinjo.join(right, opened, k=50)
        assert by_option.to_arrow().num_rows == 300 * count[version]
        assert by_handle.to_arrow().num_rows == 300 * count[version]
    assert count == {None: 20, 1: 10, 2: 20, "small": 10}
    kinjo.join(right, kinjo.open(tmp_path / "d.lance", 1), right_version="small").close()
    for version in (1, "small"):
        with pytest.raises(kinjo.InvalidArgument, match="right_version"):
            kinjo.join(right, kinjo.open(tmp_path / "d.lance"), right_version=version)
    stale = lance.dataset(tmp_path / "d.lance", version=1)
    assert kinjo.join(right, stale, k=50).to_arrow().num_rows == 3000


@pytest.mark.slow
def test_a_table_of_lancedb(sides, tmp_path):
    import lancedb

    _, right, folder = sides
    table = lancedb.connect(tmp_path).create_table("right", right)
    expected = kinjo.join(right, folder / "right.lance", k=2).to_arrow()
    assert kinjo.join(right, table, k=2).to_arrow().equals(expected)
    table.add(right.slice(0, 5))
    assert kinjo.join(table, table, k=1, exclude_self=True).to_arrow().num_rows == 305


def test_what_is_no_side(sides):
    left, right, _ = sides
    for bad in (7, None, [1, 2], {"vec": [1]}, object()):
        with pytest.raises(TypeError, match="left is a"):
            kinjo.join(bad, right)
        with pytest.raises(TypeError, match="right is a"):
            kinjo.join(left, bad)
    with pytest.raises(TypeError, match="left is a"):
        kinjo.join(bad, bad)
    with pytest.raises(kinjo.InvalidArgument, match="left is an empty path"):
        kinjo.join("", right)


def test_an_error_of_a_reader_in_python_keeps_its_words(sides):
    left, right, _ = sides

    def batches():
        yield left.to_batches()[0]
        raise RuntimeError("the well ran dry")

    with pytest.raises(kinjo.Error, match="the well ran dry"):
        kinjo.join(pa.RecordBatchReader.from_batches(left.schema, batches()), right).to_arrow()
    with pytest.raises(kinjo.Error, match="the well ran dry"):
        kinjo.join(left, pa.RecordBatchReader.from_batches(left.schema, batches()))


def test_no_package_is_needed(script, sides):
    """Nothing that isn't there is imported; files are joined without any other package."""
    _, _, folder = sides
    script(
        """
import sys

class Nothing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("numpy", "pandas", "polars", "pyarrow", "duckdb", "lance"):
            raise ModuleNotFoundError(name)

sys.meta_path.insert(0, Nothing())
import kinjo
left, right, out = sys.argv[1:]
assert kinjo.join(left, right, k=3, on="vec").write_parquet(out) == 120
assert kinjo.open(right).search([0.5] * 8, k=2).write_parquet(out) == 2
assert "_rank" in repr(kinjo.join(left, right, on="vec"))
assert not {"numpy", "pyarrow", "pandas"} & set(sys.modules)
""",
        folder / "left.parquet", folder / "right.lance", folder / "out.parquet",
    )
