"""`by`, `exclude_self` and equal left vectors against brute force in float64 and against one join
with a filter for each key, on what pylance leaves behind: every kind of index, appended and deleted
rows, stable row ids. And what users of other systems reported about self-joins and groups.
"""

import datetime
import json

import lance
import numpy as np
import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet as pq
import pytest

from tests.oracle.brute_force import all_distances, assert_nearest, vector_array
from tests.oracle.recipes import clusters, normal, write

DIM = 16
ALL_PARTITIONS = ("--minimum-nprobes", 1_000_000)
INDEXES = {
    "none": None,
    "IVF_FLAT": {},
    "IVF_PQ": {"num_sub_vectors": 4},
    "IVF_SQ": {},
    "IVF_RQ": {},
    "IVF_HNSW_SQ": {},
    "IVF_HNSW_FLAT": {},
}


def brand_of(ids):
    """A large group, some middling, many small ones, and rows without."""
    ids = np.asarray(ids)
    names = np.where(ids % 3 == 0, "large", [f"m{i % 8}" for i in ids])
    names = np.where(ids % 29 == 1, [f"s{i // 60}" for i in ids], names)
    return pa.array([None if i % 31 == 0 else str(name) for i, name in zip(ids, names)])


def rows_of(first, count, seed):
    ids = np.arange(first, first + count)
    vectors = clusters(count // 50, 50, DIM, seed, spread=1)
    return pa.table({"id": ids, "brand": brand_of(ids), "vec": vector_array(vectors)})


def make(path, index, stable=False):
    """3000 rows indexed in 12 partitions, 600 appended and not indexed, some deleted."""
    dataset = lance.write_dataset(
        rows_of(0, 3000, 1), str(path), max_rows_per_file=1100, enable_stable_row_ids=stable
    )
    if INDEXES[index] is not None:
        dataset.create_index("vec", index, num_partitions=12, **INDEXES[index])
    dataset = lance.write_dataset(rows_of(3000, 600, 2), str(path), mode="append")
    dataset.delete("id % 17 = 3")
    return str(path)


@pytest.fixture(scope="module", params=INDEXES)
def dataset(request, tmp_path_factory):
    path = make(tmp_path_factory.mktemp("eligible") / "r.lance", request.param)
    return path, request.param


def left_table(rows=120):
    ids = np.arange(rows) * 7
    vectors = normal(rows, DIM, 3)
    brands = brand_of(ids).to_pylist()
    brands[5] = "absent"
    return pa.table({"own": ids, "brand": pa.array(brands), "vec": vector_array(vectors)})


@pytest.fixture
def join(kinjo, tmp_path):
    """join(left table, right, *flags) gives (ids, distances, report)."""

    def run(left, right, *flags):
        source = left
        if isinstance(left, pa.Table):
            source = tmp_path / "left.parquet"
            pq.write_table(left, source)
        output = tmp_path / "out.arrow"
        done = kinjo(
            "join", "--left", source, "--right", right, "--left-select", "", "--right-select",
            "id", "--with-query-index", "--json", "--progress", "none", "-o", output, *flags,
        )  # fmt: skip
        with pa.ipc.open_file(output) as reader:
            rows = reader.read_all()
        report = json.loads(done.stderr.strip().splitlines()[-1])
        ids = [[] for _ in range(report["left_rows"])]
        distances = [[] for _ in range(report["left_rows"])]
        columns = rows["_query_index"], rows["id"], rows["_distance"]
        for query, row, distance in zip(*(column.to_pylist() for column in columns)):
            ids[query].append(row)
            distances[query].append(distance)
        run.rows = rows
        return ids, distances, report

    return run


def vectors_of(table):
    return table["vec"].combine_chunks().flatten().to_numpy().reshape(table.num_rows, -1)


def check(found, left, right, k, may_match):
    """Brute force over the pairs (left row, right row) that may match."""
    rows = lance.dataset(right).to_table() if isinstance(right, str) else right
    truth = all_distances(vectors_of(left), vectors_of(rows), "l2")
    truth[~may_match(left, rows)] = np.nan
    assert_nearest(found[0], found[1], truth, rows["id"].to_pylist(), k)


def same(left_name, right_name):
    def matrix(left, right):
        a, b = left[left_name].to_pylist(), right[right_name].to_pylist()
        return np.array([[x is not None and x == y for y in b] for x in a])

    return matrix


SAME_BRAND = same("brand", "brand")


def other(left_name, right_name):
    return lambda left, right: ~same(left_name, right_name)(left, right)


@pytest.mark.parametrize("k", [1, 10, 150])
def test_by_finds_the_nearest_of_each_group(join, dataset, k):
    path, index = dataset
    left = left_table()
    found = join(left, path, "--by", "brand", "-k", k, "--ef", 4000, *ALL_PARTITIONS)
    # Un-indexed rows are merged on exact distances; candidates of k = 1 are the index's own.
    if index in ("none", "IVF_FLAT", "IVF_HNSW_FLAT"):
        check(found, left, path, k, SAME_BRAND)
    # Every row is a candidate.
    flags = ("--by", "brand", "-k", k, "--refine-factor", 3900 // k, "--ef", 4000)
    check(join(left, path, *flags, *ALL_PARTITIONS), left, path, k, SAME_BRAND)


@pytest.mark.parametrize("probes", [(), ("--nprobes", 2), ("--refine-factor", 2)])
def test_by_is_a_filter_for_each_key(join, dataset, probes):
    path, _ = dataset
    left = left_table()
    ids, distances, _ = join(left, path, "--by", "brand", "-k", 7, *probes)
    brands = left["brand"].to_pylist()
    for brand in sorted(set(brands) - {None})[::3]:
        own = [row for row, name in enumerate(brands) if name == brand]
        where = ("--where", f"brand = '{brand}'")
        some = join(left.take(own), path, *where, "-k", 7, *probes)
        assert [ids[row] for row in own] == some[0]
        assert [distances[row] for row in own] == some[1]


@pytest.mark.parametrize("k", [1, 10])
@pytest.mark.parametrize("refine", [(), ("--refine-factor", 20)])
def test_a_dataset_joined_with_itself_leaves_each_row_out(join, dataset, k, refine):
    path, index = dataset
    rows = lance.dataset(path).to_table()
    found = join(path, path, "--exclude-self", "-k", k, *refine, "--ef", 400, *ALL_PARTITIONS)
    own = rows["id"].to_pylist()
    assert all(row not in ids and len(ids) == k for row, ids in zip(own, found[0]))
    if index in ("none", "IVF_FLAT"):
        check(found, rows, path, k, other("id", "id"))
    by_key = join(path, path, "--exclude-self=id", "-k", k, *refine, "--ef", 400, *ALL_PARTITIONS)
    assert by_key[:2] == found[:2]


def test_probing_by_default_still_gives_k_others(join, dataset):
    path, _ = dataset
    ids, _, report = join(path, path, "--exclude-self", "--by", "brand", "-k", 40)
    rows = lance.dataset(path).to_table()
    own, brands = rows["id"].to_pylist(), rows["brand"].to_pylist()
    sizes = {brand: brands.count(brand) for brand in set(brands) - {None}}
    brand_by_id = dict(zip(own, brands))
    short = 0
    for row, brand, found in zip(own, brands, ids):
        eligible = 0 if brand is None else sizes[brand] - 1
        assert len(found) == len(set(found)) == min(40, eligible)
        assert row not in found and all(brand_by_id[other_row] == brand for other_row in found)
        short += eligible < 40
    assert report["short_rows"] == short and report["capped_rows"] == 0


def test_stable_row_ids_and_moved_rows(join, tmp_path):
    path = make(tmp_path / "r.lance", "IVF_FLAT", stable=True)
    dataset = lance.dataset(path)
    dataset.update({"brand": "'moved'"}, where="id % 5 = 1")
    dataset.optimize.compact_files()
    rows = lance.dataset(path).to_table()
    flags = ("--exclude-self", "--by", "brand", "-k", 9, *ALL_PARTITIONS)
    found = join(path, path, *flags)
    check(found, rows, path, 9, lambda a, b: SAME_BRAND(a, b) & ~same("id", "id")(a, b))


def test_all_together_and_the_same_bytes(join, dataset):
    path, index = dataset
    left = left_table()
    flags = ("--by", "brand", "--exclude-self=own:id", "-k", 5, "--how", "left", "--where",
             "id % 4 <> 0", "--refine-factor", 780, "--ef", 4000, *ALL_PARTITIONS)  # fmt: skip
    found = join(left, path, *flags, "--threads", 2)
    rows = join.rows
    distances = [[d for d in row if d is not None] for row in found[1]]
    ids = [[i for i in row if i is not None] for row in found[0]]
    passes = lambda right: np.array([row % 4 != 0 for row in right["id"].to_pylist()])  # noqa: E731
    check((ids, distances), left, path, 5,
          lambda a, b: SAME_BRAND(a, b) & ~same("own", "id")(a, b) & passes(b))  # fmt: skip
    for more in (("--threads", 1), ("--threads", 3, "--memory-limit", "40MiB")):
        join(left, path, *flags, *more)
        assert join.rows.equals(rows)
    ranged = join(left, path, *flags, "--distance-range", "18,30")
    for row, (all_ids, all_distances_) in enumerate(zip(ranged[0], ranged[1])):
        assert all(d is None or 18 <= d < 30 for d in all_distances_), row


KEYS = {
    "ints of other widths": (pa.int8(), pa.uint64(), lambda i: i % 9),
    "floats with both zeros": (pa.float32(), pa.float64(), lambda i: [0.0, -0.0, 1.5][i % 3]),
    "dates": (pa.date32(), pa.date64(), lambda i: datetime.date(2020, 1, 1 + i % 9)),
    "times": (pa.timestamp("s"), pa.timestamp("us"),
              lambda i: datetime.datetime(1969, 1, 1 + i % 9)),
    "decimals": (pa.decimal128(9, 2), pa.decimal256(50, 4), lambda i: pa.scalar(i % 9).as_py()),
    "bools": (pa.bool_(), pa.bool_(), lambda i: i % 2 == 0),
    "bytes": (pa.binary(), pa.binary(3), lambda i: b"ab%d" % (i % 9)),
    "coded": (pa.dictionary(pa.int8(), pa.string()), pa.large_string(), lambda i: f"k{i % 9}"),
}  # fmt: skip


@pytest.mark.parametrize("name", KEYS)
def test_values_of_one_kind_are_equal_whatever_their_type(join, tmp_path, name):
    left_type, right_type, value = KEYS[name]
    tables = []
    for rows, kind, seed in ((40, left_type, 1), (400, right_type, 2)):
        values = [None if i % 7 == 6 else value(i) for i in range(rows)]
        if pa.types.is_decimal(kind):
            values = pa.array(values, pa.int64()).cast(pa.decimal128(19, 0)).cast(kind)
        elif pa.types.is_dictionary(kind):
            values = pa.array(values).dictionary_encode()
        else:
            values = pa.array(values, kind)
        vectors = vector_array(normal(rows, 4, seed))
        tables.append(pa.table({"id": np.arange(rows), "key": values, "vec": vectors}))
    left, right = tables
    pq.write_table(right, tmp_path / "right.parquet")
    for how in ("by", "exclude"):
        flags = ("--by", "key") if how == "by" else ("--exclude-self=key",)
        found = join(left, tmp_path / "right.parquet", *flags, "-k", 6)
        relation = same("key", "key") if how == "by" else other("key", "key")
        check(found, left, right, 6, relation)


def test_nan_keys_equal_nothing(join, tmp_path):
    keys = pa.array([float("nan"), 1.0, None, 2.0])
    table = pa.table({"id": np.arange(4), "key": keys, "vec": vector_array(normal(4, 4, 1))})
    pq.write_table(table, tmp_path / "right.parquet")
    ids, _, _ = join(table, tmp_path / "right.parquet", "--by", "key", "-k", 3)
    assert ids == [[], [1], [], [3]]
    ids, _, _ = join(table, tmp_path / "right.parquet", "--exclude-self=key", "-k", 4)
    assert [set(row) for row in ids] == [{0, 1, 2, 3}, {0, 2, 3}, {0, 1, 2, 3}, {0, 1, 2}]


def test_several_key_columns_and_nested_ones(join, tmp_path):
    def table(rows, seed, names):
        struct = pa.array([{"shop": i % 5} for i in range(rows)])
        parts = pa.array([f"p{i % 3}" for i in range(rows)])
        return pa.table({"id": np.arange(rows), names[0]: struct, names[1]: parts,
                         "vec": vector_array(normal(rows, 4, seed))})  # fmt: skip

    left, right = table(50, 1, ("at", "part")), table(500, 2, ("place", "piece"))
    pq.write_table(right, tmp_path / "right.parquet")
    flags = ("--by", "at.shop:place.shop,part:piece", "-k", 4)
    equal = np.array([[i % 15 == j % 15 for j in range(500)] for i in range(50)])
    check(join(left, tmp_path / "right.parquet", *flags), left, right, 4, lambda a, b: equal)


def test_the_same_file_on_both_sides(join, tmp_path):
    vectors = np.repeat(normal(50, 4, 1), 2, axis=0)  # each row has a twin at distance 0
    table = pa.table({"id": np.arange(100), "vec": vector_array(vectors)})
    pq.write_table(table, tmp_path / "t.parquet", row_group_size=30)
    file = tmp_path / "t.parquet"
    ids, distances, _ = join(file, file, "--exclude-self", "-k", 1)
    assert ids == [[row ^ 1] for row in range(100)]
    assert distances == [[0.0]] * 100


def test_who_is_who_must_be_known(kinjo, tmp_path):
    path = make(tmp_path / "r.lance", "none")
    pq.write_table(left_table(), tmp_path / "l.parquet")
    sides = ("join", "--left", tmp_path / "l.parquet", "--right", path)
    told = kinjo(*sides, "--exclude-self", exit_code=1).stderr
    assert "--exclude-self" in told and "name the key column" in told
    told = kinjo(*sides, "--by", "own:brand", exit_code=1).stderr
    assert 'left column "own" is an integer' in told and 'right column "brand" is a string' in told
    told = kinjo(*sides, "--by", "nope", exit_code=1).stderr
    assert 'no column "nope"' in told
    version = lance.dataset(path).version - 1
    told = kinjo("join", "--left", path, "--right", path, "--right-version", version,
                 "--exclude-self", exit_code=1).stderr  # fmt: skip
    assert f"version {version}" in told


def test_multivectors_leave_out_the_row_itself(join, kinjo, tmp_path):
    random = np.random.default_rng(1)
    lists = [random.normal(size=(2 + i % 3, 4)).astype(np.float32).tolist() for i in range(300)]
    kind = pa.list_(pa.list_(pa.float32(), 4))
    vectors = pa.array(lists, kind)
    table = pa.table({"id": np.arange(300), "key": np.arange(300) % 3, "vec": vectors})
    for index in (False, True):
        path = str(tmp_path / f"r{index}.lance")
        dataset = lance.write_dataset(table, path)
        if index:
            dataset.create_index("vec", "IVF_FLAT", metric="cosine", num_partitions=4)
        ids, _, report = join(path, path, "--exclude-self", "-k", 5, "--refine-factor", 20)
        assert report["path"] == ("index" if index else "exact")
        assert all(row not in found and len(found) == 5 for row, found in enumerate(ids))
        if not index:
            whole, _, _ = join(path, path, "-k", 6)
            assert [[row, *found] for row, found in enumerate(ids)] == whole
    told = kinjo("join", "--left", path, "--right", path, "--by", "key", exit_code=1).stderr
    assert "by" in told and "lists of vectors" in told


# What users reported elsewhere: a self-join whose nearest row is dropped by its place in the list
# instead of by who it is loses a twin, and keeps the row itself where ties come first.
def test_a_row_among_equal_ones_drops_itself_and_not_the_first(join, tmp_path):
    vectors = np.repeat(normal(3, DIM, 1), 40, axis=0)
    write(tmp_path / "r", vectors)
    lance.dataset(str(tmp_path / "r")).create_index("vec", "IVF_FLAT", num_partitions=2)
    for flags in ((), ("--index", "never")):
        sides = tmp_path / "r", tmp_path / "r"
        ids, distances, report = join(*sides, "--exclude-self", "-k", 39, *flags)
        for row, (found, own) in enumerate(zip(ids, distances)):
            group = range(row // 40 * 40, row // 40 * 40 + 40)
            assert found == [other_row for other_row in group if other_row != row]
            assert own == [0.0] * 39
        assert report["duplicate_rows"] == 0  # each leaves out another row


# Deduplication jobs repeat their left vectors: each is searched once, and each row has its answer.
def test_equal_left_vectors_are_searched_once(join, dataset):
    path, _ = dataset
    once = left_table(40)
    repeated = once.take(np.tile(np.arange(40), 25))
    ids, distances, report = join(repeated, path, "-k", 3)
    own, own_distances, own_report = join(once, path, "-k", 3)
    assert ids == own * 25 and distances == own_distances * 25
    assert (report["duplicate_rows"], own_report["duplicate_rows"]) == (40 * 24, 0)
    assert report["partitions_probed"] == own_report["partitions_probed"]
    assert report["left_rows"] == 1000


def test_keys_count_in_the_memory_limit(kinjo, tmp_path):
    rows = 200_000
    keys = pa.array([f"a rather long key {i}" for i in range(rows)])
    vectors = vector_array(normal(rows, 2, 1))
    table = pa.table({"id": np.arange(rows), "key": keys, "vec": vectors})
    lance.write_dataset(table, str(tmp_path / "r.lance"))
    pq.write_table(table.slice(0, 100), tmp_path / "l.parquet")
    sides = ("join", "--left", tmp_path / "l.parquet", "--right", tmp_path / "r.lance", "-o",
             tmp_path / "o.parquet", "--threads", 1)  # fmt: skip
    for flag in ("--by=key", "--exclude-self=key"):
        told = kinjo(*sides, flag, "--memory-limit", "10MiB", exit_code=3).stderr
        assert "memory" in told
        kinjo(*sides, flag, "--memory-limit", "256MiB")
