"""The page of the 64 rows names each row once, and tests that exist."""

from __future__ import annotations

import re
from pathlib import Path

TESTS = Path(__file__).parent
PAGE = (TESTS.parent / "docs" / "rows.md").read_text("utf-8")


def test_every_row_is_told_once() -> None:
    rows = [int(number) for number in re.findall(r"^\| (\d+) \|", PAGE, re.MULTILINE)]
    assert sorted(rows) == list(range(1, 65))


def test_every_test_that_is_named_exists() -> None:
    named = re.findall(r"`([\w/]+\.py)(?:::(\w+))?`", PAGE.replace("tests/test_rows.py", ""))
    assert len(named) >= 55
    for path, test in named:
        assert f"def {test}" in (TESTS / path).read_text("utf-8"), (path, test)


def test_a_row_that_works_or_is_a_presets_names_its_test() -> None:
    for line in re.findall(r"^\| \d+ \|.*$", PAGE, re.MULTILINE):
        _, _, _, state, shown, _ = (cell.strip() for cell in line.split("|"))
        assert state == "not done" or ".py" in shown, line
