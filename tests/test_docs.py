"""The README and the man pages know every command and every option."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from clsm_cli import errors
from clsm_cli.app import app
from scripts import make_man

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
ROOT_COMMAND = get_command(app)
SHELL = {"--show-completion"}
"""Typer's own twin of --install-completion, which the README names."""


def _contexts() -> list[Any]:
    return make_man._walk(
        ROOT_COMMAND, ROOT_COMMAND.make_context("clsm", [], resilient_parsing=True)
    )


CONTEXTS = _contexts()
PATHS = [context.command_path for context in CONTEXTS]


def _long_options(context: Any) -> set[str]:
    options: set[str] = set()
    for parameter in context.command.get_params(context):
        names = [*parameter.opts, *parameter.secondary_opts]
        options.update([name for name in names if name.startswith("--")] or names[:1])
    return {option for option in options if option.startswith("-")}


@pytest.mark.parametrize("path", PATHS)
def test_the_readme_names_the_command(path: str) -> None:
    words = path.split()
    # ``clsm model install | status | verify`` is one row of the table.
    pattern = rf"{' '.join(words[:-1])}[^`\n]*\b{words[-1]}\b"
    assert re.search(pattern, README), f"README.md does not say: {path}"


@pytest.mark.parametrize("context", CONTEXTS, ids=PATHS)
def test_the_options_are_documented(context: Any) -> None:
    page = (ROOT / "man" / f"{context.command_path.replace(' ', '-')}.1").read_text("utf-8")
    for option in sorted(_long_options(context)):
        assert option.replace("-", r"\-") in page, f"the man page does not say: {option}"
        if option not in SHELL | {"--help", "--version"}:
            said = re.search(rf"(?<![\w-]){re.escape(option)}(?![\w-])", README)
            assert said, f"README.md does not say: {option} ({context.command_path})"


@pytest.mark.parametrize("context", CONTEXTS[1:], ids=PATHS[1:])
def test_every_command_takes_the_options_of_all(context: Any) -> None:
    if context.command_path == "clsm merge-driver":  # git runs it, on three files and no store
        assert _long_options(context) == {"--help"}
    elif not hasattr(context.command, "commands"):
        assert {"--store", "--json", "--quiet", "--verbose", "--now"} <= _long_options(context)


@pytest.mark.parametrize("error", errors.ClsmError.__subclasses__(), ids=lambda e: e.__name__)
def test_the_readme_tells_the_exit_codes(error: type[errors.ClsmError]) -> None:
    section = README.partition("### Exit codes")[2].partition("\n## ")[0]
    assert re.search(rf"\b{error.exit_code}\b", section)


def test_the_test_command_is_where_ci_looks_for_it() -> None:
    commands = re.findall(r"<!-- test-command -->\n```sh\n(.+)\n```", README)
    assert len(commands) == 1
    assert "pytest" in commands[0]
