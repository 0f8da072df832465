import json
import socket
import sys
import time
import traceback
from typing import Any

import pytest
from integrations.endpoint import KEY, LONG, TIMEOUT, TOKENS_IN, TOKENS_OUT, Endpoint
from tables import column, table

from clsm_cli.config import LlmSettings
from clsm_cli.integrations.llm import MAX_BODY, MAX_UNANSWERED, Llm, LlmError, Usage

SYSTEM, USER = "Count the birds.", "Three swans and a heron came by."
GOOD = {"birds": ["swan", "heron"], "share": 0.25}
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "birds": {"type": "array", "items": {"type": "string", "pattern": "^[a-z]+$"}},
        "share": {"type": "number", "minimum": 0, "maximum": 1},
    },
    "required": ["birds", "share"],
    "additionalProperties": False,
}


@pytest.fixture
def endpoint(endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch) -> Endpoint:
    monkeypatch.setenv("NO_PROXY", "*")
    endpoint.answers(GOOD)
    return endpoint


def ask(llm: Llm) -> Any:
    return llm.ask(SYSTEM, USER, SCHEMA, "birds")


def refusal_of(llm: Llm) -> str:
    """What the error says; it holds neither key nor prompt nor answer, however it is printed."""
    with pytest.raises(LlmError) as caught:
        ask(llm)
    error = caught.value
    printed = "".join(traceback.format_exception(error, chain=True)) + repr(error.__dict__)
    assert error.__context__ is None
    assert error.__cause__ is None
    for secret in (KEY, SYSTEM, USER, "swan", "unheard", "Bearer"):
        assert secret not in printed
    said = str(error)
    assert "\n" not in said
    assert said.startswith("the language model ")
    return said


def test_a_good_answer(endpoint: Endpoint) -> None:
    llm = endpoint.llm("good")
    assert ask(llm) == GOOD
    assert llm.usage == Usage(1, TOKENS_IN, TOKENS_OUT, 0)
    [request] = endpoint.requests
    assert request["key"] == f"Bearer {KEY}"
    body = request["body"]
    assert [message["role"] for message in body["messages"]] == ["system", "user"]
    assert body["messages"][0]["content"].startswith(SYSTEM)
    assert json.dumps(SCHEMA) in body["messages"][0]["content"]
    assert body["messages"][1]["content"] == USER
    assert (body["temperature"], body["seed"], body["model"]) == (0, 0, "good")


def test_the_schema_is_sent_without_what_servers_refuse(endpoint: Endpoint) -> None:
    ask(endpoint.llm("good"))
    asked = endpoint.requests[0]["body"]["response_format"]
    assert (asked["type"], asked["json_schema"]["strict"]) == ("json_schema", True)
    sent = asked["json_schema"]["schema"]
    assert sent["properties"] == {
        "birds": {"type": "array", "items": {"type": "string"}},
        "share": {"type": "number"},
    }
    assert (sent["required"], sent["additionalProperties"]) == (["birds", "share"], False)


@pytest.mark.parametrize("kind", ["fenced", "thinking", "nousage"])
def test_json_in_other_clothes(endpoint: Endpoint, kind: str) -> None:
    llm = endpoint.llm(kind)
    assert ask(llm) == GOOD
    assert endpoint.count == 1
    assert llm.usage.tokens_in == (0 if kind == "nousage" else TOKENS_IN)


NO_JSON = ["malformed", "prose", "nan", "half", "deep", "empty", "null"]
BAD = {
    **dict.fromkeys(NO_JSON, ("not answer in JSON", "is not one JSON object")),
    "cut": ("cut off", "too long and cut off"),
    "wrong": ("another form", "is wrong: data must contain ['birds', 'share'] properties"),
}


@pytest.mark.parametrize("kind", BAD)
def test_a_bad_answer_is_sent_back_once(endpoint: Endpoint, kind: str) -> None:
    llm = endpoint.llm(f"{kind},good")
    assert ask(llm) == GOOD
    assert llm.usage == Usage(2, 2 * TOKENS_IN, 2 * TOKENS_OUT, 0)
    first, second = (request["body"]["messages"] for request in endpoint.requests)
    assert second[:2] == first
    added = [message["role"] for message in second[2:]]
    assert added == (["user"] if kind in {"empty", "null"} else ["assistant", "user"])
    assert BAD[kind][1] in second[-1]["content"]
    assert all(len(message["content"]) < 3_000 for message in second)
    llm = endpoint.llm(f"good,{kind}")
    for asked in (2, 4):  # the endpoint works: it is asked again
        assert BAD[kind][0] in refusal_of(llm)
        assert endpoint.count == 2 + asked
    assert llm.usage == Usage(4, 4 * TOKENS_IN, 4 * TOKENS_OUT, 2)


@pytest.mark.parametrize("answer", column(__file__, "other answers"))
def test_the_whole_schema_holds(endpoint: Endpoint, answer: str) -> None:
    endpoint.answers(json.loads(answer))
    refusal_of(endpoint.llm("good"))
    assert endpoint.count == 2


@pytest.mark.parametrize("kind", ["refusing", "filtered"])
def test_a_refusal_is_final(endpoint: Endpoint, kind: str) -> None:
    llm = endpoint.llm(kind)
    assert refusal_of(llm).endswith("declines to answer")
    assert llm.usage == Usage(1, TOKENS_IN, TOKENS_OUT, 1)
    assert endpoint.count == 1


FAILURES = {
    "500": "fails with HTTP status 500",
    "hangup": "cannot be reached",
    "drop": "broke off its answer",
    "html": "does not answer in the OpenAI protocol",
    "nochoice": "does not answer in the OpenAI protocol",
    "huge": f"answers with more than {MAX_BODY} bytes",
}


@pytest.mark.parametrize("kind", FAILURES)
def test_a_failure_may_pass_or_stay(endpoint: Endpoint, kind: str) -> None:
    llm = endpoint.llm(f"{kind},good")
    assert ask(llm) == GOOD
    assert llm.usage == Usage(2, TOKENS_IN, TOKENS_OUT, 0)
    endpoint.answers(GOOD)
    llm = endpoint.llm(kind)
    for asked in range(1, MAX_UNANSWERED // 2 + 1):
        assert refusal_of(llm).endswith(FAILURES[kind])
        assert endpoint.count == 2 * asked
    assert refusal_of(llm).endswith(f"{FAILURES[kind]}; it is not asked again in this run")
    assert endpoint.count == MAX_UNANSWERED
    assert llm.usage == Usage(MAX_UNANSWERED, 0, 0, MAX_UNANSWERED // 2 + 1)


@pytest.mark.parametrize("kind", ["slow", "drip"])
def test_a_slow_answer(endpoint: Endpoint, kind: str) -> None:
    llm = endpoint.llm(f"{kind},good")
    before = time.monotonic()
    assert ask(llm) == GOOD
    assert TIMEOUT <= time.monotonic() - before < LONG / 2
    assert endpoint.count == 2


def test_a_busy_server_is_left_alone_for_as_long_as_it_says(endpoint: Endpoint) -> None:
    llm = endpoint.llm("429,good")
    before = time.monotonic()
    assert ask(llm) == GOOD
    assert time.monotonic() - before >= 0.5


@pytest.mark.parametrize(
    ("kind", "reason"), [("401", "does not accept the API key"), ("404", "does not know this")]
)
def test_what_cannot_pass_is_asked_once(endpoint: Endpoint, kind: str, reason: str) -> None:
    llm = endpoint.llm(kind)
    assert reason in refusal_of(llm)
    assert reason in refusal_of(llm)
    assert endpoint.count == 1
    assert llm.usage.failures == 2


@pytest.mark.parametrize(("kind", "forms"), table(__file__, "without schema"))
def test_a_server_without_json_schema(endpoint: Endpoint, kind: str, forms: str) -> None:
    llm = endpoint.llm(kind)
    assert ask(llm) == ask(llm) == GOOD
    bodies = [request["body"] for request in endpoint.requests]
    assert [body.get("response_format", {}).get("type") for body in bodies] == json.loads(forms)
    assert llm.usage.calls == len(bodies)


def test_a_model_that_refuses_options(endpoint: Endpoint) -> None:
    llm = endpoint.llm("picky")
    assert ask(llm) == ask(llm) == GOOD
    bodies = [request["body"] for request in endpoint.requests]
    names = ("temperature", "seed", "max_tokens")
    assert [[name for name in names if name in body] for body in bodies] == [
        ["temperature", "seed", "max_tokens"],
        ["seed", "max_tokens"],
        ["seed"],
        ["seed"],
    ]
    assert all(body["response_format"]["type"] == "json_schema" for body in bodies)


def test_nothing_listens(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "*")
    with socket.socket() as unheard:
        unheard.bind(("127.0.0.1", 0))  # bound, but it never listens
        port = unheard.getsockname()[1]
        llm = Llm(LlmSettings(f"http://user:{KEY}@127.0.0.1:{port}/v1?key={KEY}", "m"), KEY)
        said = refusal_of(llm)
    assert said == f"the language model 'm' at 127.0.0.1:{port} cannot be reached"
    assert llm.usage == Usage(2, 0, 0, 1)


@pytest.mark.parametrize("key", [None, "", " \n"])
def test_no_key(endpoint: Endpoint, key: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)  # the caller's business alone
    ask(endpoint.llm("good", key))
    assert endpoint.requests[0]["key"] == "Bearer none"


@pytest.mark.parametrize("key", [f"{KEY}\nX: 1", f"{KEY}é"])
def test_a_key_that_is_none(endpoint: Endpoint, key: str) -> None:
    with pytest.raises(LlmError, match="the API key of the language model") as caught:
        endpoint.llm("good", key)
    assert KEY not in "".join(traceback.format_exception(caught.value))


@pytest.mark.parametrize("address", column(__file__, "no address"))
def test_a_wrong_address(address: str) -> None:
    with pytest.raises(LlmError, match="the address of the language model must be like"):
        Llm(LlmSettings(address, "m"), None)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("ALL_PROXY", "socks5://localhost:1"),
        ("HTTPS_PROXY", f"odd://me:{KEY}@localhost"),
        ("SSL_CERT_FILE", "/nowhere/at/all"),
    ],
)
def test_an_unusable_environment(name: str, value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(name, value)
    monkeypatch.delenv("NO_PROXY", raising=False)
    with pytest.raises(LlmError, match="the proxy and certificate variables") as caught:
        Llm(LlmSettings("http://localhost:1/v1", "m"), KEY)
    assert KEY not in "".join(traceback.format_exception(caught.value))


def test_without_the_packages_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "openai", None)
    with pytest.raises(LlmError, match=f"{sys.executable} -m pip install .*openai"):
        Llm(LlmSettings("http://localhost/v1", "m"), None)
