"""An S3 server on this machine (moto), a bucket a test, and a proxy in front that misbehaves on
demand."""

import os
import re
import socket
import subprocess
import sys
import time
import urllib.request

import lance
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.store.faulty_proxy import FaultyProxy

KEYS = {"AWS_ACCESS_KEY_ID": "AKIDKINJO", "AWS_SECRET_ACCESS_KEY": "kinjo/secret+key"}
DIMENSION = 16


def free_port():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


@pytest.fixture(scope="session")
def server():
    """The address of an S3 server."""
    port = free_port()
    address = f"http://127.0.0.1:{port}"
    command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        for _ in range(600):
            try:
                urllib.request.urlopen(address, timeout=5).close()
                break
            except OSError:
                assert process.poll() is None, "moto, the S3 server of the tests, didn't start"
                time.sleep(0.1)
        yield address
    finally:
        process.terminate()
        process.wait(timeout=30)


class Bucket:
    """A bucket of the server: its address, how we and pylance are told of it."""

    def __init__(self, server, name, tmp_path):
        self.server, self.name = server, name
        self.local = tmp_path
        self.request("PUT", "", b"")

    def uri(self, key):
        return f"s3://{self.name}/{key}"

    def environment(self, endpoint=None, **more):
        names = {name: value for name, value in os.environ.items() if not name.startswith("AWS_")}
        return names | KEYS | {
            "AWS_ENDPOINT_URL": endpoint or self.server,
            "AWS_ALLOW_HTTP": "true",
            "AWS_REGION": "us-east-1",
        } | more  # fmt: skip

    def storage_options(self):
        return {name.lower(): value for name, value in self.environment().items()
                if name.startswith("AWS_")} | {"aws_endpoint": self.server, "allow_http": "true"}

    def request(self, method, key, body=None):
        # The server looks at who asks, not at the signature.
        authorization = (
            "AWS4-HMAC-SHA256 Credential=any/20260101/us-east-1/s3/aws4_request, "
            "SignedHeaders=host, Signature=0"
        )
        headers = {"Authorization": authorization, "Content-Type": "application/octet-stream"}
        asked = urllib.request.Request(
            f"{self.server}/{self.name}/{key}", data=body, method=method, headers=headers
        )
        with urllib.request.urlopen(asked, timeout=20) as answer:
            return answer.read()

    def put(self, key, path):
        self.request("PUT", key, path.read_bytes())

    def get(self, key):
        return self.request("GET", key)

    def keys(self, prefix=""):
        listing = self.request("GET", f"?list-type=2&prefix={prefix}").decode()
        return re.findall(r"<Key>([^<]*)</Key>", listing)

    def upload_folder(self, folder, key):
        """A dataset's folder as objects."""
        for path in folder.rglob("*"):
            if path.is_file():
                self.put(f"{key}/{path.relative_to(folder)}", path)

    def uploads_under_way(self):
        return self.request("GET", "?uploads").decode().count("<Upload>")


@pytest.fixture
def bucket(server, tmp_path, request):
    name = re.sub(r"[^a-z0-9]+", "-", request.node.name.lower())[:40].strip("-")
    return Bucket(server, f"{name}-{os.getpid()}-{time.monotonic_ns()}"[-60:].strip("-"), tmp_path)


@pytest.fixture
def proxy(server):
    proxy = FaultyProxy(server)
    yield proxy
    proxy.stop()


@pytest.fixture
def run(kinjo, bucket):
    """run(*args, endpoint=..., exit_code=...) runs the program against the bucket."""

    def run_program(*args, endpoint=None, exit_code=0, more=None):
        environment = bucket.environment(endpoint, **(more or {}))
        return kinjo(*args, exit_code=exit_code, env=environment)

    return run_program


def vectors(first, count):
    """Rows with ids first, first + 1, ...; everything else follows from the id."""
    ids = np.arange(first, first + count)
    values = np.sin(np.outer(ids + 1, np.arange(1, DIMENSION + 1) * 0.37))
    column = pa.FixedSizeListArray.from_arrays(
        pa.array(values.ravel().astype(np.float32)), DIMENSION
    )
    names = pa.array([f"row {i}" for i in ids])
    return pa.table({"id": pa.array(ids, pa.int64()), "name": names, "vec": column})


@pytest.fixture(scope="session")
def rows():
    return vectors


@pytest.fixture(scope="session")
def sides(tmp_path_factory):
    """A left table as Parquet, a right dataset with an index and deleted rows; both local."""
    folder = tmp_path_factory.mktemp("sides")
    pq.write_table(vectors(10_000, 300), folder / "left.parquet", row_group_size=100)
    dataset = lance.write_dataset(vectors(0, 6000), folder / "right.lance", max_rows_per_file=2500)
    dataset.create_index("vec", "IVF_PQ", num_partitions=8, num_sub_vectors=4)
    lance.write_dataset(vectors(6000, 500), folder / "right.lance", mode="append")
    lance.dataset(folder / "right.lance").delete("id % 11 = 3")
    return folder


@pytest.fixture
def stored(bucket, sides):
    """The sides as objects."""
    bucket.upload_folder(sides / "right.lance", "in/right.lance")
    bucket.put("in/left.parquet", sides / "left.parquet")
    return bucket
