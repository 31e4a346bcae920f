"""Input that can't be used: each case ends with its exit code, one line that says what was wrong
with what, and nothing at the output path."""

import os
import shutil
import struct
import subprocess

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.cli.word_tables import vector_column, word_table

FAILED, WRONG_COMMAND_LINE, REFUSED = 1, 2, 3


@pytest.fixture
def fails(kinjo, tmp_path):
    """Runs a join that must fail, with -o to a folder that must stay as empty as it was."""

    def run(*flags, exit_code=FAILED, says=(), **options):
        output = tmp_path / "output"
        output.mkdir()
        place = [] if "-o" in flags else ["-o", output / "out.parquet"]
        done = kinjo("join", *place, *flags, exit_code=exit_code, **options)
        assert done.stdout == ""
        lines = done.stderr.splitlines()
        assert len(lines) == 1, done.stderr
        assert lines[0].startswith("kinjo: join: "), done.stderr
        for text in says:
            assert str(text) in lines[0], done.stderr
        assert list(output.iterdir()) == []
        return lines[0]

    return run


def test_an_empty_output_names_the_flag(kinjo, tables):
    done = kinjo("join", "--left", tables / "left.parquet", "--right", tables / "plain.lance",
                 "-o", "", exit_code=2)
    assert done.stderr.startswith("kinjo: join: --output is empty; name a file, or - for standard")


def sides(tables):
    return "--left", tables / "left.parquet", "--right", tables / "right.lance"


def test_missing_left(fails, tables):
    path = tables / "nowhere.parquet"
    fails("--left", path, "--right", tables / "right.lance", says=[path])


def test_missing_right(fails, tables):
    path = tables / "nowhere.lance"
    fails("--left", tables / "left.parquet", "--right", path, says=[path])


def test_glob_that_matches_nothing(fails, tables):
    path = tables / "nothing-*.parquet"
    fails("--left", path, "--right", tables / "right.lance", says=[path.name, path.parent])


def test_right_is_not_a_lance_dataset(fails, tables, tmp_path):
    folder = tmp_path / "folder.lance"
    folder.mkdir()
    (folder / "notes.md").write_text("nothing here")
    fails("--left", tables / "left.parquet", "--right", folder, says=[folder])


def test_left_is_not_what_its_name_says(fails, tables, tmp_path):
    path = tmp_path / "left.parquet"
    path.write_text("id,vec\n1,2\n")
    fails("--left", path, "--right", tables / "right.lance", says=[path])


def varint(number):
    out = b""
    while number >= 0x80:
        out += bytes([number & 0x7F | 0x80])
        number >>= 7
    return out + bytes([number])


def set_reader_flags(dataset, flags):
    """Appends reader_feature_flags to the newest manifest: a later field wins."""
    path = min((dataset / "_versions").glob("*.manifest"))
    data = path.read_bytes()
    (position,) = struct.unpack("<Q", data[-16:-8])
    (length,) = struct.unpack("<I", data[position : position + 4])
    message = data[position + 4 : position + 4 + length] + varint(9 << 3) + varint(flags)
    path.write_bytes(data[:position] + struct.pack("<I", len(message)) + message + data[-16:])


def test_unknown_feature_flag(fails, tables, tmp_path):
    dataset = tmp_path / "future.lance"
    shutil.copytree(tables / "plain.lance", dataset)
    set_reader_flags(dataset, 1 << 40)
    fails("--left", tables / "left.parquet", "--right", dataset, says=["feature"])


@pytest.mark.parametrize("name", ["legacy", "next"])
def test_unsupported_file_version(fails, golden, name):
    right = golden / f"{name}.lance"
    line = fails("--left", right, "--right", right, "--index", "never")
    assert "version" in line


def test_damaged_manifest(fails, tables, tmp_path):
    dataset = tmp_path / "damaged.lance"
    shutil.copytree(tables / "plain.lance", dataset)
    path = min((dataset / "_versions").glob("*.manifest"))
    path.write_bytes(path.read_bytes()[:-7])
    fails("--left", tables / "left.parquet", "--right", dataset, says=[path.name])


def test_no_such_version(fails, tables):
    fails(*sides(tables), "--right-version", 99, says=["99", "right.lance"])


@pytest.mark.parametrize("flag, side", [("--left-on", "left"), ("--right-on", "right")])
def test_no_such_column(fails, tables, flag, side):
    fails(*sides(tables), flag, "embedding", says=["embedding", side, "vec"])


@pytest.mark.parametrize("flag, side", [("--left-on", "left"), ("--right-on", "right")])
def test_column_is_not_a_vector(fails, tables, flag, side):
    fails(*sides(tables), flag, "word", says=["word", side, "string"])


def test_no_such_selected_column(fails, tables):
    fails(*sides(tables), "--left-select", "id,nothing", says=["nothing", "left"])


def test_widths_differ(fails, tables, tmp_path):
    left = tmp_path / "narrow.parquet"
    pq.write_table(word_table(5, seed=1, dimension=8), left)
    fails("--left", left, "--right", tables / "right.lance", says=["8", "16", "vec"])


def test_list_row_of_another_width(fails, tables, tmp_path):
    left = tmp_path / "ragged.parquet"
    rows = [np.zeros(16).tolist(), np.zeros(15).tolist()]
    pq.write_table(pa.table({"vec": pa.array(rows, pa.list_(pa.float32()))}), left)
    fails("--left", left, "--right", tables / "right.lance", says=["15", "16", "vec"])


def test_names_that_clash(fails, tables, tmp_path):
    left = tmp_path / "left.parquet"
    table = word_table(5, seed=1)
    pq.write_table(table.append_column("id_right", table["id"]), left)
    fails("--left", left, "--right", tables / "right.lance", says=["id_right", "suffix"])


@pytest.mark.parametrize(
    "flags, says",
    [
        (["-k", "0"], ["k", "0"]),
        (["-k", "-1"], ["k", "-1"]),
        (["--nprobes", "0"], ["nprobes", "0"]),
        (["--refine-factor", "0"], ["--refine-factor", "0"]),
        (["--minimum-nprobes", "9", "--maximum-nprobes", "4"], ["9", "4"]),
        (["--nprobes", "4", "--maximum-nprobes", "8"], ["--nprobes 4", "--maximum-nprobes 8"]),
        (["--metric", "manhattan"], ["metric", "manhattan", "cosine"]),
        (["--how", "outer"], ["how", "outer", "inner"]),
        (["--threads", "0"], ["threads", "0"]),
        (["--distance-range", "2,1"], ["--distance-range must"]),
        (["--fast-search", "--index", "never"], ["--fast-search", "--index never"]),
        (["-k", "ten"], ["--k", "ten"]),
        (["-k"], ["--k", "value"]),
        (["-k", "3", "-k", "4"], ["--k", "once"]),
        (["--memory-limit", "4"], ["--memory-limit", "4GiB"]),
        (["--distance-range", "near"], ["--distance-range", "near"]),
        (["--left-select", "id,,word"], ["--left-select"]),
        (["--progress", "loud"], ["--progress", "loud"]),
        (["--explain", "--analyze"], ["--explain", "--analyze"]),
        (["--explain", "--json"], ["--json", "--explain"]),
        (["--exclude-self="], ["--exclude-self= is empty"]),
        (["--search-effort", "2"], ["--search-effort", "2"]),
        (["--search-effort", "0.5", "--nprobes", "3"], ["--search-effort 0.5", "--nprobes 3"]),
        (["--search-effort", "much"], ["--search-effort", "much"]),
        (["--ef", "19", "--refine-factor", "2"], ["--ef 19", "20"]),
        (["--where", ""], ["--where", "empty"]),
        (["--approx-mode", "quick"], ["--approx-mode", "quick", "accurate"]),
        (["--fast-search=maybe"], ["--fast-search takes no value"]),
        (["--fast-search=1"], ["--fast-search takes no value"]),
        (["--recalls", "0.9"], ["unknown flag", "--recalls"]),
        (["stray"], ["stray"]),
    ],
)
def test_flags_that_are_wrong_by_themselves(fails, tables, flags, says):
    fails(*sides(tables), *flags, exit_code=WRONG_COMMAND_LINE, says=says)


@pytest.mark.parametrize("where, says", [
    ("regexp_like(word, 'a(')", ["character 19", "a("]),
    ("regexp_match(word, '[z')", ["character 20", "[z"]),
    ("word LIKE '%_%' ESCAPE 'ab'", ["ESCAPE takes one character"]),
    ("word LIKE 'a!' ESCAPE '!'", ["ends in its escape character"]),
    ("nothing = 3", ["nothing", "word"]),
    ("id = 'x'", ["x"]),
])
def test_a_wrong_predicate_is_found_by_the_plan(kinjo, tables, where, says):
    flags = "--left", tables / "left.parquet", "--right", tables / "right.lance", "--where", where
    done = kinjo("explain", *flags, exit_code=1)
    assert done.stderr.startswith("kinjo: explain: --where: ")
    for text in says:
        assert text in done.stderr


@pytest.mark.parametrize("missing", ["left", "right"])
def test_a_side_is_not_given(fails, tables, missing):
    other = {"left": "--right", "right": "--left"}[missing]
    fails(other, tables / "x", exit_code=WRONG_COMMAND_LINE, says=[f"--{missing}"])


def test_flags_are_judged_before_files(fails, tables):
    left = tables / "nowhere.parquet"
    fails("--left", left, "--right", left, "-k", 0, exit_code=WRONG_COMMAND_LINE, says=["k"])


def test_required_index_is_not_there(fails, tables):
    flags = "--left", tables / "left.parquet", "--right", tables / "plain.lance"
    fails(*flags, "--index", "require", exit_code=REFUSED, says=["index", "vec"])


def test_required_index_has_another_metric(fails, tables):
    fails(*sides(tables), "--index", "require", "--metric", "cosine", exit_code=REFUSED,
          says=["vec_idx", "l2", "cosine"])


def test_named_index_is_not_there(fails, tables):
    fails(*sides(tables), "--index", "other_idx", exit_code=None, says=["other_idx", "vec_idx"])


def test_memory_limit_is_too_small(fails, tables):
    line = fails(*sides(tables), "--memory-limit", "10KB", exit_code=REFUSED)
    assert "memory" in line


def test_output_folder_is_not_there(fails, tables, tmp_path):
    output = tmp_path / "nowhere" / "out.parquet"
    fails(*sides(tables), "-o", output, says=[tmp_path / "nowhere"])


def test_output_is_a_folder(fails, tables, tmp_path):
    folder = tmp_path / "out.parquet"
    folder.mkdir()
    fails(*sides(tables), "-o", folder, says=[folder])
    assert list(folder.iterdir()) == []


def test_output_folder_may_not_be_written(fails, tables, tmp_path):
    if os.geteuid() == 0:
        folder = "/proc"  # root may write everywhere, but nobody makes files here
    else:
        folder = tmp_path / "locked"
        folder.mkdir(mode=0o500)
    fails(*sides(tables), "-o", f"{folder}/out.parquet", says=[folder])


@pytest.mark.parametrize(
    "flags, says",
    [
        (["-o", "out.xyz"], ["out.xyz", "parquet"]),
        (["-o", "out.csv", "--format", "tsv"], ["tsv", "csv"]),
        (["-o", "-", "--format", "parquet"], ["parquet", "standard output"]),
        (["-o", "out.parquet", "--compression", "zip"], ["zip", "zstd"]),
        (["-o", "out.parquet", "--row-group-rows", "0"], ["--row-group-rows", "0"]),
    ],
)
def test_output_flags_that_are_wrong_by_themselves(fails, tables, tmp_path, flags, says):
    fails(*sides(tables), *flags, exit_code=WRONG_COMMAND_LINE, says=says, cwd=tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["output"]


@pytest.mark.parametrize("form", ["parquet", "arrow", "csv", "jsonl"])
def test_no_room_while_writing(kinjo_cli, tables, tmp_path, form):
    output = tmp_path / f"out.{form}"
    join = [kinjo_cli, "join", *sides(tables), "-k", "50", "-o", output]
    done = subprocess.run(["bash", "-c", 'ulimit -f 8; exec "$@"', "-", *map(str, join)],
                          capture_output=True, text=True, timeout=60)
    assert done.returncode == FAILED, done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert str(output) in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_disk_is_full_behind_standard_output(kinjo_cli, tables):
    command = [kinjo_cli, "join", *sides(tables), "--format", "jsonl", "-k", "50"]
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            list(map(str, command)), stdout=full, stderr=subprocess.PIPE, text=True
        )
    assert done.returncode == FAILED
    assert len(done.stderr.splitlines()) == 1
    assert "No space left" in done.stderr


def test_what_was_at_the_output_stays(kinjo, tables, tmp_path):
    output = tmp_path / "out.parquet"
    output.write_text("mine")
    flags = "--left", tables / "left.parquet", "--right", tables / "nowhere.lance"
    kinjo("join", *flags, "-o", output, exit_code=FAILED)
    assert output.read_text() == "mine"


def test_empty_left_is_no_error(kinjo, tables, tmp_path):
    left = tmp_path / "empty.parquet"
    pq.write_table(word_table(0, seed=1), left)
    output = tmp_path / "out.parquet"
    kinjo("join", "--left", left, "--right", tables / "right.lance", "-o", output)
    assert pq.read_table(output).num_rows == 0


def test_empty_right_is_no_error(kinjo, tables, tmp_path):
    right = tmp_path / "right.parquet"
    pq.write_table(word_table(0, seed=1), right)
    flags = "--left", tables / "left.parquet", "--right", right
    inner, left = tmp_path / "inner.parquet", tmp_path / "left.parquet"
    kinjo("join", *flags, "-o", inner)
    kinjo("join", *flags, "--how", "left", "-o", left)
    assert pq.read_table(inner).num_rows == 0
    rows = pq.read_table(left)
    assert rows.num_rows == 200
    assert rows["_distance"].null_count == rows["_rank"].null_count == 200
    full = tmp_path / "full.parquet"
    kinjo("join", "--left", tables / "left.parquet", "--right", tables / "right.lance", "-o", full)
    assert pq.read_schema(full) == pq.read_schema(inner)


def test_info_on_what_is_no_dataset(kinjo, tables, tmp_path):
    for path in [tables / "nowhere.lance", tmp_path, tables / "left.parquet"]:
        done = kinjo("info", path, exit_code=FAILED)
        assert done.stdout == ""
        assert len(done.stderr.splitlines()) == 1
        assert str(path) in done.stderr


def test_vectors_of_a_kind_that_cannot_be_joined(fails, tables, tmp_path):
    left = tmp_path / "texts.parquet"
    pq.write_table(pa.table({"vec": pa.array([["a", "b"]], pa.list_(pa.string()))}), left)
    fails("--left", left, "--right", tables / "right.lance", "--on", "vec", says=["vec", "string"])


def test_column_must_be_named_when_there_are_two(fails, tables, tmp_path):
    left = tmp_path / "two.parquet"
    values = np.zeros((3, 16), np.float32)
    pq.write_table(pa.table({"a": vector_column(values), "b": vector_column(values)}), left)
    fails("--left", left, "--right", tables / "right.lance", says=["a", "b", "left"])
