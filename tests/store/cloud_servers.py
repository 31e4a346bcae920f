"""Google's storage and Azure's as far as a reader asks them, over the files of a folder.

Both answer what their services do for listings, looks and ranged reads (checked beside
gcp-storage-emulator and Azurite), count what they are asked, and fail on demand.
"""

import hashlib
import http.server
import json
import re
import threading
import urllib.parse
from pathlib import Path
from xml.sax.saxutils import escape

DATE = "Tue, 01 Dec 2026 00:00:00 GMT"


class FolderServer:
    """Serves the files below `folder` as the objects of one bucket (container) of any name."""

    def __init__(self, folder, answers):
        self.folder = Path(folder)
        self.asked = []  # method, path and query of each request
        self.unsigned = 0
        self.failures = 0  # so many requests are answered with 503 first
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def handle_any(self):
                outer.asked.append((self.command, self.path))
                if not self.headers.get("authorization"):
                    outer.unsigned += 1
                if outer.failures > 0:
                    outer.failures -= 1
                    return self.answer(503, {}, b"")
                address = urllib.parse.urlsplit(self.path)
                query = dict(urllib.parse.parse_qsl(address.query, keep_blank_values=True))
                return answers(self, outer, address.path, query)

            do_GET = do_HEAD = do_PUT = do_POST = handle_any

            def answer(self, status, headers, body):
                self.send_response(status)
                for name, value in ({"Content-Length": len(body)} | headers).items():
                    self.send_header(name, str(value))
                self.end_headers()
                if self.command != "HEAD":
                    self.wfile.write(body)

            def answer_range(self, headers, content):
                """The part that the request's range names, or all."""
                text = self.headers.get("x-ms-range") or self.headers.get("range") or ""
                asked = re.fullmatch(r"bytes=(\d+)-(\d*)", text)
                if not asked:
                    return self.answer(200, headers, content)
                first = int(asked[1])
                last = min(int(asked[2] or len(content)), len(content) - 1)
                if first > last:
                    return self.answer(416, headers, b"")
                told = {"Content-Range": f"bytes {first}-{last}/{len(content)}"}
                return self.answer(206, headers | told, content[first:last + 1])

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def stop(self):
        self.server.shutdown()
        self.server.server_close()

    def content(self, key):
        path = self.folder / key
        return path.read_bytes() if key and path.is_file() else None

    def listing(self, prefix, delimiter):
        """The keys below a prefix, and the common beginnings of those cut at a delimiter."""
        keys = sorted(str(path.relative_to(self.folder)) for path in self.folder.rglob("*")
                      if path.is_file())
        keys = [key for key in keys if key.startswith(prefix)]
        if not delimiter:
            return keys, []
        deeper = {prefix + key[len(prefix):].split(delimiter)[0] + delimiter for key in keys
                  if delimiter in key[len(prefix):]}
        return [key for key in keys if delimiter not in key[len(prefix):]], sorted(deeper)


def generation(content):
    return int(hashlib.md5(content).hexdigest()[:12], 16) + 1


def google(handler, store, path, query):
    """The JSON interface: /storage/v1/b/BUCKET/o[/OBJECT]."""
    place = re.fullmatch(r"/storage/v1/b/([^/]+)/o(?:/(.*))?", path)
    if not place:
        return handler.answer(404, {}, b"")
    json_type = {"Content-Type": "application/json"}

    def describe(key):
        content = store.content(key)
        return {"kind": "storage#object", "name": key, "bucket": place[1], "size": len(content),
                "generation": str(generation(content)), "updated": "2026-12-01T00:00:00.000Z"}

    if place[2] is None:
        keys, deeper = store.listing(query.get("prefix", ""), query.get("delimiter"))
        told = {"kind": "storage#objects", "items": [describe(key) for key in keys],
                "prefixes": deeper}
        return handler.answer(200, json_type, json.dumps(told).encode())
    key = urllib.parse.unquote(place[2])
    content = store.content(key)
    if content is None or query.get("generation", str(generation(content))) != str(
        generation(content)
    ):
        error = {"error": {"code": 404, "message": f"No such object: {key}"}}
        return handler.answer(404, json_type, json.dumps(error).encode())
    if query.get("alt") == "media":
        return handler.answer_range({"x-goog-generation": generation(content)}, content)
    return handler.answer(200, json_type, json.dumps(describe(key)).encode())


def azure(handler, store, path, query):
    """The blob interface with the account in the path: /ACCOUNT/CONTAINER[/BLOB]."""
    place = re.fullmatch(r"/([^/]+)/([^/]+)/?(.*)", path)
    if query.get("action") == "getAccessControl":
        return handler.answer(400, {}, b"")  # no hierarchical namespace
    common = {"x-ms-version": "2025-11-05", "x-ms-request-id": "1"}

    def tag(content):
        return f'"{generation(content):#x}"'

    if query.get("comp") == "list":
        keys, deeper = store.listing(query.get("prefix", ""), query.get("delimiter"))
        blobs = "".join(f"<BlobPrefix><Name>{escape(name)}</Name></BlobPrefix>" for name in deeper)
        for key in keys:
            content = store.content(key)
            blobs += (
                f"<Blob><Name>{escape(key)}</Name><Properties><Creation-Time>{DATE}</Creation-Time>"
                f"<Last-Modified>{DATE}</Last-Modified><Etag>{tag(content)[1:-1]}</Etag>"
                f"<Content-Length>{len(content)}</Content-Length><BlobType>BlockBlob</BlobType>"
                "<ServerEncrypted>true</ServerEncrypted><AccessTier>Hot</AccessTier>"
                "</Properties></Blob>"
            )
        body = ('<?xml version="1.0" encoding="UTF-8"?><EnumerationResults ServiceEndpoint='
                f'"{store.address}/{place[1]}" ContainerName="{place[2]}"><Prefix>'
                f'{escape(query.get("prefix", ""))}</Prefix><Marker/><MaxResults>5000</MaxResults>'
                f"<Delimiter>/</Delimiter><Blobs>{blobs}</Blobs><NextMarker/></EnumerationResults>")
        return handler.answer(200, common | {"Content-Type": "application/xml"}, body.encode())
    content = store.content(urllib.parse.unquote(place[3]))
    if content is None:
        return handler.answer(404, common | {"x-ms-error-code": "BlobNotFound"}, b"")
    headers = common | {
        "Last-Modified": DATE, "x-ms-creation-time": DATE, "ETag": tag(content),
        "x-ms-blob-type": "BlockBlob", "x-ms-lease-state": "available",
        "x-ms-lease-status": "unlocked", "x-ms-server-encrypted": "true",
        "Content-Type": "application/octet-stream",
    }  # fmt: skip
    return handler.answer_range(headers, content)
