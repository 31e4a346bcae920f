"""`kinjo join --resume`: a folder of parts, what is told of it, and what is refused."""

import fcntl
import json
import os
import shutil
import signal
import subprocess
import time

import duckdb
import lance
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

from tests.cli.word_tables import word_table

INTERRUPTED = 130


@pytest.fixture
def resume(kinjo, tables):
    """resume(folder, *flags): the join of the two tables in parts of 60 left rows."""

    def run(folder, *flags, left=tables / "left.parquet", **options):
        sides = "--left", left, "--right", tables / "right.lance"
        return kinjo("join", *sides, "--resume", "--part-rows", 60, "-o", folder, *flags, **options)

    return run


def content(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_readers_see_one_table(kinjo, resume, tables, tmp_path):
    folder = tmp_path / "out"
    done = resume(folder)
    assert f"4 parts in {folder}: 2,000 rows from 200 left rows\n" in done.stderr
    names = sorted(path.name for path in folder.iterdir())
    assert names == ["_kinjo.journal", *(f"part-0000{i}.parquet" for i in range(4))]
    sides = "--left", tables / "left.parquet", "--right", tables / "right.lance"
    kinjo("join", *sides, "-o", tmp_path / "whole.parquet")
    whole = pq.read_table(tmp_path / "whole.parquet")
    assert ds.dataset(folder).to_table().equals(whole)
    assert pq.read_table(folder).equals(whole)
    query = f"select count(*), sum(_distance) from '{folder}/*.parquet'"
    [(rows, total)] = duckdb.sql(query).fetchall()
    assert rows == 2000
    assert total == pytest.approx(sum(whole["_distance"].to_pylist()))
    # And Kinjo itself, as a left side.
    again = kinjo(
        "join", "--left", folder, "--right", tables / "right.lance", "--on", "vec", "-k", 1,
        "--index", "never", "--left-select", "id", "--right-select", "id", "--format", "csv",
    )  # fmt: skip
    lines = again.stdout.splitlines()[1:]
    assert [int(line.split(",")[0]) for line in lines] == whole["id"].to_pylist()


def test_a_finished_folder_is_left_alone(resume, tmp_path):
    folder = tmp_path / "out"
    resume(folder)
    before = content(folder)
    done = resume(folder, "--json", "--progress", "json")
    assert "finished by an earlier run; nothing was left to do" in done.stderr
    assert content(folder) == before
    *told, report = done.stderr.splitlines()
    assert json.loads(report)["left_rows"] == 0
    assert json.loads(report)["resumed_rows"] == 200
    last = json.loads([line for line in told if line.startswith("{")][-1])
    assert (last["state"], last["done_rows"], last["total_rows"]) == ("done", 200, 200)
    # However the columns are named, it is the same run.
    assert "nothing was left to do" in resume(folder, "--on", "vec").stderr
    sides = "--left-on", "vec", "--right-on", "vec"
    assert "nothing was left to do" in resume(folder, *sides).stderr


def test_what_differs_is_told(resume, tables, tmp_path):
    folder = tmp_path / "out"
    resume(folder)
    before = content(folder)
    done = resume(folder, "-k", 3, exit_code=1)
    assert "parts in" in done.stderr
    assert "k was 10 and is 3" in done.stderr
    left = tmp_path / "left.parquet"
    shutil.copy(tables / "left.parquet", left)
    done = resume(folder, left=left, exit_code=1)
    assert f"left uri was {tables / 'left.parquet'} and is {left}" in done.stderr
    done = resume(folder, "--format", "csv", exit_code=1)
    assert "format was parquet and is csv" in done.stderr
    resume(folder, "--threads", 1, "--memory-limit", "64MiB")
    assert content(folder) == before


def test_a_right_side_that_got_a_new_version(kinjo, tables, tmp_path):
    lance.write_dataset(word_table(500, seed=5), tmp_path / "right.lance")
    sides = "--left", tables / "left.parquet", "--right", tmp_path / "right.lance"
    flags = "join", *sides, "--resume", "--part-rows", 60, "-o", tmp_path / "out"
    kinjo(*flags)
    lance.write_dataset(word_table(10, seed=6), tmp_path / "right.lance", mode="append")
    done = kinjo(*flags, exit_code=1)
    assert "right version was 1 and is 2" in done.stderr
    kinjo(*flags, "--right-version", 1)  # what it was begun with
    # Made anew it is another dataset, though its version is 1 again.
    shutil.rmtree(tmp_path / "right.lance")
    lance.write_dataset(word_table(500, seed=7), tmp_path / "right.lance")
    done = kinjo(*flags, exit_code=1)
    assert "right checksum of files and indexes was" in done.stderr


@pytest.mark.parametrize(
    "flags, words",
    [
        (["--resume"], "--resume needs -o FOLDER"),
        (["--resume", "-o", "-"], "--resume needs -o FOLDER"),
        (["--part-rows", "5", "-o", "x.csv"], "--part-rows needs --resume"),
        (["--resume", "-o", "x", "--part-rows", "0"], "--part-rows must be from 1"),
        (["--resume", "-o", "x", "--format", "table"], "format"),
    ],
)
def test_wrong_flags(kinjo, tables, flags, words):
    sides = "--left", tables / "left.parquet", "--right", tables / "right.lance"
    done = kinjo("join", *sides, *flags, exit_code=2)
    assert words in done.stderr


def test_places_that_are_refused(resume, tables, tmp_path):
    foreign = tmp_path / "foreign"
    foreign.mkdir()
    (foreign / "notes.txt").touch()
    assert "holds notes.txt and no journal" in resume(foreign, exit_code=1).stderr
    assert content(foreign) == {"notes.txt": b""}
    done = resume(tables / "left.parquet", exit_code=1)
    assert "it is a file; name a folder" in done.stderr
    assert "there is no folder" in resume(tmp_path / "a" / "b", exit_code=1).stderr
    assert "can't write /proc/out" in resume("/proc/out", exit_code=1).stderr


def test_two_processes_at_one_folder(resume, tmp_path):
    folder = tmp_path / "out"
    resume(folder)
    with open(folder / "_kinjo.journal") as journal:
        fcntl.flock(journal, fcntl.LOCK_EX)
        done = resume(folder, exit_code=1)
    assert "another process is writing parts" in done.stderr
    resume(folder)


def test_a_pipe_as_the_left_side(kinjo, tables, tmp_path):
    pipe = tmp_path / "left.csv"
    os.mkfifo(pipe)
    text = "vec\n" + '"[' + ", ".join(["0.5"] * 16) + ']"\n'
    writer = subprocess.Popen(["sh", "-c", 'while true; do printf "%s" "$1" > "$2"; done', "sh",
                               text, pipe])  # fmt: skip
    try:
        sides = "--left", pipe, "--right", tables / "right.lance"
        done = kinjo("join", *sides, "--resume", "-o", tmp_path / "out", exit_code=1)
    finally:
        writer.kill()
        writer.wait()
    assert "is a pipe or a device" in done.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("flag", ["--mutual", "--unordered-pairs", "--clusters"])
def test_joins_that_look_at_all_rows_first(kinjo, tables, tmp_path, flag):
    sides = "--left", tables / "right.lance", "--right", tables / "right.lance"
    limits = ("--distance-range", ",9") if flag == "--clusters" else ()
    flags = "join", *sides, flag, *limits, "--resume", "-o", tmp_path / "out"
    done = kinjo(*flags, exit_code=2)
    assert f"{flag} looks at all left rows before it is done" in done.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("more", [("--recall", 0.9), ("--by", "word"), ("--exclude-self=id",)])
def test_other_options_in_parts(kinjo, tables, tmp_path, more):
    """A run that was continued makes the choices of the one before."""
    sides = "--left", tables / "left.parquet", "--right", tables / "right.lance"
    flags = "join", *sides, *more, "--resume", "--part-rows", 60, "--progress", "none", "-o"
    kinjo(*flags, tmp_path / "whole")
    whole = content(tmp_path / "whole")
    assert len(whole) == 5
    shutil.copytree(tmp_path / "whole", tmp_path / "out")
    journal = tmp_path / "out" / "_kinjo.journal"
    journal.write_bytes(b"".join(journal.read_bytes().splitlines(keepends=True)[:2]))
    for number in (2, 3):
        (tmp_path / "out" / f"part-0000{number}.parquet").unlink()
    kinjo(*flags, tmp_path / "out")
    assert content(tmp_path / "out") == whole


def wait_for(path):
    end = time.monotonic() + 60
    while not path.exists():
        assert time.monotonic() < end, f"no {path}"
        time.sleep(0.01)


def test_an_interrupt_keeps_the_finished_parts(kinjo_cli, kinjo, long_join, tmp_path):
    folder = tmp_path / "out"
    sides = "--left", long_join / "left.parquet", "--right", long_join / "right.parquet"
    flags = (
        "join", *sides, "--threads", 1, "-k", 1, "--where", "id < 5000", "--left-select", "id",
        "--right-select", "id", "--resume", "--part-rows", 4000, "-o", folder,
    )  # fmt: skip
    command = [str(kinjo_cli), *map(str, flags), "--progress", "json"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        wait_for(folder / "part-00000.parquet")
        process.send_signal(signal.SIGINT)
        lines = process.stderr.read().splitlines()
    assert process.returncode == INTERRUPTED
    *progress, told, advice = lines
    assert told == "kinjo: join: cancelled"
    assert advice.endswith("finished and kept; the same command goes on from there")
    states = [json.loads(line)["state"] for line in progress]
    assert states[0] == "running"
    assert states[-1] == "cancelled"
    kept = content(folder)
    assert all(name.startswith(("part-", "_kinjo")) for name in kept)
    done = kinjo(*flags, "--progress", "json", "--json")
    *progress, told, report = done.stderr.splitlines()
    lines = [json.loads(line) for line in progress]
    parts = len(kept) - 1
    assert lines[0]["done_rows"] == parts * 4000
    assert lines[-1]["state"] == "done"
    assert lines[-1]["done_rows"] == lines[-1]["total_rows"] == 120_000
    assert lines[-1]["remaining_s"] == 0
    assert f"30 parts in {folder}" in told
    assert f"{parts} of them of earlier runs" in told
    assert json.loads(report)["resumed_rows"] == parts * 4000
    for name, old in kept.items():
        if name.startswith("part-"):
            assert (folder / name).read_bytes() == old
