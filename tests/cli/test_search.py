"""`kinjo search`: what may be asked, and that the answer is the join's."""

import json

import lance
import numpy as np
import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet as pq
import pytest

from tests.cli.word_tables import DIMENSION, vector_column


@pytest.fixture(scope="module")
def queries():
    return np.random.default_rng(5).normal(size=(6, DIMENSION)).astype(np.float32)


@pytest.fixture
def search(kinjo, tables):
    def run(*flags, right="right.lance", **options):
        return kinjo("search", tables / right, *flags, **options)

    return run


def read_arrow(path):
    return pa.ipc.open_file(path).read_all()


def as_json(vectors):
    return json.dumps(vectors.astype(float).tolist())


def test_one_vector_from_npy(search, queries, tmp_path):
    np.save(tmp_path / "q.npy", queries[0])
    done = search("--query", tmp_path / "q.npy", "-k", 3)
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert [list(row) for row in rows] == [["id", "word", "_distance", "_rank"]] * 3
    assert [row["_rank"] for row in rows] == [1, 2, 3]
    assert done.stderr.startswith("kinjo: 3 rows from 1 query in ")


@pytest.mark.parametrize("flags", [[], ["--index", "never"], ["--nprobes", 2, "--refine-factor", 3],
                                   ["--distance-range", "0,20", "--right-select", "word"]])
def test_a_batch_is_the_join(search, kinjo, tables, queries, tmp_path, flags):
    np.save(tmp_path / "q.npy", queries)
    search("--query", tmp_path / "q.npy", "-o", tmp_path / "search.arrow", *flags)
    kinjo("join", "--left", tmp_path / "q.npy", "--right", tables / "right.lance",
          "--left-select", "", "--with-query-index", "-o", tmp_path / "join.arrow", *flags)
    found = read_arrow(tmp_path / "search.arrow")
    assert found.num_rows > 0
    assert (tmp_path / "search.arrow").read_bytes() == (tmp_path / "join.arrow").read_bytes()


@pytest.mark.parametrize("count", [1, 6])
def test_typed_numbers_are_the_stored_vector(search, queries, tmp_path, count):
    asked = queries[0] if count == 1 else queries
    np.save(tmp_path / "q.npy", asked)
    stored, typed, piped = (tmp_path / f"{name}.arrow" for name in ("stored", "typed", "piped"))
    search("--query", tmp_path / "q.npy", "-o", stored)
    search("--query", as_json(asked), "-o", typed)
    search("--query", "-", "-o", piped, input=as_json(asked))
    assert read_arrow(stored).num_rows == 10 * count
    assert stored.read_bytes() == typed.read_bytes() == piped.read_bytes()


def test_queries_from_parquet_with_a_column_of_theirs(search, queries, tmp_path):
    table = pa.table({"word": [f"q{i}" for i in range(6)], "probe": vector_column(queries)})
    pq.write_table(table, tmp_path / "q.parquet")
    done = search("--query", tmp_path / "q.parquet", "--left-select", "word", "--on", "vec",
                  "-k", 1)
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert [row["word"] for row in rows] == [f"q{i}" for i in range(6)]
    assert list(rows[0]) == ["word", "id", "word_right", "_distance", "_rank", "_query_index"]


def test_a_batch_of_one_row_has_no_query_index(search, queries, tmp_path):
    np.save(tmp_path / "q.npy", queries[:1])
    row = json.loads(search("--query", tmp_path / "q.npy", "-k", 1).stdout)
    assert "_query_index" not in row
    row = json.loads(search("--query", tmp_path / "q.npy", "-k", 1, "--with-query-index").stdout)
    assert row["_query_index"] == 0


def test_an_older_version(search, queries):
    query = "--query", as_json(queries[0])
    assert "path=exact" in search(*query, "--explain", "--right-version", 1).stdout
    assert "path=index" in search(*query, "--explain", "--right-version", 2).stdout
    assert "version 9" in search(*query, "--right-version", 9, exit_code=1).stderr


def test_the_plan(search, queries):
    query = "--query", as_json(queries)
    plan = search(*query, "--explain").stdout
    assert "vec_idx" in plan and "rows=6" in plan and "memory: buffers" not in plan
    assert "memory: buffers" in search(*query, "--explain", "--verbose").stdout
    done = search(*query, "--analyze", "--json")
    assert "partitions_searched" in done.stdout
    assert json.loads(done.stderr)["left_rows"] == 6


def test_a_table_on_request(search, queries):
    assert "_distance" in search("--query", as_json(queries[0]), "--format", "table").stdout


WIDE = "[" + "0, " * 15 + "{}]"


@pytest.mark.parametrize("text, wrong", [
    ("[]", "the list is empty"),
    ("[1, 2", "the last ] is missing"),
    ("[1, \"2\"]", "number 2 is '\"2\"', which is not a number"),
    ("[1, two]", "number 2 is 'two', which is not a number"),
    ("[1, , 2]", "number 2 is missing"),
    ("[1, 2,]", "number 3 is missing"),
    ("[1 2]", "number 1 is followed by '2]'; put a comma between"),
    ("[1, NaN]", "number 2 is NaN, which is near to nothing"),
    ("[-Infinity]", "number 1 is '-Infinity', which is not a finite number"),
    ("[1e999]", "number 1 is '1e999', which is not a finite number"),
    ("[1] 2", "the closing ] is followed by '2'"),
    ("[[1], 2]", "vector 2 is '2' and not in brackets"),
    ("[1, [2]]", "number 2 is a list"),
    ("[[1], []]", "vector 2 is empty"),
    ("[[1, 2], [3]]", "vector 2 has 1 number, but the one before it has 2"),
    ("[[1, 2], [3, x]]", "vector 2, number 2 is 'x', which is not a number"),
    ("[[[1, 2]], [[3, 4], [5, null]]]", "query 2, vector 2, number 2 is 'null', which is not a nu"),
    ("[[[1, 2], []]]", "query 1, vector 2 is empty"),
    ("[[[[1]]]]", "more than three brackets deep"),
])
def test_numbers_that_are_none(search, text, wrong):
    done = search("--query", text, exit_code=2)
    assert done.stderr.startswith("kinjo: search: --query: " + wrong)
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("text, wrong", [
    ("[1, 2]", "the vector has 2 numbers, but column \"vec\" of "),
    ("[[1], [2]]", "each vector has 1 number, but column \"vec\" of "),
    (WIDE.format("1e39"), "number 16 is 1e+39, which is beyond the float32 numbers of column"),
    (f"[{WIDE.format('-4e38')}, {WIDE.format(0)}]", "vector 1, number 16 is -4e+38, which is beyo"),
    (f"[[{WIDE.format(1)}]]", "lists of vectors, but column \"vec\" of "),
    ("1, 2, 3", "numbers stand in brackets: \"[1, 2, 3]\""),
])
def test_numbers_that_do_not_fit_the_column(search, text, wrong):
    done = search("--query", text, exit_code=1)
    assert done.stderr.startswith("kinjo: search: --query: " + wrong)


def test_numbers_beyond_float16(kinjo, tmp_path):
    values = np.zeros((4, 2), dtype=np.float16)
    column = pa.FixedSizeListArray.from_arrays(pa.array(values.reshape(-1)), 2)
    lance.write_dataset(pa.table({"vec": column}), tmp_path / "halves.lance")
    done = kinjo("search", tmp_path / "halves.lance", "--query", "[0, 65520]", exit_code=1)
    assert "number 2 is 65520, which is beyond the float16 numbers of column" in done.stderr
    kinjo("search", tmp_path / "halves.lance", "--query", "[0, -65519]")


def test_small_numbers_and_bare_ones(search):
    plain = search("--query", WIDE.format("0.5"), "-k", 3).stdout
    assert search("--query", WIDE.format(".5"), "-k", 3).stdout == plain
    zero = search("--query", WIDE.format("0"), "-k", 3).stdout
    assert search("--query", WIDE.format("1e-999"), "-k", 3).stdout == zero


@pytest.fixture(scope="module")
def lists(tmp_path_factory):
    """A dataset of lists of vectors, and lists to ask for."""
    random = np.random.default_rng(8)

    def made(rows):
        return [random.normal(size=(1 + row % 3, 4)).astype(np.float32) for row in range(rows)]

    rows = made(40)
    column = pa.array([list(map(list, row)) for row in rows], pa.list_(pa.list_(pa.float32(), 4)))
    path = tmp_path_factory.mktemp("lists") / "lists.lance"
    lance.write_dataset(pa.table({"id": range(40), "tokens": column}), path)
    return path, rows, made(3)


def unit(rows):
    rows = rows.astype(np.float64)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def nearest_lists(query, rows, k):
    found = sorted((float((1 - (unit(query) @ unit(row).T).max(axis=1)).sum()), i)
                   for i, row in enumerate(rows))
    return [i for _, i in found[:k]], [distance for distance, _ in found[:k]]


def test_typed_lists_of_vectors(kinjo, lists):
    path, rows, asked = lists
    text = json.dumps([query.tolist() for query in asked])
    found = [json.loads(line) for line in kinjo("search", path, "--query", text, "-k", 5)
             .stdout.splitlines()]
    for number, query in enumerate(asked):
        mine = [row for row in found if row["_query_index"] == number]
        ids, distances = nearest_lists(query, rows, 5)
        assert [row["id"] for row in mine] == ids
        np.testing.assert_allclose([row["_distance"] for row in mine], distances, atol=1e-6)


def test_two_levels_are_one_list_where_the_column_holds_lists(kinjo, lists):
    path, rows, asked = lists
    done = kinjo("search", path, "--query", json.dumps(asked[1].tolist()), "-k", 4)
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert [row["id"] for row in found] == nearest_lists(asked[1], rows, 4)[0]
    assert "_query_index" not in found[0]
    one = kinjo("search", path, "--query", json.dumps(asked[0][0].tolist()), "-k", 4).stdout
    assert [json.loads(line)["id"] for line in one.splitlines()] == nearest_lists(
        asked[0][:1], rows, 4)[0]
    wrong = kinjo("search", path, "--query", "[[1, 2]]", exit_code=1).stderr
    assert "each vector has 2 numbers, but column \"tokens\" of " in wrong


def test_bad_command_lines(kinjo, search, tables, queries):
    query = as_json(queries[0])
    assert "DATASET is needed" in kinjo("search", "--query", query, exit_code=2).stderr
    assert "--query is needed" in search(exit_code=2).stderr
    assert "unknown flag --left" in search("--query", query, "--left", "x", exit_code=2).stderr
    assert "--verbose needs --explain" in search("--query", query, "--verbose", exit_code=2).stderr
    assert "--k must be at least 1" in search("--query", query, "-k", 0, exit_code=2).stderr
    assert "nowhere.npy" in search("--query", tables / "nowhere.npy", exit_code=1).stderr
    assert "nowhere.lance" in search("--query", query, right="nowhere.lance", exit_code=1).stderr
    assert search("--query", query, "--index", "require", right="plain.lance", exit_code=3)


def test_bits(kinjo, tmp_path):
    lance = pytest.importorskip("lance")
    values = np.random.default_rng(6).integers(0, 256, size=(50, 4), dtype=np.uint8)
    vectors = pa.FixedSizeListArray.from_arrays(pa.array(values.reshape(-1)), 4)
    lance.write_dataset(pa.table({"id": range(50), "bits": vectors}), tmp_path / "bits.lance")
    done = kinjo("search", tmp_path / "bits.lance", "--query", json.dumps(values[7].tolist()))
    first = json.loads(done.stdout.splitlines()[0])
    assert first["id"] == 7
    assert first["_distance"] == 0
    odd = "search", tmp_path / "bits.lance", "--query", "[1, 2, 300, 4]"
    wrong = kinjo(*odd, exit_code=1).stderr
    assert wrong.startswith("kinjo: search: --query: number 3 is 300, but column \"bits\" of ")
    assert "whole numbers from 0 to 255" in wrong
    kinjo(*odd, "--metric", "l2")
