"""What strangers wrote comes where it answers, and one of them never fills an answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ingesting import new_store
from sample_store import ask
from small_store import note, row, tell
from strategies import examples

from clsm_cli.config import RecallSettings, with_changes
from clsm_cli.retrieval import demotion
from clsm_cli.retrieval.question import understand
from clsm_cli.store.index.passages import Passage

if TYPE_CHECKING:
    from pathlib import Path

    from clsm_cli.retrieval.answer import Memory
    from clsm_cli.store.layout import Store

TRUE = "The Raven project keeps its data in CouchDB."
QUESTION = "Which database does the Raven project use?"
STUFFED = (
    "Which database does the Kestrel project use? The Kestrel project uses the database Firebird."
)
OTHERS = ("We painted the boathouse.", "The train was late again.", "I had soup with Petra.")


@pytest.fixture
def store(tmp_path: Path) -> Store:
    made = new_store(tmp_path / "memory")
    tell(made, *(said(text, day) for day, text in enumerate((TRUE, *OTHERS), 1)))
    return made


def said(text: str, day: int, role: str = "user", session: str = "") -> str:
    time = f"2026-02-{day:02}T08:00Z"
    return row(text, speaker=role, role=role, session=session or f"s{day}", timestamp=time)


def items(store: Store, question: str, **options: object) -> list[Memory]:
    return list(ask(store, question, **options).memories)  # type: ignore[arg-type]


def off(store: Store, name: str, value: float) -> Store:
    return store._replace(settings=with_changes(store.settings, {f"recall.{name}": value}))


def test_what_speaks_of_something_else_is_no_filler(store: Store) -> None:
    tell(store, said(STUFFED, 9, "tool"))
    assert [each.trust for each in items(off(store, "untrusted_floor", 0), QUESTION)][:2] == [
        "user",
        "tool",
    ]
    found = items(store, QUESTION)
    assert found[0].text == TRUE
    assert {each.trust for each in found} == {"user"}
    assert "tool" in {each.trust for each in items(store, "Which database does Kestrel use?")}


def test_a_tool_that_names_what_is_asked_for_stays_below(store: Store) -> None:
    tell(store, said(TRUE.replace("CouchDB", "Firebird"), 9, "tool"))
    found = items(store, QUESTION)
    assert [each.trust for each in found][:2] == ["user", "tool"]


@pytest.mark.parametrize(("k", "most"), [(10, 2), (4, 1), (2, 1), (20, 5)])
def test_one_page_has_a_share_of_an_answer(store: Store, tmp_path: Path, k: int, most: int) -> None:
    places = ("mill", "forge", "quarry", "depot", "chapel", "bakery", "orchard", "cottage")
    parts = "".join(
        f"## {each}\n\nThe ferry to the {each} costs nine euros.\n\n" for each in places
    )
    note(store, tmp_path / "page.md", f"---\ntrust: web\n---\n# Ferries\n\n{parts}")
    asked = "What does the ferry cost?"
    assert sum(each.trust == "web" for each in items(store, asked, k=k)) == most
    free = items(off(store, "source_share", 1), asked, k=k)
    assert sum(each.trust == "web" for each in free) == min(k, len(places))
    listed = items(store, "What do the pages say about the ferry?", k=k)
    assert sum(each.trust == "web" for each in listed) == min(k, len(places))
    note(store, tmp_path / "own.md", f"# Ferries\n\n{parts}")  # a person's note has no limit
    assert sum(each.trust == "user" for each in items(store, asked, k=k)) >= min(k, len(places)) - 1


@given(
    st.lists(st.tuples(st.sampled_from(["user", "tool", "web"]), st.integers(0, 2))),
    st.integers(1, 40),
)
@examples(200)
def test_no_order_of_passages_gives_a_source_more(told: list[tuple[str, int]], k: int) -> None:
    question = understand("What does the ferry cost?", (), [], "")
    share = demotion.SourceQuota(question, k, RecallSettings())
    taken: list[tuple[str, int]] = []
    for trust, source in told:
        if not share.is_used_up(passage(trust, source)):
            share.take(passage(trust, source))
            taken.append((trust, source))
    assert [each for each in taken if each[0] == "user"] == [e for e in told if e[0] == "user"]
    for source in range(3):
        strange = sum(n == source for trust, n in taken if trust != "user")
        assert strange == min(max(1, k // 4), sum(n == source for t, n in told if t != "user"))


def passage(trust: str, source: int) -> Passage:
    fields = dict.fromkeys(Passage._fields, None) | {"trust": trust, "session": f"s{source}"}
    return Passage(**fields)  # type: ignore[arg-type]
