"""A proxy in front of an S3 server that fails on demand: it answers 503, hangs up, stalls, cuts a
body short, sends other bytes than were asked for, swallows the answer to what was done, or calls
keys expired.

It also checks the signature of every request that it sees, by botocore, which signs the same.
"""

import http.client
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

from botocore.auth import S3SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials


class Fault:
    """What happens to the next `times` requests for which `matches(method, path, headers)`, after
    the first `after` of them."""

    def __init__(self, kind, matches, times, after):
        self.kind, self.matches, self.times, self.after = kind, matches, times, after


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def handle_any(self):
        proxy = self.server.proxy
        size = int(self.headers.get("content-length") or 0)
        body = self.rfile.read(size)
        proxy.note(self.command, self.path, self.headers, body)
        if not proxy.knows(self.headers):
            told = b"<Error><Code>ExpiredToken</Code><Message>too old</Message></Error>"
            return self.answer(400, [], told)
        kind = proxy.next_fault(self.command, self.path, self.headers)
        if kind == "503":
            return self.answer(503, [], b"<Error><Code>SlowDown</Code></Error>")
        if kind == "hang_up":
            return self.hang_up()
        if kind == "stall":
            proxy.stalled.set()
            proxy.released.wait(timeout=120)
            return self.hang_up()
        status, headers, answer = self.forward(body)
        if kind == "swallow":
            return self.hang_up()
        if kind == "cut":
            return self.answer(status, headers, answer, sent=len(answer) // 2)
        if kind == "short":  # less than was asked for, and honestly counted
            return self.answer(status, headers, answer[: len(answer) // 2])
        if kind == "other_range":
            headers = [(n, v) for n, v in headers if n.lower() != "content-range"]
            return self.answer(206, headers + [("Content-Range", "bytes 0-0/1")], answer)
        return self.answer(status, headers, answer)

    do_GET = do_HEAD = do_PUT = do_POST = do_DELETE = handle_any

    def forward(self, body):
        target = urlsplit(self.server.proxy.target)
        connection = http.client.HTTPConnection(target.hostname, target.port, timeout=120)
        connection.putrequest(self.command, self.path, skip_host=True, skip_accept_encoding=True)
        for name, value in self.headers.items():
            connection.putheader(name, value)
        connection.endheaders(body)
        answer = connection.getresponse()
        bytes_of_it = answer.read()
        connection.close()
        return answer.status, answer.getheaders(), bytes_of_it

    def answer(self, status, headers, body, sent=None):
        self.send_response_only(status)
        left_out = ("content-length", "connection", "transfer-encoding", "date", "server")
        is_head = self.command == "HEAD"
        for name, value in headers:
            if name.lower() not in left_out or (is_head and name.lower() == "content-length"):
                self.send_header(name, value)
        if not is_head:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if not is_head:
            self.wfile.write(body if sent is None else body[:sent])
        if sent is not None:
            self.hang_up()

    def hang_up(self):
        self.close_connection = True
        self.wfile.flush()

    def log_message(self, *_):
        pass


class FaultyProxy:
    def __init__(self, target):
        self.target = target
        self.faults = []
        self.requests = []
        self.wrong_signatures = []
        self.credentials = None  # to check signatures with
        self.known_keys = None  # ids of the keys that haven't expired; None: all
        self.released = threading.Event()
        self.stalled = threading.Event()
        self.lock = threading.Lock()
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.server.proxy = self
        self.address = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def fail(self, kind, matches=lambda method, path, headers: True, times=1, after=0):
        with self.lock:
            self.faults.append(Fault(kind, matches, times, after))

    def next_fault(self, method, path, headers):
        with self.lock:
            for fault in self.faults:
                if fault.times == 0 or not fault.matches(method, path, headers):
                    continue
                if fault.after > 0:
                    fault.after -= 1
                    continue
                fault.times -= 1
                return fault.kind
        return None

    def knows(self, headers):
        with self.lock:
            if self.known_keys is None:
                return True
            given = headers.get("authorization", "").partition("Credential=")[2]
            return given.split("/")[0] in self.known_keys

    def left_to_fail(self):
        with self.lock:
            return sum(fault.times for fault in self.faults)

    def note(self, method, path, headers, body):
        with self.lock:
            self.requests.append((method, path))
            if self.credentials is not None and not self.is_signed_well(method, path, headers):
                self.wrong_signatures.append((method, path, headers.get("authorization")))

    def is_signed_well(self, method, path, headers):
        given = headers.get("authorization", "")
        if "SignedHeaders=" not in given:
            return False
        names = given.split("SignedHeaders=")[1].split(",")[0].split(";")
        signed = {name: headers[name] for name in names}
        request = AWSRequest(method, f"http://{headers['host']}{path}", headers=signed)
        request.context["timestamp"] = headers["x-amz-date"]
        region = given.split("/")[2]
        signer = S3SigV4Auth(Credentials(*self.credentials), "s3", region)
        text = signer.string_to_sign(request, signer.canonical_request(request))
        return given.endswith("Signature=" + signer.signature(text, request))

    def stop(self):
        self.released.set()
        self.server.shutdown()
        self.server.server_close()
