"""Right columns that are structs, lists of structs and structs of structs, null at every level:
what comes out of the join and of the read source is what went into the dataset.
"""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

ROWS, WIDTH = 300, 8
INNER = pa.struct([("code", pa.int32()), ("words", pa.list_(pa.string()))])
KINDS = {
    "pair": pa.struct([("x", pa.float64()), ("name", pa.string())]),
    "deep": pa.struct([("inner", INNER), ("flag", pa.bool_())]),
    "several": pa.list_(pa.struct([("at", pa.int64()), ("what", pa.string())])),
    "lists": pa.list_(pa.list_(pa.int16())),
}


def values_of(number):
    """A row's nested values; each kind of null and emptiness comes in some row."""
    words = [None, [], ["a", None], [f"w{number}", ""]][number % 4]
    inner = None if number % 7 == 3 else {"code": None if number % 3 else number, "words": words}
    return {
        "pair": None if number % 5 == 1 else {"x": number / 4, "name": f"n{number}"},
        "deep": None if number % 11 == 2 else {"inner": inner, "flag": bool(number % 2)},
        "several": [None, [], [None], [{"at": number, "what": None}, {"at": 1, "what": "b"}]][
            number % 4
        ],
        "lists": [None, [[]], [None, [1, None]], [[number % 100], [2, 3]]][number % 4],
    }


@pytest.fixture(scope="module")
def items(kinjo, tmp_path_factory):
    """(URI of a dataset, its vectors, its rows by id)."""
    folder = tmp_path_factory.mktemp("nested")
    vectors = np.random.default_rng(5).standard_normal((ROWS, WIDTH), dtype=np.float32)
    rows = {number: values_of(number) for number in range(ROWS)}
    columns = {name: pa.array([rows[number][name] for number in rows], kind)
               for name, kind in KINDS.items()}
    flat = pa.FixedSizeListArray.from_arrays(pa.array(vectors.reshape(-1)), WIDTH)
    table = pa.table({"id": pa.array(rows, pa.int64()), **columns, "vec": flat})
    pq.write_table(table, folder / "items.parquet")
    kinjo("import", folder / "items.parquet", folder / "items.lance", "--max-rows-per-file", 100)
    return str(folder / "items.lance"), vectors, rows


def plain(row):
    """A row's nested values as Python's own."""
    return {name: row.asDict(recursive=True)[name] for name in KINDS}


def test_they_come_with_their_matches(spark, items):
    uri, vectors, rows = items
    left = spark.createDataFrame(
        [(number, vectors[number].tolist()) for number in range(0, ROWS, 3)],
        "number int, query array<float>")
    for right in (uri, spark.read.format("kinjo").load(uri)):
        found = left.kNearestJoin(right, "query", 2).collect()
        assert len(found) == 2 * len(range(0, ROWS, 3))
        assert [row.id for row in found if row["_rank"] == 1] == list(range(0, ROWS, 3))
        for row in found:
            assert plain(row) == rows[row.id], row.id


def test_fields_of_them_can_be_asked(spark, items):
    uri, vectors, rows = items
    left = spark.createDataFrame([(7, vectors[7].tolist())], "number int, query array<float>")
    joined = left.kNearestJoin(uri, "query", 5)
    some = joined.select("id", "pair.name", "deep.inner.code", "several").collect()
    for row in some:
        wanted = rows[row.id]
        assert row.name == (wanted["pair"] or {}).get("name")
        assert row.code == ((wanted["deep"] or {}).get("inner") or {}).get("code")


def test_the_source_reads_them(spark, items):
    uri, _, rows = items
    found = spark.read.format("kinjo").load(uri).select("id", *KINDS).collect()
    assert {row.id: plain(row) for row in found} == rows
