"""Reports of a result: the page opens offline and holds everything, Markdown is Markdown."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from base64 import b64encode
from collections.abc import Callable
from dataclasses import replace
from hashlib import sha256
from html.parser import HTMLParser
from pathlib import Path

import pytest
from evaluation import report_sample
from markdown_it import MarkdownIt

from clsm_cli.evaluation import result_json
from clsm_cli.evaluation.reporting import charts, files, grids, names, query_table, summary
from clsm_cli.evaluation.reporting.markdown import markdown
from clsm_cli.evaluation.reporting.page import page
from clsm_cli.evaluation.result import Result

BROWSER = shutil.which("chromium") or shutil.which("google-chrome")
MADE: list[Callable[[], Result]] = [
    report_sample.full,
    report_sample.hostile,
    report_sample.bare,
    report_sample.result,
]
each_result = pytest.mark.parametrize("made", MADE, ids=lambda made: made.__name__)
VOID = {"meta", "input"}


class Page(HTMLParser):
    """Elements of a page; every one that begins also ends, in order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.found: list[tuple[str, dict[str, str]]] = []
        self.words: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert len(attrs) == len(dict(attrs))
        self.found.append((tag, {name: value or "" for name, value in attrs}))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, {name: value or "" for name, value in attrs}))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] != "style":
            self.words.append(data)

    def of(self, tag: str) -> list[dict[str, str]]:
        return [attrs for name, attrs in self.found if name == tag]


@each_result
def test_the_page_is_well_formed_and_asks_for_nothing(made: Callable[[], Result]) -> None:
    text = page(made())
    read = Page(text)
    tags = {tag for tag, _ in read.found}
    assert not tags & {"script", "link", "img", "iframe", "object", "embed", "base", "image", "use"}
    (style,) = re.findall(r"<style>(.*?)</style>", text, re.DOTALL)
    assert not re.search(r"url\(|@import|expression", style)
    digest = b64encode(sha256(style.encode()).digest()).decode()
    assert f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'" in text
    for _, attrs in read.found:
        assert not [name for name in attrs if name.startswith("on") or name in ("style", "src")]
        assert attrs.get("href", "#").startswith("#")
    ids = [attrs["id"] for _, attrs in read.found if "id" in attrs]
    assert len(ids) == len(set(ids))
    assert {a["href"][1:] for a in read.of("a")} <= set(ids)


@each_result
def test_who_cannot_see_it_can_read_it(made: Callable[[], Result]) -> None:
    read = Page(page(made()))
    assert len(read.of("caption")) == len(read.of("table"))
    assert all(attrs.get("scope") in ("col", "row") for attrs in read.of("th"))
    for attrs in read.of("svg"):
        assert attrs["role"] == "img"
        assert attrs["aria-label"]
    assert len(read.of("figcaption")) == len(read.of("svg"))
    assert len(read.of("h1")) == 1


def test_the_page_says_by_what_it_was_made() -> None:
    result = report_sample.full()
    words = "".join(Page(page(result)).words)
    for said in (
        result.command,
        result.version,
        result.sets[0].digest,
        "ARM Cortex-A76",
        "recall.k",
    ):
        assert said in words
    for note in result.sets[1].notes:
        assert note in words
    assert "not published" in words


@each_result
def test_markdown_has_its_tables_and_no_html(made: Callable[[], Result]) -> None:
    result = made()
    tokens = MarkdownIt("gfm-like", {"linkify": False}).enable("table").parse(markdown(result))
    inline = [child for token in tokens for child in token.children or ()]
    kinds = {token.type for token in (*tokens, *inline)}
    assert not kinds & {"html_block", "link_open", "image", "code_inline", "em_open", "s_open"}
    assert all(t.content == "<!-- -->" for t in inline if t.type == "html_inline")
    tables = [token for token in tokens if token.type == "table_open"]
    assert (len(tables) > 8) == bool(result.sets and result.sets[0].pairs)


def test_hostile_names_are_words_everywhere() -> None:
    result = report_sample.hostile()
    shown = "".join(Page(page(result)).words)
    assert report_sample.SCRIPT in shown
    for text in (page(result), markdown(result)):
        assert "\x1b" not in text
        assert "\u202e" not in text
        code = re.search(r"^```$.*?^```$", text, re.DOTALL | re.MULTILINE)
        outside = text.replace(code.group(), "") if code else text
        assert "<script" not in outside.replace("\\<", "")


def test_queries_come_by_what_clsm_misses() -> None:
    found = report_sample.full().sets[1]
    gaps = [query_table.gap(found, each) for each in query_table.order(found)]
    known = [gap for gap in gaps if gap is not None]
    assert known == sorted(known, reverse=True) == gaps
    unknown = replace(found.queries[0], values={}, id="none")
    assert query_table.order(replace(found, queries=(unknown, *found.queries)))[-1] is unknown


def test_many_queries_are_cut_and_it_is_said() -> None:
    found = report_sample.full().sets[1]
    many = replace(found, queries=found.queries * 3)
    text = query_table.table(many, 0)
    assert text.count('<th scope="row"') == query_table.MOST
    assert "100 more are in queries.jsonl" in text


def test_the_best_of_a_column_is_marked_where_more_is_better() -> None:
    grid = grids.headline(report_sample.full().sets[1])
    marked = {(grid.rows[row][0], grid.headings[column]) for row, column in grid.best}
    assert ("clsm ranking", "R10") in marked
    assert ("clsm", "R10") not in marked
    assert not {head for _, head in marked} & {"tokens", "ms", "R10 95 %"}


def test_charts_leave_out_what_is_not_there() -> None:
    (bare,) = report_sample.bare().sets
    for draw in (charts.systems, charts.categories, charts.curve, charts.tokens, charts.ablation):
        assert draw(bare) is None
    full = report_sample.full()
    assert [charts.probe(each) is None for each in full.probes] == [False, False, True, True]


def test_systems_keep_their_colours_and_the_rest_is_grey() -> None:
    (found,) = report_sample.hostile().sets
    drawn = charts.curve(found)
    assert drawn is not None
    colours = [line.colour for line in drawn.lines]
    assert colours[:5] != ["grey"] * 5
    assert set(colours[5:]) == {"grey"}
    assert {line.name for line in drawn.lines[5:]} == {
        f"{len(found.systems) - 5} more, in the table"
    }
    assert drawn.lines[0].name == "clsm"


def test_an_interval_across_zero_is_no_clear_difference() -> None:
    drawn = charts.ablation(report_sample.full().sets[0])
    assert drawn is not None
    worse = {each.name: each.bars[0].colour for each in drawn.groups}
    assert (worse["echo"], worse["surprise"], worse["hard dates"]) == ("blue", "grey", "vermilion")


def test_clsm_behind_is_said() -> None:
    found = report_sample.full().sets[1]
    assert "clsm ranking" not in summary.lead(found)
    better = replace(found.systems[1], name="better")
    assert "behind better" in summary.lead(replace(found, systems=(found.systems[0], better)))
    alone = replace(found, systems=found.systems[:1])
    assert summary.lead(alone) == "clsm has R10 85.9 % (95 %: 81.9–89.4)."
    even = replace(found, systems=(found.systems[0], replace(found.systems[0], name="twin")))
    assert "It is level with twin" in summary.lead(even)


def test_all_measures_have_a_name_of_their_own() -> None:
    headings = [each.heading for each in names.MEASURES.values()]
    assert len(headings) == len(set(headings))
    assert all(each.meaning for each in names.MEASURES.values())


def test_the_files_hold_the_result(tmp_path: Path) -> None:
    result = report_sample.full()
    written = files.write(tmp_path / "out", result)
    assert [path.name for path in written] == [
        *("report.json", "report.md", "report.html", "queries.jsonl")
    ]
    assert result_json.load(written[0]) == result
    lines = [json.loads(line) for line in written[3].read_text(encoding="utf-8").splitlines()]
    assert len(lines) == sum(len(each.queries) for each in result.sets)
    assert lines[0].keys() == {
        *("set", "case", "id", "category", "difficulty", "gold", "values", "ranks")
    }
    before = [path.read_bytes() for path in written]
    files.write(tmp_path / "out", report_sample.full())
    assert [path.read_bytes() for path in written] == before


def test_hostile_results_can_be_written(tmp_path: Path) -> None:
    lone = replace(report_sample.hostile(), command="\ud800")
    for path in files.write(tmp_path, lone):
        path.read_bytes().decode("utf-8")


@pytest.mark.skipif(BROWSER is None, reason="no Chromium here")
def test_a_browser_shows_it(tmp_path: Path) -> None:
    target = tmp_path / "report.html"
    target.write_text(page(report_sample.hostile()), encoding="utf-8")
    done = subprocess.run(
        [
            str(BROWSER),
            *("--headless=new", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr"),
            *("--virtual-time-budget=2000", f"--user-data-dir={tmp_path / 'profile'}"),
            *("--dump-dom", target.as_uri()),
        ],
        capture_output=True,
        timeout=60,
        check=True,
    )
    assert [line for line in done.stderr.decode().splitlines() if "CONSOLE" in line] == []
    assert "</footer>" in done.stdout.decode()
