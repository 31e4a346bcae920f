"""Filters against brute force: DuckDB says which rows a predicate passes, numpy which are nearest.

The datasets are what pylance leaves behind: scalar indexes of both kinds, before and after appends,
deletes, updates, optimize and compaction, with row addresses and with stable row ids.
"""

import datetime

import duckdb
import lance
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.oracle.brute_force import all_distances, assert_nearest, vector_array

DIM = 8
ROWS = 6000  # two pages of a B-tree
ALL_PARTITIONS = ["--minimum-nprobes", 1_000_000]
PREDICATES = [
    "i = 7",
    "i BETWEEN 100 AND 160 AND b",
    "i IS NULL OR f > 20",
    "NOT (i > 5) AND s IS NOT NULL",
    "f >= 24",
    "f < 0.5 OR isnan(f)",
    "f = 0",
    "s IN ('k3', 'k4', 'none')",
    "s LIKE 'k1%' AND NOT b",
    "b IS NULL",
    "d >= DATE '2021-03-01' AND t < TIMESTAMP '2022-01-05 00:00:00'",
    "t = TIMESTAMP '2022-01-01 01:00:00' AND plain < 50",
    "plain = 3",
    "i > 100000",
    "(i < 200 AND s = 'k2') OR (NOT b AND d < DATE '2020-06-01')",
]


def columns(ids):
    """Columns to filter by, each with nulls; the floats also hold NaN and both zeros."""
    ids = np.asarray(ids)
    floats = (ids * 37 % 101) / 4
    floats[ids % 17 == 0] = np.nan
    floats[ids % 19 == 0] = -0.0
    floats[ids % 23 == 0] = -np.inf
    day, second = datetime.date(2020, 1, 1), datetime.datetime(2022, 1, 1)
    made = {
        "i": pa.array(ids * 7919 % 1009, pa.int32()),
        "f": pa.array(floats),
        "s": pa.array([f"k{i * 31 % 23}" for i in ids]),
        "b": pa.array(ids % 3 == 0),
        "d": pa.array([day + datetime.timedelta(days=int(i * 13 % 700)) for i in ids]),
        "t": pa.array([second + datetime.timedelta(minutes=int(i * 7 % 10000)) for i in ids]),
    }
    for step, name in enumerate(made):
        missing = pa.array(ids % (6 + step) == 1)
        made[name] = pa.compute.if_else(missing, None, made[name])
    return made


def table(first, rows):
    ids = np.arange(first, first + rows)
    vectors = np.random.default_rng(first).normal(size=(rows, DIM)).astype(np.float32)
    return pa.table(
        {"id": ids, **columns(ids), "plain": ids % 1000, "vec": vector_array(vectors)}
    )


BTREES, BITMAPS = ("i", "f", "d", "t"), ("s", "b")


def make(path, kinds, stable=False):
    dataset = lance.write_dataset(
        table(0, ROWS), str(path), max_rows_per_file=2500, enable_stable_row_ids=stable
    )
    for column in BTREES + BITMAPS:
        kind = {"BTREE": "BTREE", "BITMAP": "BITMAP"}.get(kinds)
        if kinds == "both":
            kind = "BTREE" if column in BTREES else "BITMAP"
        if kind:
            dataset.create_scalar_index(column, kind)
    return dataset


def live_rows(path):
    return lance.dataset(str(path)).to_table()


def passing(rows, predicate):
    """The rows that DuckDB passes."""
    connection = duckdb.connect()
    connection.register("rows", rows)
    found = connection.execute(f"SELECT id FROM rows WHERE {predicate}").fetchall()
    return {row for (row,) in found}


def vectors_of(rows):
    return np.stack(rows["vec"].combine_chunks().flatten().to_numpy().reshape(-1, DIM))


LEFT = np.random.default_rng(99).normal(size=(3, DIM)).astype(np.float32)


def check(neighbours, path, predicate, *flags, k=10, left=LEFT, approximate=False):
    """The k nearest of the rows that pass; returns the report."""
    rows = live_rows(path)
    ids = rows["id"].to_pylist()
    wanted = passing(rows, predicate)
    truth = all_distances(left, vectors_of(rows), "l2")
    truth[:, [row not in wanted for row in ids]] = np.nan
    found, distances, report = neighbours(left, path, "--where", predicate, "-k", k, *flags)
    if approximate:
        for row, own in zip(found, distances):
            assert len(row) == min(k, len(wanted)), predicate
            assert set(row) <= wanted
            assert np.isfinite(own).all() and own == sorted(own)
    else:
        assert_nearest(found, distances, truth, ids, k)
    assert report["filter_rows"] == len(wanted)
    return report


def change(dataset, path):
    """Yields the dataset after each kind of change, with the name of the change."""
    yield "created"
    lance.write_dataset(table(ROWS, 300), str(path), mode="append")
    yield "appended"
    lance.dataset(str(path)).delete("id % 11 = 3")
    yield "deleted"
    lance.dataset(str(path)).update({"i": "i + 50", "s": "'k2'"}, where="id % 40 = 6")
    yield "updated"
    lance.dataset(str(path)).optimize.optimize_indices()
    yield "optimized"
    lance.dataset(str(path)).update({"b": "NOT b"}, where="id % 50 = 9")
    lance.dataset(str(path)).optimize.compact_files(target_rows_per_fragment=20_000)
    yield "compacted"


@pytest.mark.parametrize("stable", [False, True], ids=["addresses", "stable"])
@pytest.mark.parametrize("kinds", ["none", "both", "BTREE", "BITMAP"])
def test_every_row_that_passes_and_no_other(kinds, stable, neighbours, tmp_path):
    path = tmp_path / "right.lance"
    dataset = make(path, kinds, stable)
    # All of them where something changed what the indexes know, else a few.
    for turn, state in enumerate(change(dataset, path)):
        for number, predicate in enumerate(PREDICATES):
            if kinds in ("none", "BTREE", "BITMAP") and (number + turn) % 4:
                continue
            report = check(neighbours, path, predicate, "--index", "never", k=100_000)
            if kinds == "none":
                assert report["filter_indexes"] == []
        if kinds == "both" and state != "updated":
            report = check(neighbours, path, "i = 7 AND b IS NOT NULL", k=5)
            assert report["filter_indexes"] == ["b_idx", "i_idx"], state


def vector_index(path, kind, **options):
    options = {"num_partitions": 8, **options}
    lance.dataset(str(path)).create_index("vec", kind, **options)


CASES = {
    "i > 100000": 0,
    "id = 4321": 1,
    "id IN (5, 4999, 17, 3500)": 4,
    "id % 2 = 0": None,
    "id >= 0": None,
}


@pytest.mark.parametrize("coverage", ["never", "full", "half", "deltas"])
@pytest.mark.parametrize("stable", [False, True], ids=["addresses", "stable"])
def test_the_same_answer_whatever_the_index_covers(coverage, stable, neighbours, tmp_path):
    path = tmp_path / "right.lance"
    make(path, "both", stable)
    if coverage != "never":
        vector_index(path, "IVF_FLAT")
    if coverage in ("half", "deltas"):
        lance.write_dataset(table(ROWS, 3000), str(path), mode="append")
    if coverage == "deltas":
        lance.dataset(str(path)).optimize.optimize_indices(
            num_indices_to_merge=0, index_names=["vec_idx"]
        )
        lance.write_dataset(table(ROWS + 3000, 500), str(path), mode="append")
    lance.dataset(str(path)).delete("id % 7 = 1")
    flags = ["--index", "never"] if coverage == "never" else ALL_PARTITIONS
    for predicate in [*CASES, *PREDICATES[::3]]:
        report = check(neighbours, path, predicate, *flags)
        assert report["path"] == ("exact" if coverage == "never" else "index")


KINDS = {
    "IVF_FLAT": {},
    "IVF_PQ": {"num_sub_vectors": 4},
    "IVF_SQ": {},
    "IVF_RQ": {},
    "IVF_HNSW_FLAT": {},
    "IVF_HNSW_PQ": {"num_sub_vectors": 4},
    "IVF_HNSW_SQ": {},
}


@pytest.mark.parametrize("kind", KINDS)
def test_as_many_rows_as_pass(kind, neighbours, tmp_path):
    path = tmp_path / "right.lance"
    make(path, "both")
    vector_index(path, kind, **KINDS[kind])
    for predicate, rows in CASES.items():
        report = check(neighbours, path, predicate, approximate=True)
        assert rows in (None, report["filter_rows"])
        # So few rows are scored exactly, never guessed and never left out.
        if rows is not None:
            check(neighbours, path, predicate)
            assert report["exact_distances"] and report["partitions_probed"] == 0
        check(neighbours, path, predicate, "--refine-factor", 3, approximate=True)


def clusters(path):
    """200 rows in each of 10 far clusters; the first row of a cluster is its centre."""
    random = np.random.default_rng(1)
    centres = random.normal(size=(10, DIM)) * 100
    vectors = np.repeat(centres, 200, axis=0) + random.normal(size=(2000, DIM)) * 0.1
    vectors = vectors.astype(np.float32)
    rows = pa.table(
        {
            "id": np.arange(2000),
            "group": np.repeat(np.arange(10), 200),
            "vec": vector_array(vectors),
        }
    )
    dataset = lance.write_dataset(rows, str(path))
    dataset.create_index("vec", "IVF_FLAT", num_partitions=10)
    return vectors


def test_a_far_group_is_found_unless_probes_are_capped(neighbours, tmp_path):
    path = tmp_path / "right.lance"
    left = clusters(path)[:1]
    report = check(neighbours, path, '"group" = 9', k=5, left=left, approximate=True)
    assert report["partitions_probed"] > 1
    for flags in (["--nprobes", 1], ["--maximum-nprobes", 1]):
        ids, _, capped = neighbours(left, path, "--where", '"group" = 9', "-k", 5, *flags)
        assert ids == [[]]
        assert capped["partitions_probed"] == 1
        # A cap is a cap even where few rows pass.
        few, _, _ = neighbours(left, path, "--where", "id = 1999", "-k", 5, *flags)
        assert few == [[]]


def test_fast_search_leaves_rows_without_index_out(neighbours, tmp_path):
    path = tmp_path / "right.lance"
    make(path, "both")
    vector_index(path, "IVF_FLAT")
    lance.write_dataset(table(ROWS, 500), str(path), mode="append")
    few = f"id IN (3, {ROWS + 5})"
    assert [sorted(row) for row in neighbours(LEFT, path, "--where", few)[0]] == [[3, ROWS + 5]] * 3
    assert neighbours(LEFT, path, "--where", few, "--fast-search")[0] == [[3]] * 3
    ids, _, _ = neighbours(LEFT, path, "--where", f"id >= {ROWS}", "--fast-search")
    assert ids == [[], [], []]


def test_a_distance_range_after_the_filter(neighbours, tmp_path):
    path = tmp_path / "right.lance"
    make(path, "both")
    vector_index(path, "IVF_FLAT")
    for flags in (["--index", "never"], ALL_PARTITIONS):
        everything = neighbours(LEFT, path, "--where", "b", "-k", 100_000, *flags)
        lower, upper = everything[1][0][10], everything[1][0][40]
        ids, distances, _ = neighbours(
            LEFT, path, "--where", "b", "--distance-range", f"{lower},{upper}", "-k", 20, *flags
        )
        assert ids[0] == everything[0][0][10:30]
        assert all(lower <= distance < upper for row in distances for distance in row)


def test_equal_left_rows_and_any_memory_get_the_same(neighbours, tmp_path):
    path = tmp_path / "right.lance"
    make(path, "both")
    vector_index(path, "IVF_PQ", num_sub_vectors=4)
    left = np.repeat(LEFT, 50, axis=0)
    flags = ["--where", "i < 300 AND NOT b"]
    one = neighbours(left, path, *flags, threads=1)
    two = neighbours(left, path, *flags, "--memory-limit", "64MiB", threads=2)
    assert one[:2] == two[:2]
    assert all(row == one[0][number // 50 * 50] for number, row in enumerate(one[0]))


@pytest.mark.parametrize("suffix", ["parquet", "arrow"])
def test_tables_are_filtered_too(suffix, neighbours, tmp_path):
    rows = table(0, 3000)
    path = tmp_path / f"right.{suffix}"
    if suffix == "parquet":
        pq.write_table(rows, path, row_group_size=700)
    else:
        with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, rows.schema) as writer:
            writer.write_table(rows, max_chunksize=450)
    ids = rows["id"].to_pylist()
    for predicate in [*CASES, *PREDICATES[::2]]:
        wanted = passing(rows, predicate)
        truth = all_distances(LEFT, vectors_of(rows), "l2")
        truth[:, [row not in wanted for row in ids]] = np.nan
        found, distances, report = neighbours(LEFT, path, "--where", predicate)
        assert_nearest(found, distances, truth, ids, 10)
        assert report["filter_rows"] == len(wanted)


def test_left_rows_stay_when_nothing_passes(kinjo, tmp_path):
    make(tmp_path / "right.lance", "both")
    pq.write_table(pa.table({"key": [1, 2, 3], "vec": vector_array(LEFT)}), tmp_path / "l.parquet")
    output = tmp_path / "out.arrow"
    kinjo("join", "--left", tmp_path / "l.parquet", "--right", tmp_path / "right.lance",
          "--how", "left", "--where", "i > 100000", "-o", output)  # fmt: skip
    rows = pa.ipc.open_file(output).read_all()
    assert rows["key"].to_pylist() == [1, 2, 3]
    assert rows["id"].null_count == rows["_distance"].null_count == 3


@pytest.mark.parametrize(
    "predicate, told",
    [("i >", "where"), ("nowhere = 1", "nowhere"), ("i + 1", "where"), ("s > 3 3", "where")],
)
def test_what_is_no_predicate_is_an_error_before_any_row(predicate, told, kinjo, tmp_path):
    make(tmp_path / "right.lance", "none")
    (tmp_path / "left.parquet").write_bytes(b"")
    pq.write_table(pa.table({"vec": vector_array(LEFT)}), tmp_path / "left.parquet")
    done = kinjo("join", "--left", tmp_path / "left.parquet", "--right", tmp_path / "right.lance",
                 "--where", predicate, "-o", tmp_path / "out.parquet", exit_code=None)  # fmt: skip
    assert done.returncode in (1, 2)
    assert told in done.stderr
    assert not (tmp_path / "out.parquet").exists()


def test_a_selective_filter_with_an_index_reads_few_bytes(neighbours, tmp_path):
    path = tmp_path / "right.lance"
    rows = 200_000
    ids = np.arange(rows)
    random = np.random.default_rng(3)
    vectors = random.normal(size=(rows, 32)).astype(np.float32)
    made = pa.table({"id": ids, "key": random.permutation(rows), "vec": vector_array(vectors)})
    dataset = lance.write_dataset(made, str(path), max_rows_per_file=50_000)
    left = random.normal(size=(4, 32)).astype(np.float32)
    flags = ["--where", "key BETWEEN 1000 AND 1019", "--index", "never", "--right-select", "id"]
    scanned = neighbours(left, path, *flags)
    dataset.create_scalar_index("key", "BTREE")
    looked_up = neighbours(left, path, *flags)
    assert looked_up[:2] == scanned[:2]
    assert looked_up[2]["filter_indexes"] == ["key_idx"]
    assert looked_up[2]["filter_rows_evaluated"] == 0
    assert looked_up[2]["rows_scanned"] == 20
    # One or two pages of 4,096 keys and row ids; of 25.6 MB of vectors the chunks of 20 rows.
    assert looked_up[2]["bytes_read"] < 800_000
    # Without the index the keys are read, 18 bits each.
    assert scanned[2]["bytes_read"] >= looked_up[2]["bytes_read"] + rows


def test_the_plan_tells_of_the_filter(kinjo, tmp_path):
    make(tmp_path / "right.lance", "both")
    pq.write_table(pa.table({"vec": vector_array(LEFT)}), tmp_path / "left.parquet")
    plan = kinjo("explain", "--left", tmp_path / "left.parquet", "--right",
                 tmp_path / "right.lance", "--where", "i = 3 AND plain > 2").stdout  # fmt: skip
    assert 'Prefilter: where="i = 3 AND plain > 2"' in plan
    assert "scalar_indexes=[i_idx]" in plan
