"""Write a man page for every command from the command line itself: ``python scripts/make_man.py``.

The pages say what ``--help`` says, and which exit codes the error classes own. They hold no date,
so they change only when the commands or the version do; ``tests/test_docs.py`` compares.
"""

from __future__ import annotations

import inspect
import re
import sys
from pathlib import Path
from typing import Any

from typer.main import get_command

from clsm_cli import __version__, errors
from clsm_cli.app import app

MAN = Path(__file__).parents[1] / "man"
ENVIRONMENT = (
    ("CLSM_STORE", "The memory store, where --store does not name one."),
    ("CLSM_DEVICE", "This machine's name in the store; by default made of its host name."),
    ("CLSM_MODEL_DIR", "The folder of the embedding model."),
    (
        "CLSM_LLM_BASE_URL, CLSM_LLM_MODEL, ...",
        "A setting of this machine, before its config.toml; docs/format.md lists them.",
    ),
    ("XDG_CONFIG_HOME", "The folder in which clsm/config.toml is looked for."),
    ("TZ", "The time zone of a new store."),
    ("NO_COLOR", "No colours on a terminal."),
)
OTHER_CODES = ((0, "Done; an empty answer too."), (1, "A bug in clsm."), (2, "Wrong usage."))
INTERRUPTED = (130, "Interrupted with Ctrl-C.")


def pages() -> dict[str, str]:
    """File name and text of every page."""
    commands = _walk(get_command(app).make_context("clsm", [], resilient_parsing=True))
    names = [context.command_path.replace(" ", "-") for context in commands]
    return {f"{name}.1": _page(name, c, names) for name, c in zip(names, commands, strict=True)}


def _walk(context: Any) -> list[Any]:
    """A context of the command and of every one below it."""
    found = [context]
    for name, below in commands_below(context):
        found += _walk(below.make_context(name, [], context, resilient_parsing=True))
    return found


def _page(name: str, context: Any, names: list[str]) -> str:
    command = context.command
    summary, _, rest = inspect.cleandoc(command.help).partition("\n\n")
    summary = " ".join(summary.split())
    lines = [
        r".\" Made by scripts/make_man.py from clsm --help; do not edit.",
        f'.TH "{_text(name.upper())}" 1 "" "clsm {__version__}" "clsm manual"',
        ".SH NAME",
        rf"{_text(name)} \- {_text(_uncapitalised(summary))}",
        ".SH SYNOPSIS",
        *_synopsis(context),
        ".SH DESCRIPTION",
        _line(summary),
    ]
    for paragraph in filter(None, rest.split("\n\n")):
        lines += [".PP", _line(" ".join(paragraph.split()))]
    lines += _commands(context) + _options(context) + _exit_status() + _environment()
    lines += _examples(command.epilog or "")
    others = [other for other in names if other != name and _is_near(name, other)]
    if others:
        lines += [".SH SEE ALSO", ",\n".join(rf"\fB{_text(other)}\fR(1)" for other in others)]
    return "\n".join(lines) + "\n"


def _uncapitalised(summary: str) -> str:
    """The one-line description of a page: no capital, no full stop."""
    return summary[:1].lower() + summary[1:].rstrip(".")


def _is_near(name: str, other: str) -> bool:
    """Whether a page is worth naming in another: its group, its neighbours, what is below it."""
    parents = {name.rpartition("-")[0], name}
    return other == "clsm" or other.rpartition("-")[0] in parents


def _synopsis(context: Any) -> list[str]:
    pieces = " ".join(context.command.collect_usage_pieces(context))
    return [rf"\fB{_text(context.command_path)}\fR {_text(pieces)}"]


def commands_below(context: Any) -> list[tuple[str, Any]]:
    """The commands below one, in order; none where it is none of a group."""
    group = context.command
    names = group.list_commands(context) if hasattr(group, "list_commands") else []
    return [(name, group.get_command(context, name)) for name in names]


def _commands(context: Any) -> list[str]:
    below_it = commands_below(context)
    if not below_it:
        return []
    lines = [".SH COMMANDS"]
    for name, below in below_it:
        if not below.hidden:
            summary = inspect.cleandoc(below.help).partition("\n\n")[0]
            lines += [".TP", rf"\fB{_text(name)}\fR", _line(" ".join(summary.split()))]
    return lines


def _options(context: Any) -> list[str]:
    parameters = context.command.get_params(context)
    records = [parameter.get_help_record(context) for parameter in parameters]
    lines = [".SH OPTIONS"]
    for record in filter(None, records):
        term, told = record
        lines += [".TP", rf"\fB{_text(term)}\fR", _line(" ".join(told.split()))]
    return lines


def _exit_status() -> list[str]:
    told: dict[int, list[str]] = {}
    for error in errors.ClsmError.__subclasses__():
        told.setdefault(error.exit_code, []).append(inspect.cleandoc(error.__doc__ or ""))
    owned = [(code, " Or: ".join(sentences)) for code, sentences in sorted(told.items())]
    before = [row for row in owned if row[0] < INTERRUPTED[0]]
    lines = [".SH EXIT STATUS"]
    for code, sentence in [*OTHER_CODES, *before, INTERRUPTED]:
        lines += [".TP", rf"\fB{code}\fR", _line(sentence)]
    return lines


def _environment() -> list[str]:
    lines = [".SH ENVIRONMENT"]
    for name, told in ENVIRONMENT:
        lines += [".TP", rf"\fB{_text(name)}\fR", _line(told)]
    return lines


def _examples(epilog: str) -> list[str]:
    examples = re.findall(r"^  (\S.*)$", epilog, re.MULTILINE)
    return [".SH EXAMPLES", ".nf", *map(_line, examples), ".fi"] if examples else []


def _line(text: str) -> str:
    r"""A line of text; ``\&`` keeps a first dot or quote from being a request."""
    escaped = _text(text)
    return rf"\&{escaped}" if escaped[:1] in (".", "'") else escaped


def _text(text: str) -> str:
    return text.replace("\\", r"\e").replace("-", r"\-").replace("~", r"\(ti").replace("^", r"\(ha")


def main() -> None:
    """Write the pages, and remove those of commands that are gone."""
    MAN.mkdir(exist_ok=True)
    made = pages()
    for old in MAN.glob("*.1"):
        if old.name not in made:
            old.unlink()
    for name, text in made.items():
        (MAN / name).write_text(text, encoding="utf-8")
    print(f"{len(made)} pages in {MAN}", file=sys.stderr)


if __name__ == "__main__":
    main()
