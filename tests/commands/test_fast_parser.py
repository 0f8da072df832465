"""The fast parser agrees with Typer, and loads none of what it is there to avoid."""

import json
import shlex
import subprocess
import sys
from importlib.util import find_spec
from typing import Any

import pytest
import typer
from processes import Cli
from tables import column
from typer.testing import CliRunner

from clsm_cli.commands import context, fast_parser, fence_key, ingest, recall_command
from clsm_cli.commands.command_line import Common
from clsm_cli.commands.options import typer_function
from clsm_cli.text.fence_lines import KEY_BYTES

HEAVY = {
    *("typer", "rich", "numpy", "tokenizers", "onnxruntime", "ruamel", "rapidfuzz", "frontmatter"),
    *("dataclasses", "inspect", "hashlib", "_hashlib", "hmac", "ssl", "urllib.request", "http"),
    *("importlib.metadata", "importlib.resources", "logging", "random", "decimal", "statistics"),
    *("tempfile", "shutil", "subprocess", "socket", "zipfile", "pickle", "string", "difflib"),
    *("tomllib", "platformdirs"),
}
"""Modules that a fast command may not load: each costs between 1 and 100 ms."""
UNUSUAL = {
    *("text.time.expressions", "text.ordinals"),
    *("text.route", "embedding.download", "store.logs"),
    *("store.shards", "store.runs", "store.lock", "store.yaml_text", "store.index.refresh"),
    *("store.index.hidden", "model.episodes", "model.graph", "model.codec"),
    "retrieval.time_scope",
    "scoring.thompson_sampling",
}
"""Modules of our own that answer only an unusual query."""

FORMS = ("text", "json", "prompt")
COMMANDS: dict[str, Any] = {"recall": recall_command, "context": context, "ingest": ingest}


def parsed(name: str, arguments: list[str]) -> dict[str, Any] | None:
    return fast_parser.parse(arguments, COMMANDS[name].COMMAND_LINE.options)


@pytest.mark.parametrize(
    "line", [*column(__file__, "both"), "recall --session \udcff x", "context --store \udcff"]
)
def test_both_parsers_read_the_same(line: str) -> None:
    name, *arguments = shlex.split(line)
    seen: list[Any] = []
    declared, options = COMMANDS[name].COMMAND_LINE, COMMANDS[name].Options
    assert tuple(declared.options) == (*options._fields[:-1], *Common._fields)
    typed = typer.Typer()
    typed.command()(typer_function(declared, options, seen.append))
    result = CliRunner().invoke(typed, arguments)
    assert result.exit_code == 0, result.output
    assert [fast_parser.make_options(options, parsed(name, arguments) or {})] == seen


@pytest.mark.parametrize("line", column(__file__, "not plain"))
def test_what_is_not_plain_is_left_to_typer(line: str) -> None:
    name, *arguments = line.split()
    assert parsed(name, arguments) is None


OTHER = ("", "status", "ingest notes.md", "ingest -- --capture", "recal x", "--help", "--version x")


@pytest.mark.parametrize("line", OTHER)
def test_other_commands_are_typers(line: str) -> None:
    assert fast_parser.run(line.split()) is None


def _modules(*commands: list[str]) -> set[str]:
    """What is loaded by some commands, one after the other."""
    code = (
        "import sys\n"
        "from clsm_cli.commands import fast_parser\n"
        f"codes = [fast_parser.run(words) for words in {commands!r}]\n"
        "assert not any(codes), codes\n"
        "print('\\n' + ' '.join(sys.modules), file=sys.stderr)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    return set(done.stderr.split("\n")[-2].split())


@pytest.fixture(scope="module")
def told(shared: Cli) -> Cli:
    """A store that holds something."""
    shared.ok("note", "A heron stood in the river at dawn.")
    shared.ok("recall", "warm", "up")
    return shared


def test_a_recall_loads_nothing_heavy(told: Cli) -> None:
    words = ("recall", "--store", str(told.store), "heron", "river", "--format")
    loaded = _modules(*([*words, form] for form in FORMS))
    assert not loaded & HEAVY
    assert not loaded & {f"clsm_cli.{name}" for name in UNUSUAL}
    assert fence_key.key_path().stat().st_size == KEY_BYTES  # made by the first prompt


def test_a_list_of_modules_names_modules() -> None:
    for name in [*HEAVY, *(f"clsm_cli.{name}" for name in UNUSUAL)]:
        assert find_spec(name) is not None, name


def test_a_context_reads_one_file(told: Cli) -> None:
    told.ok("context")
    words = ("context", "--store", str(told.store), "--format")
    loaded = _modules(*([*words, form] for form in FORMS))
    assert not loaded & (HEAVY | {"sqlite3", "random"})


def test_version_loads_next_to_nothing() -> None:
    assert not _modules(["--version"]) & (HEAVY | {"sqlite3", "json", "importlib.metadata"})


def test_errors_are_those_of_typer(cli: Cli) -> None:
    fast = cli("recall", "--store", "/nowhere", "x")
    slow = cli("recall", "--store", "/nowhere", "-vq", "x")
    assert fast == slow
    assert fast.code == 11


def test_the_answer_does_not_depend_on_the_parser(told: Cli) -> None:
    plain = ("--now", "2026-02-25", "--no-touch", "--json", "heron")
    fast = told.ok("recall", *plain)
    slow = told.ok("recall", "-qv", *plain)
    assert json.loads(fast.out) == json.loads(slow.out)


def test_a_capture_loads_nothing_heavy(cli: Cli) -> None:
    cli.ok("note", "A heron stood in the river at dawn.")
    turns = cli.folder / "turns.jsonl"
    turns.write_text('{"role": "user", "content": "A heron again.", "session": "main"}\n')
    loaded = _modules(["ingest", str(turns), "--capture", "--store", str(cli.store)])
    allowed = {"dataclasses", "inspect"}  # what is taken in is made of them
    slow = {*HEAVY, "clsm_cli.commands.engine"} - allowed
    assert sorted(loaded & slow) == []
