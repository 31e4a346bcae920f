"""What object stores need to know, told by each call that is given an address. The store is a
server that only writes down who asked for what: tests/store reads and writes."""

import http.server
import pickle
import threading

import pytest

import kinjo
from kinjo._sides import as_dataset


@pytest.fixture
def store():
    """A store that refuses everybody: its address, and the (path, credential) of each request."""

    class Refusing(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            signed = self.headers.get("Authorization", "")
            asked.append((self.path, signed.partition("Credential=")[2].partition(",")[0]))
            self.send_response(403)
            self.send_header("Content-Length", "0")
            self.end_headers()

        do_HEAD = do_PUT = do_GET

        def log_message(self, *_):
            pass

    asked = []
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Refusing)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}", asked
    server.shutdown()
    thread.join()
    server.server_close()


def options(store, key="AKIDCALL"):
    return {"aws_endpoint": store[0], "allow_http": True, "aws_access_key_id": key,
            "aws_secret_access_key": "s", "aws_region": "eu-north-1", "client_max_retries": 0}


CALLS = {
    "open": lambda uri, told, rows: kinjo.open(uri, storage_options=told),
    "right": lambda uri, told, rows: kinjo.join(rows, uri, storage_options=told),
    "left": lambda uri, told, rows: kinjo.join(uri, rows, storage_options=told),
    "tune": lambda uri, told, rows: kinjo.tune(uri, rows, storage_options=told),
    "write": lambda uri, told, rows: kinjo.write_dataset(rows, uri, storage_options=told),
    "output": lambda uri, told, rows: kinjo.join(rows, rows).write_parquet(
        uri + "/out.parquet", storage_options=told),
}


@pytest.mark.parametrize("call", CALLS)
def test_a_call_tells_for_its_own_addresses(call, store, vectors):
    uri = f"s3://bucket-{call}/d.lance"
    with pytest.raises(kinjo.IoError, match="403"):
        CALLS[call](uri, options(store), vectors(5))
    assert store[1]
    for path, credential in store[1]:
        assert path.startswith(f"/bucket-{call}"), path
        assert credential.startswith("AKIDCALL/") and "/eu-north-1/s3/" in credential


def test_a_search_tells_for_its_queries(store, vectors, tmp_path):
    dataset = kinjo.write_dataset(vectors(5), tmp_path / "d.lance")
    with pytest.raises(kinjo.IoError, match="403"):
        dataset.search("s3://bucket-q/q.parquet", storage_options=options(store)).to_arrow()
    assert store[1][0][1].startswith("AKIDCALL/")


def test_they_hold_from_then_on_until_others_are_told(store):
    for key in ("AKIDONE", "AKIDTWO"):
        with pytest.raises(kinjo.IoError):
            kinjo.open("s3://bucket/d.lance", storage_options=options(store, key))
        store[1].clear()
        with pytest.raises(kinjo.IoError):
            kinjo.open("s3://bucket/d.lance")
        assert {credential.partition("/")[0] for _, credential in store[1]} == {key}


def test_a_dataset_takes_them_along(vectors, tmp_path):
    told = {"aws_region": "eu-north-1"}
    dataset = kinjo.write_dataset(vectors(5), tmp_path / "d.lance", storage_options=told)
    assert pickle.loads(pickle.dumps(dataset))._storage_options == told


def test_a_dataset_of_pylance_brings_its_own(vectors, tmp_path):
    import lance

    told = {"aws_region": "eu-north-1"}
    theirs = lance.write_dataset(vectors(5), tmp_path / "d.lance", storage_options=told)
    assert as_dataset(theirs)._storage_options == told
    assert as_dataset(lance.dataset(tmp_path / "d.lance"))._storage_options is None


@pytest.mark.parametrize("told, kind, message", [
    ([("aws_region", "x")], TypeError, "must be a dict"),
    ({"aws_region": None}, TypeError, "aws_region"),
    ({3: "x"}, TypeError, "3"),
    ({"aws_regoin": "x"}, kinjo.InvalidArgument, "aws_regoin"),
    ({"aws_region": "x\0y"}, kinjo.InvalidArgument, "zero byte"),
    ({"connections": 0}, kinjo.InvalidArgument, "connections"),
])
def test_what_is_refused(told, kind, message, vectors, tmp_path):
    for call in (
        lambda: kinjo.open(tmp_path, storage_options=told),
        lambda: kinjo.join(vectors(5), str(tmp_path), storage_options=told),
        lambda: kinjo.set_storage_options(told, "s3://refused"),
    ):
        with pytest.raises(kind, match=message):
            call()


def test_what_a_result_shows_has_no_secrets(vectors):
    told = {"aws_secret_access_key": "very secret"}
    result = kinjo.join(vectors(5), vectors(5), storage_options=told)
    assert "secret" not in repr(result) + result._repr_html_() + result.explain()
