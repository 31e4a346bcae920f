"""A version that stays open while pylance and Kinjo append, delete, update, compact and clean up.

open_reader (tests/interop/open_reader.cc) keeps it open and answers between the changes.
"""

import contextlib
import datetime
import os
import subprocess
from pathlib import Path

import lance
import pytest

from tests.interop.test_dataset import table

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def open_reader():
    """open_reader(uri, version) gives ask(line), the answer of one version that stays open."""
    cli = os.environ.get("KINJO_CLI")
    build = Path(cli).parent.parent if cli else ROOT / "build" / "release"
    path = build / "tests" / "interop" / "open_reader"
    if not path.exists():
        pytest.fail(f"{path} is not built; run ./dev build")

    @contextlib.contextmanager
    def start(uri, version="latest"):
        command = [str(path), str(uri), str(version)]
        with subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        ) as process:

            def answer():
                return process.stdout.readline().strip()

            def ask(line):
                process.stdin.write(line + "\n")
                process.stdin.flush()
                return answer()

            assert answer() == "open"
            yield ask
            process.stdin.close()

    return start


def numbers(text):
    return [int(word) for word in text.split()]


def pylance_changes(uri):
    """Appends, updates, merges, deletes and compacts, one after the other."""
    lance.write_dataset(table(60, first_id=1000), uri, mode="append")
    yield
    lance.dataset(uri).update({"number": "-1"}, where="id % 3 = 0")
    yield
    changed = lance.dataset(uri).to_table().slice(5, 30)
    lance.dataset(uri).merge_insert("id").when_matched_update_all().execute(changed)
    yield
    lance.dataset(uri).delete("id % 5 = 2")
    yield
    lance.dataset(uri).optimize.compact_files(target_rows_per_fragment=500)
    yield
    lance.write_dataset(table(5, first_id=5000), uri, mode="overwrite")
    yield


def kinjo_changes(uri, kinjo, tmp_path):
    lance.write_dataset(table(60, first_id=1000), str(tmp_path / "more.lance"))
    kinjo("import", tmp_path / "more.lance", uri, "--mode", "append")
    yield
    kinjo("delete", uri, "--where", "id % 5 = 2")
    yield
    kinjo("compact", uri)
    yield
    kinjo("import", tmp_path / "more.lance", uri, "--mode", "overwrite")
    yield


@pytest.mark.parametrize("writer", ["pylance", "kinjo"])
@pytest.mark.parametrize("stable", [False, True])
def test_an_open_version_keeps_answering(open_reader, kinjo, tmp_path, writer, stable):
    uri = str(tmp_path / "busy.lance")
    dataset = lance.write_dataset(
        table(400), uri, max_rows_per_file=150, enable_stable_row_ids=stable
    )
    dataset.create_index("vec", "IVF_FLAT", num_partitions=2, metric="l2")
    dataset = lance.dataset(uri)
    dataset.delete("id % 7 = 1")
    rows = lance.dataset(uri).scanner(columns=["id"], with_row_address=True).to_table()
    ids = rows["id"].to_pylist()
    chosen = rows.slice(40, 20)
    take = "take id " + " ".join(map(str, chosen["_rowaddr"].to_pylist()))
    changes = pylance_changes(uri) if writer == "pylance" else kinjo_changes(uri, kinjo, tmp_path)
    with open_reader(uri) as ask:
        for _ in changes:
            assert numbers(ask("scan id")) == ids
            assert numbers(ask(take)) == chosen["id"].to_pylist()
            assert sum(numbers(ask("partitions"))) == 400
    with open_reader(uri) as ask:
        now = lance.dataset(uri).to_table(columns=["id"])["id"].to_pylist()
        assert numbers(ask("scan id")) == now != ids


def clean_up(cleaner, kinjo, uri):
    if cleaner == "pylance":
        lance.dataset(uri).cleanup_old_versions(
            datetime.timedelta(0), delete_unverified=True, error_if_tagged_old_versions=False
        )
    else:
        kinjo("cleanup", uri, "--older-than", "0s")


@pytest.mark.parametrize("cleaner", ["pylance", "kinjo"])
def test_a_version_that_was_cleaned_up_says_so(open_reader, kinjo, tmp_path, cleaner):
    uri = str(tmp_path / "cleaned.lance")
    dataset = lance.write_dataset(table(400), uri, max_rows_per_file=200)
    dataset.create_index("vec", "IVF_FLAT", num_partitions=2, metric="l2")
    version = lance.dataset(uri).version
    lance.write_dataset(table(5, first_id=5000), uri, mode="overwrite")
    with open_reader(uri, version) as old, open_reader(uri) as newest:
        clean_up(cleaner, kinjo, uri)
        for line in ("scan id", "take id 3 5", "partitions"):
            answer = old(line)
            assert answer.startswith("error: not_found: ")
            assert f"version {version} of {uri} was cleaned up since it was opened" in answer
        assert numbers(newest("scan id")) == list(range(5000, 5005))


@pytest.mark.parametrize("cleaner", ["pylance", "kinjo"])
def test_a_cleaned_up_version_never_gives_wrong_rows(open_reader, kinjo, tmp_path, cleaner):
    """Rows come from files that are open already; the next file that is needed is an error."""
    uri = str(tmp_path / "half.lance")
    lance.write_dataset(table(400), uri, max_rows_per_file=200)
    lance.write_dataset(table(5, first_id=5000), uri, mode="overwrite")
    with open_reader(uri, 1) as old:
        assert numbers(old("take id 3")) == [3]
        clean_up(cleaner, kinjo, uri)
        assert numbers(old("take id 7")) == [7]
        assert "was cleaned up" in old(f"take id {1 << 32}")
        assert "was cleaned up" in old("scan id")


@pytest.mark.parametrize("cleaner", ["pylance", "kinjo"])
def test_a_tagged_version_survives(open_reader, kinjo, tmp_path, cleaner):
    uri = str(tmp_path / "tagged.lance")
    lance.write_dataset(table(50), uri).tags.create("kept", 1)
    lance.write_dataset(table(5, first_id=5000), uri, mode="overwrite")
    lance.write_dataset(table(5, first_id=6000), uri, mode="overwrite")
    with open_reader(uri, 1) as kept, open_reader(uri, 2) as gone:
        clean_up(cleaner, kinjo, uri)
        assert numbers(kept("scan id")) == list(range(50))
        assert "version 2" in gone("scan id")
