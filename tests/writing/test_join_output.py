"""A join whose rows become a Lance dataset: the rows that a file would have, in one new version."""

import lance
import pyarrow.parquet as pq
import pytest


@pytest.fixture
def join(kinjo, rows, tmp_path):
    """join(output, *flags) joins 40 rows to their 3 nearest of 500."""
    pq.write_table(rows(100, 40), tmp_path / "left.parquet")
    pq.write_table(rows(0, 500), tmp_path / "right.parquet")

    def run(output, *flags, **options):
        return kinjo("join", "--left", tmp_path / "left.parquet", "--right",
                     tmp_path / "right.parquet", "--on", "vec", "-k", 3, "--progress", "none",
                     "-o", output, *flags, **options)  # fmt: skip

    return run


def test_the_rows_of_a_file(join, tmp_path):
    join(tmp_path / "out.parquet")
    expected = pq.read_table(tmp_path / "out.parquet")
    join(tmp_path / "out.lance")
    dataset = lance.dataset(tmp_path / "out.lance")
    dataset.validate()
    assert dataset.version == 1
    assert dataset.data_storage_version == "2.2"
    found = dataset.to_table()
    assert found.column_names == expected.column_names
    assert found.to_pylist() == expected.to_pylist()
    assert len(found) == 120


def test_a_dataset_gets_a_version(join, rows, tmp_path):
    path = tmp_path / "out.lance"
    lance.write_dataset(rows(0, 10), path)
    join(path, "--left-select", "id")
    assert [version["version"] for version in lance.dataset(path).versions()] == [1, 2]
    assert lance.dataset(path).count_rows() == 120
    assert lance.dataset(path, version=1).to_table().equals(rows(0, 10))
    join(path, "--where", "id < 0")
    assert lance.dataset(path).count_rows() == 0


def test_joined_with_itself(kinjo, rows, tmp_path):
    """Reads one version and makes the next."""
    path = tmp_path / "t.lance"
    lance.write_dataset(rows(0, 50), path)
    kinjo("join", "--left", path, "--right", path, "--exclude-self", "-k", 2, "-o", path)
    assert lance.dataset(path).count_rows() == 100
    assert "_distance" in lance.dataset(path).schema.names


@pytest.mark.parametrize(("output", "flags", "told", "exit_code"), [
    ("out.lance", ["--compression", "zstd"], "--compression is \"zstd\"; a Lance dataset", 2),
    ("-", ["--format", "lance"], "can't go to standard output; name a folder", 2),
    ("parts", ["--resume", "--format", "lance"], "--format is \"lance\"; parts must be", 2),
    ("out.lance", ["--with-row-id"], "can't have a column _rowid", 1),
    ("left.parquet", ["--format", "lance"], "it is a file; name a folder", 1),
    (".", ["--format", "lance"], "and no dataset; name a folder", 1),
])  # fmt: skip
def test_refusals(join, tmp_path, output, flags, told, exit_code):
    done = join(output if output == "-" else tmp_path / output, *flags, exit_code=exit_code)
    assert told in done.stderr
    assert not (tmp_path / "out.lance").exists()
