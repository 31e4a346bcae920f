"""Datasets and tables in Google's storage and in Azure's: read like local ones, never written."""

import base64
import os
import shutil

import pyarrow.parquet as pq
import pytest

from tests.store import cloud_servers

ACCOUNT = {
    "AZURE_STORAGE_ACCOUNT_NAME": "someaccount",
    "AZURE_STORAGE_ACCOUNT_KEY": base64.b64encode(b"no secret of anybody").decode(),
}


@pytest.fixture(params=["gs", "az", "abfs"])
def store(request, kinjo, tmp_path):
    """A bucket of each kind: what lies in `store.folder` is read as `store.uri(name)`."""
    folder = tmp_path / "bucket"
    folder.mkdir()
    is_google = request.param == "gs"
    answers = cloud_servers.google if is_google else cloud_servers.azure
    server = cloud_servers.FolderServer(folder, answers)
    names = {name: value for name, value in os.environ.items()
             if not name.startswith(("AWS_", "GOOGLE_", "AZURE_"))}
    if is_google:
        more = {"GOOGLE_ENDPOINT": server.address, "GOOGLE_SKIP_SIGNATURE": "true"}
    else:
        more = {"AZURE_STORAGE_ENDPOINT": server.address} | ACCOUNT
    server.environment = names | more | {"ALLOW_HTTP": "true"}
    server.uri = lambda name: f"{request.param}://shop/{name}"

    def run(*args, exit_code=0, environment=None):
        return kinjo(*args, exit_code=exit_code, env=environment or server.environment)

    server.run = run
    yield server
    server.stop()


def test_same_rows_as_from_local_files(store, sides, tmp_path):
    """Both sides there; by the index and without; another left side as Parquet."""
    shutil.copytree(sides / "right.lance", store.folder / "right.lance")
    shutil.copy(sides / "left.parquet", store.folder / "left.parquet")
    for flags in (["--nprobes", 4, "--refine-factor", 4], ["--index", "never"]):
        answers = []
        for left, right in (
            (sides / "left.parquet", sides / "right.lance"),
            (store.uri("left.parquet"), store.uri("right.lance")),
        ):
            output = tmp_path / "out.parquet"
            store.run("join", "--left", left, "--right", right, "-k", 5, "-o", output, *flags)
            answers.append(pq.read_table(output))
        assert answers[0].equals(answers[1])
    if "azure" in str(store.environment).lower():
        assert store.unsigned == 0


def test_info_scan_and_what_is_not_there(store, sides):
    shutil.copytree(sides / "right.lance", store.folder / "right.lance")
    local = store.run("info", sides / "right.lance").stdout.splitlines()[1:]
    assert store.run("info", store.uri("right.lance")).stdout.splitlines()[1:] == local
    flags = ["--columns", "id", "--offset", 5, "--limit", 7, "--format", "csv"]
    rows = [store.run("scan", place, *flags).stdout
            for place in (sides / "right.lance", store.uri("right.lance"))]
    assert rows[0] == rows[1] and len(rows[0].split()) == 8
    done = store.run("info", store.uri("none.lance"), exit_code=1)
    assert f"no dataset at {store.uri('none.lance')}" in done.stderr
    done = store.run("info", store.uri("right.lance/data"), exit_code=1)
    assert "is not a Lance dataset" in done.stderr


def test_a_store_that_is_busy_for_a_while(store, sides):
    shutil.copytree(sides / "right.lance", store.folder / "right.lance")
    store.failures = 2
    assert "rows in" in store.run("info", store.uri("right.lance")).stdout


def test_nothing_is_written(store, sides):
    for name in ("out.parquet", "out.lance"):
        done = store.run("scan", sides / "right.lance", "-o", store.uri(name), exit_code=1)
        assert "can't write" in done.stderr and "this one is only read" in done.stderr
    done = store.run("import", sides / "left.parquet", store.uri("new.lance"), exit_code=1)
    assert "this one is only read" in done.stderr
    assert not any(method == "PUT" for method, _ in store.asked)


def test_what_must_be_told(store):
    plain = {name: value for name, value in store.environment.items() if name != "ALLOW_HTTP"}
    done = store.run("info", store.uri("x.lance"), exit_code=1, environment=plain)
    assert "unless allow_http = true" in done.stderr
    if not store.uri("").startswith("gs"):
        unnamed = {name: value for name, value in store.environment.items()
                   if name != "AZURE_STORAGE_ACCOUNT_NAME"}
        done = store.run("info", store.uri("x.lance"), exit_code=1, environment=unnamed)
        assert "no storage account is named" in done.stderr
    nowhere = store.environment | {"GOOGLE_SERVICE_ACCOUNT": "/nowhere/key.json"}
    if store.uri("").startswith("gs"):
        done = store.run("info", store.uri("x.lance"), exit_code=1, environment=nowhere)
        assert "can't read the service account's key /nowhere/key.json" in done.stderr
