"""The join on executors that are processes of their own: the jars alone bring the native library
there, answers are those of one process, and what goes wrong in an executor is made good.
"""

import os
import signal
import threading
import time
from pathlib import Path

import pytest
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from tests.spark.cluster_sides import (
    command_line_rows,
    joined,
    left_of,
    make_sides,
    triples,
)
from tests.spark.conftest import session

LEFT_ROWS = 3_000


@pytest.fixture(scope="module")
def sides(kinjo, tmp_path_factory):
    """(a Parquet file of left rows, a dataset with an index, folder for more)."""
    folder = tmp_path_factory.mktemp("sides")
    return *make_sides(kinjo, folder, LEFT_ROWS), folder


@pytest.fixture(scope="module")
def expected(kinjo, sides):
    return command_line_rows(kinjo, sides, sides[2] / "expected.parquet")


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """Two executors of one core each."""
    made = session("local-cluster[2,1,1024]", tmp_path_factory.mktemp("cluster"),
                   spark_executor_memory="1g", spark_task_maxFailures="4")
    yield made
    made.stop()


def executors():
    """Processes of executors that this test's session started, by their command lines."""
    found = []
    for place in Path("/proc").iterdir():
        if place.name.isdigit():
            try:
                line = (place / "cmdline").read_bytes()
            except OSError:
                continue
            if b"CoarseGrainedExecutorBackend" in line and descends(int(place.name), os.getpid()):
                found.append(int(place.name))
    return found


def descends(process, ancestor):
    while process > 1:
        if process == ancestor:
            return True
        try:
            process = int(Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[1])
        except OSError:
            return False
    return False


@pytest.mark.parametrize("partitions", [1, 2, 7])
def test_rows_are_the_command_lines(cluster, sides, expected, partitions):
    rows = joined(left_of(cluster, sides, partitions), sides).collect()
    assert triples(rows) == expected


def test_adaptive_execution_changes_nothing(cluster, sides, expected):
    cluster.conf.set("spark.sql.adaptive.enabled", "false")
    try:
        assert triples(joined(left_of(cluster, sides, 3), sides).collect()) == expected
    finally:
        cluster.conf.unset("spark.sql.adaptive.enabled")


def test_an_executor_killed_in_mid_join(cluster, sides, expected):
    """Each partition is slowed down before the join, so that the kill falls into the stage."""
    def slowly(batches):
        for batch in batches:
            time.sleep(0.5)
            yield batch

    left = left_of(cluster, sides, 8)
    rows, failures = [], []

    def run():
        try:
            rows.extend(joined(left.mapInArrow(slowly, left.schema), sides).collect())
        except Exception as failure:  # the test's own thread reports it
            failures.append(failure)

    victims = executors()
    assert len(victims) == 2
    thread = threading.Thread(target=run)
    thread.start()
    deadline = time.monotonic() + 60
    while not cluster.sparkContext.statusTracker().getActiveStageIds():
        assert time.monotonic() < deadline
        time.sleep(0.05)
    time.sleep(1)
    os.kill(victims[0], signal.SIGKILL)
    thread.join()
    assert failures == []
    assert triples(rows) == expected


def test_a_version_that_was_cleaned_up(cluster, kinjo, sides):
    """The plan holds on to its version; when that is gone, the error names it."""
    folder = sides[2]
    copy = folder / "cleaned.lance"
    kinjo("import", folder / "right.parquet", copy)
    frame = left_of(cluster, sides, 2).kNearestJoin(str(copy), "query", 1, index="never")
    kinjo("import", folder / "right.parquet", copy, "--mode", "append")
    kinjo("cleanup", copy, "--keep-versions", 1, "--older-than", "0s")
    with pytest.raises((Py4JJavaError, PySparkException)) as failure:
        frame.collect()
    assert "cleaned.lance" in str(failure.value) and "version 1" in str(failure.value)


def test_memory_of_executors_stays(cluster, sides):
    """A thousand tasks, and the executors hold what they held after the first hundred."""
    left = left_of(cluster, sides, 100)

    def resident():
        return sum(
            int(line.split()[1]) for process in executors()
            for line in Path(f"/proc/{process}/status").read_text().splitlines()
            if line.startswith("VmRSS"))

    cluster.conf.set("spark.sql.adaptive.enabled", "false")
    try:
        for _ in range(3):
            joined(left, sides).write.format("noop").mode("overwrite").save()
        before = resident()
        for _ in range(7):
            joined(left, sides).write.format("noop").mode("overwrite").save()
        assert resident() - before < 150 * 1024
    finally:
        cluster.conf.unset("spark.sql.adaptive.enabled")


def running_tasks(context, group):
    tracker = context.statusTracker()
    infos = [tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds()]
    return tracker.getJobIdsForGroup(group) and sum(info.numActiveTasks for info in infos if info)


def test_a_cancelled_job_stops(cluster, sides):
    """A join that would take hours ends when its job is cancelled, and the next one runs."""
    context = cluster.sparkContext
    left = left_of(cluster, sides, 2)
    many = left.crossJoin(cluster.range(1_000_000)).drop("id")
    failures = []

    def run():
        context.setJobGroup("kinjo-cancel", "a long join", interruptOnCancel=False)
        try:
            many.kNearestJoin(str(sides[1]), "query", 5, index="never").write.format(
                "noop").mode("overwrite").save()
        except Exception as failure:  # judged below
            failures.append(failure)

    thread = threading.Thread(target=run)
    thread.start()
    while not running_tasks(context, "kinjo-cancel"):
        assert thread.is_alive()
        time.sleep(0.1)
    context.cancelJobGroup("kinjo-cancel")
    thread.join()
    assert "cancel" in str(failures[0]).lower()
    assert joined(left, sides).count() == 5 * LEFT_ROWS
