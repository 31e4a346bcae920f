"""Small tables and datasets that the command line's tests join, made once a run."""

import lance
import pyarrow.parquet as pq
import pytest

from tests.cli.word_tables import word_table


@pytest.fixture(scope="session")
def tables(tmp_path_factory):
    """A folder with left.parquet, right.lance (indexed: vec_idx), plain.lance (no index)."""
    folder = tmp_path_factory.mktemp("tables")
    pq.write_table(word_table(200, seed=1), folder / "left.parquet")
    lance.write_dataset(word_table(3000, seed=2), folder / "plain.lance")
    right = lance.write_dataset(word_table(3000, seed=2), folder / "right.lance")
    right.create_index(
        "vec", "IVF_PQ", name="vec_idx", num_partitions=8, num_sub_vectors=4, metric="l2"
    )
    return folder


@pytest.fixture(scope="session")
def long_join(tmp_path_factory):
    """The two sides of a join that takes seconds: what a test can interrupt."""
    folder = tmp_path_factory.mktemp("long")
    pq.write_table(word_table(120_000, seed=3, dimension=64), folder / "left.parquet")
    pq.write_table(word_table(60_000, seed=4, dimension=64), folder / "right.parquet")
    return folder
