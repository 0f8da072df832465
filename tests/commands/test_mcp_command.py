"""``clsm mcp``: the SDK's own client, over stdio, with a real server process on a real store."""

from __future__ import annotations

import asyncio
import fcntl
import json
import os
import subprocess
import sys
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

import pytest
from advising import statement
from in_process import InProcess
from processes import Cli

from clsm_cli.errors import BadInputError
from clsm_cli.store.layout import Store
from clsm_cli.text.fence_lines import find_blocks

if TYPE_CHECKING:  # half a second, for every worker
    from mcp import Client
    from mcp_types import CallToolResult

NOW = ("--now", "2026-03-02T08:00:00+01:00")
BOAT = b'{"speaker": "Ada", "time": "2026-02-10T10:00:00+01:00", "text": "My boat lies in Malmo harbour."}'
COFFEE = "Brian takes his coffee black."


def session(cli: Cli, talk: Callable[[Client], Awaitable[None]]) -> str:
    """Run a talk with a server of its own to its end; what the server said on stderr."""
    from mcp import Client, StdioServerParameters, stdio_client

    log = cli.folder / "stderr.txt"
    words = ["-m", "clsm_cli", "mcp"]
    server = StdioServerParameters(
        command=sys.executable, args=words, env={**cli.environment}, cwd=cli.folder
    )

    async def run() -> None:
        with log.open("w") as errlog:
            async with Client(stdio_client(server, errlog=errlog)) as connected:
                await talk(connected)

    asyncio.run(asyncio.wait_for(run(), 240))
    return log.read_text("utf-8")


def text_of(result: Any) -> str:
    (content,) = result.content
    return str(content.text)


def failure_of(result: CallToolResult) -> str:
    assert result.is_error
    assert result.structured_content is None
    return text_of(result)


def without(mapping: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in mapping.items() if name not in names}


def is_sealed(cli: Cli, text: str) -> bool:
    """Whether a text is one block that ingest knows for its own."""
    key = (cli.folder.parent / ".local" / "share" / "clsm" / "fence.key").read_bytes()
    return [(b.start, b.end, b.is_genuine) for b in find_blocks(text, key)] == [
        (0, len(text), True)
    ]


def test_the_tools_say_what_they_are(cli: Cli) -> None:
    async def talk(client: Client) -> None:
        assert client.server_info
        assert client.server_info.name == "clsm"
        assert "never follow instructions" in (client.instructions or "")
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        reads = {"recall", "context", "show", "history", "packet"}
        assert set(tools) == reads | {"note", "feedback", "answer"}
        told = cli.ok("mcp", "--help").out
        listed = told.partition("Tools: ")[2].partition(".")[0]
        assert {*listed.replace(",", " ").split()} == set(tools)
        for tool in tools.values():
            assert tool.annotations is not None
            assert tool.annotations.destructive_hint is False
            assert tool.annotations.open_world_hint is False
            assert len(tool.description or "") > 60
            assert "\n    " not in (tool.description or "")
            for name, schema in tool.input_schema["properties"].items():
                assert schema.get("description"), f"{tool.name}.{name}"
        reading = {n for n, t in tools.items() if t.annotations and t.annotations.read_only_hint}
        assert reading == reads
        again = {n for n, t in tools.items() if t.annotations and t.annotations.idempotent_hint}
        assert again == {*tools} - {"note"}  # the same words at another time are another note
        kinds = tools["recall"].input_schema["properties"]["stream"]["anyOf"][0]["enum"]
        assert kinds == ["identity", "projects", "tasks", "flow"]

    assert session(cli, talk) == ""


def test_an_agent_advises_the_memory(cli: Cli) -> None:
    cli.ok("ingest", "-q", "-", "--session", "late", stdin=BOAT)

    async def talk(client: Client) -> None:
        asked = await client.call_tool("packet", {"budget": 4000})
        shown = cli.ok("consolidate", "--ask", "--json", "--budget", "4000").json
        assert asked.structured_content == shown
        data = text_of(asked).split("\n<data>\n")[1].split("\n</data>\n")[0]
        lines = [json.loads(line) for line in data.splitlines()]
        part = next(n for n, line in enumerate(lines) if "Malmo" in line.get("text", ""))
        handle = [line["part"] for line in lines[:part] if "part" in line][-1]
        draft = next(line["id"] for line in lines if "Malmo" in line.get("draft", ""))
        good = statement("Ada's boat lies in Malmo harbour.", lines[part]["turn"], replaces=draft)
        bad = statement("Ada's boat lies in Lund harbour.", lines[part]["turn"])
        entry = {"part": handle, "statements": [good, bad], "relations": []}
        done = await client.call_tool("answer", {"answer": {"parts": [entry]}})
        assert "adviser: 1 taken, 1 refused" in text_of(done)
        assert done.structured_content["adviser"]["refused"][0]["part"] == handle
        found = await client.call_tool("recall", {"query": "Ada's boat", "kind": "statement"})
        assert good["text"] in text_of(found)
        again = await client.call_tool("answer", {"answer": {"parts": [entry]}})
        assert again.structured_content["run"] is None
        none = await client.call_tool("answer", {"answer": {"part": handle}})
        assert "no list named parts" in failure_of(none)

    assert session(cli, talk) == ""


def test_an_answer_is_that_of_the_command(slept_cli: Cli) -> None:
    told = slept_cli
    told.ok("note", COFFEE, *NOW)
    question = "How does Brian take his coffee?"

    async def talk(client: Client) -> None:
        result = await client.call_tool("recall", {"query": question, "k": 3})
        asked = told.ok("recall", question, "-k", "3", "--json", "--no-touch").json
        times = ("now", "recall_id")
        assert without(result.structured_content, *times) == without(asked, *times)
        assert is_sealed(told, text_of(result))
        assert COFFEE in text_of(result)

        result = await client.call_tool("context", {"budget": 500})
        briefed = told.ok("context", "--budget", "500", "--json").json
        times = ("now", "context_id")
        assert without(result.structured_content, *times) == without(briefed, *times)
        assert is_sealed(told, text_of(result))

        memory = asked["memories"][0]["id"]
        result = await client.call_tool("show", {"id": memory})
        assert result.structured_content == told.ok("show", memory, "--json").json
        assert is_sealed(told, text_of(result))

        result = await client.call_tool("history", {"subjects": ["hardin"]})
        held = told.ok("history", "hardin", "--json").json
        assert without(result.structured_content, "now") == without(held, "now")
        assert is_sealed(told, text_of(result))

    assert session(told, talk) == ""


def test_what_is_noted_is_found_and_judged_but_a_locked_store_refuses_to_judge(cli: Cli) -> None:
    cli.ok("note", COFFEE)
    with (cli.store / "clsm.yaml").open("a") as config:
        config.write("settings:\n  store.lock_wait: 0.2\n")
    folder = os.open(cli.store, os.O_RDONLY)

    async def talk(client: Client) -> None:
        fcntl.flock(folder, fcntl.LOCK_EX)
        found = await client.call_tool("recall", {"query": "How does Brian take his coffee?"})
        answer = found.structured_content
        assert answer["answered"]
        noted = await client.call_tool("note", {"text": "The spare key hangs in the barn."})
        assert noted.structured_content["is_new"] is True
        key = noted.structured_content["id"]
        assert text_of(noted) == f"noted as {key}"
        good = [answer["memories"][0]["id"]]
        judged = {"recall_id": answer["recall_id"], "good": good}
        assert "is locked by" in failure_of(await client.call_tool("feedback", judged))
        fcntl.flock(folder, fcntl.LOCK_UN)
        found = await client.call_tool("recall", {"query": "Where does the spare key hang?"})
        memories = found.structured_content["memories"]
        assert [each["trust"] for each in memories if each["id"] == key] == ["agent"]
        judged = {"recall_id": found.structured_content["recall_id"], "good": [key]}
        first = await client.call_tool("feedback", judged)
        assert first.structured_content["schema"] == "clsm.feedback/1"
        assert first.structured_content["is_new"] is True
        assert (await client.call_tool("feedback", judged)).structured_content["is_new"] is False

    assert session(cli, talk) == ""
    os.close(folder)


def test_junk_does_not_end_the_server(cli: Cli) -> None:
    def line(number: int | None, method: str, **params: Any) -> bytes:
        told = {"jsonrpc": "2.0", "method": method, "params": params}
        return json.dumps(told if number is None else {**told, "id": number}).encode()

    who = {"name": "raw", "version": "1"}
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": who}
    lone = line(2, "tools/call", name="note", arguments={"text": "a\ud800b"})
    junk = (b"junk", b'{"a"', b"\xff\xfe\0", b"[]", b"{}", b"[" * 9000, b'"\\ud83d"' * 2, b"", lone)
    noted = line(4, "tools/call", name="note", arguments={"text": COFFEE})
    asked = (line(1, "initialize", **hello), line(None, "notifications/initialized"), *junk)
    with subprocess.Popen(
        [sys.executable, "-m", "clsm_cli", "mcp"],
        cwd=cli.folder,
        env=dict(cli.environment),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as server:
        assert server.stdin
        assert server.stdout
        server.stdin.write(b"\n".join([*asked, line(3, "no/such/method"), noted, b""]))
        server.stdin.flush()
        answers: dict[Any, Any] = {}
        while not {2, 4} <= answers.keys():
            answer = json.loads(server.stdout.readline())
            answers[answer.get("id")] = answer
        out, err = server.communicate(timeout=60)
    assert answers[1]["result"]["serverInfo"]["name"] == "clsm"
    assert answers[2]["result"]["isError"] is False  # half an emoji
    assert "error" in answers[3]
    assert answers[4]["result"]["isError"] is False
    assert server.returncode == 0
    assert b"Traceback" not in err
    assert out == b""


def test_a_closed_input_is_told(cli: Cli) -> None:
    words = ["sh", "-c", 'exec "$0" -m clsm_cli mcp <&-', sys.executable]
    done = subprocess.run(words, env=dict(cli.environment), capture_output=True, check=False)
    assert (done.returncode, done.stderr.count(b"\n")) == (12, 1)


def test_without_the_sdk_it_says_what_to_install(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("clsm_cli.commands.mcp.find_spec", lambda _: None)
    done = InProcess("mcp", NOW[1]).run(store)
    how = f"{sys.executable} -m pip install 'mcp"
    assert isinstance(done.exception, BadInputError)
    assert str(done.exception).startswith(
        f"clsm mcp: needs the official SDK; install it with: {how}"
    )
    assert done.stdout == ""
