"""`kinjo join` and `kinjo explain` where all goes well: the rows, where they go, and what is told
on standard error."""

import csv
import json
import re
import shutil

import lance
import numpy as np
import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet as pq
import pytest

from tests.cli.word_tables import word_table

K = 10


def vectors(table):
    return np.stack(table["vec"].to_numpy(zero_copy_only=False)).astype(np.float64)


@pytest.fixture(scope="module")
def truth(tables):
    """Ids of the K nearest right rows of each left row, and their distances, by brute force."""
    left = vectors(pq.read_table(tables / "left.parquet"))
    right = vectors(lance.dataset(str(tables / "right.lance")).to_table())
    distances = ((left[:, None, :] - right[None, :, :]) ** 2).sum(axis=2)
    order = np.argsort(distances, axis=1, kind="stable")[:, :K]
    return order, np.take_along_axis(distances, order, axis=1)


@pytest.fixture
def join(kinjo, tables):
    def run(*flags, right="right.lance", **options):
        sides = "--left", tables / "left.parquet", "--right", tables / right
        return kinjo("join", *sides, *flags, **options)

    return run


def test_exact_rows_are_right(join, truth, tmp_path):
    output = tmp_path / "out.parquet"
    join("--index", "never", "-o", output)
    table = pq.read_table(output)
    right = ["id_right", "word_right", "_distance", "_rank"]
    assert table.column_names == ["id", "word", "vec", *right]
    ids, distances = truth
    np.testing.assert_array_equal(table["id"], np.repeat(np.arange(200), K))
    np.testing.assert_array_equal(table["id_right"].to_numpy().reshape(-1, K), ids)
    np.testing.assert_array_equal(table["_rank"], np.tile(np.arange(1, K + 1), 200))
    np.testing.assert_allclose(table["_distance"].to_numpy().reshape(-1, K), distances, rtol=1e-5)


def test_all_partitions_and_a_full_refine_equal_the_exact_path(join, tmp_path):
    indexed, exact = tmp_path / "indexed.parquet", tmp_path / "exact.parquet"
    join("--index", "require", "--nprobes", 8, "--refine-factor", 300, "-o", indexed)
    join("--index", "never", "-o", exact)
    assert pq.read_table(indexed).equals(pq.read_table(exact))


def test_the_unindexed_dataset_gives_the_same(join, tmp_path):
    plain, never = tmp_path / "plain.parquet", tmp_path / "never.parquet"
    join("-o", plain, right="plain.lance")
    join("--index", "never", "-o", never)
    assert pq.read_table(plain).equals(pq.read_table(never))


def read_rows(path, form):
    if form == "parquet":
        return pq.read_table(path).to_pylist()
    if form == "arrow":
        return pa.ipc.open_file(path).read_all().to_pylist()
    if form == "jsonl":
        return [json.loads(line) for line in path.read_text().splitlines()]
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("form", ["parquet", "arrow", "csv", "jsonl"])
def test_formats_hold_the_same_rows(join, tmp_path, form):
    output = tmp_path / f"out.{form}"
    join("--index", "never", "--left-select", "id", "--right-select", "word", "-k", 3, "-o", output)
    rows = read_rows(output, form)
    assert len(rows) == 600
    assert list(rows[0]) == ["id", "word", "_distance", "_rank"]
    assert [int(row["_rank"]) for row in rows[:4]] == [1, 2, 3, 1]


def test_standard_output_is_json_lines_unless_a_terminal(join):
    done = join("--left-select", "id", "-k", 2)
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(rows) == 400
    assert set(rows[0]) == {"id", "id_right", "word", "_distance", "_rank"}


def test_a_table_for_people(join):
    done = join("--format", "table", "-k", 1)
    lines = done.stdout.splitlines()
    assert "_distance" in lines[0] or "_distance" in lines[1]
    assert "w0" in done.stdout


def test_columns_on_request(join, tmp_path):
    output = tmp_path / "out.parquet"
    join("--with-row-id", "--with-query-index", "--left-select", "", "--right-select", "id",
         "--index", "never", "-o", output)
    table = pq.read_table(output)
    assert table.schema.field("_rowid").type == pa.uint64()
    assert table.schema.field("_query_index").type == pa.int64()
    assert table["_query_index"].to_pylist() == np.repeat(np.arange(200), K).tolist()
    assert table["_rowid"].to_pylist() == table["id"].to_pylist()  # one fragment: id is the offset


def test_row_groups_and_compression(join, tmp_path):
    output = tmp_path / "out.parquet"
    join("--row-group-rows", 500, "--compression", "snappy", "-o", output)
    metadata = pq.ParquetFile(output).metadata
    assert metadata.num_rows == 2000
    assert metadata.num_row_groups == 4
    assert metadata.row_group(0).column(0).compression == "SNAPPY"


def test_distance_range_and_left_rows_without_a_match(join, truth, tmp_path):
    output = tmp_path / "out.parquet"
    nearest = truth[1][:, 0]
    limit = float(np.median(nearest))
    join("--index", "never", "-k", 1, "--distance-range", f",{limit}", "--how", "left",
         "-o", output)
    table = pq.read_table(output)
    assert table.num_rows == 200
    assert 0 < table["_distance"].null_count < 200
    assert table["_distance"].null_count == table["id_right"].null_count


def test_the_closing_line(join, tmp_path):
    done = join("--index", "never", "-o", tmp_path / "out.parquet")
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1
    assert done.stderr.startswith("kinjo: 2,000 rows from 200 left rows in ")
    assert "exact path" in done.stderr
    done = join("--index", "require", "-o", tmp_path / "out.parquet")
    assert "through index vec_idx" in done.stderr


def test_skipped_and_short_rows_are_told(kinjo, tables, tmp_path):
    left = tmp_path / "odd.parquet"
    rows = [[0.0] * 16, None, [float("nan")] + [0.0] * 15]
    pq.write_table(pa.table({"vec": pa.array(rows, pa.list_(pa.float32(), 16))}), left)
    done = kinjo("join", "--left", left, "--right", tables / "plain.lance", "-k", 5000,
                 "-o", tmp_path / "out.parquet")
    skipped = "2 left rows skipped (1 with a null vector, 1 with a NaN or infinite vector)"
    assert skipped in done.stderr
    assert "with fewer than k matches" in done.stderr
    assert "cut by" not in done.stderr
    done = kinjo("join", "--left", left, "--right", tables / "plain.lance", "--metric", "cosine",
                 "-o", tmp_path / "out.parquet")
    assert "(1 with a null vector, 2 with a NaN, infinite or zero vector)" in done.stderr


def test_rows_that_a_cap_cut_are_told_with_the_cap(join, tmp_path):
    out = tmp_path / "out.parquet"
    done = join("--nprobes", 1, "-k", 2000, "-o", out)
    assert "200 left rows with fewer than k matches, 200 of them cut by --nprobes\n" in done.stderr
    done = join("--nprobes", 1, "-k", 2000, "--json", "-o", out)
    assert json.loads(done.stderr)["capped_rows"] == 200
    done = join("--distance-range", "0,0.1", "--index", "never", "-o", out)
    assert "cut by --distance-range\n" in done.stderr


def test_the_closing_line_names_the_metric(join, tmp_path):
    out = tmp_path / "out.parquet"
    assert ", through index vec_idx, metric l2, approximate distances" in join("-o", out).stderr
    done = join("--metric", "cosine", "-o", out)
    assert ", exact path, metric cosine" in done.stderr


def test_the_closing_line_tells_when_few_rows_pass(join, tmp_path):
    told = join("--where", "id IN (3, 33)", "-o", tmp_path / "out.parquet").stderr
    assert ", index vec_idx not searched: few rows pass, all were scored, metric l2, exact" in told
    assert "through index" not in told


def test_vectors_inside_structs(kinjo, tables, tmp_path):
    # The same vectors at the top and in a struct give the same rows, through an index too.
    plain = word_table(500, seed=5)
    columns = [plain[name].combine_chunks() for name in ("vec", "word")]
    struct = pa.StructArray.from_arrays(columns, ["vec", "word"])
    right = tmp_path / "nested.lance"
    dataset = lance.write_dataset(pa.table({"id": plain["id"], "item": struct}), right)
    flat = tmp_path / "flat.lance"
    lance.write_dataset(plain, flat)

    def rows(path, *flags):
        done = kinjo("join", "--left", tables / "left.parquet", "--right", path, "-k", 5,
                     "--left-select", "id", "--right-select", "id", "--format", "csv", *flags)
        return done.stdout

    expected = rows(flat)
    nested = ["--left-on", "vec", "--right-on", "item.vec"]
    assert rows(right, *nested) == expected
    dataset.create_index("item.vec", "IVF_FLAT", name="nested_idx", num_partitions=4, metric="l2")
    assert rows(right, *nested, "--index", "require", "--nprobes", 4) == expected
    assert rows(right, *nested, "--nprobes", 4, "--refine-factor", 2) == expected
    done = kinjo("join", "--left", tables / "left.parquet", "--right", right, "--right-on",
                 "item.vector", exit_code=1)
    assert 'has no column "item.vector"; its columns: id, item' in done.stderr


def test_the_report_as_json(join, tmp_path):
    done = join("--json", "-o", tmp_path / "out.parquet")
    report = json.loads(done.stderr)
    assert report["left_rows"] == 200
    assert report["result_rows"] == 2000
    assert report["path"] == "index"
    assert report["index_name"] == "vec_idx"


def test_progress_as_json(join, tmp_path):
    done = join("--progress", "json", "-o", tmp_path / "out.parquet")
    *lines, closing = done.stderr.splitlines()
    progress = [json.loads(line) for line in lines]
    assert progress, "no progress was told"
    assert all(line["total_rows"] == 200 for line in progress)
    done_rows = [line["done_rows"] for line in progress]
    assert done_rows == sorted(done_rows)
    assert closing.startswith("kinjo: ")


def test_quiet(join, tmp_path):
    assert join("--progress", "none", "-o", tmp_path / "out.parquet").stderr == ""


def without_ways(plan):
    """The lines that are the same in every run: estimates aren't."""
    return [line for line in plan.splitlines() if not line.startswith("  · way")]


def test_explain_reads_no_left_row(kinjo, tables, join):
    plan = kinjo("explain", "--left", tables / "left.parquet", "--right", tables / "right.lance")
    assert plan.stderr == ""
    assert "KnnJoin" in plan.stdout
    assert "vec_idx" in plan.stdout
    assert without_ways(join("--explain").stdout) == without_ways(plan.stdout)


def test_explain_tells_path_reason_and_limits(kinjo, tables):
    def plan(*flags, right="right.lance", limit="1GiB"):
        sides = "--left", tables / "left.parquet", "--right", tables / right
        return kinjo("explain", *sides, "--threads", 2, "--memory-limit", limit, *flags).stdout

    told = plan().splitlines()
    assert told[1] == '  · path: index; index "vec_idx" (IVF_PQ, l2) fits column "vec" and metric'
    assert told[2].startswith("  · limits: estimated memory ")
    assert told[2].endswith(" of 1.0 GiB, 2 threads: runs")
    assert '· path: exact; right column "vec" has no vector index' in plan(right="plain.lance")
    told = plan("--metric", "cosine", "--nprobes", 3)
    assert '· path: exact; no index fits: "vec_idx" (IVF_PQ, l2): its metric is l2, but' in told
    assert "  · note: probes" in told
    assert "Prefilter: where=\"id < 9\", columns=[id]" in plan("--where", "id < 9")
    verbose = plan("--verbose")
    assert "  · memory: buffers " in verbose and "  · distances: approximate" in verbose
    short = without_ways(plan())
    assert [line for line in verbose.splitlines() if line in short] == short
    # What the limit would let it take isn't what it takes.
    [limits] = [line for line in plan(limit="16GiB").splitlines() if "limits" in line]
    assert re.search(r"estimated memory [0-9.]+ MiB of 16.0 GiB", limits), limits


def test_explain_tells_the_ways_and_the_report_the_one_that_was_gone(kinjo, tables, join, tmp_path):
    lines = join("--explain").stdout.splitlines()
    ways = [line for line in lines if line.startswith("  · way")]
    assert len(ways) == 3 and ways[0].startswith("  · way: partition-major, resident: about ")
    assert all(line.startswith("  · way not taken: ") for line in ways[1:])
    report = json.loads(join("--json", "-o", tmp_path / "out.parquet").stderr)
    assert report["way"] == "partition-major, resident"
    assert 0 < report["estimated_s"] < 10
    told = join("--analyze").stdout
    assert re.search(r"way: partition-major, resident: about .*; it took [0-9.]+ s", told), told


def test_explain_lists_the_indexes_not_taken(kinjo, tables, tmp_path):
    right = lance.write_dataset(word_table(600, seed=2), tmp_path / "two.lance")
    for name in ("old_idx", "new_idx"):
        right.create_index("vec", "IVF_FLAT", name=name, num_partitions=2, metric="l2")
    named = kinjo("explain", "--left", tables / "left.parquet", "--right", tmp_path / "two.lance",
                  "--index", "old_idx").stdout
    assert '· not taken: "new_idx" (IVF_FLAT, l2): another is asked for by name' in named
    sides = "--left", tables / "left.parquet", "--right", tmp_path / "two.lance"
    told = kinjo("explain", *sides).stdout.splitlines()
    assert told[1].startswith('  · path: index; index "new_idx" (IVF_FLAT, l2) fits column "vec"')
    assert told[1].endswith(" and metric; the newest")
    assert told[2] == '  · not taken: "old_idx" (IVF_FLAT, l2): a newer index fits too'


def test_the_memory_is_measured(join, tmp_path):
    flags = "--index", "never", "-k", 1000, "-o", tmp_path / "out.arrow"
    report = json.loads(join(*flags, "--json").stderr)
    assert 0 < report["measured_memory_bytes"] < 4 << 30
    assert report["measured_memory_bytes"] % 4096 == 0
    assert re.search(r", memory \+[0-9.]+ [KMG]iB\n", join(*flags).stderr)
    assert "measured_memory_bytes=" in join("--analyze").stdout


def test_analyze_drops_the_rows(join):
    done = join("--analyze")
    assert "KnnJoin" in done.stdout
    assert '"_distance"' not in done.stdout
    assert "2,000 rows from 200 left rows" in done.stderr


def test_analyze_beside_rows(join, tmp_path):
    output = tmp_path / "out.parquet"
    assert "KnnJoin" in join("--analyze", "-o", output).stdout
    assert pq.read_table(output).num_rows == 2000
    to_stdout = join("--analyze", "-o", "-", "-k", 1)
    assert len([json.loads(line) for line in to_stdout.stdout.splitlines()]) == 200
    assert "KnnJoin" in to_stdout.stderr


@pytest.mark.parametrize("flags", [[], ["--index", "never"], ["--nprobes", "3"]])
def test_threads_and_memory_do_not_change_a_byte(join, tmp_path, flags):
    one, many = tmp_path / "one.arrow", tmp_path / "many.arrow"
    join(*flags, "--threads", 1, "-o", one)
    join(*flags, "--threads", 4, "--memory-limit", "64MiB", "-o", many)
    assert pa.ipc.open_file(one).read_all().equals(pa.ipc.open_file(many).read_all())


@pytest.mark.parametrize(
    "given, shown",
    [("64MiB", "64.0 MiB"), ("1.5GiB", "1.5 GiB"), ("1GB", "953.7 MiB"), ("100000kb", "95.4 MiB")],
)
def test_sizes_have_units(kinjo, tables, given, shown):
    sides = "--left", tables / "left.parquet", "--right", tables / "right.lance"
    plan = kinjo("explain", *sides, "--memory-limit", given).stdout
    assert f" of {shown}, " in plan


@pytest.mark.parametrize("way", ["exact=own", "exact=pairs", "exact=kept", "index=streamed"])
def test_a_forced_way_gives_the_same_bytes(join, tmp_path, monkeypatch, way):
    index = ["--index", "require" if way.startswith("index") else "never"]
    join(*index, "-o", tmp_path / "chosen.csv")
    monkeypatch.setenv("KINJO_WAYS", way)
    join(*index, "-o", tmp_path / "forced.csv")
    assert (tmp_path / "forced.csv").read_bytes() == (tmp_path / "chosen.csv").read_bytes()


def test_a_wrong_way_is_named(join, tmp_path, monkeypatch):
    monkeypatch.setenv("KINJO_WAYS", "exact=fast")
    done = join("-o", tmp_path / "out.csv", exit_code=1)
    assert 'KINJO_WAYS has "fast", but there are: shared, own, pairs, kept' in done.stderr


def test_one_table_under_two_names(kinjo, tmp_path):
    """A link, and a glob beside its folder, are the table that they lead to."""
    lance.write_dataset(word_table(60, seed=5), tmp_path / "real.lance")
    (tmp_path / "link.lance").symlink_to(tmp_path / "real.lance")
    folder = tmp_path / "files"
    folder.mkdir()
    for part in range(2):
        pq.write_table(word_table(30, seed=part), folder / f"{part}.parquet")
    for left, right in (("real.lance", "link.lance"), ("files", "files/*.parquet")):
        done = kinjo("join", "--left", tmp_path / left, "--right", tmp_path / right, "--on", "vec",
                     "--unordered-pairs", "-k", 3, "-o", tmp_path / "out.csv")
        assert "from 60 left rows" in done.stderr
    copied = tmp_path / "copied"
    shutil.copytree(folder, copied)
    done = kinjo("join", "--left", folder, "--right", copied, "--exclude-self", "-o",
                 tmp_path / "out.csv", exit_code=1)
    assert "are two tables" in done.stderr
