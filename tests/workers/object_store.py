"""An object store, as much of S3 as files need: python -m tests.workers.object_store."""

import re
import time
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, unquote, urlsplit
from xml.sax.saxutils import escape

OBJECTS: dict[str, tuple[bytes, float]] = {}
HEAD = '<?xml version="1.0"?><ListBucketResult><IsTruncated>false</IsTruncated>'


class Bucket(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_PUT(self) -> None:
        OBJECTS[self.key] = (self.body(), time.time())
        self.answer(200, {"ETag": '"x"'})

    def do_POST(self) -> None:  # the removal of several
        for name in re.findall("<Key>(.*?)</Key>", self.body().decode()):
            OBJECTS.pop(f"{self.key.rstrip('/')}/{name}", None)
        self.answer(200, {"Content-Type": "application/xml"}, b"<DeleteResult/>")

    def do_DELETE(self) -> None:
        OBJECTS.pop(self.key, None)
        self.answer(204)

    def do_HEAD(self) -> None:
        self.do_GET()

    def do_GET(self) -> None:
        query = parse_qs(urlsplit(self.path).query, keep_blank_values=True)
        if "list-type" in query:
            self.list(query.get("prefix", [""])[0], query.get("delimiter", [""])[0])
        elif self.key not in OBJECTS:
            self.answer(404, {}, b"<Error><Code>NoSuchKey</Code></Error>")
        else:
            data, when = OBJECTS[self.key]
            facts = {"ETag": '"x"', "Last-Modified": formatdate(when, usegmt=True)}
            if wanted := re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", "")):
                start, end = int(wanted[1]), min(int(wanted[2] or len(data)) + 1, len(data))
                facts["Content-Range"] = f"bytes {start}-{end - 1}/{len(data)}"
                self.answer(206, facts, data[start:end])
            else:
                self.answer(200, facts, data)

    def list(self, prefix: str, delimiter: str) -> None:
        bucket, parts, folders = self.key.strip("/"), [HEAD], set[str]()
        for key, (data, when) in sorted(OBJECTS.items()):
            name = key.removeprefix(f"{bucket}/")
            if not name.startswith(prefix):
                continue
            first, more, _ = name.removeprefix(prefix).partition(delimiter or "\0")
            if more:
                folders.add(f"{prefix}{first}{delimiter}")
                continue
            stamp = time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(when))
            parts.append(
                f"<Contents><Key>{escape(name)}</Key><LastModified>{stamp}</LastModified>"
                f'<ETag>"x"</ETag><Size>{len(data)}</Size></Contents>'
            )
        parts += [
            f"<CommonPrefixes><Prefix>{escape(name)}</Prefix></CommonPrefixes>"
            for name in sorted(folders)
        ]
        text = "".join([*parts, "</ListBucketResult>"])
        self.answer(200, {"Content-Type": "application/xml"}, text.encode())

    @property
    def key(self) -> str:
        return unquote(urlsplit(self.path).path).lstrip("/")

    def body(self) -> bytes:
        raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if "aws-chunked" not in self.headers.get("Content-Encoding", ""):
            return raw
        data = b""
        while raw:
            head, _, raw = raw.partition(b"\r\n")
            size = int(head.partition(b";")[0], 16)
            data, raw = data + raw[:size], raw[size + 2 :] if size else b""
        return data

    def answer(self, status: int, facts: dict[str, str] | None = None, data: bytes = b"") -> None:
        self.send_response(status)
        for name, text in {**(facts or {}), "Content-Length": str(len(data))}.items():
            self.send_header(name, text)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def log_message(self, *words: object) -> None:
        return


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", 0), Bucket)
    print(server.server_port, flush=True)
    server.serve_forever()
