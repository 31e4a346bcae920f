"""What goes wrong on a standalone cluster of two workers: executors that die of a signal in native
code, tasks that run twice, and the end.
"""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pyspark
import pytest
from tests.spark.cluster_sides import (
    command_line_rows,
    joined,
    left_of,
    make_sides,
    triples,
)
from tests.spark.conftest import session

LEFT_ROWS = 2_000


@pytest.fixture(scope="module")
def sides(kinjo, tmp_path_factory):
    return make_sides(kinjo, tmp_path_factory.mktemp("sides"), LEFT_ROWS)


@pytest.fixture(scope="module")
def expected(kinjo, sides, tmp_path_factory):
    return command_line_rows(kinjo, sides, tmp_path_factory.mktemp("expected") / "rows.parquet")


class Daemon:
    """A master or a worker, and the last line that it logged with a text in it."""

    def __init__(self, folder, name, host, *arguments):
        self.log = folder / f"{name}.log"
        home = Path(pyspark.__file__).parent
        variables = os.environ | {
            "SPARK_LOCAL_IP": host, "SPARK_HOME": str(home), "SPARK_WORKER_DIR": str(folder / name),
            "SPARK_LOCAL_DIRS": str(folder / name), "PYSPARK_PYTHON": sys.executable,
        }
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                [home / "bin" / "spark-class", *map(str, arguments), "--host", host], env=variables,
                stdout=log, stderr=log, start_new_session=True)

    def wait_for(self, text):
        deadline = time.monotonic() + 120
        while True:
            lines = [line for line in self.log.read_text().splitlines() if text in line]
            if lines:
                return lines[-1]
            assert self.process.poll() is None and time.monotonic() < deadline, \
                self.log.read_text()[-2_000:]
            time.sleep(0.1)

    def stop(self):
        os.killpg(self.process.pid, signal.SIGTERM)
        self.process.wait()


@pytest.fixture(scope="module")
def workers(tmp_path_factory):
    """A standalone master and two workers of one core each: the master's address, the workers.
    Each has a host of its own, since a task's copy never runs on the same."""
    folder = tmp_path_factory.mktemp("standalone")
    deploy = "org.apache.spark.deploy"
    master = Daemon(folder, "master", "127.0.0.1", f"{deploy}.master.Master", "--port", 0,
                    "--webui-port", 0)
    made = []
    try:
        address = "spark://127.0.0.1:" + master.wait_for("Starting Spark master at").split(":")[-1]
        made += [Daemon(folder, f"worker-{i}", f"127.0.0.{i}", f"{deploy}.worker.Worker",
                        address, "--port", 0, "--webui-port", 0, "--cores", 1, "--memory", "1g")
                 for i in (1, 2)]
        for worker in made:
            worker.wait_for("Successfully registered with master")
        yield address, made
    finally:
        for daemon in [*made, master]:
            daemon.stop()


@pytest.fixture(scope="module")
def cluster(workers, tmp_path_factory):
    """Where a task that is slow is run twice."""
    made = session(
        workers[0], tmp_path_factory.mktemp("cluster"), spark_executor_memory="512m",
        spark_speculation="true", spark_speculation_interval="50ms",
        spark_speculation_multiplier="1.1", spark_speculation_quantile="0.3",
        spark_speculation_minTaskRuntime="10ms",
        spark_sql_adaptive_coalescePartitions_enabled="false")
    yield made
    made.stop()


def executors(workers):
    """Processes of the workers' executors."""
    found = []
    for place in Path("/proc").iterdir():
        if place.name.isdigit():
            try:
                line = (place / "cmdline").read_bytes()
                parent = int((place / "stat").read_text().rsplit(")", 1)[1].split()[1])
            except OSError:
                continue
            if b"CoarseGrainedExecutorBackend" in line and \
                    parent in [worker.process.pid for worker in workers]:
                found.append(int(place.name))
    return found


def test_two_workers_give_the_command_lines_rows(cluster, sides, expected):
    assert triples(joined(left_of(cluster, sides, 5), sides).collect()) == expected


@pytest.mark.parametrize("adaptive", ["true", "false"])
def test_a_slow_task_that_runs_twice_gives_its_rows_once(cluster, sides, expected, adaptive,
                                                         tmp_path):
    """The first that takes the rows of one partition waits for its copy to begin."""
    twice = tmp_path / "twice"

    def once_slowly(batches):
        for batch in batches:
            begin = batch.column("number")[0].as_py()
            if begin == 0:
                try:
                    (tmp_path / "once").touch(exist_ok=False)
                    deadline = time.monotonic() + 120
                    while not twice.exists() and time.monotonic() < deadline:
                        time.sleep(0.05)
                    time.sleep(1)
                except FileExistsError:
                    twice.touch()
            yield batch

    cluster.conf.set("spark.sql.adaptive.enabled", adaptive)
    try:
        left = left_of(cluster, sides, 4)
        rows = joined(left.mapInArrow(once_slowly, left.schema), sides).collect()
    finally:
        cluster.conf.unset("spark.sql.adaptive.enabled")
    assert triples(rows) == expected
    assert twice.exists()


@pytest.mark.parametrize("number", [signal.SIGSEGV, signal.SIGABRT])
def test_an_executor_that_crashes(cluster, workers, sides, expected, number):
    """As a fault of native code ends a JVM: the tasks run again elsewhere."""
    def slowly(batches):
        for batch in batches:
            time.sleep(0.5)
            yield batch

    left = left_of(cluster, sides, 6)
    rows, failures = [], []

    def run():
        try:
            rows.extend(joined(left.mapInArrow(slowly, left.schema), sides).collect())
        except Exception as failure:  # the test's own thread reports it
            failures.append(failure)

    deadline = time.monotonic() + 60
    while not executors(workers[1]):
        assert time.monotonic() < deadline
        time.sleep(0.1)
    victim = executors(workers[1])[0]
    thread = threading.Thread(target=run)
    thread.start()
    while not cluster.sparkContext.statusTracker().getActiveStageIds():
        assert time.monotonic() < deadline
        time.sleep(0.05)
    time.sleep(1)
    os.kill(victim, number)
    thread.join()
    assert failures == []
    assert triples(rows) == expected


def test_executors_end_with_their_application(cluster, workers):
    """No thread of the native library keeps a process."""
    assert executors(workers[1])
    cluster.stop()
    deadline = time.monotonic() + 30
    while executors(workers[1]):
        assert time.monotonic() < deadline
        time.sleep(0.1)
