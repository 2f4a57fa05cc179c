"""What several tests of the data sets share: the published files and a local web server."""

import os
import re
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def published() -> Path:
    """The files as the paper's authors published them."""
    root = Path(os.environ.get("ROCOURSE_DATA", "nowhere"))
    if not (root / "loan" / "year=2009.csv").is_file():
        pytest.skip("the published data files are not here; set ROCOURSE_DATA to their directory")
    return root


@dataclass
class Server:
    """A web server on this machine that can be told to misbehave."""

    url: str = ""
    files: dict[str, bytes] = field(default_factory=dict)
    ranges: bool = True
    """Whether to honour Range headers."""
    range_shift: int = 0
    """How many bytes too early a range begins."""
    cut_after: int | None = None
    """Close the connection after so many bytes of the body."""
    chunked: bool = False
    """Send the body in chunks, without its length."""
    requests: list[tuple[str, str | None]] = field(default_factory=list)
    """Path and Range header of each request."""


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    state = Server()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            requested = self.headers["Range"]
            state.requests.append((self.path, requested))
            body = state.files.get(self.path)
            if body is None:
                self.send_error(404)
                return
            start, status = 0, 200
            if state.ranges and (match := re.fullmatch(r"bytes=(\d+)-", requested or "")):
                start, status = int(match[1]), 206
                if start >= len(body):
                    self.send_error(416)
                    return
                start -= state.range_shift
            rest = body[start:]
            self.send_response(status)
            if status == 206:
                self.send_header("Content-Range", f"bytes {start}-{len(body) - 1}/{len(body)}")
            if state.chunked:
                self.send_header("Transfer-Encoding", "chunked")
            else:
                self.send_header("Content-Length", str(len(rest)))
            self.end_headers()
            sent = rest[: state.cut_after]
            if state.chunked:
                self.wfile.write(f"{len(rest):x}\r\n".encode() + sent)
                if len(sent) == len(rest):
                    self.wfile.write(b"\r\n0\r\n\r\n")
            else:
                self.wfile.write(sent)

        def log_message(self, format: str, *args: object) -> None:
            pass

    Handler.protocol_version = "HTTP/1.1"
    # One connection for each request, so that cutting the body off is closing the connection.
    Handler.close_connection = True
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as httpd:
        state.url = f"http://127.0.0.1:{httpd.server_address[1]}"
        thread = threading.Thread(target=httpd.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield state
        httpd.shutdown()
        thread.join()
