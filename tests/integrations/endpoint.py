"""A server of the OpenAI protocol on this machine, which behaves as the model's name says.

The name lists what it does, request by request: ``wrong,good`` answers wrong first and well ever
after.
"""

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from typing import Any

from loopback import Loopback, Quiet

from clsm_cli.config import LlmSettings
from clsm_cli.integrations.llm import Llm

KEY = "sk-test-0123456789abcdef"
TOKENS_IN, TOKENS_OUT = 500, 200
TIMEOUT = 2.0
"""Seconds that the client waits."""
LONG = 10 * TIMEOUT
"""Seconds that ``slow`` takes, and ``drip`` altogether: far longer, however busy the machine."""


def completion(content: str | None, finish: str = "stop", **message: Any) -> dict[str, Any]:
    said = {"role": "assistant", "content": content, **message}
    used = {"prompt_tokens": TOKENS_IN, "completion_tokens": TOKENS_OUT}
    return {
        "id": "chatcmpl-1", "object": "chat.completion", "created": 0, "model": "m",
        "choices": [{"index": 0, "finish_reason": finish, "message": said}],
        "usage": {**used, "total_tokens": TOKENS_IN + TOKENS_OUT},
    }  # fmt: skip


CONTENTS: dict[str, Callable[[str], dict[str, Any]]] = {
    "good": completion,
    "malformed": lambda good: completion(good[:-1] + ",,"),
    "prose": lambda _: completion("I would rather talk about it."),
    "wrong": lambda _: completion('{"unheard": 1}'),
    "nan": lambda good: completion(good.replace("0.25", "NaN")),
    "half": lambda good: completion(good.replace("0.25", '"\\ud800"')),
    "deep": lambda _: completion('{"a":' * 100_000),
    "fenced": lambda good: completion(f"```json\n{good}\n```"),
    "thinking": lambda good: completion(f'<think>{{"no": 1}}</think>\nHere it is: {good}'),
    "cut": lambda good: completion(good[: len(good) // 2], "length"),
    "empty": lambda _: completion(""),
    "null": lambda _: completion(None),
    "refusing": lambda _: completion(None, refusal="I cannot help with that."),
    "filtered": lambda _: completion("", "content_filter"),
    "nochoice": lambda _: {"object": "chat.completion", "choices": []},
    "nousage": lambda good: {k: v for k, v in completion(good).items() if k != "usage"},
    "huge": lambda _: completion("x" * 3_000_000),
}
STATUSES = {"500": 500, "429": 429, "401": 401, "404": 404}


class Handler(Quiet, BaseHTTPRequestHandler):
    endpoint: "Endpoint"

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        asked = self.endpoint.requests
        script = body["model"].split(",")
        kind = script[min(len(asked), len(script) - 1)]
        asked.append({"key": self.headers["Authorization"], "body": body})
        form = body.get("response_format", {}).get("type")
        refused = {"noschema": ["json_schema"], "plain": ["json_schema", "json_object"]}
        if form in refused.get(kind, []):
            self._error(400, f"'response_format' of type '{form}' is not supported")
        elif kind == "picky" and "temperature" in body:
            self._error(400, "Unsupported value: 'temperature' does not support 0")
        elif kind == "picky" and "max_tokens" in body:
            self._error(400, "Use 'max_completion_tokens' instead of 'max_tokens'")
        elif kind in STATUSES:
            self._error(STATUSES[kind], f"{self.headers['Authorization']} {body['messages']}")
        elif kind in {"slow", "drip", "drop", "hangup", "html"}:
            getattr(self, f"_{kind}")()
        else:
            content = json.dumps(self._answer(body))
            self._send(200, CONTENTS.get(kind, completion)(content))

    def _answer(self, body: dict[str, Any]) -> Any:
        """The good answer; one that names ``by_schema`` has one for each schema's name."""
        good = self.endpoint.good
        by_schema = good.get("by_schema") if isinstance(good, dict) else None
        if by_schema is None:
            return good
        return by_schema[body["response_format"]["json_schema"]["name"]]

    def _slow(self) -> None:
        time.sleep(LONG)

    def _drip(self) -> None:
        self._head(200, 1_000)
        for _ in range(round(4 * LONG / TIMEOUT)):
            self.wfile.write(b" ")
            self.wfile.flush()
            time.sleep(TIMEOUT / 4)

    def _drop(self) -> None:
        self._head(200, 1_000)
        self.wfile.write(b'{"id"')

    def _hangup(self) -> None:
        self.close_connection = True

    def _html(self) -> None:
        page = b"<html>It works!</html>"
        self._head(200, len(page), "text/html")
        self.wfile.write(page)

    def _error(self, status: int, message: str) -> None:
        self._send(status, {"error": {"message": message, "type": "x", "code": None}})

    def _send(self, status: int, value: Any) -> None:
        data = json.dumps(value).encode()
        self._head(status, len(data))
        self.wfile.write(data)

    def _head(self, status: int, length: int, kind: str = "application/json") -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(length))
        if status == 429:
            self.send_header("Retry-After", "0.5")
        self.end_headers()


class Endpoint:
    """The server, as its tests see it.

    Attributes:
        requests: What was sent since the good answer was set: ``key`` is the header, ``body`` the JSON.
    """

    def __init__(self) -> None:
        self.address = ""
        self.good: Any = {}
        self.requests: list[dict[str, Any]] = []

    def answers(self, value: Any) -> None:
        """Set the good answer, and forget what was asked."""
        self.good = value
        self.requests.clear()

    def llm(self, script: str, key: str | None = KEY) -> Llm:
        """A client of it whose model does what ``script`` lists."""
        settings = LlmSettings(f"{self.address}/v1", script, timeout=TIMEOUT)
        return Llm(settings, key)

    @property
    def count(self) -> int:
        return len(self.requests)


@contextmanager
def running() -> Iterator[Endpoint]:

    class OfOne(Handler):
        endpoint = Endpoint()

    with Loopback(OfOne) as server:
        OfOne.endpoint.address = f"http://127.0.0.1:{server.port}"
        yield OfOne.endpoint
