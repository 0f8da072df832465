"""Ask a language model over the OpenAI protocol: one prompt and a JSON schema in, one checked value out.

Nothing here runs unless an endpoint is configured. Only the checked value leaves this module: no
message contains the server's text, the prompt or the key. Servers (OpenAI, llama.cpp, Ollama, vLLM)
accept different options: a refused one is left out, and not sent again once a request without it
succeeded.
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
from clsm_cli.text.terminal import replace_lone

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from openai import APIStatusError, OpenAI

    from clsm_cli.config import LlmSettings

    Messages = tuple[dict[str, str], ...]

OPTIONS = {"temperature": 0, "seed": 0, "max_tokens": 4096}
"""Deterministic; ``max_tokens`` is 20 times a usual answer (CLS-M §6.1)."""
MAX_BODY = 1 << 20  # maximum bytes read of an HTTP answer
MAX_PAUSE = 20.0  # maximum seconds of a Retry-After that a second attempt waits

_FORMATS = ("json_schema", "json_object", "text")
"""Response formats, the strictest first; ``text`` relies on the prompt."""
_SENT_KEYWORDS = frozenset({"type", "enum", "required", "additionalProperties", "description"})
"""Schema keywords, besides ``properties`` and ``items``, that every server supports."""
_REFUSED_FORM = frozenset({400, 415, 422, 501})
_TRANSIENT = frozenset({408, 409, 425, 429})
_PERMANENT = frozenset({401, 402, 403, 404})
_STATUS_TEXT = {
    401: "does not accept the API key",
    402: "wants to be paid first",
    403: "does not let this API key in",
    404: "does not know this address or model",
    413: "finds the question too long",
    429: "is asked too often, or its quota is used up",
}
MAX_UNANSWERED = 6  # consecutive failed requests after which no more are sent
_MAX_QUOTED = 2000  # characters of a bad answer that the correction quotes


class LlmError(Exception):
    """The endpoint failed or gave an unusable answer, twice; one sentence without key or prompt."""


class Usage(NamedTuple):
    """Usage of a run: requests, tokens as the server counts them, and failed questions.

    Refused and repeated requests count, and tokens of unusable answers too.
    """

    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    failures: int = 0


class _ProblemError(Exception):
    """Why an attempt failed: completes "the language model …", without text from the server."""

    may_pass = True  # a second attempt may succeed, after ``pause`` seconds
    pause = 0.0
    lasts = False  # every other request would fail too
    refused: str | None = None  # the server's message, if it refused the form of the request
    correction: Messages = ()  # for a second attempt, after the prompt; they may quote the answer

    def __init__(self, reason: str, **known: Any) -> None:
        super().__init__(reason)
        vars(self).update(known)


class Llm:
    """A language model, with the usage of a run."""

    def __init__(self, settings: LlmSettings, key: str | None) -> None:
        """Prepare a client; only :meth:`ask` uses the network. Without a key, "none" is sent.

        Raises:
            LlmError: A package is missing, address or key is invalid, or the environment names an
                unusable proxy or certificate file.
        """
        self._settings = settings
        self._name = f"the language model {settings.model!r} at {_host(settings.base_url)}"
        # The HTTP client's error about a bad header quotes the key.
        key = (key or "").strip() or "none"
        if not (key.isascii() and key.isprintable()):
            raise LlmError("the API key of the language model has characters that no key can have")
        self._client, self._compile = _libraries(settings, key)
        # What the server accepts so far: an index into _FORMATS, and the options.
        self._taken: tuple[int, dict[str, Any]] = (0, OPTIONS)
        self.usage = Usage()
        """Usage so far."""
        self._unanswered = 0
        self._lost: str | None = None

    def _count(self, **more: int) -> None:
        counts = self.usage._asdict()
        self.usage = self.usage._replace(**{name: counts[name] + n for name, n in more.items()})

    def ask(self, system: str, user: str, schema: dict[str, Any], name: str) -> Any:
        """The model's answer to one question, at temperature 0 and with a fixed seed.

        A bad answer is sent back once with the reason; a request that failed for a transient reason
        is repeated once. The usage of every answer counts.

        Args:
            system: The instructions; the form of the answer is appended.
            user: The material.
            schema: JSON Schema (draft 7) of the answer, which is an object and fits it.
            name: Name of the schema: ASCII letters, digits, ``-`` and ``_``, at most 64.

        Raises:
            LlmError: No usable answer in two attempts. Raised without a request after the server
                refused the key or the model, or failed to answer ``MAX_UNANSWERED`` consecutive
                requests.
        """
        task = f"{system}\n\n{form_instruction(schema)}"
        prompt: Messages = (_message("system", task), _message("user", user))
        problem = None
        for _ in range(2):
            if problem is not None:
                sleep(problem.pause)
                prompt += problem.correction
            try:
                return self._attempt(prompt, schema, name)
            except _ProblemError as error:
                problem = error
            if not problem.may_pass:
                break
        self._count(failures=1)
        raise LlmError(f"{self._name} {problem}")

    def _attempt(self, prompt: Messages, schema: dict[str, Any], name: str) -> Any:
        if self._lost is not None:
            raise _ProblemError(self._lost, may_pass=False)
        try:
            choice = self._complete(prompt, schema, name)
        except _ProblemError as problem:
            self._unanswered = self._unanswered + 1 if problem.may_pass else 0
            if problem.lasts or self._unanswered >= MAX_UNANSWERED:
                self._lost = f"{problem}; it is not asked again in this run"
            raise
        self._unanswered = 0
        return _checked(choice, self._compile(schema, use_default=False))

    def _complete(self, prompt: Messages, schema: dict[str, Any], name: str) -> dict[str, Any]:
        """The completion's choice; options that the server refuses are left out from then on."""
        form, options = self._taken
        while True:
            try:
                found = self._post(prompt, {**options, **_format(_FORMATS[form], schema, name)})
            except _ProblemError as problem:
                refused = problem.refused or ""
                option = next((o for o in options if re.search(rf"\b{o}\b", refused)), None)
                if problem.refused is None or (option is None and form == len(_FORMATS) - 1):
                    raise
                form += 1 if option is None else 0
                options = {key: value for key, value in options.items() if key != option}
            else:
                self._taken = form, options
                return found

    def _post(self, prompt: Messages, options: dict[str, Any]) -> dict[str, Any]:
        import httpx2
        import openai

        self._count(calls=1)
        messages: list[Any] = list(prompt)
        late = f"did not answer within {self._settings.timeout:g} s"
        end = monotonic() + self._settings.timeout
        try:
            with self._client.chat.completions.with_streaming_response.create(
                model=self._settings.model, messages=messages, **options
            ) as response:
                body = bytearray()
                for chunk in response.iter_bytes():
                    body += chunk
                    if len(body) > MAX_BODY:
                        raise _ProblemError(f"answers with more than {MAX_BODY} bytes")
                    if monotonic() > end:  # the client's own timeout restarts with every byte
                        raise _ProblemError(late)
                return self._choice(bytes(body))
        except (openai.APITimeoutError, httpx2.TimeoutException):
            raise _ProblemError(late) from None
        except openai.APIStatusError as error:
            raise _refusal(error) from None
        except openai.OpenAIError:
            raise _ProblemError("cannot be reached") from None
        except httpx2.HTTPError:
            raise _ProblemError("broke off its answer") from None

    def _choice(self, body: bytes) -> dict[str, Any]:
        """The choice in a chat completion; any part may be missing or of another type."""
        try:
            whole = json.loads(body)
            choice, usage = whole["choices"][0], whole.get("usage") or {}
            tokens = [usage.get("prompt_tokens"), usage.get("completion_tokens")]
            found = {**choice["message"], "finish_reason": choice.get("finish_reason")}
        except (ValueError, RecursionError, LookupError, TypeError, AttributeError):
            raise _ProblemError("does not answer in the OpenAI protocol") from None
        read, written = (max(0, n) if type(n) is int else 0 for n in tokens)
        self._count(tokens_in=read, tokens_out=written)
        return found


def _format(form: str, schema: Mapping[str, Any], name: str) -> dict[str, Any]:
    if form == "text":
        return {}
    strict = {"name": name, "schema": _portable_schema(schema), "strict": True}
    return {"response_format": {"type": form} | ({form: strict} if form == "json_schema" else {})}


def _portable_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """A schema without the keywords that some servers refuse; answers are checked against the full one."""
    sent = {key: value for key, value in schema.items() if key in _SENT_KEYWORDS}
    if "properties" in schema:
        sent["properties"] = {k: _portable_schema(sub) for k, sub in schema["properties"].items()}
    if "items" in schema:
        sent["items"] = _portable_schema(schema["items"])
    return sent


def _host(address: str) -> str:
    """Host and port of an address; its other parts may contain a key."""
    try:
        parts = urlsplit(address)
        is_one = address.isprintable() and " " not in address
        if is_one and parts.scheme in {"http", "https"} and parts.hostname:
            return parts.hostname + (f":{parts.port}" if parts.port else "")
    except ValueError:
        pass
    raise LlmError("the address of the language model must be like http://localhost:8080/v1")


def _libraries(
    settings: LlmSettings, key: str
) -> tuple[OpenAI, Callable[..., Callable[[Any], Any]]]:
    try:
        import fastjsonschema
        import openai
    except ImportError:
        needs = "a language model needs packages of its own; get them with"
        raise LlmError(f"{needs}: {how_to_get('llm')}") from None
    # Several libraries raise here; one quotes a proxy's password.
    with suppress(Exception):
        client = openai.OpenAI(
            base_url=settings.base_url, api_key=key, timeout=settings.timeout, max_retries=0
        )
        return client, fastjsonschema.compile
    reason = "no language model can be asked with the proxy and certificate variables that are set"
    raise LlmError(reason)


def object_of(**properties: dict[str, Any]) -> dict[str, Any]:
    """The schema of an object with exactly these properties, all required."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def form_instruction(schema: dict[str, Any]) -> str:
    """The instruction that states the form of the answer."""
    return (
        "Answer with one JSON object and nothing else: no explanation, no Markdown. "
        f"It must fit this JSON Schema:\n{json.dumps(schema)}"
    )


def _refusal(error: APIStatusError) -> _ProblemError:
    status = error.status_code
    if status in _REFUSED_FORM:
        reason = f"refuses the request with HTTP status {status}"
        return _ProblemError(reason, may_pass=False, refused=error.message)
    wait = error.response.headers.get("retry-after", "")
    is_wait = re.fullmatch(r"\d{1,6}(?:\.\d{1,6})?", wait, re.ASCII)
    return _ProblemError(
        _STATUS_TEXT.get(status, f"fails with HTTP status {status}"),
        may_pass=status >= 500 or status in _TRANSIENT,
        lasts=status in _PERMANENT,
        pause=min(float(wait), MAX_PAUSE) if is_wait else 0.0,
    )


def objects_in(text: str) -> list[dict[str, Any]]:
    """The non-empty JSON objects in a text, in order, with any text around them.

    >>> objects_in('I used {turn} ids: {"a": {"b": 1}}, {} and {"c": 2}.')
    [{'a': {'b': 1}}, {'c': 2}]
    """
    found = []
    decoder = json.JSONDecoder()
    place = text.find("{")
    while place >= 0:
        try:
            value, end = decoder.raw_decode(text, place)
        except RecursionError:  # nested too deeply to be meant
            break
        except ValueError:
            end = place + 1
        else:
            found += [value] if value else []
        place = text.find("{", end)
    return found


def _checked(choice: dict[str, Any], check: Callable[[Any], Any]) -> Any:
    """The checked object in an answer, which may contain reasoning and a code fence."""
    finish, content = choice["finish_reason"], choice.get("content")
    if choice.get("refusal") or finish == "content_filter":
        raise _ProblemError("declines to answer", may_pass=False)
    text = content.rpartition("</think>")[2] if isinstance(content, str) else ""
    try:
        value = objects_in(text)[0]
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
    except (ValueError, LookupError):  # no JSON, NaN, or a lone surrogate
        if finish == "length":
            raise _bad("gives answers that are cut off", "was too long and cut off", text) from None
        raise _bad("does not answer in JSON", "is not one JSON object", text) from None
    try:
        check(value)
    except ValueError as error:
        reason = "answers in another form than asked for"
        raise _bad(reason, f"is wrong: {error}", text) from None
    return value


def _bad(reason: str, wrong: str, answer: str) -> _ProblemError:
    quoted = (_message("assistant", answer[:_MAX_QUOTED]),) if answer.strip() else ()
    correction = f"That answer {wrong[:_MAX_QUOTED]}. Answer again, with the JSON object only."
    return _ProblemError(reason, correction=(*quoted, _message("user", correction)))


def _message(role: str, content: str) -> dict[str, str]:
    return {"role": role, "content": replace_lone(content)}
