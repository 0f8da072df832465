"""Ask a language model over the OpenAI protocol: one prompt and a JSON schema in, one checked value out.

Nothing here runs unless an endpoint is configured. Only the checked value leaves this module: no
message contains the server's text, the prompt or the key. A server that refuses the options (OpenAI,
llama.cpp, Ollama and vLLM accept different ones) is asked without any from then on; the prompt states
the form of the answer too. The client repeats what fails for a transient reason once.
"""

from __future__ import annotations

import json
from contextlib import suppress
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
_SENT_KEYWORDS = frozenset({"type", "enum", "required", "additionalProperties", "description"})
"""Schema keywords, besides ``properties`` and ``items``, that every server supports."""
_REFUSED_FORM = frozenset({400, 415, 422, 501})
_PERMANENT = frozenset({401, 402, 403, 404})
_STATUS_TEXT = {
    401: "does not accept the API key",
    402: "wants to be paid first",
    403: "does not let this API key in",
    404: "does not know this address or model",
    413: "finds the question too long",
    429: "is asked too often, or its quota is used up",
}
MAX_UNANSWERED = 3  # consecutive questions without an answer after which no more are sent
_MAX_QUOTED = 2000  # characters of a bad answer that the correction quotes


class LlmError(Exception):
    """The endpoint failed or gave an unusable answer, twice; one sentence without key or prompt."""


class Usage(NamedTuple):
    """Usage of a run: requests, tokens as the server counts them, and failed questions.

    Refused requests count, and tokens of unusable answers too; what the client repeats does not.
    """

    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    failures: int = 0


class _ProblemError(Exception):
    """Why an attempt failed: completes "the language model …", without text from the server.

    ``correction``: messages for a second attempt, after the prompt; they may quote the answer.
    """

    def __init__(self, reason: str, correction: Messages = ()) -> None:
        super().__init__(reason)
        self.correction = correction


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
        self.usage = Usage()
        """Usage so far."""
        self._is_plain = False  # whether the server refused the options
        self._unanswered = 0
        self._lost = ""  # why no more is asked

    def _count(self, **more: int) -> None:
        counts = self.usage._asdict()
        self.usage = self.usage._replace(**{name: counts[name] + n for name, n in more.items()})

    def ask(self, system: str, user: str, schema: dict[str, Any], name: str) -> Any:
        """The model's answer to one question, at temperature 0 and with a fixed seed.

        A bad answer is sent back once with the reason. The usage of every answer counts.

        Args:
            system: The instructions; the form of the answer is appended.
            user: The material.
            schema: JSON Schema (draft 7) of the answer, which is an object and fits it.
            name: Name of the schema: ASCII letters, digits, ``-`` and ``_``, at most 64.

        Raises:
            LlmError: No usable answer. Raised without a request after the server refused the key or
                the model, or failed to answer ``MAX_UNANSWERED`` consecutive questions.
        """
        task = f"{system}\n\n{form_instruction(schema)}"
        prompt: Messages = (_message("system", task), _message("user", user))
        check = self._compile(schema, use_default=False)
        reason = self._lost
        for _ in range(0 if self._lost else 2):
            try:
                return _checked(self._complete(prompt, schema, name), check)
            except _ProblemError as problem:
                reason = str(problem)
                if not problem.correction:
                    break
                prompt += problem.correction
        self._count(failures=1)
        raise LlmError(f"{self._name} {reason}")

    def _complete(self, prompt: Messages, schema: dict[str, Any], name: str) -> dict[str, Any]:
        """The message of a completion, with its ``finish_reason``."""
        import openai

        self._count(calls=1)
        messages: list[Any] = list(prompt)
        form = {"name": name, "schema": _portable_schema(schema), "strict": True}
        asked = {"response_format": {"type": "json_schema", "json_schema": form}}
        options: dict[str, Any] = {} if self._is_plain else {**OPTIONS, **asked}
        try:
            found = self._client.chat.completions.create(
                model=self._settings.model, messages=messages, **options
            )
        except openai.APIStatusError as error:
            if error.status_code in _REFUSED_FORM and not self._is_plain:
                self._is_plain = True
                return self._complete(prompt, schema, name)
            raise self._failure(_refusal(error), error.status_code) from None
        except openai.APITimeoutError:
            late = f"did not answer within {self._settings.timeout:g} s"
            raise self._failure(late) from None
        except openai.OpenAIError:
            raise self._failure("cannot be reached") from None
        except (ValueError, RecursionError):
            raise self._failure(_NO_PROTOCOL) from None
        return self._message_of(found)

    def _message_of(self, found: Any) -> dict[str, Any]:
        """The message in a chat completion; any part may be missing or of another type."""
        try:
            choice, usage = found.choices[0], found.usage
            tokens = [getattr(usage, f"{kind}_tokens", 0) for kind in ("prompt", "completion")]
            message = {**choice.message.model_dump(), "finish_reason": choice.finish_reason}
        except (LookupError, TypeError, AttributeError):
            raise self._failure(_NO_PROTOCOL) from None
        read, written = (max(0, n) if type(n) is int else 0 for n in tokens)
        self._count(tokens_in=read, tokens_out=written)
        self._unanswered = 0
        return message

    def _failure(self, reason: str, status: int = 0) -> _ProblemError:
        """The problem of a question without an answer; after some, no more are sent."""
        self._unanswered += 1
        if status in _PERMANENT or self._unanswered >= MAX_UNANSWERED:
            self._lost = f"{reason}; it is not asked again in this run"
        return _ProblemError(reason)


_NO_PROTOCOL = "does not answer in the OpenAI protocol"


def _refusal(error: APIStatusError) -> str:
    status = error.status_code
    if status in _REFUSED_FORM:
        return f"refuses the request with HTTP status {status}"
    return _STATUS_TEXT.get(status, f"fails with HTTP status {status}")


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
            base_url=settings.base_url, api_key=key, timeout=settings.timeout, max_retries=1
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
        raise _ProblemError("declines to answer")
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
    said = (_message("assistant", answer[:_MAX_QUOTED]),) if answer.strip() else ()
    correction = f"That answer {wrong[:_MAX_QUOTED]}. Answer again, with the JSON object only."
    return _ProblemError(reason, (*said, _message("user", correction)))


def _message(role: str, content: str) -> dict[str, str]:
    return {"role": role, "content": replace_lone(content)}
