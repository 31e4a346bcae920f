"""A store that fails: the rows are the right ones, or none and a clear error; what was stopped
stops."""

import signal
import subprocess

import lance
import pyarrow.parquet as pq
import pytest

JOIN = ["--on", "vec", "-k", "5", "--threads", "2", "--nprobes", "4", "--refine-factor", "2"]
# So that tests needn't wait as long as users should.
PATIENCE = ["--storage-option", "request_timeout=2s", "--storage-option", "client_max_retries=4"]


def is_read(method, path, headers):
    return method == "GET" and "range" in headers


def is_data(method, path, headers):
    return is_read(method, path, headers) and "/data/" in path


@pytest.fixture
def join(run, stored, proxy):
    """join(output, *flags) joins what is stored, through the proxy."""

    def join_sides(output, *flags, **options):
        return run("join", "--left", stored.uri("in/left.parquet"), "--right",
                   stored.uri("in/right.lance"), "-o", output, *JOIN, *PATIENCE, *flags,
                   endpoint=proxy.address, **options)  # fmt: skip

    return join_sides


@pytest.fixture
def expected(kinjo, sides, tmp_path):
    path = tmp_path / "expected.arrow"
    kinjo("join", "--left", sides / "left.parquet", "--right", sides / "right.lance", "-o", path,
          *JOIN)  # fmt: skip
    return path.read_bytes()


@pytest.mark.parametrize("kind", ["503", "hang_up", "cut", "short", "other_range"])
@pytest.mark.parametrize("after", [0, 3])
def test_a_read_that_fails_for_a_while(join, proxy, expected, tmp_path, kind, after):
    proxy.fail(kind, is_read, times=3, after=after)
    join(tmp_path / "out.arrow")
    assert proxy.left_to_fail() == 0
    assert (tmp_path / "out.arrow").read_bytes() == expected


def test_everything_fails_now_and_then(join, stored, proxy, expected):
    for kind in ("503", "hang_up"):
        for after in range(0, 40, 7):
            proxy.fail(kind, times=1, after=after)
    join(stored.uri("out.arrow"))
    assert stored.get("out.arrow") == expected


@pytest.mark.parametrize("kind", ["503", "hang_up", "cut", "short", "other_range"])
def test_a_read_that_fails_for_good(join, proxy, tmp_path, kind):
    proxy.fail(kind, is_data, times=10_000)
    done = join(tmp_path / "out.arrow", exit_code=1)
    assert not (tmp_path / "out.arrow").exists()
    assert "can't read s3://" in done.stderr
    assert "/data/" in done.stderr


def test_a_store_that_stalls(join, proxy, expected, tmp_path):
    proxy.fail("stall", is_data, times=1)
    join(tmp_path / "out.arrow")
    assert proxy.left_to_fail() == 0
    assert (tmp_path / "out.arrow").read_bytes() == expected


def test_nobody_answers(run, bucket):
    done = run("info", bucket.uri("a.lance"), "--storage-option", "client_max_retries=1",
               endpoint="http://127.0.0.1:9", exit_code=1)  # fmt: skip
    assert "tried 2 times" in done.stderr


def test_a_cancelled_join_stops_while_a_read_stalls(kinjo_cli, stored, proxy, bucket, tmp_path):
    proxy.fail("stall", is_data, times=10_000)
    command = [kinjo_cli, "join", "--left", stored.uri("in/left.parquet"), "--right",
               stored.uri("in/right.lance"), "-o", tmp_path / "out.arrow", *JOIN]  # fmt: skip
    process = subprocess.Popen(list(map(str, command)), stderr=subprocess.PIPE, text=True,
                               env=bucket.environment(proxy.address))  # fmt: skip
    assert proxy.stalled.wait(timeout=60)
    process.send_signal(signal.SIGINT)
    # Reads may take 30 s and are tried again for minutes: it doesn't wait for them.
    _, stderr = process.communicate(timeout=20)
    assert process.returncode == 130, stderr
    assert not (tmp_path / "out.arrow").exists()


def test_an_object_that_is_replaced_is_noticed(join, stored, proxy, sides, tmp_path):
    """The left file changes under the join: other bytes of the same length."""
    table = pq.read_table(sides / "left.parquet")
    reordered = table.take(list(reversed(range(table.num_rows))))
    pq.write_table(reordered, tmp_path / "other.parquet", row_group_size=100)
    seen = []

    def replace_after_the_footer(method, path, headers):
        if is_read(method, path, headers) and "left.parquet" in path:
            seen.append(path)
            if len(seen) == 3:
                stored.put("in/left.parquet", tmp_path / "other.parquet")
        return False

    proxy.fail("503", replace_after_the_footer)
    done = join(tmp_path / "out.arrow", exit_code=None)
    assert len(seen) >= 3
    if done.returncode != 0:
        assert "left.parquet" in done.stderr
        assert not (tmp_path / "out.arrow").exists()


def is_manifest(method, path, headers):
    return method == "PUT" and path.endswith(".manifest")


def import_rows(run, stored, rows, tmp_path, endpoint, first, count, **options):
    pq.write_table(rows(first, count), tmp_path / "rows.parquet")
    return run("import", tmp_path / "rows.parquet", stored.uri("in/right.lance"), "--mode",
               "append", *PATIENCE, endpoint=endpoint, **options)  # fmt: skip


def ids_of(stored):
    dataset = lance.dataset(stored.uri("in/right.lance"),
                            storage_options=stored.storage_options())
    return dataset.to_table(["id"])["id"].to_pylist(), dataset


@pytest.mark.parametrize("kind", ["swallow", "hang_up", "503", "stall"])
def test_a_commit_whose_answer_is_lost(run, stored, proxy, rows, tmp_path, kind):
    """`swallow`: the store did it and we aren't told. The rows are there once, the version once."""
    ids, before = ids_of(stored)
    proxy.fail(kind, is_manifest, times=1)
    import_rows(run, stored, rows, tmp_path, proxy.address, 50_000, 7)
    assert proxy.left_to_fail() == 0
    after_ids, after = ids_of(stored)
    assert sorted(after_ids) == sorted(ids + list(range(50_000, 50_007)))
    assert after.version == before.version + 1
    after.validate()


def test_a_commit_that_fails_for_good(run, stored, proxy, rows, tmp_path):
    ids, before = ids_of(stored)
    proxy.fail("hang_up", is_manifest, times=10_000)
    done = import_rows(run, stored, rows, tmp_path, proxy.address, 50_000, 7, exit_code=1)
    assert ".manifest" in done.stderr
    after_ids, after = ids_of(stored)
    assert sorted(after_ids) == sorted(ids)
    assert after.version == before.version
    import_rows(run, stored, rows, tmp_path, stored.server, 50_000, 7)
    assert len(ids_of(stored)[0]) == len(ids) + 7


def test_in_doubt_nothing_is_removed(run, stored, proxy, rows, tmp_path):
    """The commit was done, nobody tells, and the store can't be asked: what it names stays."""
    ids, _ = ids_of(stored)
    committed = set()

    def of_the_commit(method, path, headers):
        if is_manifest(method, path, headers):
            committed.add(path)
        return path in committed

    proxy.fail("swallow", is_manifest, times=1)
    proxy.fail("503", of_the_commit, times=10_000)
    done = import_rows(run, stored, rows, tmp_path, proxy.address, 50_000, 7, exit_code=1)
    assert "can't tell whether" in done.stderr
    after_ids, after = ids_of(stored)
    assert sorted(after_ids) == sorted(ids + list(range(50_000, 50_007)))
    after.validate()


@pytest.mark.parametrize("nth", range(6))
def test_a_write_that_fails_leaves_the_version(run, stored, proxy, rows, tmp_path, nth):
    """The nth request that changes something fails for good: the dataset is whole and as before."""
    ids, before = ids_of(stored)

    def changes(method, path, headers):
        return method in ("PUT", "POST")

    proxy.fail("503", changes, times=10_000, after=nth)
    done = import_rows(run, stored, rows, tmp_path, proxy.address, 50_000, 7, exit_code=None)
    after_ids, after = ids_of(stored)
    after.validate()
    if done.returncode == 0:
        assert len(after_ids) == len(ids) + 7
    else:
        assert sorted(after_ids) == sorted(ids) and after.version == before.version


def test_a_large_output_comes_in_parts(run, stored, proxy, tmp_path):
    """More than one part, some of them failing; nothing is left of an upload that is given up."""
    flags = ["--left-select", "id,name,vec", "--right-select", "id,name,vec", "-k", "600",
             "--index", "never", "--compression", "none"]  # fmt: skip
    command = ["join", "--left", stored.uri("in/left.parquet"), "--right",
               stored.uri("in/right.lance"), "--on", "vec", *PATIENCE, *flags]  # fmt: skip
    run(*command, "-o", tmp_path / "out.arrow")
    assert (tmp_path / "out.arrow").stat().st_size > 20e6

    def is_part(method, path, headers):
        return method == "PUT" and "partNumber" in path

    proxy.fail("503", is_part, times=2)
    proxy.fail("swallow", lambda method, path, headers: method == "POST" and "uploadId" in path)
    run(*command, "-o", stored.uri("out.arrow"), endpoint=proxy.address)
    assert proxy.left_to_fail() == 0
    assert stored.get("out.arrow") == (tmp_path / "out.arrow").read_bytes()
    proxy.fail("503", is_part, times=10_000, after=2)
    run(*command, "-o", stored.uri("given_up.arrow"), endpoint=proxy.address, exit_code=1)
    assert "given_up.arrow" not in stored.keys()
    assert stored.uploads_under_way() == 0
