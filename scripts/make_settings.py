"""Write the table of settings in docs/format.md from clsm_cli/config.py: ``python scripts/make_settings.py``.

The classes say where a setting may stand, their defaults what holds without it, the sentence below
each what it does; ``tests/test_docs.py`` compares.
"""

from __future__ import annotations

import ast
import sys
from pathlib import Path

from clsm_cli import config

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "format.md"
_HEAD = "| setting | where | default | what it does |\n|---|---|---|---|\n"
_END = "\n\n"


def table() -> str:
    """The table: the settings of a store, then those of the machine, as they are declared."""
    tree = ast.parse(Path(config.__file__).read_text("utf-8"))
    meanings = {
        (group.name, target.id): _one_line(sentence.value.value)
        for group in tree.body
        if isinstance(group, ast.ClassDef)
        for field, sentence in zip(group.body, group.body[1:], strict=False)
        if isinstance(field, ast.AnnAssign) and isinstance(target := field.target, ast.Name)
        if isinstance(sentence, ast.Expr) and isinstance(sentence.value, ast.Constant)
    }
    rows = []
    for where, settings in (("store", config.Settings()), ("machine", config.MachineSettings())):
        for name, value in config.defaults(settings).items():
            group, _, key = name.partition(".")
            meaning = meanings[type(getattr(settings, group)).__name__, key]
            default = f"`{value}`" if value != "" else "–"
            rows.append(f"| `{name}` | {where} | {default} | {meaning} |")
    return _HEAD + "\n".join(rows)


def _one_line(text: object) -> str:
    return " ".join(str(text).split()).replace("``", "`").replace("|", "\\|").rstrip(".")


def written(page: str) -> str:
    """A page with the table as it must be."""
    before, head, rest = page.partition(_HEAD)
    assert head, "the page has lost the head of its table"
    _, end, after = rest.partition(_END)
    return f"{before}{table()}{end}{after}"


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text("utf-8")), "utf-8")
    sys.stdout.write(f"{PAGE}\n")
