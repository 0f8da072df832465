"""Reports of a result: Markdown is Markdown, and the files hold everything."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from evaluation import report_sample
from markdown_it import MarkdownIt

from clsm_cli.evaluation.reporting import evaluation_report
from clsm_cli.evaluation.reporting.evaluation_report import markdown
from clsm_cli.evaluation.result import Result, load

MADE: list[Callable[[], Result]] = [
    report_sample.full,
    report_sample.hostile,
    report_sample.bare,
    report_sample.result,
]
each_result = pytest.mark.parametrize("made", MADE, ids=lambda made: made.__name__)


@each_result
def test_markdown_has_its_tables_and_no_html(made: Callable[[], Result]) -> None:
    result = made()
    tokens = MarkdownIt("gfm-like", {"linkify": False}).enable("table").parse(markdown(result))
    inline = [child for token in tokens for child in token.children or ()]
    kinds = {token.type for token in (*tokens, *inline)}
    bad = {"html_block", "html_inline", "link_open", "image", "code_inline", "em_open", "s_open"}
    assert not kinds & bad
    tables = [token for token in tokens if token.type == "table_open"]
    assert (len(tables) > 8) == bool(result.sets and result.sets[0].pairs)


def test_hostile_names_are_words_everywhere() -> None:
    result = report_sample.hostile()
    text = markdown(result)
    assert "\x1b" not in text
    assert "\u202e" not in text
    outside = "\n".join(line for line in text.splitlines() if not line.startswith("    "))
    assert "<script" not in outside.replace("\\<", "")


def test_clsm_behind_is_said() -> None:
    found = report_sample.full().sets[1]
    assert "clsm ranking" not in evaluation_report.standing_sentence(found)
    better = replace(found.systems[1], name="better")
    assert "behind better" in evaluation_report.standing_sentence(
        replace(found, systems=(found.systems[0], better))
    )
    alone = replace(found, systems=found.systems[:1])
    assert evaluation_report.standing_sentence(alone) == "clsm has R10 85.9 % (95 %: 81.9–89.4)."
    even = replace(found, systems=(found.systems[0], replace(found.systems[0], name="twin")))
    assert "It is level with twin" in evaluation_report.standing_sentence(even)


def test_the_files_hold_the_result(tmp_path: Path) -> None:
    result = report_sample.full()
    written = evaluation_report.write_report(tmp_path / "out", result)
    assert [path.name for path in written] == ["report.json", "report.md"]
    assert load(written[0]) == result
    before = [path.read_bytes() for path in written]
    evaluation_report.write_report(tmp_path / "out", report_sample.full())
    assert [path.read_bytes() for path in written] == before
