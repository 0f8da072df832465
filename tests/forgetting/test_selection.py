"""What a person means by an id, a source, a conversation, a person or a time."""

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from ingesting import new_store, scratch, take
from openclaw_state import answers, header, jsonl, message, tool_call
from sleeping import sleep, talked

from clsm_cli.errors import BadInputError
from clsm_cli.forgetting import selection
from clsm_cli.forgetting.references import find_references
from clsm_cli.forgetting.selection import ForgetRequest, StoreContents
from clsm_cli.store.layout import Store

ZONE = ZoneInfo("Europe/Amsterdam")


@pytest.fixture(scope="module")
def store() -> Iterator[Store]:
    with scratch() as folder:
        made = new_store(folder / "memory")
        planning = ("Mara: I moved to Leeds in January.", "Brian: The archive uses PostgreSQL.")
        talked(made, folder, "planning", "2026-02-10", *planning)
        talked(made, folder, "planning", "2026-02-11", "Brian: Mara has the key of the archive.")
        talked(made, folder, "evening", "2026-02-20", "Sami: The tap drips again.")
        notes = folder / "notes"
        notes.mkdir()
        (notes / "house.md").write_text("# House\n\nThe stove needs a new grate.\n")
        take(made, notes)
        sleep(made)
        yield made


@pytest.fixture(scope="module")
def held(store: Store) -> StoreContents:
    return selection.read_store(store, "2026-03-01T11:00:00Z")


def texts(held: StoreContents, **wanted: Any) -> list[str]:
    chosen = selection.select_items(held, ForgetRequest(**wanted), ZONE)
    return sorted(held.turns[key].turn.text.split("\n")[-1] for key in chosen.turns)


def test_a_person_said_it_or_is_named_in_it(held: StoreContents) -> None:
    found = ["I moved to Leeds in January.", "Mara has the key of the archive."]
    assert texts(held, person="mara") == found


@pytest.mark.parametrize(
    ("name", "text"),
    [("Strauß", "Herr Strauß kam."), ("STRAUSS", "Strauß"), ("İpek", "İpek sang.")],
)
def test_a_name_is_found_however_its_letters_fold(name: str, text: str) -> None:
    assert selection.Subject([name]).is_named_in(text)


def test_a_name_that_is_a_word_too_has_a_capital_beyond_that_of_a_sentence(tmp_path: Path) -> None:
    store = new_store(tmp_path / "memory")
    names = ("Will Brandt mends the boiler.", "I saw Will.", "Ask Rose.", "The rose bloomed.")
    others = ("I will pay invoice 4.", "Will it rain?", "Will I see?", "WILL you!")
    talked(store, tmp_path, "day", "2026-02-10", *(f"Mara: {text}" for text in names + others))
    held = selection.read_store(store, "2026-03-01T11:00:00Z")
    assert texts(held, person="Will") == texts(held, person="will") == sorted(names[:2])
    chosen = selection.select_items(held, rose := ForgetRequest(person="Rose"), ZONE)
    assert [held.turns[key].turn.text for key in chosen.turns] == ["Ask Rose."]
    assert find_references(held, chosen, rose, ZONE)[0].text == f"Mara: {names[3]}"


def test_times_are_half_open_days_of_the_stores_zone(held: StoreContents) -> None:
    day = {"since": datetime(2026, 2, 10, tzinfo=ZONE), "until": datetime(2026, 2, 11, tzinfo=ZONE)}
    assert texts(held, **day) == ["I moved to Leeds in January.", "The archive uses PostgreSQL."]


def test_a_source_by_its_file_or_a_folder_above(held: StoreContents, store: Store) -> None:
    folder = store.root.parent
    expected = ["The stove needs a new grate."]
    assert texts(held, source=str(folder / "notes" / "house.md")) == expected
    assert texts(held, source=str(folder / "notes")) == expected
    assert texts(held, source=str(folder / "evening.jsonl")) == ["The tap drips again."]


def test_ids_of_turns_episodes_statements_documents_and_concepts(held: StoreContents) -> None:
    key = next(k for k, t in held.turns.items() if "Leeds" in t.turn.text)
    episode = held.turns[key].episode
    document = next(t.document for t in held.turns.values() if t.document)
    statement = next(r for r in held.statements.values() if "Leeds" in r.text and r.kind != "gist")
    assert texts(held, ids=(key,)) == ["I moved to Leeds in January."]
    assert texts(held, ids=(f"{key}-2",)) == ["I moved to Leeds in January."]  # a part of it
    assert texts(held, ids=(key[:8],)) == ["I moved to Leeds in January."]
    assert "I moved to Leeds in January." in texts(held, ids=(str(episode),))
    assert texts(held, ids=(str(document),)) == ["The stove needs a new grate."]
    assert texts(held, ids=("mara",)) == ["Mara has the key of the archive."]
    chosen = selection.select_items(held, ForgetRequest(ids=(statement.id,)), ZONE)
    assert chosen == (frozenset({key}), frozenset({statement.id}))


@pytest.mark.parametrize(
    ("wanted", "reason"),
    [
        ({"ids": ("nobody-knows",)}, "nothing in this store has that id"),
        ({"ids": ("e-",)}, "nothing in this store has that id"),
        ({"session": "no such"}, "nothing in this store is told by or of it"),
        ({"person": "Zoe"}, "nothing in this store is told by or of it"),
        ({"person": ""}, "names nothing"),
        ({"person": " "}, "names nothing"),
        ({"session": ""}, "names nothing"),
        ({"source": "/"}, "names nothing"),
        ({"until": datetime(1990, 1, 1, tzinfo=ZONE)}, "nothing in this store is told"),
    ],
)
def test_what_means_nothing_is_refused(held: StoreContents, wanted: Any, reason: str) -> None:
    with pytest.raises(BadInputError, match=reason):
        selection.select_items(held, ForgetRequest(**wanted), ZONE)


def test_connections_and_summaries_are_worked_out(held: StoreContents) -> None:
    edge = next(i for i in held.records if i.startswith("g-"))
    with pytest.raises(BadInputError, match="works out from what was told"):
        selection.select_items(held, ForgetRequest(ids=(edge,)), ZONE)


PAGE = "https://example.org/page"


def call(number: int, url: str, name: str = "web_fetch") -> dict[str, Any]:
    return message(number, "assistant", [tool_call(f"c{number}", name, {"url": url})])


def brought(store: Store, address: str) -> list[str]:
    held = selection.read_store(store, "2026-03-01T11:00:00Z").turns
    return sorted(held[key].turn.text for key in selection.tool_results_of(held.values(), address))


def test_the_call_and_its_result_go_together(tmp_path: Path) -> None:
    store = new_store(tmp_path / "memory")
    rows = [
        header("main"),
        call(1, f"{PAGE}#top"),
        call(2, "https://example.org/pages"),
        call(3, PAGE, "browse"),
        answers(4, "c4", "what the page says", "web_fetch"),
        answers(5, "c5", "what the pages say", "web_fetch"),
        answers(6, "c6", "what the browser shows", "browse"),
        message(7, "assistant", [{"type": "text", "text": f"I read {PAGE} for you."}]),
    ]
    take(store, stdin=jsonl(rows), model=False)
    assert brought(store, PAGE) == [
        "what the browser shows",
        "what the page says",
        f'{{"url":"{PAGE}"}}',
        f'{{"url":"{PAGE}#top"}}',
    ]
    assert len(brought(store, "https://example.org/")) == 6
    assert brought(store, "https://example.com") == []
