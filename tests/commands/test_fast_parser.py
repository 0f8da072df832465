"""The fast parser agrees with Typer, and loads none of what it is there to avoid."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.util import find_spec

import pytest
from processes import Cli
from typer.main import get_command
from typer.testing import CliRunner

from clsm_cli.app import app
from clsm_cli.commands import fast_parser, fence_key, run_context, run_ingest, run_recall
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
    *("text.ontology", "text.route", "embedding.weights", "store.logs"),
    *("store.shards", "store.runs", "store.lock", "store.yaml_text", "store.index.refresh"),
    *("store.index.hidden", "model.episodes", "model.graph", "model.codec"),
    *("retrieval.dialogue_context", "retrieval.feedback_log", "retrieval.session_scope"),
    "scoring.thompson_sampling",
}
"""Modules of our own that answer only an unusual query."""


@pytest.mark.parametrize(
    ("name", "table", "fields"),
    [
        ("recall", fast_parser.RECALL_OPTIONS, run_recall.Options._fields),
        ("context", fast_parser.CONTEXT_OPTIONS, run_context.Options._fields),
        ("ingest", fast_parser.INGEST_OPTIONS, run_ingest.Options._fields),
    ],
)
def test_every_option_of_typer_is_here_and_no_other(
    name: str, table: fast_parser.Table, fields: tuple[str, ...]
) -> None:
    typed = get_command(app).commands[name]  # type: ignore[attr-defined]
    expected: dict[str, str] = {}
    for parameter in typed.params:
        if parameter.param_type_name == "option" and parameter.name != "help":
            names = [*parameter.opts, *parameter.secondary_opts]
            expected |= dict.fromkeys(names, parameter.name)
    found = {option: field for option, (field, _) in table.items()}
    assert found == expected
    words = {"paths" if name == "ingest" else "query"}
    assert set(found.values()) | words == set(fields)


@pytest.mark.parametrize(
    "arguments",
    [
        ["cats"],
        ["--json", "-k", "3", "who", "is", "brian"],
        ["who", "--budget=300c", "is", "--no-touch", "brian", "-q"],
        ["--min-score", "0.5", "--format", "prompt", "--", "--store", "is", "an option"],
        ["--since", "last week", "--until=2026-02-24", "--kind", "passage", "x", "-"],
        ["--batch", "-", "--explain", "--exit-code", "-v"],
        ["--touch", "--no-touch", "a", "", "b"],
    ],
)
def test_both_parsers_read_the_same(arguments: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[run_recall.Options] = []
    monkeypatch.setattr(run_recall, "run", seen.append)
    result = CliRunner().invoke(app, ["recall", *arguments])
    assert result.exit_code == 0, result.output
    values = fast_parser.parse(arguments)
    assert values is not None
    assert [run_recall.Options(**values)] == seen


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["--query", "the gauge", "--budget=30%", "--window", "4096"],
        ["--format", "prompt", "--store", "x", "--now=2026-02-24", "--json", "-q", "-v"],
    ],
)
def test_both_parsers_read_a_context_the_same(
    arguments: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[run_context.Options] = []
    monkeypatch.setattr(run_context, "run", seen.append)
    result = CliRunner().invoke(app, ["context", *arguments])
    assert result.exit_code == 0, result.output
    values = fast_parser.parse(arguments, fast_parser.CONTEXT_OPTIONS, None)
    assert values is not None
    assert [run_context.Options(**values)] == seen


@pytest.mark.parametrize(
    "arguments",
    [
        ["-", "--capture"],
        ["--capture", "--session", "main", "--format=openclaw", "-", "a", "-q"],
        ["--capture", "--since", "2026-02-24", "--strict", "--dry-run", "--json", "--", "--now"],
    ],
)
def test_both_parsers_read_a_capture_the_same(
    arguments: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[run_ingest.Options] = []
    monkeypatch.setattr(run_ingest, "run", seen.append)
    result = CliRunner().invoke(app, ["ingest", *arguments])
    assert result.exit_code == 0, result.output
    values = fast_parser.parse(arguments, fast_parser.INGEST_OPTIONS, "paths")
    assert values is not None
    assert [run_ingest.Options(**values)] == seen


@pytest.mark.parametrize("arguments", [["--capture", "--format", "word"], ["--since"], ["-k", "3"]])
def test_what_is_not_plain_in_an_ingest_is_left_to_typer(arguments: list[str]) -> None:
    assert fast_parser.parse(arguments, fast_parser.INGEST_OPTIONS, "paths") is None


@pytest.mark.parametrize(
    "arguments",
    [["--window", "0"], ["--window", "1000000001"], ["-k", "3"], ["word"], ["--", "word"], ["-h"]],
)
def test_what_is_not_plain_in_a_context_is_left_to_typer(arguments: list[str]) -> None:
    assert fast_parser.parse(arguments, fast_parser.CONTEXT_OPTIONS, None) is None


@pytest.mark.parametrize(
    "arguments",
    [
        ["--help"],
        ["-h"],
        ["--nonsense", "x"],
        ["-k", "0", "x"],
        ["-k", "1001", "x"],
        ["-k", "many", "x"],
        ["-k3", "x"],
        ["-k=3", "x"],
        ["x", "-k"],
        ["--json=yes", "x"],
        ["--min-score", "1.5", "x"],
        ["--min-score", "nan", "x"],
        ["-qv", "x"],
    ],
)
def test_what_is_not_plain_is_left_to_typer(arguments: list[str]) -> None:
    assert fast_parser.parse(arguments) is None


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["status"],
        ["ingest", "notes.md"],
        ["ingest", "--", "--capture"],
        ["recal", "x"],
        ["--help"],
        ["--version", "x"],
    ],
)
def test_other_commands_are_typers(arguments: list[str]) -> None:
    assert fast_parser.run(arguments) is None


def test_a_range_is_the_one_typer_knows() -> None:
    assert list(fast_parser._RANGES["k"]) == [1, run_recall.MAX_ITEMS]
    assert list(fast_parser._RANGES["window"]) == [1, run_context.MAX_WINDOW]


def _modules(*arguments: str) -> set[str]:
    code = (
        "import sys\n"
        "from clsm_cli.commands import fast_parser\n"
        f"code = fast_parser.run({list(arguments)!r})\n"
        "assert code == 0, code\n"
        "print('\\n' + ' '.join(sys.modules), file=sys.stderr)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    return set(done.stderr.split("\n")[-2].split())


@pytest.fixture
def told(cli: Cli) -> Cli:
    """A store that holds something."""
    cli.ok("note", "A heron stood in the river at dawn.")
    cli.ok("recall", "warm", "up")
    return cli


def test_a_recall_loads_nothing_heavy(told: Cli) -> None:
    for form in ("text", "json", "prompt"):
        loaded = _modules("recall", "--store", str(told.store), "--format", form, "heron", "river")
        assert not loaded & HEAVY, form
        assert not loaded & {f"clsm_cli.{name}" for name in UNUSUAL}, form
    assert fence_key.key_path().stat().st_size == KEY_BYTES  # made by the first prompt


def test_a_list_of_modules_names_modules() -> None:
    for name in [*HEAVY, *(f"clsm_cli.{name}" for name in UNUSUAL)]:
        assert find_spec(name) is not None, name


def test_a_context_reads_one_file(told: Cli) -> None:
    told.ok("context")
    for form in ("text", "json", "prompt"):
        loaded = _modules("context", "--store", str(told.store), "--format", form)
        assert not loaded & (HEAVY | {"sqlite3", "random"}), form


def test_version_loads_next_to_nothing() -> None:
    assert not _modules("--version") & (HEAVY | {"sqlite3", "json", "importlib.metadata"})


def test_errors_are_those_of_typer(cli: Cli) -> None:
    fast = cli("recall", "--store", "/nowhere", "x")
    slow = cli("recall", "--store", "/nowhere", "-vq", "x")
    assert fast == slow
    assert fast.code == 11


def test_usage_errors_show_the_usage(cli: Cli) -> None:
    found = cli("recall", "--kind", "poem", "x")
    assert found.code == 2
    assert "Usage: clsm recall" in found.err
    assert "--kind" in found.err


def test_the_answer_does_not_depend_on_the_parser(told: Cli) -> None:
    plain = ("--now", "2026-02-25", "--no-touch", "--json", "heron")
    fast = told.ok("recall", *plain)
    slow = told.ok("recall", "-qv", *plain)
    assert json.loads(fast.out) == json.loads(slow.out)


def test_a_capture_loads_nothing_heavy(told: Cli) -> None:
    turns = told.folder / "turns.jsonl"
    turns.write_text('{"role": "user", "content": "A heron again.", "session": "main"}\n')
    loaded = _modules("ingest", str(turns), "--capture", "--store", str(told.store))
    allowed = {"dataclasses", "inspect"}  # what is taken in is made of them
    slow = {*HEAVY, "clsm_cli.commands.engine"} - allowed
    assert sorted(loaded & slow) == []
