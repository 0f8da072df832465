"""Every source that a command prints is a file that is there, with a line that it has."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from consolidation.test_review_queue import ask
from processes import Cli
from sample_store import NOW

from clsm_cli.consolidation.review_queue import CONTRADICTION
from clsm_cli.store import layout

PRINTED = re.compile(r"(\S+\.(?:md|jsonl|yaml)):(\d+)(?= ·|\s|$)")


def places(data: Any) -> Iterator[tuple[str, int]]:
    """All files with their lines that JSON names."""
    if isinstance(data, dict):
        if "file" in data and "line" in data:
            yield data["file"], data["line"]
        for value in data.values():
            yield from places(value)
    elif isinstance(data, list):
        for value in data:
            yield from places(value)


def test_every_source_is_there(slept_cli: Cli) -> None:
    cli = slept_cli
    store = layout.open_store(cli.store, {"CLSM_DEVICE": "pi"})
    (first, second, *_) = cli.ok("list", "--json").json["statements"]
    (turn, *_) = cli.ok("show", second["id"], "--json").json["told"]
    about = f"{first['id']} {turn['id']}"
    ask(store, "a1", CONTRADICTION, about, first["text"], second["text"])
    asked = (
        ("recall", "what did Brian build", "--no-touch", "--min-score", "0"),
        ("show", first["id"]),
        ("show", "brian"),
        ("show", turn["id"]),
        ("list", "-n", "1000"),
        ("list", "--kind", "gist"),
        ("log", "--since", "2020-01-01", "-n", "1000"),
        ("review", "--now", NOW),
        ("history", "Brian"),
    )
    for words in asked:
        told = [(file, int(line)) for file, line in PRINTED.findall(cli.ok(*words).out)]
        given = [*places(cli.ok(*words, "--json").json)]
        assert told, words
        assert given, words
        assert not [file for file, _ in given if not Path(file).is_absolute()], words
        for file, line in {*told, *given}:
            text = (cli.folder / file).read_text(encoding="utf-8")
            assert 1 <= line <= len(text.split("\n")), (words, file, line)
