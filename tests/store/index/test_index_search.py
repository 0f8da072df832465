"""What a recall asks the index: order, neighbours and groups, days, words, who speaks."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing
from datetime import date
from typing import Any

import pytest
from index_changes import brought_up
from laid_down import lay_capture, lay_document, lay_episode

from clsm_cli.model.episodes import Turn
from clsm_cli.model.ids import turn_key
from clsm_cli.model.tombstones import episode_ids
from clsm_cli.store import layout
from clsm_cli.store.index import maintenance
from clsm_cli.store.index.index_queries import Index
from clsm_cli.store.index.opening import open_index
from clsm_cli.store.layout import Store

SESSION = "harbour"
ORIGIN = "~/notes.md"
DAY = date(2026, 2, 24).toordinal()


def turn(text: str, time: str | None = "2026-02-24T08:00:00+01:00", speaker: str = "Mara") -> Turn:
    return Turn(turn_key(SESSION, speaker, None, text), speaker, "user", text, time)


def put_episode(store: Store, turns: Sequence[Turn], previous: str | None = None) -> str:
    return lay_episode(store.flow, SESSION, turns, start=turns[0].time, previous=previous)


def capture(store: Store, *texts: str) -> None:
    lay_capture(store, SESSION, *map(turn, texts))


def put_document(store: Store, rev: int, *blocks: tuple[str, str]) -> None:
    """A document whose blocks are (heading, text)."""
    turns = [(heading, Turn(turn_key(ORIGIN, "", None, t), "", "user", t)) for heading, t in blocks]
    lay_document(store, ORIGIN, rev, turns)


@pytest.fixture
def opened(store: Store) -> Iterator[Any]:
    """Opens the index of what the store holds then."""
    with ExitStack() as stack:
        yield lambda: stack.enter_context(open_index(store, None)).index


def text_of(index: Index, row: int | None) -> str | None:
    return None if row is None else index.passages([row])[row].text


def runs(index: Index) -> list[list[str]]:
    """The texts of each run of neighbours, from its first on; links back must agree."""
    traits = index.traits(index.current_rows())
    found = []
    for first in sorted(row for row, each in traits.items() if each.previous is None):
        run = [first]
        while (following := traits[run[-1]].next) is not None:
            assert traits[following].previous == run[-1]
            run.append(following)
        found.append([str(text_of(index, row)) for row in run])
    return found


def test_a_session_goes_along_its_episodes_then_its_inboxes(store: Store, opened: Any) -> None:
    other = layout.open_store(store.root, {"CLSM_DEVICE": "attic"})
    capture(other, "seventh")
    capture(store, "eighth", "ninth")
    early = put_episode(store, [turn("first", None), turn("second")])
    late = next(episode_ids(turn("third").key))
    put_episode(store, [turn("fifth", "2026-02-20T08:00:00Z"), turn("sixth")], previous=late)
    put_episode(other, [turn("third"), turn("fourth", "2026-01-01T08:00:00Z")], previous=early)
    (run,) = runs(opened())
    assert " ".join(run) == "first second third fourth fifth sixth seventh eighth ninth"


def test_groups_are_eight_from_the_beginning(store: Store, opened: Any) -> None:
    texts = [f"turn {number}" for number in range(19)]
    capture(store, *texts)
    index = opened()
    traits = index.traits(index.current_rows())
    groups = sorted({each.group for each in traits.values()})
    members = index.members(groups)
    shown = [[text_of(index, member.row) for member in members[group]] for group in groups]
    assert shown == [texts[:8], texts[8:16], texts[16:]]
    assert [group == members[group][0].row for group in groups] == [True] * 3
    assert all(traits[m.row].length == m.length for each in members.values() for m in each)


def test_blocks_have_neighbours_under_their_own_heading(store: Store, opened: Any) -> None:
    put_document(store, 1, ("A", "one"), ("A", "two"), ("B", "three"), ("B", "four"))
    assert runs(opened()) == [["one", "two"], ["three", "four"]]
    put_document(store, 2, ("A", "two"), ("A", "new"), ("B", "four"), ("B", "three"))
    index = opened()
    assert sorted(runs(index)) == [["four", "three"], ["two", "new"]]
    closed = index.by_key(turn_key(ORIGIN, "", None, "one"))
    assert [passage.current for passage in closed] == [False]
    ((row,),) = index.connection.execute("SELECT id FROM passages WHERE NOT current").fetchall()
    assert index.traits([row])[row][2:5] == (None, None, row)


def test_a_section_is_what_stands_round_a_block(store: Store, opened: Any) -> None:
    names = [f"block {number}" for number in range(50)]
    put_document(store, 1, ("A", "before"), *[("B", name) for name in names], ("C", "after"))
    index = opened()
    rows = {passage: row for row, passage in index.current_passages().items()}
    by_text = {passage.text: row for passage, row in rows.items()}
    assert [p.text for p in index.section(by_text["block 2"])] == names[:23]
    assert [p.text for p in index.section(by_text["block 25"])] == names[5:46]
    assert [p.text for p in index.section(by_text["after"])] == ["after"]


def test_days_are_those_of_the_clock_that_was_given(store: Store, opened: Any) -> None:
    times = {
        "late": "2026-02-24T23:30:00-08:00",  # the 25th in UTC
        "early": "2026-02-24T00:30:00+13:00",  # the 23rd in UTC
        "day": "2026-02-23",
        "never": None,
    }
    put_episode(store, [turn(text, time) for text, time in times.items()])
    index = opened()
    for first, until, limit, expected in (
        (DAY, DAY + 1, 9, ["late", "early"]),
        (DAY - 1, DAY + 1, 9, ["late", "early", "day"]),
        (DAY - 1, DAY + 1, 1, ["late"]),
        (DAY + 1, DAY + 9, 9, []),
    ):
        assert [text_of(index, row) for row in index.on_days(first, until, limit)] == expected


def test_a_turn_says_which_days_it_speaks_of_and_whether_it_asks(store: Store, opened: Any) -> None:
    put_episode(
        store,
        [
            turn("Were you there yesterday? [shares a photo]", speaker="Ilse"),
            turn("No.", speaker=""),
            turn("I went there yesterday, once in the last 40 years.", None),
        ],
    )
    index = opened()
    asked, said, undated = (index.traits(index.current_rows())[r] for r in index.current_rows())
    assert (asked.is_question, asked.periods, asked.day) == (1, f"[[{DAY - 1}, {DAY}]]", DAY)
    assert (said.is_question, said.periods, said.speaker) == (0, None, "")
    assert (undated.periods, undated.day) == (None, None)
    assert index.speakers() == ["Ilse", "Mara"]


def test_what_was_captured_before_keeps_its_rows(store: Store) -> None:
    """And the index says what one made anew says."""

    def rows_by_text() -> dict[str, int]:
        with closing(brought_up(store)) as connection:
            assert maintenance.differences(store, connection) == []
            return dict(connection.execute("SELECT text, id FROM passages ORDER BY id"))

    capture(store, "The ferry leaves at nine.", "I moved to Leeds.")
    before = rows_by_text()
    capture(store, "Is it late? We met yesterday.", "The ferry leaves at nine.")
    after = rows_by_text()
    assert len(after) == 3
    assert {text: after[text] for text in before} == before
