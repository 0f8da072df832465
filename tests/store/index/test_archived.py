"""What decay archived does not count until it is asked for, or was used since."""

from contextlib import closing

import pytest
from index_changes import brought_up, write
from laid_down import lay_archived, lay_capture

from clsm_cli.model.episodes import Turn
from clsm_cli.store import logs
from clsm_cli.store.index.index_queries import Index
from clsm_cli.store.layout import Store

A, B, C = "00000000000a", "00000000000b", "00000000000c"
LONG = "A long one. " + "The stove in the workshop burns beech only. " * 40
TEXTS = {A: "The heron stood on the gauge.", B: "Salt is in the blue jar.", C: LONG}


@pytest.fixture
def store(store: Store) -> Store:
    lay_capture(store, "harbour", *(Turn(key, "Mara", "user", TEXTS[key]) for key in TEXTS))
    return store


def use(store: Store, name: str, day: str, device: str = "pi") -> None:
    path = store.root / "flow" / device / "uses.jsonl"
    write(path, logs.render(logs.Use(name, day, 1)) + b"\n")


def asleep(store: Store) -> set[str]:
    """The keys of the turns that do not count."""
    with closing(brought_up(store)) as connection:
        index = Index(connection, store)
        hidden = index.hidden()
        assert index.has_archived() == bool(hidden)
        return {index.traits([row])[row].key for row in hidden}


def test_a_later_use_on_any_machine_wakes_it(store: Store) -> None:
    lay_archived(store.flow, {A: "2026-05-20", C: "2026-05-20"})
    use(store, A, "2026-05-20")
    assert asleep(store) == {A, C}
    use(store, A, "2026-05-21", device="attic")
    assert asleep(store) == {C}
    use(store, f"{C}-2", "2026-05-21")  # a part of a long turn is of the turn
    assert asleep(store) == set()
    lay_archived(store.root / "flow" / "attic", {A: "2026-05-30"})  # and it faded again
    assert asleep(store) == {A}


def test_a_bad_line_is_a_problem_and_the_rest_counts(store: Store) -> None:
    text = f'{{"as_of": "2026-06-01"}}\n{{"id": "x"}}\n{{"id": "{A}", "since": "2026-05-20"}}\nno\n'
    write(store.flow / "archived.jsonl", text.encode())
    assert asleep(store) == {A}
    with closing(brought_up(store)) as connection:
        lines = [(line, path) for path, line, _ in Index(connection, store).problems()]
    assert sorted(lines) == [(2, "flow/pi/archived.jsonl"), (4, "flow/pi/archived.jsonl")]


def test_words_and_sums_are_those_of_what_is_searched(store: Store) -> None:
    with closing(brought_up(store)) as connection:
        whole = Index(connection, store)
        everything = {term: whole.postings(term) for term in ("salt", "heron", "beech")}
        size = whole.size()
    lay_archived(store.flow, {A: "2026-05-20", C: "2026-05-20"})
    with closing(brought_up(store)) as connection:
        index = Index(connection, store)
        salt = index.postings("salt")
        assert salt == everything["salt"] != []
        assert index.postings("heron") == index.postings("beech") == []
        assert index.size() == (1, salt[0][2])
        assert index.rows_of(TEXTS) == [salt[0][0]]
        shown = index.with_archive()
        assert {term: shown.postings(term) for term in everything} == everything
        assert shown.size() == size
        assert not shown.has_archived()
        assert index.size()[0] == 1


def test_who_asks_for_the_past_is_shown_the_archive(store: Store) -> None:
    lay_archived(store.flow, {A: "2026-05-20"})
    with closing(brought_up(store)) as connection:
        index = Index(connection, store)
        past = index.as_of("2026-02-24")
        assert past.hidden() == frozenset()
        assert not past.has_archived()
        assert past.postings("heron")
        assert past.with_archive().postings("heron")
        assert index.postings("heron") == []
