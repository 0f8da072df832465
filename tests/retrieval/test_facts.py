"""Facts on both clocks, looked up in a real store: what held, what was believed, what nobody knows."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from ingesting import new_store, take
from sample_store import ask

from clsm_cli.commands.render_prompt import prompt_lines
from clsm_cli.commands.render_recall import answer_lines, answer_mapping
from clsm_cli.config import with_changes
from clsm_cli.model.graph import Node, Statement
from clsm_cli.retrieval import facts
from clsm_cli.retrieval.facts import NO, UNKNOWN, YES
from clsm_cli.store import atomic, shards, statements
from clsm_cli.store.index.opening import open_index
from clsm_cli.text.slot_rules import RULES, SLOTS
from clsm_cli.text.slot_single import is_single

if TYPE_CHECKING:
    from collections.abc import Iterator

    from clsm_cli.retrieval.answer import Answer
    from clsm_cli.retrieval.facts import Verdict
    from clsm_cli.store.index.reader import Index
    from clsm_cli.store.layout import Store

TODAY = "2026-02-25"
NOTES = {
    "2026-02-10": "The bell rings every 5 minutes. Brian oiled it.\n\nThe canoe lies at the jetty.\n",
    "2026-02-12": "From now on the bell rings every 15 minutes, the ringing was a nuisance.\n",
}
RECORDED = "2026-02-13T00:00:00Z"


def fact(
    name: str, subject: str, slot: str, value: str, *days: str | None, **more: Any
) -> Statement:
    """A statement as consolidation writes it; ``days``: from when, until when."""
    since, until = (*days, None, None)[:2]
    more = {"recorded_at": RECORDED, "valid_from": since, "valid_until": until} | more
    text = f"{subject}: {slot} {value}."
    return Statement(
        id=name, rev=(1, "pi"), text=text, topic="facts", subject=subject, slot=slot, value=value,
        **more,
    )  # fmt: skip


FACTS = (
    fact("f-1", "bell", "interval", "5 minutes", "2026-02-10", "2026-02-12"),
    fact("f-2", "bell", "interval", "15 minutes", "2026-02-12"),
    # What was believed before the correction: the same, without an end.
    fact(
        "f-3", "bell", "interval", "5 minutes", "2026-02-10",
        recorded_at="2026-02-11T00:00:00Z", superseded_at=RECORDED,
    ),
    fact("f-4", "reading-club", "venue", "Café Kompas", None, "2026-02-19"),
    fact("f-5", "club", "venue", "signal shed", "2026-02-19T18:00:00+01:00"),
    fact("f-6", "i", "runs on", "NVMe drive", "2026-02-15"),
    fact("f-7", "i", "name", "Sedge"),
    fact("f-8", "mara-lind", "residence", "Leeds", "2026-02-10"),
    fact("f-9", "mara-lind", "likes", "figs", "2026-02-10"),
    fact("f-10", "magpie", "rate/per trade", "1 %", "2026-02-10", "2026-02-20"),
    fact("f-11", "magpie", "status", "paused", "2026-02-20", "2026-02-24"),
    fact("f-12", "restic", "target", "NAS", "2026-02-10"),
    fact("f-13", "canoe", "location", "jetty", "2026-02-10", withdrawn=True),
    fact("f-14", "chess-circle", "venue", "library", "2026-02-10"),
    fact("f-15", "book-circle", "venue", "pub", "2026-02-10"),
    fact("f-16", "circle", "venue", "mill", "2026-02-10"),
    fact("f-17", "piet", "residence", "Hull", "2026-02-10"),
    fact("f-18", "piet", "residence", "York", "2026-02-12"),
    fact("f-19", "gong", "interval", "10 minutes", "2026-02-10"),
    fact("f-20", "gong", "interval", "ten minutes", "2026-02-12"),
    fact("f-21", "piet", "likes", "figs", "2026-02-10"),
    fact("f-22", "piet", "likes", "plums", "2026-02-12"),
)  # fmt: skip


def hold(store: Store, *rows: Statement) -> None:
    """Write statements as consolidation would: records in shards, current texts in Markdown."""
    mara = Node(id="mara-lind", rev=(1, "pi"), label="Mara Lind", aliases=("Mara",), n=1)
    listed = "".join(f"- {row.text} ^{row.id}\n" for row in rows if row.is_current)
    head = '---\ntitle: "Facts"\nstream: "projects"\ntopic: "facts"\n---\n\n'
    atomic.put(store.root / "projects" / "facts.md", f"{head}{listed}".encode())
    by_shard: dict[str, list[Statement | Node]] = {}
    records: list[Statement | Node] = [mara, *map(statements.stored, rows)]
    for record in records:
        by_shard.setdefault(shards.shard_name(record.id, 1), []).append(record)
    for name, held in by_shard.items():
        found = sorted(held, key=lambda record: record.id)
        atomic.put(store.graph("projects") / name, shards.render(found))


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """Two notes, and the facts above; that of a bell rests on a block of the first note."""
    folder = tmp_path_factory.mktemp("facts")
    made = new_store(folder / "memory")
    for day, text in NOTES.items():
        (folder / f"{day}.md").write_text(text, encoding="utf-8")
    take(made, *sorted(folder.glob("*.md")), now=f"{TODAY}T08:00:00+01:00")
    atomic.make_folder(made.graph("projects"))
    hold(made, *(replace(row, sources=(block(made),)) if row.id == "f-1" else row for row in FACTS))
    return made._replace(settings=with_changes(made.settings, {"recall.weight_fact": 2.0}))


def block(store: Store) -> str:
    """Key of the block about the bell in the first note."""
    with open_index(store, None) as opened:
        (found,) = [
            passage.key
            for passage in opened.index.passages(opened.index.current_rows()).values()
            if "Brian oiled it" in passage.text
        ]
        return found


@pytest.fixture(scope="module")
def index(store: Store) -> Iterator[Index]:
    with open_index(store, None) as opened:
        yield opened.index


def looked_up(index: Index, question: str, at: str = TODAY, known_at: str | None = None) -> Verdict:
    found = facts.look_up(index, question, at, known_at)
    assert found is not None
    return found


def values(verdict: Verdict) -> list[str]:
    return [found.value or "" for found in verdict.facts]


@pytest.mark.parametrize(
    ("question", "at", "expected"),
    [
        ("How often does the bell ring?", "2026-02-10", ["5 minutes"]),
        ("How often does the bell ring?", "2026-02-11", ["5 minutes"]),
        ("How often does the bell ring?", "2026-02-12", ["15 minutes"]),
        ("How often does the bell ring?", "2026-02-11T23:59:59+01:00", ["5 minutes"]),
        ("How often does the bell ring?", "2026-02-12T00:00:00+01:00", ["15 minutes"]),
        # A bare day is all of it; an instant is compared across offsets.
        ("Where does the club meet?", "2026-02-19", ["signal shed"]),
        ("Where does the club meet?", "2026-02-19T17:00:00+00:00", ["signal shed"]),
        ("Where does the club meet?", "2026-02-19T17:59:00+01:00", []),
        ("Where does the club meet?", "2026-02-18", ["Café Kompas"]),
        # The longer name means the shorter one too, and the other way round.
        ("Where does the reading club meet?", "2026-02-18", ["Café Kompas"]),
        ("Where does the reading club meet?", TODAY, ["signal shed"]),
        # "The circle" may be any of them; the chess circle is not the one without a name.
        ("Where does the circle meet?", TODAY, ["pub", "library", "mill"]),
        ("Where does the chess circle meet?", TODAY, ["library"]),
        ("Where does the backup go?", TODAY, ["NAS"]),
        ("What does Sedge run on?", TODAY, ["NVMe drive"]),
        ("What do you run on?", TODAY, ["NVMe drive"]),
        ("What does Brian run on?", TODAY, []),
        ("Where does Mara live?", TODAY, ["Leeds"]),
        ("Where does Mara Lind live?", TODAY, ["Leeds"]),
        ("What does Magpie risk per trade?", "2026-02-19", ["1 %"]),
        # What ended it is the answer then; after that nobody knows.
        ("What does Magpie risk per trade?", "2026-02-20", ["paused"]),
        ("What does Magpie risk per trade?", "2026-02-24", []),
        ("Where is the canoe?", TODAY, []),
        # An open start says nothing about the time before the store began.
        ("Where does the reading club meet?", "2026-02-10", ["Café Kompas"]),
        ("Where does the reading club meet?", "2026-02-09", []),
    ],
)
def test_what_was_true(index: Index, question: str, at: str, expected: list[str]) -> None:
    found = looked_up(index, question, at)
    assert values(found) == expected
    assert found.answer == (None if expected else UNKNOWN)


@pytest.mark.parametrize(
    ("at", "known_at", "expected"),
    [
        (TODAY, "2026-02-10T12:00:00+01:00", []),
        (TODAY, "2026-02-12T12:00:00+01:00", ["5 minutes"]),
        (TODAY, "2026-02-14T12:00:00+01:00", ["15 minutes"]),
        ("2026-02-11", "2026-02-14T12:00:00+01:00", ["5 minutes"]),
        ("2026-02-09", "2026-02-12T12:00:00+01:00", []),
        # The correction came at midnight in UTC.
        (TODAY, "2026-02-13T00:59:59+01:00", ["5 minutes"]),
        (TODAY, "2026-02-13T01:00:00+01:00", ["15 minutes"]),
    ],
)
def test_what_was_believed(index: Index, at: str, known_at: str, expected: list[str]) -> None:
    assert values(looked_up(index, "How often does the bell ring?", at, known_at)) == expected


@pytest.mark.parametrize(
    ("question", "at", "answer", "stated"),
    [
        ("Does the bell ring every 5 minutes?", "2026-02-11", YES, ["5 minutes"]),
        ("Does the bell ring every five minutes?", "2026-02-11", YES, ["5 minutes"]),
        ("Does the bell ring every 5 minutes?", TODAY, NO, ["15 minutes"]),
        ("Does the bell ring every 5 minutes?", "2026-02-09", UNKNOWN, []),
        ("Is the canoe at the jetty?", TODAY, UNKNOWN, []),
        ("Does Mara live in Leeds?", TODAY, YES, ["Leeds"]),
        ("Does Mara live in York?", TODAY, NO, ["Leeds"]),
        ("Does Brian live in York?", TODAY, UNKNOWN, []),
        # Who likes figs may like plums as well.
        ("Does Mara like figs?", TODAY, YES, ["figs"]),
        ("Does Mara like plums?", TODAY, UNKNOWN, ["figs"]),
        ("Is Magpie paused?", "2026-02-21", YES, ["paused"]),
        ("Is Magpie's risk per trade 1 %?", "2026-02-21", NO, ["paused"]),
        ("Is Magpie's risk per trade 1 %?", "2026-02-12", YES, ["1 %"]),
    ],
)
def test_claims(index: Index, question: str, at: str, answer: str, stated: list[str]) -> None:
    found = looked_up(index, question, at)
    assert (found.answer, values(found)) == (answer, stated)


def test_slots_of_one_value_are_those_of_the_rules() -> None:
    single = {rule.slot for rule in RULES if rule.is_single} - {"uses"}
    assert {slot for slot in SLOTS if is_single(slot)} == single
    assert is_single("uses/database")


@pytest.mark.parametrize("question", ["bell", "Why does the bell ring?", "Who oiled the bell?", ""])
def test_no_slot_is_asked_for(index: Index, question: str) -> None:
    assert facts.look_up(index, question, TODAY) is None


@pytest.mark.parametrize("question", ["Where does Piet live?", "Does Piet live in York?"])
def test_facts_that_disagree_say_nothing(store: Store, index: Index, question: str) -> None:
    """Which of two places somebody lives at nobody can say: neither a value, nor yes, nor no."""
    assert facts.look_up(index, question, TODAY) is None
    told = ask(store, question)
    assert (told.verdict, told.facts) == (None, ())


def test_facts_disagree_only_of_one_thing_at_one_time(index: Index) -> None:
    assert values(looked_up(index, "Where does Piet live?", "2026-02-11")) == ["Hull"]
    # The same in other words, and a slot of many values.
    assert values(looked_up(index, "How often does the gong ring?")) == [
        "10 minutes",
        "ten minutes",
    ]
    assert values(looked_up(index, "What does Piet like?")) == ["figs", "plums"]


def test_not_known_is_not_said_above_what_answers(store: Store) -> None:
    """Whatever the facts hold; but of another time than now the passages may tell nothing."""
    question, unknown = "Where is the canoe?", "the facts say: not known"

    def forms(answer: Answer) -> tuple[str | None, str, str]:
        lines = answer_lines(answer, explain=False)
        return (
            answer_mapping(answer)["verdict"],
            lines[0] if lines else "",
            "\n".join(prompt_lines(answer, None)),
        )

    plain = ask(store, question)
    assert "The canoe lies at the jetty." in plain.memories[0].text
    verdict, first, prompt = forms(plain)
    assert verdict is None
    assert first != unknown
    assert "jetty" in prompt
    assert unknown not in prompt
    times: list[dict[str, Any]] = [
        {"as_of": "2026-02-11"},
        {"known_at": "2026-02-12T12:00:00+01:00"},
    ]
    for when in times:
        then = ask(store, question, **when)
        assert then.memories, when
        verdict, first, prompt = forms(then)
        assert (verdict, first) == (UNKNOWN, unknown), when
        assert unknown in prompt
    empty = ask(store, question, min_score=1.0)
    assert forms(empty)[:2] == (UNKNOWN, unknown)


def test_evidence_is_the_statement_and_what_it_rests_on(store: Store, index: Index) -> None:
    found = looked_up(index, "How often does the bell ring?", "2026-02-11")
    assert found.evidence == tuple(sorted(("f-1", block(store))))
    assert looked_up(index, "Where does Brian live?").evidence == ()


def test_recall_answers_as_of_a_day(store: Store) -> None:
    question = "How often does the bell ring?"
    then, now = ask(store, question, as_of="2026-02-11"), ask(store, question)
    assert [(known.id, known.value) for known in then.facts] == [("f-1", "5 minutes")]
    assert [(known.id, known.value) for known in now.facts] == [("f-2", "15 minutes")]
    assert then.verdict is None
    assert "5 minutes" in then.memories[0].text
    assert "15 minutes" in now.memories[0].text
    assert ask(store, "Does the bell ring every 5 minutes?").verdict == NO
    assert ask(store, question, as_of="2026-02-09").verdict == UNKNOWN


def test_recall_takes_the_day_from_the_question(store: Store) -> None:
    asked = ask(store, "How often did the bell ring on 11 February 2026?")
    assert [known.value for known in asked.facts] == ["5 minutes"]
    # A day to come says nothing about what will be true then.
    asked = ask(store, "How often does the bell ring on 1 March 2026?")
    assert [known.value for known in asked.facts] == ["15 minutes"]


def test_recall_as_it_was_known(store: Store) -> None:
    asked = ask(store, "How often does the bell ring?", known_at="2026-02-12T12:00:00+01:00")
    assert [known.id for known in asked.facts] == ["f-3"]
