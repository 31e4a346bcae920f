"""How the package lives in a process: the interpreter stays free, Ctrl-C stops, threads and
processes get along, nothing is printed, memory comes back. Counted, never timed."""

import json
import multiprocessing
import os
import pickle
import signal
import threading

import numpy as np
import pyarrow as pa
import pytest

import kinjo

# Rows that never end, a batch at a time: a join of them runs until it is stopped.
ENDLESS = """
import sys, threading, time
import numpy as np, pyarrow as pa
import kinjo

right = np.random.default_rng(0).normal(size=(2000, 16)).astype("f4")
batch = pa.record_batch([pa.FixedSizeListArray.from_arrays(pa.array(right.reshape(-1)), 16)], ["v"])

def endless(read=lambda: None):
    def batches():
        while True:
            read()
            yield batch
    return pa.RecordBatchReader.from_batches(batch.schema, batches())
"""


def batches_that_wait(table, barrier):
    def batches():
        for batch in table.to_batches(max_chunksize=100):
            barrier.wait(timeout=60)
            yield batch

    return pa.RecordBatchReader.from_batches(table.schema, batches())


def test_joins_in_two_threads_run_at_once(vectors):
    """Each side reads its next batch only when the other has come as far."""
    left, right = vectors(500, seed=1), vectors(300, seed=2)
    barrier = threading.Barrier(2)
    counts = []

    def run():
        joined = kinjo.join(batches_that_wait(left, barrier), right, k=3)
        counts.append(joined.to_arrow().num_rows)

    threads = [threading.Thread(target=run) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=120)
    assert counts == [1500, 1500]


def test_other_threads_run_while_a_join_waits(vectors):
    """The left side's next batch comes only after another thread has taken its turn."""
    turn, taken = threading.Event(), threading.Event()

    def batches():
        turn.set()
        assert taken.wait(timeout=60)
        yield from vectors(10).to_batches()

    def other():
        turn.wait(timeout=60)
        taken.set()

    thread = threading.Thread(target=other)
    thread.start()
    reader = pa.RecordBatchReader.from_batches(vectors(1).schema, batches())
    assert kinjo.join(reader, vectors(50), k=2).to_arrow().num_rows == 20
    thread.join(timeout=60)


def test_threads_share_a_dataset(golden):
    dataset = kinjo.open(golden / "pq8_l2.lance")
    queries = np.random.default_rng(1).normal(size=(40, 16)).astype("f4")
    expected = [dataset.search(query, k=5, refine_factor=3).to_arrow() for query in queries]
    found = [None] * len(queries)

    def search(first):
        for i in range(first, len(queries), 4):
            found[i] = dataset.search(queries[i], k=5, refine_factor=3).to_arrow()

    threads = [threading.Thread(target=search, args=(first,)) for first in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=120)
    assert all(one.equals(other) for one, other in zip(found, expected))


READERS = {
    "to_arrow": "result.to_arrow()",
    "to_polars": "result.to_polars()",
    "batches": "[None for _ in result]",
    "write": "result.write_parquet(sys.argv[1])",
    # Others' readers have errors of their own, which tell the reason.
    "pyarrow": "pa.table(result)",
    "polars": "import polars; polars.DataFrame(result)",
}


@pytest.mark.parametrize("reader", READERS)
def test_ctrl_c_stops_a_join(reader, script, tmp_path):
    """The signal comes when the 20th batch is read; the join has no other end."""
    done = script(
        ENDLESS
        + f"""
import os, signal
reads = 0
def read():
    global reads
    reads += 1
    if reads == 20:
        os.kill(os.getpid(), signal.SIGINT)

result = kinjo.join(endless(read), right, k=5)
try:
    {READERS[reader]}
except KeyboardInterrupt:
    print("stopped")
except Exception as error:
    assert sys.argv[2] in ("pyarrow", "polars"), error
    assert "stopped by KeyboardInterrupt" in str(error)
    print("stopped")
result.close()
assert kinjo.join(right, right, k=1).to_arrow().num_rows == 2000
""",
        tmp_path / "out.parquet", reader,
    )
    assert done.stdout == "stopped\n", done.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_handler_that_does_not_raise_stops_nothing(script):
    done = script(
        ENDLESS
        + """
import os, signal
heard = []
signal.signal(signal.SIGINT, lambda *_: heard.append(1))
def few():
    yield batch
    os.kill(os.getpid(), signal.SIGINT)
    while not heard:
        time.sleep(0.01)
    yield batch
reader = pa.RecordBatchReader.from_batches(batch.schema, few())
print(kinjo.join(reader, right, k=1).to_arrow().num_rows, heard)
"""
    )
    assert done.stdout == "4000 [1]\n"


def test_cancel_from_another_thread(script):
    done = script(
        ENDLESS
        + """
result = kinjo.join(endless(), right, k=5)
batches = iter(result)
next(batches)
threading.Thread(target=result.cancel).start()
try:
    for _ in batches:
        pass
except kinjo.Cancelled as error:
    print(error.code)
"""
    )
    assert done.stdout == "cancelled\n"


def test_closing_stops_what_runs(script):
    done = script(
        ENDLESS
        + """
with kinjo.join(endless(), right, k=5) as result:
    batches = iter(result)
    first = next(batches)
print(first.num_rows > 0, "closed" in repr(result))
try:
    next(batches)
except kinjo.ClosedError as error:
    print(error.code)
"""
    )
    assert done.stdout == "True True\nstate\n"


@pytest.mark.parametrize("how", ["batches = iter(result); next(batches)",
                                 "reader = pa.RecordBatchReader.from_stream(result); "
                                 "reader.read_next_batch()"])
def test_a_process_ends_while_a_join_runs(how, script):
    script(ENDLESS + f"result = kinjo.join(endless(), right, k=5)\n{how}\n")


def test_a_join_that_nobody_reads_any_more_is_stopped(script):
    done = script(
        ENDLESS
        + """
import gc, weakref
def begin():
    result = kinjo.join(endless(), right, k=5)
    reader = pa.RecordBatchReader.from_stream(result)
    reader.read_next_batch()
before = threading.active_count()
for _ in range(5):
    begin()
gc.collect()
import os
print(len(os.listdir("/proc/self/task")) < 30)
"""
    )
    assert done.stdout == "True\n"


def in_child(work):
    """Runs `work` in a forked child and gives what it returned; a child that hangs is a failure."""
    read_end, write_end = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.write(write_end, json.dumps(work()).encode())
        except BaseException as error:
            os.write(write_end, json.dumps(f"{type(error).__name__}: {error}").encode())
        os._exit(0)
    os.close(write_end)
    killer = threading.Timer(60, os.kill, (child, signal.SIGKILL))
    killer.start()
    with os.fdopen(read_end) as told:
        text = told.read()
    os.waitpid(child, 0)
    killer.cancel()
    assert text, "the child hung"
    return json.loads(text)


def test_a_forked_child_joins_on_its_own(golden, vectors):
    path = golden / "pq8_l2.lance"
    expected = kinjo.join(path, path, k=2).to_arrow().num_rows
    assert in_child(lambda: kinjo.join(path, path, k=2).to_arrow().num_rows) == expected
    assert in_child(lambda: kinjo.open(path).count_rows()) == 700


def test_what_was_made_before_a_fork_is_refused_after_it(golden):
    dataset = kinjo.open(golden / "pq8_l2.lance")
    result = kinjo.join(golden / "pq8_l2.lance", dataset, k=2)
    assert "this Dataset was made before" in in_child(dataset.count_rows)
    assert in_child(dataset.count_rows).startswith("ClosedError: ")
    assert "this join was made before" in in_child(lambda: result.to_arrow().num_rows)
    assert result.to_arrow().num_rows == 1400


def test_a_fork_in_the_middle_of_a_join_is_refused_in_the_child(vectors):
    def batches():
        while True:
            yield from vectors(1000).to_batches()

    reader = pa.RecordBatchReader.from_batches(vectors(1).schema, batches())
    with kinjo.join(reader, vectors(100), k=2) as result:
        rows = iter(result)
        next(rows)
        said = in_child(lambda: kinjo.join(vectors(1), vectors(1)).to_arrow().num_rows)
        assert said.startswith("ClosedError: ")
        assert "forked while Kinjo was at work" in said
        assert in_child(lambda: next(rows).num_rows).startswith("ClosedError: ")
        next(rows)
    assert in_child(lambda: kinjo.join(vectors(5), vectors(5), k=1).to_arrow().num_rows) == 5


def count_rows(dataset):
    return dataset.count_rows()


def test_spawned_processes_get_datasets_by_pickling(golden):
    dataset = kinjo.open(golden / "deletes.lance", 1)
    copy = pickle.loads(pickle.dumps(dataset))
    assert (copy.uri, copy.version) == (dataset.uri, 1)
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.apply_async(count_rows, (dataset,)).get(timeout=120) == dataset.count_rows()


def test_nothing_is_printed(script, golden):
    done = script(
        """
import sys, kinjo
path = sys.argv[1]
kinjo.join(path, path, k=3).to_arrow()
kinjo.join(path, path, k=3, progress=True).analyze()
kinjo.open(path).search([0.0] * 16).explain()
""",
        golden / "pq8_l2.lance",
    )
    assert done.stdout == ""


# Rounds are of five kinds: two whole joins, one that is stopped, one unread, one refused.
LEAK = """
import gc, os, sys
import numpy as np, pyarrow as pa
import kinjo

path = sys.argv[1]
vectors = np.random.default_rng(0).normal(size=(50, 16)).astype("f4")
table = pa.table({"vec": pa.FixedSizeListArray.from_arrays(pa.array(vectors.reshape(-1)), 16)})
dataset = kinjo.open(path)

def once(i):
    kinjo.join(table, dataset, k=5, refine_factor=2).to_arrow()
    kinjo.join(vectors, vectors, k=3).to_arrow()
    result = kinjo.join(table, dataset, k=5)
    next(iter(result))
    result.close()
    kinjo.join(table, path, k=5).explain()
    try:
        kinjo.join(table, dataset, k=0)
    except kinjo.InvalidArgument:
        pass

def resident():
    gc.collect()
    return int(open("/proc/self/statm").read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

for i in range(150):
    once(i)
before = resident()
for i in range(500):
    once(i)
print((resident() - before) / 2**20)
"""


def test_memory_comes_back(script, golden):
    """500 rounds of two whole joins and others that are stopped, unread or refused."""
    done = script(LEAK, golden / "pq8_l2.lance", timeout=300)
    assert float(done.stdout) <= 8
