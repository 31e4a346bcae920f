"""Joins that give pairs of rows, against brute force in float64: each pair once, both among each
other's k, and the clusters that a deduplication takes. The vectors are small whole numbers, so that
distances are exact and ties many: answers must be equal, not near.
"""

import json

import lance
import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from tests.oracle.brute_force import all_distances, vector_array

ROWS = 300


def whole_numbers(rows, dim, seed, span=4):
    return np.random.default_rng(seed).integers(-span, span + 1, (rows, dim)).astype(np.float32)


def table_of(vectors, ids=None):
    ids = np.arange(len(vectors)) if ids is None else ids
    return pa.table({"id": pa.array(ids), "vec": vector_array(vectors)})


def lists_of(left, right, k, upper=np.inf, own=False):
    """The k nearest right rows of each left row as (distance, row), by distance, then row; a row
    itself (the same number) only with `own`."""
    distances = all_distances(left, right, "l2").astype(np.float32)
    lists = []
    for row, near in enumerate(distances):
        order = np.lexsort((np.arange(len(right)), near))
        found = [(float(near[other]), int(other)) for other in order
                 if near[other] < upper and (own or other != row)]
        lists.append(found[:k])
    return lists


def having(lists):
    return [{other for _, other in found} for found in lists]


def expected_pairs(lists, keep):
    """(left row, right row, rank, distance) of the matches that keep(row, other) lets out."""
    pairs = []
    for row, found in enumerate(lists):
        kept = [(distance, other) for distance, other in found if keep(row, other)]
        pairs += [(row, other, rank, distance) for rank, (distance, other) in enumerate(kept, 1)]
    return pairs


def once(lists):
    has = having(lists)
    return expected_pairs(lists, lambda row, other: row < other or row not in has[other])


def components(lists, keep=lambda row, other: True):
    """The smallest row that each row is connected with."""
    smallest = list(range(len(lists)))

    def root(row):
        while smallest[row] != row:
            row = smallest[row]
        return row

    for row, found in enumerate(lists):
        for _, other in found:
            if keep(row, other):
                low, high = sorted((root(row), root(other)))
                smallest[high] = low
    return [root(row) for row in range(len(lists))]


@pytest.fixture
def joined(kinjo, tmp_path):
    """joined(left, right, *flags) gives (the result as a table, the report)."""

    def run(left, right, *flags):
        output = tmp_path / "out.arrow"
        done = kinjo("join", "--left", left, "--right", right, "--json", "--progress", "none",
                     "-o", output, *flags)
        with pa.ipc.open_file(output) as reader:
            return reader.read_all(), json.loads(done.stderr.strip().splitlines()[-1])

    return run


def pairs_in(table):
    names = ("id", "id_right", "_rank", "_distance")
    return list(zip(*(table[name].to_pylist() for name in names)))


@pytest.fixture(params=["plain", "indexed", "parquet"])
def self_joined(request, tmp_path):
    """(path, vectors): a table to join with itself. Of the datasets some rows are deleted, which
    `vectors` leaves out; ids are numbers of the rows that are left."""
    vectors = whole_numbers(ROWS, 4, 1)
    if request.param == "parquet":
        path = tmp_path / "rows.parquet"
        pq.write_table(table_of(vectors), path, row_group_size=70)
        return path, vectors
    dead = np.random.default_rng(2).choice(ROWS, 40, replace=False)
    live = np.setdiff1d(np.arange(ROWS), dead)
    ids = np.full(ROWS, -1)
    ids[live] = np.arange(len(live))
    path = tmp_path / "rows.lance"
    dataset = lance.write_dataset(table_of(vectors, ids), path, max_rows_per_file=90)
    if request.param == "indexed":
        dataset.create_index("vec", "IVF_FLAT", num_partitions=4)
    dataset.delete("id = -1")
    return path, vectors[live]


@pytest.mark.parametrize("k", [1, 5, 400])
def test_each_pair_of_a_self_join_comes_once(joined, self_joined, k):
    path, vectors = self_joined
    lists = lists_of(vectors, vectors, k)
    expected = once(lists)
    table, report = joined(path, path, "--unordered-pairs", "-k", k, "--minimum-nprobes", 4)
    assert pairs_in(table) == expected
    named = [tuple(sorted(pair[:2])) for pair in expected]
    assert len(set(named)) == len(named)
    assert report["dropped_matches"] == sum(map(len, lists)) - len(expected)
    if k == 400:
        assert len(expected) == len(vectors) * (len(vectors) - 1) // 2


@pytest.mark.parametrize("flags", [(), ("--exclude-self",), ("--unordered-pairs",)])
def test_mutual_neighbours_of_a_self_join(joined, self_joined, flags):
    path, vectors = self_joined
    lists = lists_of(vectors, vectors, 5, own=not flags)
    has = having(lists)
    expected = expected_pairs(lists, lambda row, other: row in has[other] and (
        "--unordered-pairs" not in flags or row < other))
    table, _ = joined(path, path, "--mutual", *flags, "-k", 5, "--minimum-nprobes", 4)
    assert pairs_in(table) == expected


@pytest.mark.parametrize("form", ["parquet", "csv", "lance"])
def test_mutual_neighbours_of_two_tables(joined, tmp_path, form):
    left, right = whole_numbers(80, 4, 3), whole_numbers(ROWS, 4, 4)
    dataset = lance.write_dataset(table_of(right), tmp_path / "right.lance", max_rows_per_file=90)
    dataset.create_index("vec", "IVF_FLAT", num_partitions=4)
    path = tmp_path / f"left.{form}"
    if form == "csv":
        rows = [f'{row},"[{", ".join(map(str, vector))}]"' for row, vector in enumerate(left)]
        path.write_text("id,vec\n" + "\n".join(rows) + "\n")
    elif form == "lance":
        lance.write_dataset(table_of(left), path)
    else:
        pq.write_table(table_of(left), path, row_group_size=30)
    forward = lists_of(left, right, 3, own=True)
    back = having(lists_of(right, left, 3, own=True))
    expected = expected_pairs(forward, lambda row, other: row in back[other])
    table, report = joined(path, tmp_path / "right.lance", "--mutual", "-k", 3, "--on", "vec",
                           "--minimum-nprobes", 4)
    assert report["path"] == "index"
    assert pairs_in(table) == expected
    table, _ = joined(path, tmp_path / "right.lance", "--mutual", "-k", 3, "--on", "vec",
                      "--minimum-nprobes", 4, "--how", "left")
    assert [pair for pair in pairs_in(table) if pair[2] is not None] == expected
    assert sorted({row for row, *_ in pairs_in(table)}) == list(range(80))


@pytest.mark.parametrize("upper", [1.5, 4.5])
def test_clusters_are_the_components_of_the_near_pairs(joined, self_joined, upper):
    path, vectors = self_joined
    lists = lists_of(vectors, vectors, 10, upper)
    flags = ("--clusters", f"--distance-range=,{upper}", "--minimum-nprobes", 4)
    table, report = joined(path, path, *flags)
    assert table.column_names == ["id", "vec", "_cluster"]
    assert table["id"].to_pylist() == list(range(len(vectors)))
    assert table["_cluster"].to_pylist() == components(lists)
    assert report["clusters"] == len(set(components(lists)))
    has = having(lists)
    table, _ = joined(path, path, *flags, "--mutual", "--left-select", "", "--with-query-index")
    assert table.column_names == ["_cluster", "_query_index"]
    assert table["_cluster"].to_pylist() == components(lists, lambda a, b: a in has[b])


def test_rows_that_match_nothing_are_clusters_of_their_own(joined, tmp_path):
    vectors = pa.array([[1, 2], None, [1, 2], [float("nan"), 0], [1, 2], None],
                       pa.list_(pa.float32(), 2))
    pq.write_table(pa.table({"vec": vectors}), tmp_path / "rows.parquet")
    path = tmp_path / "rows.parquet"
    table, report = joined(path, path, "--clusters", "--distance-range=,0.5")
    assert table["_cluster"].to_pylist() == [0, 1, 0, 3, 0, 5]
    assert report["clusters"] == 4
    assert (report["skipped_null_rows"], report["skipped_non_finite_rows"]) == (2, 1)


def test_copies_are_found_however_many(joined, tmp_path):
    """A table with every row several times: as many clusters as there are different rows."""
    different = np.arange(40, dtype=np.float32)[:, None].repeat(8, 1) * 10
    vectors = np.random.default_rng(1).permutation(different.repeat(7, 0))
    lance.write_dataset(table_of(vectors), tmp_path / "rows.lance")
    path = tmp_path / "rows.lance"
    table, _ = joined(path, path, "--clusters", "--distance-range=,0.001", "-k", 10,
                      "--with-query-index")
    kept = table.filter(pa.compute.equal(table["_cluster"], table["_query_index"]))
    rows = np.array(kept["vec"].to_pylist())
    assert len(rows) == 40 and len(np.unique(rows, axis=0)) == 40
    of_row = {tuple(row): cluster for row, cluster in
              zip(table["vec"].to_pylist(), table["_cluster"].to_pylist())}
    assert len(of_row) == len(set(of_row.values())) == 40


def test_a_table_that_does_not_tell_its_rows(joined, tmp_path):
    """CSV: the rows are counted while they are read."""
    vectors = whole_numbers(60, 3, 5, 2)
    path = tmp_path / "rows.csv"
    rows = [f'{row},"[{", ".join(map(str, vector))}]"' for row, vector in enumerate(vectors)]
    path.write_text("id,vec\n" + "\n".join(rows) + "\n")
    lists = lists_of(vectors, vectors, 4)
    table, _ = joined(path, path, "--unordered-pairs", "-k", 4, "--on", "vec")
    assert pairs_in(table) == once(lists)
    table, _ = joined(path, path, "--clusters", "--distance-range=,1.5", "-k", 4, "--on", "vec")
    assert table["_cluster"].to_pylist() == components(lists_of(vectors, vectors, 4, 1.5))


def test_a_filter_leaves_rows_out_of_every_list(joined, tmp_path):
    vectors = whole_numbers(120, 4, 6)
    pq.write_table(table_of(vectors), tmp_path / "rows.parquet")
    path = tmp_path / "rows.parquet"
    distances = all_distances(vectors, vectors, "l2")
    lists = []
    for row in range(120):
        others = sorted((float(distances[row, b]), b) for b in range(60) if b != row)
        lists.append(others[:3])
    table, _ = joined(path, path, "--unordered-pairs", "-k", 3, "--where", "id < 60")
    assert pairs_in(table) == once(lists)
    has = having(lists)
    table, _ = joined(path, path, "--mutual", "--exclude-self", "-k", 3, "--where", "id < 60")
    assert pairs_in(table) == expected_pairs(lists, lambda row, other: row in has[other])


def test_the_closing_line_tells_clusters_and_whether_k_was_reached(kinjo, tmp_path):
    vectors = np.zeros((9, 2), np.float32)
    vectors[8] = 5
    pq.write_table(table_of(vectors), tmp_path / "rows.parquet")
    flags = ("--left", tmp_path / "rows.parquet", "--right", tmp_path / "rows.parquet",
             "--clusters", "--distance-range=,1", "-o", tmp_path / "out.parquet")
    told = kinjo("join", *flags, "-k", 3).stderr
    assert "2 clusters" in told and "8 left rows with k matches within the distance" in told
    told = kinjo("join", *flags, "-k", 8).stderr
    assert "2 clusters" in told and "with k matches" not in told and "fewer" not in told


@pytest.mark.parametrize("flags", [("--unordered-pairs",), ("--mutual",),
                                   ("--clusters", "--distance-range=,3")])
def test_threads_and_memory_do_not_show(kinjo, tmp_path, flags):
    vectors = whole_numbers(3000, 8, 7)
    lance.write_dataset(table_of(vectors), tmp_path / "rows.lance").create_index(
        "vec", "IVF_PQ", num_partitions=8, num_sub_vectors=4)
    answers = set()
    for threads in (1, 2):
        for limit in ("64MiB", "2GiB"):
            output = tmp_path / f"{threads}{limit}.arrow"
            kinjo("join", "--left", tmp_path / "rows.lance", "--right", tmp_path / "rows.lance",
                  *flags, "--threads", threads, "--memory-limit", limit, "-o", output)
            with pa.ipc.open_file(output) as reader:
                rows = reader.read_all().combine_chunks()
            answers.add(repr(rows.drop_columns(["vec"]).to_pydict()))
    assert len(answers) == 1


@pytest.mark.parametrize(("flags", "message"), [
    (("--unordered-pairs",), "--unordered-pairs needs a self-join"),
    (("--clusters", "--distance-range=,1"), "--clusters needs a self-join"),
])
def test_two_tables_are_no_self_join(kinjo, tmp_path, flags, message):
    for name in ("a", "b"):
        pq.write_table(table_of(whole_numbers(9, 3, 1)), tmp_path / f"{name}.parquet")
    done = kinjo("join", "--left", tmp_path / "a.parquet", "--right", tmp_path / "b.parquet",
                 *flags, exit_code=1)
    assert message in done.stderr and "two tables" in done.stderr


@pytest.mark.parametrize("name", ["stable_ids", "deltas", "deletes", "frag_reuse", "flat_hamming",
                                  "hnsw_sq"])
def test_pairs_are_of_the_lists_that_the_search_gives(joined, golden, name):
    """Odd datasets (moved and deleted rows, segments, graphs): whatever the search finds, which
    pairs come out of it is as defined."""
    path = golden / f"{name}.lance"
    ids = lance.dataset(str(path)).to_table(columns=["id"])["id"].to_pylist()
    row_of = {value: row for row, value in enumerate(ids)}
    flags = ("-k", 4, "--left-select", "", "--right-select", "id", "--with-query-index")

    def rows_of(*more):
        table, _ = joined(path, path, *flags, *more)
        columns = (table[column].to_pylist() for column in ("_query_index", "id", "_distance"))
        return [(row, row_of[other], distance) for row, other, distance in zip(*columns)]

    matches = rows_of("--exclude-self")
    has = [set() for _ in ids]
    for row, other, _ in matches:
        has[row].add(other)
    assert rows_of("--unordered-pairs") == [
        match for match in matches if match[0] < match[1] or match[0] not in has[match[1]]]
    assert rows_of("--mutual", "--exclude-self") == [
        match for match in matches if match[0] in has[match[1]]]


@pytest.mark.parametrize("refine", [["--refine-factor", "20"], []], ids=["refine", "unindexed"])
def test_near_copies_are_found_through_codes_that_blur_them(kinjo, tmp_path, refine):
    """A range holds for true distances where they are known: what a code makes of two equal rows
    lies far beyond it."""
    vectors = np.random.default_rng(9).normal(size=(600, 16)).astype(np.float32)
    table = table_of(np.concatenate([vectors, vectors]))
    path = str(tmp_path / "copies.lance")
    lance.write_dataset(table, path).create_index(
        "vec", "IVF_PQ", num_partitions=4, num_sub_vectors=2)
    if not refine:  # rows without index are merged, so all candidates are scored again
        lance.write_dataset(table_of(vectors[:1], np.array([1200])), path, mode="append")
    out = tmp_path / "out.parquet"
    kinjo("join", "--left", path, "--right", path, "-k", 200, "--clusters", "--distance-range",
          ",0.001", "--nprobes", "4", *refine, "-o", out)
    found = pq.read_table(out, columns=["id", "_cluster"]).to_pydict()
    assert dict(zip(found["id"], found["_cluster"])) == {
        row: row % 600 for row in found["id"]}
