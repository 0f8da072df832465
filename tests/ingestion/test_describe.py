"""Vectors here are synthetic unit vectors in a few dimensions."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reading import HOME
from strategies import examples
from tables import table

from clsm_cli.ingestion.describe import MAX_SENTENCES, describe, mean_vector, novelty
from clsm_cli.model.episodes import Episode, EpisodeRecord, Role, Turn


def turn(
    key: str,
    speaker: str,
    text: str,
    *,
    time: str | None = "2026-02-24T08:15:00+01:00",
    role: Role = "user",
    heading: tuple[str, ...] = (),
) -> Turn:
    return Turn(key=key, speaker=speaker, role=role, text=text, time=time, heading=heading)


def episode(*turns: Turn, document: str | None = None) -> Episode:
    dated = [each.time for each in turns if each.time]
    return Episode(
        id="e-1",
        session="s",
        turns=turns,
        recorded_at="2026-02-24T09:00:00+00:00",
        start=dated[0] if dated else None,
        end=dated[-1] if dated else None,
        document=document,
    )


def record(
    told: Episode,
    vectors: Sequence[np.ndarray[Any, Any]] | None = None,
    previous: np.ndarray[Any, Any] | None = None,
) -> EpisodeRecord:
    return describe(
        told,
        rev=(7, "box-1a2b"),
        vectors=vectors or [np.array([1.0, 0.0, 0.0], np.float32)] * len(told.turns),
        previous=previous,
        surprise=1.23456,
        zone=HOME,
    )


DELEGATION = episode(
    turn("t1", "Mara", "The delegation defect is back; Hardin saw the valve chatter yesterday."),
    turn("t2", "Iris", "Which valve causes the delegation defect, the inlet valve?"),
    turn("t3", "grep", "hardin.log: valve chatter, Rotterdam awful awful", role="tool"),
    turn(
        "t4",
        "Mara",
        "The outlet valve causes it. We decided to replace the outlet valve tomorrow.",
        time="2026-02-24T08:20:00+01:00",
    ),
    turn("t5", "Iris", "Great, thanks. Who informs the harbour office about the delay?"),
)


def test_every_field_of_the_delegation_example() -> None:
    found = record(DELEGATION, previous=np.array([0.6, 0.8, 0.0]))
    assert (found.id, found.rev, found.stage) == ("e-1", (7, "box-1a2b"), "pending")
    assert found.title.startswith("2026-02-24 · ")
    assert "elegation defect" in found.title
    assert found.topic.casefold() in found.title.casefold()
    assert -1.0 <= found.valence <= 1.0
    assert (found.novelty, found.surprise) == (0.4, 1.2346)
    assert found.decisions == ("We decided to replace the outlet valve tomorrow (2026-02-25).",)
    assert [(q.text, q.answered_by) for q in found.open_questions] == [
        ("Which valve causes the delegation defect, the inlet valve?", "t4"),
        ("Who informs the harbour office about the delay?", None),
    ]
    assert found.mentions["hardin"] == ("t1",)


def test_the_narrative_says_who_and_when_with_absolute_days() -> None:
    found = record(DELEGATION).narrative
    assert "On 2026-02-24 at 08:15, Mara said: " in found
    assert "yesterday (2026-02-23)" in found
    assert "On 2026-02-24 at 08:20, Mara said: " in found
    assert "grep" not in found
    assert found.count("On 2026-02-24") <= MAX_SENTENCES


def test_tools_neither_speak_nor_mention() -> None:
    talk = episode(
        turn("t1", "Mara", "Please look up the harbour master."),
        turn("t2", "web", "`harbour_master` is Piet Visser. We decided to hate it?", role="tool"),
    )
    found = record(talk)
    assert "Visser" not in found.title + found.narrative
    assert (found.decisions, found.open_questions) == ((), ())
    assert found.valence == record(episode(talk.turns[0])).valence
    assert found.mentions == record(episode(talk.turns[0])).mentions


def test_the_heading_of_a_document_leads() -> None:
    path, source = ("Projects", "Tide table"), ("Projects", "Tide table", "Source")
    first = turn("t1", "", "- The tide table uses harmonic constants.", heading=path, time=None)
    second = turn("t2", "", "- Harmonic constants come from Delft.", heading=source, time=None)
    found = record(episode(first, second, document="d-1"))
    assert found.title.startswith("Tide table, ")
    assert found.narrative.startswith("The tide table uses harmonic constants.")
    one, other = (turn(f"t{n}", "", "x y", heading=(n, "C")) for n in "AB")
    assert ", C" not in record(episode(one, other, document="d-1")).title


@pytest.mark.parametrize(("reply", "speaker", "answered"), table(__file__, "answers"))
def test_what_answers_a_question(reply: str, speaker: str, answered: str) -> None:
    talk = episode(turn("t1", "Mara", "Which port does the hook use?"), turn("t2", speaker, reply))
    assert record(talk).open_questions[0].answered_by == (answered or None)


def test_valence_is_the_feeling_of_the_turns_that_show_one() -> None:
    sad = record(episode(turn("t1", "M", "This is awful."), turn("t2", "I", "The chair.")))
    assert sad.valence < -0.3
    assert record(episode(turn("t1", "M", "The chair."))).valence == 0.0


def test_novelty_against_the_episode_before() -> None:
    one = episode(turn("t1", "M", "x"), turn("t2", "t", "y", role="tool"))
    vectors = [np.array([1.0, 0.0]), np.array([0.0, 1.0])]
    assert mean_vector(one, vectors).tolist() == [1.0, 0.0]
    assert record(one, vectors, previous=np.array([1.0, 0.0])).novelty == 0.0
    assert record(one, vectors).novelty == 1.0
    assert novelty(np.zeros(2), vectors[0]) == 1.0


TEXTS = st.one_of(
    st.text(max_size=80),
    st.sampled_from(["We decided to use SQLite.", "Which port is it?", "```\ncode", "- [x] done"]),
)


@given(
    st.lists(
        st.tuples(
            TEXTS,
            st.sampled_from(["user", "assistant", "tool", "system"]),
            st.sampled_from([None, "2026-02-24", "2026-02-24T08:15:00+01:00"]),
        ),
        min_size=1,
        max_size=8,
    ),
    st.booleans(),
)
@examples(200)
def test_any_episode_has_a_record(turns: list[tuple[str, Role, str | None]], doc: bool) -> None:
    made = (
        turn(f"t{9 - n}", "M", text, role=role, time=at) for n, (text, role, at) in enumerate(turns)
    )
    told = episode(*made, document="d-1" if doc else None)
    found = record(told)
    assert found.title.strip()
    assert "\n" not in found.title + found.narrative
    assert -1.0 <= found.valence <= 1.0
    assert 0.0 <= found.novelty <= 1.0
    keys = {each.key for each in told.turns}
    assert all([*used] == sorted(keys & {*used}) for used in found.mentions.values())
    assert all(q.answered_by is None or q.answered_by in keys for q in found.open_questions)
    assert found == record(told)
