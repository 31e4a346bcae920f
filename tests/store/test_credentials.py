"""Keys from the services of containers, instances and web identities, renewed while a job runs."""

import datetime
import http.server
import json
import threading

import pytest

JOIN = ["-k", 5, "--nprobes", 4]


class KeyService:
    """Gives out keys KEY1, KEY2, ... in the forms of all three services; counts how often."""

    def __init__(self):
        self.given = 0
        self.lifetime = datetime.timedelta(hours=1)
        self.on_key = lambda key: None
        self.asked = []
        service = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_any(self):
                size = int(self.headers.get("content-length") or 0)
                body = self.rfile.read(size).decode()
                service.asked.append((self.command, self.path, dict(self.headers.items()), body))
                answer = service.answer(self.command, self.path).encode()
                self.send_response(200)
                self.send_header("Content-Length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

            do_GET = do_PUT = do_POST = do_any

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def answer(self, method, path):
        if path == "/latest/api/token":
            return "a session"
        if path.endswith("/security-credentials/"):
            return "a-role\n"
        self.given += 1
        key = f"KEY{self.given}"
        self.on_key(key)
        now = datetime.datetime.now(datetime.UTC)
        fields = {"AccessKeyId": key, "SecretAccessKey": f"secret of {key}",
                  "Expiration": (now + self.lifetime).strftime("%Y-%m-%dT%H:%M:%SZ")}
        if method != "POST":
            return json.dumps(fields | {"Token": f"token of {key}"})
        fields["SessionToken"] = f"token of {key}"
        return "<R><Credentials>" + "".join(
            f"<{name}>{value}</{name}>" for name, value in fields.items()) + "</Credentials></R>"

    def stop(self):
        self.server.shutdown()
        self.server.server_close()


@pytest.fixture
def service():
    service = KeyService()
    yield service
    service.stop()


def environment_of(kind, service, tmp_path):
    """Variables by which a process finds the service of this kind, and no other keys."""
    none = {"AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": "", "HOME": str(tmp_path),
            "AWS_EC2_METADATA_DISABLED": "true"}
    if kind == "container":
        return none | {"AWS_CONTAINER_CREDENTIALS_FULL_URI": service.address + "/keys",
                       "AWS_CONTAINER_AUTHORIZATION_TOKEN": "let me in"}
    if kind == "instance":
        return none | {"AWS_EC2_METADATA_DISABLED": "",
                       "AWS_EC2_METADATA_SERVICE_ENDPOINT": service.address}
    token = tmp_path / "token"
    token.write_text("who I am\n")
    return none | {"AWS_WEB_IDENTITY_TOKEN_FILE": str(token), "AWS_ROLE_ARN": "arn:of:a:role",
                   "AWS_ENDPOINT_URL_STS": service.address}


def known_only(proxy):
    """From now on a key that is given out makes those before it expire."""

    def on_key(key):
        with proxy.lock:
            proxy.known_keys = {key}

    return on_key


KINDS = ["container", "instance", "web identity"]


@pytest.mark.parametrize("kind", KINDS)
def test_keys_of_a_service(run, stored, proxy, service, tmp_path, kind):
    service.on_key = known_only(proxy)
    proxy.credentials = ("KEY1", "secret of KEY1", "token of KEY1")
    run("info", stored.uri("in/right.lance"), endpoint=proxy.address,
        more=environment_of(kind, service, tmp_path))
    assert service.given == 1 and proxy.wrong_signatures == []
    _, _, headers, body = service.asked[-1]
    headers = {name.lower(): value for name, value in headers.items()}
    if kind == "container":
        assert headers["authorization"] == "let me in"
    elif kind == "instance":
        assert headers["x-aws-ec2-metadata-token"] == "a session"
    else:
        assert "WebIdentityToken=who%20I%20am" in body and "RoleArn=arn%3Aof%3Aa%3Arole" in body


@pytest.mark.parametrize("kind", KINDS)
def test_keys_that_expire_during_a_job(run, stored, sides, proxy, service, tmp_path, kind):
    """The store calls the first keys expired while they should hold for long; the job goes on."""
    service.on_key = known_only(proxy)
    requests = []

    def expire(method, path, headers):
        requests.append(path)
        if len(requests) in (8, 20):
            proxy.known_keys = set()
        return False

    proxy.fail("503", matches=expire)
    output = tmp_path / "out.parquet"
    run("join", "--left", sides / "left.parquet", "--right", stored.uri("in/right.lance"),
        "-o", output, *JOIN, endpoint=proxy.address, more=environment_of(kind, service, tmp_path))
    plain = tmp_path / "plain.parquet"
    run("join", "--left", sides / "left.parquet", "--right", sides / "right.lance",
        "-o", plain, *JOIN)
    assert output.read_bytes() == plain.read_bytes()
    assert len(requests) > 20 and service.given == 3


def test_keys_are_fetched_anew_before_they_expire(run, stored, proxy, service, tmp_path):
    service.lifetime = datetime.timedelta(minutes=4)
    run("info", stored.uri("in/right.lance"), endpoint=proxy.address,
        more=environment_of("container", service, tmp_path))
    assert service.given > 1


def test_keys_that_stay_expired(run, stored, proxy, service, tmp_path):
    proxy.known_keys = set()
    done = run("info", stored.uri("in/right.lance"), endpoint=proxy.address, exit_code=1,
               more=environment_of("container", service, tmp_path))
    assert "ExpiredToken" in done.stderr and len(proxy.requests) < 30
