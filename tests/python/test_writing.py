"""Datasets that the package writes and changes, read again by itself and by pylance."""

import lance
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import kinjo


@pytest.fixture
def rows(vectors):
    texts = pa.array([f"text {i}" for i in range(300)])
    return vectors(300, 8, seed=4).append_column("text", texts)


SOURCES = {
    "table": lambda t: t,
    "reader": lambda t: t.to_reader(max_chunksize=70),
    "polars": pl.from_arrow,
    "pandas": lambda t: pd.DataFrame({
        "id": t["id"].to_numpy(), "vec": list(np.stack(t["vec"].to_numpy())),
        "text": t["text"].to_pylist()}),
}  # fmt: skip


@pytest.mark.parametrize("kind", SOURCES)
def test_what_is_written_is_read(kind, rows, tmp_path):
    options = {"vector_column": "vec"} if kind == "pandas" else {}
    dataset = kinjo.write_dataset(SOURCES[kind](rows), tmp_path / "d.lance", **options)
    assert (dataset.version, dataset.count_rows()) == (1, 300)
    for read in (dataset.to_arrow(), lance.dataset(tmp_path / "d.lance").to_table()):
        assert read["id"].to_pylist() == rows["id"].to_pylist()
        assert read["vec"].to_pylist() == rows["vec"].to_pylist()
        assert read["text"].to_pylist() == rows["text"].to_pylist()
    near = kinjo.join(rows, dataset, k=1).to_arrow()
    assert near["id_right"].to_pylist() == rows["id"].to_pylist()


def test_modes(rows, tmp_path):
    place = str(tmp_path / "d.lance")
    kinjo.write_dataset(rows, place)
    with pytest.raises(kinjo.Error):
        kinjo.write_dataset(rows, place)
    assert kinjo.write_dataset(rows.slice(0, 10), place, mode="append").count_rows() == 310
    assert kinjo.write_dataset(rows.slice(0, 7), place, mode="overwrite").count_rows() == 7
    assert [kinjo.open(place, version).count_rows() for version in (1, 2, 3)] == [300, 310, 7]
    with pytest.raises(kinjo.InvalidArgument, match="mode is 'upsert'"):
        kinjo.write_dataset(rows, place, mode="upsert")


def test_a_dataset_moves_on_by_its_own_changes(rows, tmp_path):
    dataset = kinjo.write_dataset(rows, tmp_path / "d.lance", max_rows_per_file=100)
    other = kinjo.open(tmp_path / "d.lance")
    assert dataset.append(rows.slice(0, 20)) == 20
    assert dataset.delete("id < 15") == 30
    assert (dataset.version, dataset.count_rows(), other.count_rows()) == (3, 290, 300)
    assert dataset.delete("id > 1000") == 0
    assert dataset.version == 3
    told = dataset.compact()
    assert told["version"] == dataset.version == 4 and told["old_fragments"] > told["fragments"]
    assert dataset.count_rows() == 290
    assert sorted(lance.dataset(tmp_path / "d.lance").to_table()["id"].to_pylist()) == sorted(
        [*range(15, 300), *range(15, 20)])
    with pytest.raises(kinjo.InvalidArgument, match="character 5"):
        dataset.delete("id <")


def test_a_join_becomes_a_dataset(rows, tmp_path):
    joined = kinjo.join(rows, rows, k=2, right_select=["id"], left_select=["id"])
    dataset = kinjo.write_dataset(joined, tmp_path / "d.lance", data_version="2.1")
    assert dataset.count_rows() == 600
    assert dataset.describe()["format_version"] == "2.1"


def test_progress_of_writing(rows, tmp_path):
    told = []
    kinjo.write_dataset(rows, tmp_path / "d.lance", progress=told.append)
    assert told[-1].done_rows == 300
