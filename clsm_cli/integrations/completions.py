"""One chat completion over the OpenAI protocol, in a form that the server takes.

Servers of that protocol (OpenAI, llama.cpp, Ollama, vLLM) differ in what they take: what one refuses
is left out, and not sent again once it has answered without.
"""

from __future__ import annotations

import json
import re
from time import monotonic
from typing import TYPE_CHECKING, Any

from clsm_cli.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from openai import OpenAI

SEED = 0
LONGEST_ANSWER = 4096
"""Tokens of an answer, at most; twenty times a usual one (CLS-M §6.1)."""
LARGEST_BODY = 1 << 20
"""Bytes of an HTTP answer that are read, at most."""
LONGEST_PAUSE = 20.0
"""Seconds that a server may ask to be left alone before a second attempt."""

_FORMATS = ("json_schema", "json_object", "text")
"""Ways to ask for JSON, the strictest first; ``text`` leaves it to the prompt."""
_SENT_KEYWORDS = frozenset({"type", "enum", "required", "additionalProperties", "description"})
"""Of a schema, beside ``properties`` and ``items``: what every server understands."""
_REFUSES_FORM = frozenset({400, 415, 422, 501})
_PASSING = frozenset({408, 409, 425, 429})
_LASTING = frozenset({401, 402, 403, 404})
_STATUS_TEXT = {
    401: "does not accept the API key",
    402: "wants to be paid first",
    403: "does not let this API key in",
    404: "does not know this address or model",
    413: "finds the question too long",
    429: "is asked too often, or its quota is used up",
}


class Message(NamedTuple):
    """One message of a prompt."""

    role: str
    content: str


class Completion(NamedTuple):
    """What a model answered.

    Attributes:
        content: Its text, ``""`` for none.
        is_cut: The text ended at the largest length.
        is_refusal: The model declined, or a filter stopped it.
        tokens_in: Tokens of the prompt, as counted by the server; 0 from one that counts none.
        tokens_out: Tokens of the answer.
    """

    content: str
    is_cut: bool
    is_refusal: bool
    tokens_in: int
    tokens_out: int


class Failure(NamedTuple):
    """Why a request gave no completion.

    Attributes:
        reason: Completes "the language model …", without any text of the server.
        may_pass: A second attempt can help.
        lasts: Every other request would fail as well.
        pause: Seconds to wait before the second attempt.
        refused: What the server wrote where it refused the form of the request.
    """

    reason: str
    may_pass: bool = True
    lasts: bool = False
    pause: float = 0.0
    refused: str | None = None


class Endpoint:
    """A model behind a client.

    Attributes:
        calls: Requests sent so far, refused ones included.
    """

    def __init__(self, client: OpenAI, model: str, timeout: float) -> None:
        """Ask ``model``; a request may take ``timeout`` seconds to the last byte of its answer."""
        self.calls = 0
        self._client = client
        self._model = model
        self._timeout = timeout
        self._format = 0
        self._options = {"temperature": 0, "seed": SEED, "max_tokens": LONGEST_ANSWER}

    def complete(
        self, messages: Sequence[Message], schema: Mapping[str, Any], name: str
    ) -> Completion | Failure:
        """The completion of a prompt, as JSON of a schema where the server can see to that.

        Args:
            messages: The prompt.
            schema: Of the answer.
            name: Of the schema, for the server.
        """
        form, options = self._format, dict(self._options)
        while True:
            outcome = self._post(messages, {**options, **_format(_FORMATS[form], schema, name)})
            refused = outcome.refused if isinstance(outcome, Failure) else None
            if refused is None:
                if isinstance(outcome, Completion):
                    self._format, self._options = form, options
                return outcome
            if option := next((o for o in options if re.search(rf"\b{o}\b", refused)), None):
                del options[option]
            elif form < len(_FORMATS) - 1:
                form += 1
            else:
                return outcome

    def _post(self, messages: Sequence[Message], options: dict[str, Any]) -> Completion | Failure:
        import httpx2
        import openai

        self.calls += 1
        prompt: list[Any] = [message._asdict() for message in messages]
        end = monotonic() + self._timeout
        try:
            with self._client.chat.completions.with_streaming_response.create(
                model=self._model, messages=prompt, **options
            ) as response:
                return self._read(response.iter_bytes(), end)
        except (openai.APITimeoutError, httpx2.TimeoutException):
            return self._late()
        except openai.APIStatusError as error:
            return _status_failure(error.status_code, error.message, error.response.headers)
        except openai.OpenAIError:
            return Failure("cannot be reached")
        except httpx2.HTTPError:
            return Failure("broke off its answer")

    def _read(self, chunks: Iterable[bytes], end: float) -> Completion | Failure:
        body = bytearray()
        for chunk in chunks:
            body += chunk
            if len(body) > LARGEST_BODY:
                return Failure(f"answers with more than {LARGEST_BODY} bytes")
            if monotonic() > end:  # the client's own timeout starts anew with every byte
                return self._late()
        return _completion(bytes(body))

    def _late(self) -> Failure:
        return Failure(f"did not answer within {self._timeout:g} s")


def _format(form: str, schema: Mapping[str, Any], name: str) -> dict[str, Any]:
    if form == "text":
        return {}
    if form == "json_object":
        return {"response_format": {"type": form}}
    strict = {"name": name, "schema": _portable(schema), "strict": True}
    return {"response_format": {"type": form, "json_schema": strict}}


def _portable(schema: Mapping[str, Any]) -> dict[str, Any]:
    """A schema without the bounds that some servers refuse; its reader holds answers to them."""
    sent = {key: value for key, value in schema.items() if key in _SENT_KEYWORDS}
    if "properties" in schema:
        sent["properties"] = {key: _portable(sub) for key, sub in schema["properties"].items()}
    if "items" in schema:
        sent["items"] = _portable(schema["items"])
    return sent


def _status_failure(status: int, message: str, headers: Mapping[str, str]) -> Failure:
    if status in _REFUSES_FORM:
        reason = f"refuses the request with HTTP status {status}"
        return Failure(reason, may_pass=False, refused=message)
    wait = re.fullmatch(r"\d{1,6}(?:\.\d{1,6})?", headers.get("retry-after", ""), re.ASCII)
    return Failure(
        _STATUS_TEXT.get(status, f"fails with HTTP status {status}"),
        may_pass=status >= 500 or status in _PASSING,
        lasts=status in _LASTING,
        pause=min(float(wait.group()), LONGEST_PAUSE) if wait else 0.0,
    )


def _completion(body: bytes) -> Completion | Failure:
    """A chat completion, of which any part may be missing or something else."""
    try:
        whole = json.loads(body)
        choice, usage = whole["choices"][0], whole.get("usage") or {}
        message, finish = choice["message"], choice.get("finish_reason")
        content, refusal = message.get("content"), message.get("refusal")
        tokens = [usage.get("prompt_tokens"), usage.get("completion_tokens")]
    except (ValueError, RecursionError, LookupError, TypeError, AttributeError):
        return Failure("does not answer in the OpenAI protocol")
    tokens_in, tokens_out = (max(0, n) if type(n) is int else 0 for n in tokens)
    return Completion(
        content=content if isinstance(content, str) else "",
        is_cut=finish == "length",
        is_refusal=bool(refusal) or finish == "content_filter",
        tokens_in=tokens_in,
        tokens_out=tokens_out,
    )
