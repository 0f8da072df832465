"""A server on the loopback that takes wakes, or does what broken ones do, and remembers what it got."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple, Self

PATH = "/hooks/wake"


class Asked(NamedTuple):
    """A request as it came."""

    method: str
    path: str
    headers: dict[str, str]
    body: Any


class HookServer:
    """A server while it is entered; it answers ``code``, with a way elsewhere where it has one.

    Args:
        code: Status of each answer; 0: it never answers.
        drips: It sends one byte every quarter of a second.
    """

    def __init__(self, code: int = 200, *, elsewhere: str = "", drips: bool = False) -> None:
        self.asked: list[Asked] = []
        self.over = threading.Event()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                data = self.rfile.read(int(self.headers["Content-Length"]))
                headers = {name.lower(): value for name, value in self.headers.items()}
                outer.asked.append(Asked("POST", self.path, headers, json.loads(data)))
                if code == 0:
                    outer.over.wait()
                    return
                while drips and not outer.over.wait(0.25):
                    self.wfile.write(b"H")
                self.send_response(code)
                if elsewhere:
                    self.send_header("Location", elsewhere)
                self.end_headers()

            def do_GET(self) -> None:
                outer.asked.append(Asked("GET", self.path, {}, None))

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}{PATH}"

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.over.set()
        self._server.shutdown()
        self._server.server_close()
