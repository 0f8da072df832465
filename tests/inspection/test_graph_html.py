"""The page with the picture: whole, closed against the outside, and proof against any label."""

import json
import re
import shutil
import subprocess
from base64 import b64encode
from dataclasses import replace
from functools import cache
from hashlib import sha256
from html.parser import HTMLParser
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inspection.test_graph_export import HOSTILE, named
from inspection.test_graph_view import edge, node, of, sample
from strategies import examples

from clsm_cli.inspection import graph_export
from clsm_cli.text.terminal import safe

ASSETS = Path(str(files("clsm_cli.inspection") / "assets"))
LIBRARY = "cytoscape.min.js"
BROWSER = shutil.which("chromium") or shutil.which("google-chrome")


class Page(HTMLParser):
    """The elements of a page, with their attributes and the text of scripts and styles."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.raw: list[tuple[str, str]] = []
        self._open = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        self._open = tag if tag in {"script", "style"} else ""
        if self._open:
            self.raw.append((tag, ""))

    def handle_endtag(self, tag: str) -> None:  # noqa: ARG002  # as HTMLParser calls it
        self._open = ""

    def handle_data(self, data: str) -> None:
        if self._open:
            self.raw[-1] = (self._open, self.raw[-1][1] + data)

    @property
    def data(self) -> Any:
        """What the first script, no script at all, holds."""
        return json.loads(next(text for tag, text in self.raw if tag == "script"))


def test_the_page_holds_everything_and_asks_for_nothing() -> None:
    page = Page(graph_export.page(of(sample())))
    assert [tag for tag, _ in page.elements].count("script") == 4
    for tag, attributes in page.elements:
        assert not {"src", "href", "srcset", "action", "data"} & set(attributes), tag
        assert not [name for name in attributes if name.startswith("on")], tag
        assert "style" not in attributes, tag
    assert "link" not in [tag for tag, _ in page.elements]
    assert not re.search(r"url\(|@import", (ASSETS / "graph.css").read_text(encoding="utf-8"))


def test_the_policy_allows_what_is_there_and_nothing_else() -> None:
    page = Page(graph_export.page(of(sample())))
    (policy,) = [
        attributes["content"] or ""
        for _, attributes in page.elements
        if attributes.get("http-equiv") == "Content-Security-Policy"
    ]
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))

    def digests(wanted: str, skip: int) -> str:
        texts = [text for tag, text in page.raw if tag == wanted][skip:]
        sums = [b64encode(sha256(text.encode()).digest()).decode() for text in texts]
        return " ".join(f"'sha256-{each}'" for each in sums)

    assert rules == {
        "default-src": "'none'",
        "script-src": digests("script", 1),  # the first one is data
        "style-src": digests("style", 0),
        "base-uri": "'none'",
        "form-action": "'none'",
    }


def test_the_library_is_the_one_that_was_vendored() -> None:
    note = (ASSETS / "VENDORED.md").read_text(encoding="utf-8")
    digest = sha256((ASSETS / LIBRARY).read_bytes()).hexdigest()
    assert f"`{digest}`" in note
    licence = (ASSETS / "cytoscape.LICENSE.txt").read_text(encoding="utf-8")
    assert "Permission is hereby granted, free of charge" in licence


@cache
def quiet_page() -> Page:
    return Page(graph_export.page(named("a", "b", "c")))


@given(label=st.sampled_from(HOSTILE) | st.text(max_size=30), kind=st.sampled_from(HOSTILE))
@examples(40)
def test_no_label_breaks_out(label: str, kind: str) -> None:
    page, quiet = Page(graph_export.page(named(label, kind, label))), quiet_page()
    assert page.elements == quiet.elements
    assert page.raw[2:] == quiet.raw[2:]  # the scripts
    (one, _) = page.data["nodes"]
    assert one["label"] == (safe(" ".join(label.split())) or "a")
    assert (one["kind"], one["summary"]) == (safe(kind), safe(label))
    assert page.data["kinds"][safe(kind)]["count"] >= 1


def test_what_the_picture_is_told() -> None:
    data = graph_export.picture(of(sample()), "person-0")
    assert data["chosen"] == "person-0"
    looks = {name: (kind["colour"], kind["shape"]) for name, kind in data["kinds"].items()}
    assert len(set(looks.values())) == len(looks) == 10
    assert sum(kind["count"] for kind in data["kinds"].values()) == len(data["nodes"]) == 41
    sizes = {each["n"]: each["size"] for each in data["nodes"]}
    assert [sizes[n] for n in sorted(sizes)] == sorted(sizes.values())
    assert data["types"]["co_occurs"] == 70


@pytest.mark.skipif(BROWSER is None, reason="no Chromium here")
def test_a_browser_shows_it(tmp_path: Path) -> None:
    graph = of(
        [
            replace(node("a", "<i>"), label="</script><script>document.title='x'</script>", n=2),
            replace(node("constructor", "__proto__"), label="<img src=x onerror=alert(1)>"),
            edge("a", "constructor", "<b>"),
        ]
    )
    page = tmp_path / "graph.html"
    page.write_text(graph_export.page(graph, "a"), encoding="utf-8")
    done = subprocess.run(
        [
            str(BROWSER),
            *("--headless=new", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr"),
            *("--virtual-time-budget=2000", f"--user-data-dir={tmp_path / 'profile'}"),
            *("--dump-dom", page.as_uri()),
        ],
        capture_output=True,
        timeout=60,
        check=True,
    )
    assert "CONSOLE" not in done.stderr.decode()
    document = done.stdout.decode()
    assert "<title>Knowledge graph</title>" in document
    panel = document.partition('<section id="panel"')[2].partition("</section>")[0]
    assert "&lt;/script&gt;&lt;script&gt;document.title='x'&lt;/script&gt;" in panel
    assert "&lt;img src=x onerror=alert(1)&gt;" in panel
    assert "<img" not in panel
    assert "mentioned 2 times" in panel
    assert "2 nodes, 1 edge" in document
