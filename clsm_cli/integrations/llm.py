"""Ask a language model over the OpenAI protocol: one prompt and a JSON schema in, one checked value out.

Nothing here runs unless an endpoint is configured. Of what the server sends, only the checked value
is passed on: no message holds its text, the prompt or the key. Servers of the protocol (OpenAI,
llama.cpp, Ollama, vLLM) differ in what they take: what one refuses is left out, and not sent again once
it has answered without.
"""

from __future__ import annotations

import json
import re
from contextlib import suppress
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from clsm_cli.extras import how_to_get
from clsm_cli.startup.records import NamedTuple
from clsm_cli.text.characters import replace_lone

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from openai import OpenAI

    from clsm_cli.config import LlmSettings

    Check = Callable[[Any], Any]
    from collections.abc import Iterable, Mapping

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


GIVE_UP = 6
"""Requests in a row without an answer, after which no more are sent."""
_NOT_INSTALLED = "a language model needs packages of its own; get them with"
_NO_CLIENT = "no language model can be asked with the proxy and certificate variables that are set"
_QUOTED = 2000
"""Characters of a bad answer that the model is shown again."""


class LlmError(Exception):
    """The endpoint failed or answered nonsense, twice; one sentence without key or prompt."""


class Usage(NamedTuple):
    """What a run has used.

    Attributes:
        calls: Requests sent, refused and second ones included.
        tokens_in: Tokens of prompts, as counted by the server.
        tokens_out: Tokens of answers, unusable ones included.
        cost: In the currency of the prices.
        failures: Questions that ended in an :class:`LlmError`.
    """

    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    cost: float = 0.0
    failures: int = 0


class _Answer(NamedTuple):
    value: Any


class _Problem(NamedTuple):
    """Why an attempt gave no value.

    Attributes:
        reason: Completes "the language model …", without any text of the server.
        is_final: A second attempt cannot help.
        pause: Seconds before it.
        correction: What it adds to the prompt; this may quote the answer.
    """

    reason: str
    is_final: bool = False
    pause: float = 0.0
    correction: tuple[Message, ...] = ()


class Llm:
    """A language model, and what a run has used of it."""

    def __init__(self, settings: LlmSettings, key: str | None) -> None:
        """Get ready; only :meth:`ask` touches the network.

        Args:
            settings: Which model; they are ``enabled``.
            key: For the server; "none" is sent where there is none.

        Raises:
            LlmError: A package is missing, address or key cannot be one, or the environment names
                no usable proxy or certificates.
        """
        self._settings = settings
        self._name = f"the language model {settings.model!r} at {_host(settings.base_url)}"
        client, self._compile = _libraries(settings, _usable(key))
        self._endpoint = Endpoint(client, settings.model, settings.timeout)
        self._tokens_in = self._tokens_out = self._failures = 0
        self._unanswered = 0
        self._lost: str | None = None

    @property
    def usage(self) -> Usage:
        """What has been used so far."""
        settings = self._settings
        cost = self._tokens_in * settings.price_in + self._tokens_out * settings.price_out
        return Usage(
            calls=self._endpoint.calls,
            tokens_in=self._tokens_in,
            tokens_out=self._tokens_out,
            cost=cost / 1e6,
            failures=self._failures,
        )

    def ask(self, system: str, user: str, schema: dict[str, Any], name: str) -> Any:
        """The model's answer to one question, at temperature 0 and with a fixed seed.

        A bad answer is sent back once with what is wrong with it; a request that failed for a reason
        that may pass is sent once more. What an answer used counts, good or bad.

        Args:
            system: What to do; the form of the answer is added to it.
            user: What to do it with.
            schema: JSON Schema (draft 7) of the answer, which is an object.
            name: Of the schema: ASCII letters, digits, ``-`` and ``_``, at most 64.

        Returns:
            The answer as Python values, which fit the schema.

        Raises:
            LlmError: No usable answer in two attempts. At once, and without a request, after the
                server refused the key or the model, or left ``GIVE_UP`` requests in a row
                without an answer.
        """
        prompt = (
            Message("system", f"{replace_lone(system)}\n\n{demand(schema)}"),
            Message("user", replace_lone(user)),
        )
        outcome = self._attempt(prompt, schema, name)
        if isinstance(outcome, _Problem) and not outcome.is_final:
            sleep(outcome.pause)
            outcome = self._attempt((*prompt, *outcome.correction), schema, name)
        if isinstance(outcome, _Answer):
            return outcome.value
        self._failures += 1
        raise LlmError(f"{self._name} {outcome.reason}")

    def _attempt(
        self, prompt: Sequence[Message], schema: dict[str, Any], name: str
    ) -> _Answer | _Problem:
        if self._lost is not None:
            return _Problem(self._lost, is_final=True)
        outcome = self._endpoint.complete(prompt, schema, name)
        if isinstance(outcome, Failure):
            self._note(outcome)
            return _Problem(outcome.reason, not outcome.may_pass, outcome.pause)
        self._unanswered = 0
        self._tokens_in += outcome.tokens_in
        self._tokens_out += outcome.tokens_out
        return _checked(outcome, self._compile(schema, use_default=False))

    def _note(self, failure: Failure) -> None:
        self._unanswered = self._unanswered + 1 if failure.may_pass else 0
        if failure.lasts or self._unanswered >= GIVE_UP:
            self._lost = f"{failure.reason}; it is not asked again in this run"


def _host(address: str) -> str:
    """Host and port of an address: its other parts may hold a key."""
    try:
        parts = urlsplit(address)
        is_one = address.isprintable() and " " not in address
        if is_one and parts.scheme in {"http", "https"} and parts.hostname:
            return parts.hostname + (f":{parts.port}" if parts.port else "")
    except ValueError:
        pass
    raise LlmError("the address of the language model must be like http://localhost:8080/v1")


def _usable(key: str | None) -> str:
    # The HTTP client's own message about a wrong header quotes it.
    key = (key or "").strip() or "none"
    if not (key.isascii() and key.isprintable()):
        raise LlmError("the API key of the language model has characters that no key can have")
    return key


def _libraries(settings: LlmSettings, key: str) -> tuple[OpenAI, Callable[..., Check]]:
    """A client of the endpoint, and what makes a check of a schema."""
    try:
        import fastjsonschema
        import openai
    except ImportError:
        raise LlmError(f"{_NOT_INSTALLED}: {how_to_get('llm')}") from None
    # Errors of several libraries, one of which quotes the password of a proxy.
    with suppress(Exception):
        client = openai.OpenAI(
            base_url=settings.base_url, api_key=key, timeout=settings.timeout, max_retries=0
        )
        return client, fastjsonschema.compile
    raise LlmError(_NO_CLIENT)


def object_of(**properties: dict[str, Any]) -> dict[str, Any]:
    """The schema of an object that has these properties, all of them and no others."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def demand(schema: dict[str, Any]) -> str:
    """What form an answer must have, in words."""
    return (
        "Answer with one JSON object and nothing else: no explanation, no Markdown. "
        f"It must fit this JSON Schema:\n{json.dumps(schema)}"
    )


def _checked(completion: Completion, check: Check) -> _Answer | _Problem:
    """The object in an answer, which may have thoughts before it and a fence around it."""
    if completion.is_refusal:
        return _Problem("declines to answer", is_final=True)
    text = completion.content.rpartition("</think>")[2]
    try:
        value = json.loads(text[text.find("{") : text.rfind("}") + 1])
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
    except (ValueError, RecursionError):  # no JSON; or NaN, or half a character
        if completion.is_cut:
            return _problem("gives answers that are cut off", "was too long and cut off", text)
        return _problem("does not answer in JSON", "is not one JSON object", text)
    try:
        check(value)
    except ValueError as error:
        return _problem("answers in another form than asked for", f"is wrong: {error}", text)
    return _Answer(value)


def _problem(reason: str, wrong: str, answer: str) -> _Problem:
    said = [Message("assistant", replace_lone(answer[:_QUOTED]))] if answer.strip() else []
    told = replace_lone(f"That answer {wrong[:_QUOTED]}. Answer again, with the JSON object only.")
    return _Problem(reason, correction=(*said, Message("user", told)))
