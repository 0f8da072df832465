"""README, man pages and docs know every command, option and setting, and say what the program says."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from faults import figures
from faults.registry import rigs
from typer.main import get_command

from clsm_cli import errors
from clsm_cli.app import app
from scripts import make_man, make_settings

# The README and the man pages know every command and every option.


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


# The man pages are what the commands say of themselves, and groff has nothing against them.


MAN = ROOT / "man"
PAGES = sorted(MAN.glob("*.1"))


def test_pages_are_up_to_date() -> None:
    stored = {page.name: page.read_text(encoding="utf-8") for page in PAGES}
    assert stored == make_man.pages(), "run: python scripts/make_man.py"


@pytest.mark.skipif(shutil.which("groff") is None, reason="groff is not installed")
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_is_set_without_a_warning(page: Path) -> None:
    done = subprocess.run(
        ["groff", "-man", "-Tutf8", "-ww", "-P-cbou", str(page)],
        capture_output=True,
        check=True,
        text=True,
    )
    assert done.stderr == ""
    assert "EXIT STATUS" in done.stdout


# The table of settings in the documentation is what the program says of itself.


def test_the_page_has_every_setting_as_it_is() -> None:
    page = make_settings.PAGE.read_text("utf-8")
    assert page == make_settings.written(page), "run: python scripts/make_settings.py"


# docs/promises.md shows the figures that are kept, and each promise has a rig that holds it.


PROMISES = range(1, 19)


def test_the_page_shows_the_figures() -> None:
    page = figures.PAGE.read_text()
    assert figures.filled(page, figures.load()) == page


def test_every_promise_stands_in_the_page_once() -> None:
    page = figures.PAGE.read_text()
    for kind in (r"^### (\d+)\. ", r"<!-- figures of (\d+) -->"):
        assert [int(n) for n in re.findall(kind, page, re.MULTILINE)] == list(PROMISES)


def test_every_promise_has_a_rig() -> None:
    assert {promise for rig in rigs() for promise in rig.promises} == set(PROMISES)
    assert {rig.name for rig in rigs()} == set(figures.load())
    known = {rig.name: list(rig.promises) for rig in rigs()}
    for name, found in figures.load().items():
        assert found["promises"] == known[name]


def test_no_figure_hides_a_violation() -> None:
    """What a rig found stands in the page until it is mended and run again."""
    for name, found in figures.load().items():
        for outcome in found["outcomes"]:
            assert (name, outcome["what"], outcome["violations"]) == (name, outcome["what"], 0)
            assert outcome["fired"] > 0
        assert found["control"]["caught"] == found["control"]["tried"] > 0
