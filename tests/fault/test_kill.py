"""kill -9 at random moments, again and again, until the join is done: the files are those of a run
that nobody disturbed, byte for byte. Ten kills as a rule; a hundred and more with --slow."""

import random
import signal
import subprocess
import time

import pytest

FORMATS = ("parquet", "arrow", "csv", "jsonl")


def command_of(kinjo_cli, sides, folder, right, format_name, threads=1, limit="1GiB"):
    return [
        str(kinjo_cli), "join", "--left", str(sides / "left.parquet"),
        "--right", str(sides / right), "-k", "3", "--refine-factor", "4", "--where", "id % 7 <> 3",
        "--with-query-index", "--resume", "--part-rows", "150", "--format", format_name,
        "--threads", str(threads), "--memory-limit", limit, "--progress", "none",
        "-o", str(folder),
    ]  # fmt: skip


def kill_until_done(command, draw, longest_s):
    """Runs the command until it ends by itself; gives how often it was killed before."""
    kills = 0
    while True:
        process = subprocess.Popen(command(), stderr=subprocess.PIPE)
        try:
            process.wait(timeout=draw.uniform(0, longest_s))
        except subprocess.TimeoutExpired:
            process.kill()
        told = process.stderr.read()
        process.wait()
        process.stderr.close()
        if process.returncode == 0:
            return kills
        assert process.returncode == -signal.SIGKILL, told.decode()
        kills += 1


def run_with_kills(kinjo_cli, sides, files, tmp_path, wanted, seed):
    draw = random.Random(seed)
    wholes = {}
    kills = rounds = 0
    while kills < wanted:
        right = draw.choice(("right.lance", "right.parquet"))
        format_name = FORMATS[rounds % len(FORMATS)]
        chosen = right, format_name
        if chosen not in wholes:
            whole = tmp_path / f"whole-{right}-{format_name}"
            begin = time.monotonic()
            subprocess.run(command_of(kinjo_cli, sides, whole, *chosen), check=True)
            wholes[chosen] = files(whole), time.monotonic() - begin
        folder = tmp_path / f"out{rounds}"
        whole_files, whole_s = wholes[chosen]

        def command():
            # Limits and threads may change from run to run.
            threads, limit = draw.choice((1, 2)), draw.choice(("64MiB", "1GiB"))
            return command_of(kinjo_cli, sides, folder, *chosen, threads, limit)

        kills += kill_until_done(command, draw, whole_s / 2)
        rounds += 1
        assert files(folder) == whole_files, f"seed {seed}, round {rounds}, {chosen}"
    print(f"{kills} kills in {rounds} joins")


def test_ten_kills(kinjo_cli, sides, files, tmp_path):
    run_with_kills(kinjo_cli, sides, files, tmp_path, wanted=10, seed=1)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [11, 12])
def test_a_hundred_kills(kinjo_cli, sides, files, tmp_path, seed):
    run_with_kills(kinjo_cli, sides, files, tmp_path, wanted=100, seed=seed)
