"""The table in fixtures/damaged/README.md is the expectation."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from clsm_cli.ingestion import markdown, sources
from clsm_cli.ingestion.jsonl_rows import (
    Problem,
    RawBlock,
    RawDocument,
    RawTurn,
    Reading,
    TranscriptItem,
)
from clsm_cli.ingestion.sources import SourceFile, find

DAMAGED = Path(__file__).parents[2] / "fixtures" / "damaged"
NOW = datetime(2026, 3, 1, tzinfo=UTC)


def table() -> list[tuple[str, int, list[str]]]:
    rows = []
    for line in (DAMAGED / "README.md").read_text().splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if cells[0].startswith("`"):
            says = cells[3].split("<br>") if cells[3] else []
            rows.append((cells[0].strip("`"), int(cells[2]), says))
    return rows


def read(source: SourceFile) -> list[TranscriptItem | RawBlock]:
    if source.format == "markdown":
        with source.open() as stream:
            document = markdown.read(stream.read(), path=source.path, zone=UTC)
        assert isinstance(document, RawDocument)
        return [*document.blocks, *document.problems]
    with sources.open_transcript(source, Reading(source.path, UTC, NOW, "s")) as items:
        return list(items)


@pytest.mark.parametrize(("name", "count", "says"), table(), ids=lambda value: str(value)[:20])
def test_damage_is_told_and_the_rest_is_read(name: str, count: int, says: list[str]) -> None:
    (found,) = find([str(DAMAGED / name)])
    items = read(found) if isinstance(found, SourceFile) else [found]
    assert sum(isinstance(item, (RawTurn, RawBlock)) for item in items) == count
    problems = [item for item in items if isinstance(item, Problem)]
    assert says == [
        problem.reason if problem.line is None else f"line {problem.line}: {problem.reason}"
        for problem in problems
    ]


def test_the_table_names_every_file() -> None:
    names = {path.name for path in DAMAGED.iterdir()} - {"README.md"}
    assert names == {name for name, _, _ in table()}
