"""A model on the loopback that does what the message says: a stand-in for a language model.

It speaks OpenAI's chat completions, streamed, and keeps every request. ``RUN<<line>>`` in what the
user says makes it call the ``exec`` tool with that line, ``CALL<<tool {"a": 1}>>`` another tool;
what the tool answered is its reply. It says nothing of what a real model would choose to do.
"""

import json
import re
from http.server import BaseHTTPRequestHandler
from typing import Any

from loopback import Loopback, Quiet

from clsm_cli.text.fence_lines import CLOSING

NAME = "scripted"
_RUN = re.compile(r"RUN<<(.+?)>>", re.DOTALL)
_CALL = re.compile(r"CALL<<(\w+) (.+?)>>", re.DOTALL)


class ScriptedModel(Loopback):
    """The server, while it is entered.

    Attributes:
        requests: The messages of each request, oldest first.
    """

    def __init__(self) -> None:
        self.requests: list[list[dict[str, Any]]] = []
        model = self

        class Handler(Quiet, BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                self._send("application/json", json.dumps({"data": [{"id": NAME}]}).encode())

            def do_POST(self) -> None:
                asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
                model.requests.append(asked["messages"])
                chunks = _chunks(asked["messages"], len(model.requests))
                rows = [f"data: {json.dumps(chunk)}\n\n" for chunk in chunks]
                self._send("text/event-stream", "".join([*rows, "data: [DONE]\n\n"]).encode())

            def _send(self, kind: str, body: bytes) -> None:
                self.send_response(200)
                self.send_header("content-type", kind)
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

        super().__init__(Handler)


def _chunks(messages: list[dict[str, Any]], count: int) -> list[dict[str, Any]]:
    delta, reason = _answer(messages, count)
    base = {
        "id": f"answer-{count}",
        "object": "chat.completion.chunk",
        "created": count,
        "model": NAME,
    }
    usage = {"prompt_tokens": 100, "completion_tokens": 8, "total_tokens": 108}
    return [
        {**base, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]},
        {**base, "choices": [{"index": 0, "delta": {}, "finish_reason": reason}]},
        {**base, "choices": [], "usage": usage},
    ]


def _answer(messages: list[dict[str, Any]], count: int) -> tuple[dict[str, Any], str]:
    """What to say next, and why it ends."""
    # OpenClaw puts a second message of its own behind the user's.
    new: list[dict[str, Any]] = []
    for message in reversed(messages):
        if message["role"] == "assistant":
            break
        new.insert(0, message)
    results = [message for message in new if message["role"] == "tool"]
    if results:
        return {"role": "assistant", "content": f"It says: {text_of(results[-1])}"}, "stop"
    # What was recalled stands before what is said, and may hold an order that was given earlier.
    said = "\n".join(text_of(message) for message in new).rpartition(CLOSING)[2]
    run, call = _RUN.search(said), _CALL.search(said)
    if run:
        return _tool("exec", json.dumps({"command": run[1]}), count), "tool_calls"
    if call:
        return _tool(call[1], call[2], count), "tool_calls"
    reply = "NO_REPLY" if "heartbeat" in said.lower() else "Understood."
    return {"role": "assistant", "content": reply}, "stop"


def _tool(name: str, arguments: str, count: int) -> dict[str, Any]:
    call = {"index": 0, "id": f"call_{count}", "type": "function"}
    function = {"name": name, "arguments": arguments}
    return {"role": "assistant", "content": None, "tool_calls": [{**call, "function": function}]}


def text_of(message: dict[str, Any]) -> str:
    content = message.get("content")
    if isinstance(content, list):
        return "\n".join(part.get("text", "") for part in content)
    return content or ""
