"""A server on the loopback that takes wakes, or does what broken ones do, and remembers what it got."""

import json
import threading
from http.server import BaseHTTPRequestHandler
from typing import Any, NamedTuple

from loopback import Loopback, Quiet

PATH = "/hooks/wake"


class Asked(NamedTuple):
    method: str
    path: str
    headers: dict[str, str]
    body: Any


class HookServer(Loopback):
    """A server while it is entered; it answers ``code``, with a way elsewhere where it has one.

    Args:
        code: Status of each answer; 0: it never answers.
        drips: It sends one byte every quarter of a second.
    """

    def __init__(self, code: int = 200, *, elsewhere: str = "", drips: bool = False) -> None:
        self.asked: list[Asked] = []
        self.over = threading.Event()
        outer = self

        class Handler(Quiet, BaseHTTPRequestHandler):
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

        super().__init__(Handler)
        self.url = f"http://127.0.0.1:{self.port}{PATH}"

    def __exit__(self, *_: object) -> None:
        self.over.set()
        super().__exit__()
