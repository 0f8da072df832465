"""docs/doctor.md has every code, with what the program says of it."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from clsm_cli.health.findings import CODES

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "doctor.md").read_text(encoding="utf-8")
ROW = re.compile(r"^\| `([a-z-]+)` \| (.*) \|$", re.MULTILINE)


def test_the_page_has_every_code_as_it_is() -> None:
    rows = dict(ROW.findall(PAGE))
    for name, code in CODES.items():
        cells = (code.severity, code.meaning, code.fix or "–", code.next_step or "–")
        assert rows[name] == " | ".join(cells)


def test_every_code_is_used_and_every_finding_has_one() -> None:
    used: set[str] = set()
    for path in sorted((ROOT / "clsm_cli" / "health").glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                used |= {node.value} & CODES.keys() if path.name != "codes.py" else set()
    assert used == set(CODES)


def test_what_only_a_person_can_mend_says_how() -> None:
    assert [name for name, code in CODES.items() if not (code.fix or code.next_step)] == []
