"""Reports of a result: Markdown is Markdown, the files hold everything, and only a report is one."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from evaluation import report_sample
from markdown_it import MarkdownIt

from clsm_cli.errors import BadInputError
from clsm_cli.evaluation.reporting import evaluation_report
from clsm_cli.evaluation.reporting.evaluation_report import markdown
from clsm_cli.evaluation.result import Result, dump, load


@pytest.mark.parametrize(
    "made",
    [report_sample.full, report_sample.hostile, report_sample.bare],
    ids=lambda made: made.__name__,
)
def test_markdown_has_its_tables_and_no_html(made: Callable[[], Result]) -> None:
    result = made()
    text = markdown(result)
    assert "\x1b" not in text
    assert "\u202e" not in text
    tokens = MarkdownIt("gfm-like", {"linkify": False}).enable("table").parse(text)
    inline = [child for token in tokens for child in token.children or ()]
    kinds = {token.type for token in (*tokens, *inline)}
    bad = {"html_block", "html_inline", "link_open", "image", "code_inline", "em_open", "s_open"}
    assert not kinds & bad
    tables = [token for token in tokens if token.type == "table_open"]
    assert (len(tables) > 8) == bool(result.sets[0].pairs)


def test_clsm_behind_is_said() -> None:
    found = report_sample.full().sets[1]
    ours = found.systems[0]
    sentence = evaluation_report.standing_sentence
    assert "clsm ranking" not in sentence(found)
    assert "points ahead of fusion" in sentence(found)
    best = replace(ours, name="better", figures={**ours.figures, found.headline: 0.99})
    assert "behind better" in sentence(replace(found, systems=(ours, best)))
    assert "It is level with twin" in sentence(
        replace(found, systems=(ours, replace(ours, name="twin")))
    )
    assert sentence(replace(found, systems=(ours,))).startswith("clsm has R10 ")


def test_the_files_hold_the_result(tmp_path: Path) -> None:
    result = report_sample.full()
    written = evaluation_report.write_report(tmp_path / "out", result)
    assert [path.name for path in written] == ["report.json", "report.md"]
    assert load(written[0]) == result
    before = [path.read_bytes() for path in written]
    evaluation_report.write_report(tmp_path / "out", report_sample.full())
    assert [path.read_bytes() for path in written] == before


def changed(change: Callable[[dict[str, Any]], object]) -> str:
    """The sample report with something else in it."""
    value = dump(report_sample.full())
    change(value)
    return json.dumps(value)


HOSTILE = {
    "is longer": " " * 10,
    "is not JSON": "{",
    "is not UTF-8": "\udcff",
    "is of schema None": "[]",
    "is of schema 'clsm.eval/2'": changed(lambda value: value.update(schema="clsm.eval/2")),
    "has no seed in the report": changed(lambda value: value.pop("seed")),
    "holds as seed what is none of": changed(lambda value: value.update(seed=True)),
    "holds as sets what is none of": changed(lambda value: value.update(sets={})),
    "holds as silenced": changed(lambda value: value["sets"][0].update(silenced="0.5")),
    "too large": changed(lambda value: value["sets"][0].update(silenced=10**400)),
    "holds as interval": changed(lambda value: value["sets"][0]["pairs"][0].update(interval=[1])),
    "holds NaN": changed(lambda value: value["sets"][0].update(stored=float("nan"))),
}


@pytest.mark.parametrize("reason", HOSTILE)
def test_what_is_no_report_is_refused_in_one_sentence(
    tmp_path: Path, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "report.json"
    file.write_bytes(HOSTILE[reason].encode("utf-8", "surrogateescape"))
    if reason == "is longer":
        monkeypatch.setattr("clsm_cli.evaluation.result.MAX_REPORT", 5)
    with pytest.raises(BadInputError, match=reason) as caught:
        load(file)
    assert str(caught.value).startswith(f"{file}: ")
    assert "\n" not in str(caught.value)


def test_what_a_report_has_besides_is_passed_over(tmp_path: Path) -> None:
    file = tmp_path / "report.json"
    file.write_text(changed(lambda value: value["sets"][0].update(more=1)), encoding="utf-8")
    assert load(file) == report_sample.full()
