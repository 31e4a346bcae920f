"""Ways to end early: Ctrl-C, SIGTERM, a reader that leaves. And the terminal, where a bar is
drawn."""

import json
import os
import pty
import select
import signal
import subprocess

import pytest

INTERRUPTED, TERMINATED, BROKEN_PIPE = 130, 143, 141


@pytest.fixture
def start(kinjo_cli):
    def run(*arguments, **options):
        command = [str(kinjo_cli), *map(str, arguments)]
        return subprocess.Popen(command, text=True, **options)

    return run


def long_flags(long_join):
    sides = "--left", long_join / "left.parquet", "--right", long_join / "right.parquet"
    return "join", *sides, "--threads", 1  # long on any machine


@pytest.mark.parametrize(
    "number, exit_code", [(signal.SIGINT, INTERRUPTED), (signal.SIGTERM, TERMINATED)]
)
def test_a_signal_leaves_nothing_behind(start, long_join, tmp_path, number, exit_code):
    flags = *long_flags(long_join), "--progress", "json", "-o", tmp_path / "out.parquet"
    with start(*flags, stderr=subprocess.PIPE) as process:
        first = process.stderr.readline()  # it runs
        assert json.loads(first)["done_rows"] < 120_000
        process.send_signal(number)
        rest = process.stderr.read().splitlines()
    assert process.returncode == exit_code
    assert rest[-1] == "kinjo: join: cancelled"
    assert list(tmp_path.iterdir()) == []


def test_a_reader_that_leaves_is_passed_over_in_silence(start, long_join):
    flags = *long_flags(long_join), "--format", "jsonl"
    with start(*flags, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert json.loads(process.stdout.readline())["_rank"] == 1
        process.stdout.close()
        told = process.stderr.read()
    assert told == ""
    assert process.returncode == BROKEN_PIPE


def read_all(descriptor):
    """All that was written to a terminal whose other end is closed."""
    data = b""
    while select.select([descriptor], [], [], 60)[0]:
        try:
            chunk = os.read(descriptor, 65536)
        except OSError:  # EIO: the last writer is gone
            break
        if not chunk:
            break
        data += chunk
    os.close(descriptor)
    return data.decode()


def test_a_bar_on_a_terminal(start, tables, tmp_path):
    master, slave = pty.openpty()
    flags = "join", "--left", tables / "left.parquet", "--right", tables / "right.lance"
    environment = os.environ | {"LC_ALL": "C.UTF-8"}
    process = start(*flags, "-o", tmp_path / "out.parquet", stderr=slave, env=environment)
    os.close(slave)
    text = read_all(master)
    assert process.wait() == 0
    assert "━" in text
    assert "200 of 200 rows" in text
    *_, closing = text.split("\r\x1b[2K")  # the bar is wiped before the closing line
    assert closing.startswith("kinjo: 2,000 rows from 200 left rows")


def test_a_table_on_a_terminal(start, tables):
    master, slave = pty.openpty()
    flags = "join", "--left", tables / "left.parquet", "--right", tables / "right.lance", "-k", 1
    process = start(*flags, stdout=slave, stderr=slave)
    os.close(slave)
    text = read_all(master)
    assert process.wait() == 0
    assert "_distance" in text
    assert "\x1b" not in text  # no bar among the rows
