"""`kinjo scan`: rows, columns and filters against pylance's, and where the rows go."""

import json

import lance
import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet as pq
import pytest

from tests.cli.word_tables import word_table


@pytest.fixture(scope="module")
def dataset(tmp_path_factory):
    """Three versions: 2,000 rows; 1,000 more; some deleted. Version 2 has a tag."""
    path = tmp_path_factory.mktemp("scan") / "d.lance"
    lance.write_dataset(word_table(2000, seed=1), path)
    lance.write_dataset(word_table(1000, seed=2), path, mode="append")
    lance.dataset(path).tags.create("two", 2)
    lance.dataset(path).delete("id % 7 = 3")
    return path


def read_arrow(path):
    return pa.ipc.open_file(path).read_all()


@pytest.mark.parametrize("flags, asked", [
    ([], {}),
    (["--columns", "word,id"], {"columns": ["word", "id"]}),
    (["--where", "id > 900 AND word LIKE 'w1%'"], {"filter": "id > 900 AND word LIKE 'w1%'"}),
    (["--limit", 7], {"limit": 7}),
    (["--offset", 1900, "--limit", 250], {"offset": 1900, "limit": 250}),
    (["--offset", 2570], {"offset": 2570}),
    (["--where", "id < 50", "--offset", 60, "--limit", 5, "--columns", "id"],
     {"filter": "id < 50", "offset": 60, "limit": 5, "columns": ["id"]}),
    (["--offset", 9999], {"offset": 9999}),
])
def test_gives_pylances_rows(kinjo, dataset, tmp_path, flags, asked):
    done = kinjo("scan", dataset, *flags, "-o", tmp_path / "rows.arrow")
    rows = read_arrow(tmp_path / "rows.arrow")
    expected = lance.dataset(dataset).to_table(**asked)
    assert rows.to_pylist() == expected.to_pylist()
    assert rows.schema.names == expected.schema.names
    assert done.stdout == ""
    word = "row" if len(expected) == 1 else "rows"
    assert done.stderr == f"kinjo: {len(expected):,} {word} in {tmp_path / 'rows.arrow'}\n"


def test_row_ids_are_pylances(kinjo, dataset, tmp_path):
    kinjo("scan", dataset, "--with-row-id", "--columns", "id", "-o", tmp_path / "rows.arrow")
    expected = lance.dataset(dataset).to_table(columns=["id"], with_row_id=True)
    assert read_arrow(tmp_path / "rows.arrow").to_pydict() == expected.to_pydict()


@pytest.mark.parametrize("version", [1, 2, "two"])
def test_an_older_version(kinjo, dataset, version):
    counted = kinjo("scan", dataset, "--version", version, "--count").stdout
    assert int(counted) == lance.dataset(dataset, version=version).count_rows()


def test_counts(kinjo, dataset):
    passing = lance.dataset(dataset).count_rows("id < 10")
    assert kinjo("scan", dataset, "--count", "--where", "id < 10").stdout == f"{passing}\n"


def test_the_forms_of_the_rows(kinjo, dataset, tmp_path):
    flags = "scan", dataset, "--columns", "id,word", "--limit", 2
    rows = [json.loads(line) for line in kinjo(*flags).stdout.splitlines()]
    assert rows == [{"id": 0, "word": "w0"}, {"id": 1, "word": "w1"}]
    assert kinjo(*flags, "--format", "csv").stdout.splitlines()[1] == '0,w0'
    table = kinjo(*flags, "--format", "table").stdout
    assert "word" in table and "w1" in table
    kinjo(*flags, "--compression", "gzip", "--row-group-rows", 1, "-o", tmp_path / "r.parquet")
    metadata = pq.ParquetFile(tmp_path / "r.parquet").metadata
    assert metadata.num_row_groups == 2
    assert metadata.row_group(0).column(0).compression == "GZIP"


@pytest.mark.parametrize("flags, exit_code, wrong", [
    (["--limit", -1], 1, "--limit must not be negative, but is -1"),
    (["--offset", -3], 1, "--offset must not be negative, but is -3"),
    (["--columns", "id,nope"], 1, "has no column nope; it has id, word, vec"),
    (["--columns", "id,id"], 1, "column id is asked for twice"),
    (["--where", "id <"], 1, "--where: "),
    (["--version", 9], 1, "version 9"),
    (["--version", ""], 2, "--version is empty"),
    (["--count", "--limit", 3], 2, "--count prints one number"),
    (["-o", "rows.txt"], 2, "rows.txt"),
    (["-o", "no/such/folder/rows.csv"], 1, "no/such/folder"),
    (["--progress", "maybe"], 2, "--progress must be auto, json or none, but is 'maybe'"),
])
def test_what_is_wrong_is_said(kinjo, dataset, tmp_path, flags, exit_code, wrong):
    done = kinjo("scan", dataset, *flags, exit_code=exit_code, cwd=tmp_path)
    assert done.stdout == ""
    assert wrong in done.stderr and done.stderr.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_no_dataset(kinjo, tmp_path):
    assert "DATASET is needed" in kinjo("scan", exit_code=2).stderr
    assert "nothing" in kinjo("scan", tmp_path / "nothing", exit_code=1).stderr


def test_progress_for_programs(kinjo, dataset, tmp_path):
    done = kinjo("scan", dataset, "-o", tmp_path / "r.arrow", "--progress", "json", "--limit", 1500)
    told = [json.loads(line) for line in done.stderr.splitlines()[:-1]]
    assert told[0]["state"] == "running" and told[0]["total_rows"] == 1500
    assert told[-1]["state"] == "done" and told[-1]["done_rows"] == 1500
