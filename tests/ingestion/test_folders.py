"""Vaults of Obsidian: clean text, the owner's words, and nothing that is no note."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ingesting import place, take
from reading import note
from tables import table

from clsm_cli.ingestion import folders
from clsm_cli.ingestion.jsonl_rows import RawDocument
from clsm_cli.ingestion.sources import find
from clsm_cli.store.layout import Store

NOTE = Path(__file__).with_suffix(".md").read_text("utf-8")


def read(text: str, name: str = "Oak.md") -> RawDocument:
    return note(text, name, in_vault=True)


def test_a_note_comes_in_as_clean_text() -> None:
    found = read(NOTE)
    assert [(block.text, block.line_start) for block in found.blocks] == [
        ("See [[Library Table|the table]] and [[Mara]] #wood/oak", 6),
        ("> Remember\n> The board is 12 cm wide.", 12),
        ("```\nx == y == z  %%kept%% ![[kept]]\n```", 19),
        ("Two caret notes: 2^10 and a^b.", 23),
    ]


@pytest.mark.parametrize("name", ["2026-03-01.md", "2026-03-01 Sunday.md", "2026-03-01_walk.md"])
def test_a_daily_note_has_its_date_and_is_its_owners(name: str) -> None:
    found = read("Walked with Mara.\n", name)
    assert (found.blocks[0].time, found.trust) == ("2026-03-01", "user")


@pytest.mark.parametrize(("name", "text", "heading"), table(__file__, "titles"))
def test_a_note_without_a_title_has_its_files(name: str, text: str, heading: str) -> None:
    assert " › ".join(read(text, name).blocks[0].heading) == heading


def formats(path: Path) -> dict[str, str]:
    """Name → format of what is read, reason of the rest."""
    return {
        item.path.removeprefix(f"{path}/"): getattr(item, "format", "")
        or getattr(item, "reason", "")
        for item in find([str(path)])
    }


def test_properties_of_a_note_are_a_block() -> None:
    text = "---\nkanban-plugin: basic\ntags: [a]\nattendees:\n  - Ann\n  - Ben\ncreated: 2026-03-01\n---\n# Steering\n\nLate.\n"
    first, second = read(text).blocks
    assert (first.text, first.heading) == ("attendees:\n  - Ann\n  - Ben", ("Steering",))
    assert (first.line_start, first.line_end, second.text) == (4, 6, "Late.")
    assert [block.text for block in note(text, "plain.md").blocks] == ["Late."]


def test_what_a_vault_has_besides_notes_is_left_out(tmp_path: Path) -> None:
    place(tmp_path, "Oak.md", "a/Mara.md", ".trash/Old.md", "Meta/Templates/Day.md", "b/T/x.md")
    place(tmp_path, "board.canvas", "all.base", "Meta/Other.md")
    settings = {
        "templates.json": b'{"folder": "Meta/Templates"}',
        "plugins/templater-obsidian/data.json": b'{"templates_folder": "/b/T/"}',
    }
    place(tmp_path / ".obsidian", **settings)
    assert formats(tmp_path) == {
        ".obsidian": "hidden",
        ".trash": "hidden",
        "Meta/Templates": "templates of the vault",
        "b/T": "templates of the vault",
        "Oak.md": "obsidian",
        "a/Mara.md": "obsidian",
        "Meta/Other.md": "obsidian",
        "board.canvas": "neither a note nor a transcript",
        "all.base": "neither a note nor a transcript",
    }


def test_the_workspace_of_an_agent_is_no_vault(tmp_path: Path) -> None:
    """Opened in Obsidian, or lying in a vault: what the agent wrote stays the agent's."""
    place(tmp_path, "Oak.md", "agent/MEMORY.md", "agent/memory/2026-03-01.md")
    place(tmp_path, ".obsidian/app.json", "agent/.obsidian/app.json")
    found = formats(tmp_path)
    assert (found["Oak.md"], found["agent/memory/2026-03-01.md"]) == ("obsidian", "markdown")
    named = formats(tmp_path / "agent" / "memory" / "2026-03-01.md")
    assert set(named.values()) == {"markdown"}


@given(st.text(alphabet="ab %=^![]>-`|\n#", max_size=120))
def test_lines_stay_where_they_are(text: str) -> None:
    lines = text.split("\n")
    assert len(folders.strip_obsidian(lines, 0)) == len(lines)


def test_a_vault_is_ingested_and_again(store: Store, tmp_path: Path) -> None:
    vault = tmp_path / "vault"
    place(vault, "2026-03-01.md", ".obsidian/app.json", **{"Oak.md": NOTE.encode()})
    first = take(store, vault, model=False)
    assert sum(source.added for source in first.sources) == 5
    again = take(store, vault, model=False)
    assert sum(source.known for source in again.sources) == 5


def test_a_comment_that_swallows_the_end_of_unusable_front_matter_stops_nothing() -> None:
    assert read("---\na: [\nb: %%\n---\ntext\n").blocks
