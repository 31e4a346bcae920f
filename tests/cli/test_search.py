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
    assert "vec_idx" in plan and "rows=6" in plan and "memory: estimated" not in plan
    assert "memory: estimated" in search(*query, "--explain", "--verbose").stdout
    done = search(*query, "--analyze", "--json")
    assert "partitions_searched" in done.stdout
    assert json.loads(done.stderr)["left_rows"] == 6


def test_a_table_on_request(search, queries):
    assert "_distance" in search("--query", as_json(queries[0]), "--format", "table").stdout


@pytest.mark.parametrize("text, wrong", [
    ("[]", "a list of numbers"),
    ("[1, 2", "a list of numbers"),
    ("[1, \"2\"]", "a list of numbers"),
    ("[[1], 2]", "a list of numbers"),
    ("[[1], []]", "an empty vector"),
    ("[[1, 2], [3]]", "one has 2 numbers and another 1"),
])
def test_numbers_that_are_none(search, text, wrong):
    done = search("--query", text, exit_code=2)
    assert done.stderr.startswith("kinjo: search: --query must")
    assert wrong in done.stderr


def test_bad_command_lines(kinjo, search, tables, queries):
    query = as_json(queries[0])
    assert "a dataset is needed" in kinjo("search", "--query", query, exit_code=2).stderr
    assert "--query is needed" in search(exit_code=2).stderr
    assert "unknown flag --left" in search("--query", query, "--left", "x", exit_code=2).stderr
    assert "--verbose needs --explain" in search("--query", query, "--verbose", exit_code=2).stderr
    assert "k must be at least 1" in search("--query", query, "-k", 0, exit_code=2).stderr
    assert "different widths" in search("--query", "[1, 2]", exit_code=1).stderr
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
