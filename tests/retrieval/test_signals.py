"""Each signal lifts what it is made for, on stores of a handful of passages."""

from pathlib import Path

import pytest
from sample_store import ask
from small_store import DAY, found, note, row, state, talk, tell
from tables import column, table

from clsm_cli.retrieval.answer import Memory
from clsm_cli.retrieval.ranking import signal_weights
from clsm_cli.store.layout import Store

FILLER = tuple(column(__file__, "filler"))
"""Turns about nothing that is asked here."""


def by_text(memories: list[Memory]) -> dict[str, Memory]:
    return {memory.text: memory for memory in memories}


def test_bm25_prefers_the_rare_word(store: Store) -> None:
    tell(store, *(row(text, session=f"s{n}") for n, text in enumerate(FILLER)))
    tell(store, row("The theremin is in the attic.", session="t"))
    first, *others = found(store, "theremin")
    assert (first.text, first.why.bm25) == ("The theremin is in the attic.", 1.0)
    assert {other.why.bm25 for other in others} == {0.0}


def test_words_that_the_store_hardly_has_decide_little(store: Store) -> None:
    """BM25 counts by the square of the share of the question's idf that one group holds."""
    tell(store, *(row(text, session=f"s{n}") for n, text in enumerate(FILLER)))
    whole = by_text(found(store, "shed green"))["I painted the shed green."]
    part = by_text(found(store, "shed zabaglione xylophone"))["I painted the shed green."]
    assert whole.why.bm25 == 1.0
    assert 0.0 < part.why.bm25 < 0.25


def test_maxsim_finds_what_shares_no_word(store: Store) -> None:
    tell(store, *(row(text, session=f"s{n}") for n, text in enumerate(FILLER)))
    tell(store, row("Our cat had her kittens.", session="t"))
    first = found(store, "feline pets")[0]
    assert first.text == "Our cat had her kittens."
    assert (first.why.bm25, first.why.maxsim) == (0.0, 1.0)


def test_the_turn_before_lifts_a_turn(store: Store) -> None:
    """Two turns with the same words; one of them answers."""
    tell(store, *talk("a", "Where is the ferry timetable?", "In the blue drawer."))
    tell(store, *talk("b", "Where is the garlic press?", "In the blue drawer."))
    answers = [m for m in found(store, "ferry timetable") if m.text == "In the blue drawer."]
    assert [m.session for m in answers] == ["a", "b"]
    assert answers[0].why.maxsim > answers[1].why.maxsim
    assert answers[0].why.context > answers[1].why.context


def test_the_group_lifts_a_turn_that_is_not_a_neighbour(store: Store) -> None:
    shared = (*FILLER, "We can ask at the desk.")
    tell(store, *talk("a", "The ferry timetable has changed.", *shared))
    tell(store, *talk("b", "The garlic press is broken.", *shared))
    one, other = (m for m in found(store, "ferry timetable") if m.text == "We can ask at the desk.")
    assert [one.session, other.session] == ["a", "b"]
    assert (one.why.maxsim, one.why.context) == (other.why.maxsim, other.why.context)
    assert one.why.episode > other.why.episode


def test_the_person_who_is_asked_about_is_preferred_and_of_two_neither(store: Store) -> None:
    for name in ("Brian", "Mara"):
        tell(store, *talk(name, "I feed the heron in the morning.", speaker=name))
    for name in ("Brian", "Mara"):
        first, second = found(store, f"When does {name} feed the heron?")
        assert (first.speaker, first.why.participant, second.why.participant) == (name, 1.0, 0.0)
    both = found(store, "Do Mara and Brian feed the heron?")
    assert [m.why.participant for m in both] == [0.0, 0.0]


def test_what_i_said_is_what_the_person_said(store: Store) -> None:
    """Though the agent's reply is nearer to the question."""
    tell(store, *(row(text, session=f"s{n}") for n, text in enumerate(FILLER)))
    reply = "I will remind you to call Otto about the dishwasher. What did you say its brand is?"
    said = row("Also the dishwasher leaks again, remind me to call Otto.", speaker="user")
    tell(store, said, row(reply, speaker="assistant", role="assistant"))
    for question in ("What did I say about the dishwasher?", "What did I say on 24 February 2026?"):
        told = [(m.speaker, m.why.participant) for m in found(store, question)]
        assert [each for each in told if each[0] != "Mara"] == [("user", 1.0), ("assistant", 0.0)]


def test_a_note_about_the_person_counts_whole_another_half(store: Store, tmp_path: Path) -> None:
    tell(store, row("Good morning."))
    tell(store, row("Mara likes the heron best.", session="mine", speaker="user"))
    note(store, tmp_path / "a.md", "Mara feeds the heron.\n")
    note(store, tmp_path / "b.md", "Somebody feeds the heron.\n")
    why = {m.text: m.why.participant for m in found(store, "Does Mara feed the heron?")}
    assert why["Mara feeds the heron."] == 1.0
    assert why["Somebody feeds the heron."] == 0.5
    assert why["Mara likes the heron best."] == 1.0  # said by the owner, who has no name here


def test_the_day_that_is_asked_about_is_preferred(store: Store) -> None:
    """Copies are one item, but not where the question tells them apart."""
    for day in ("2026-02-10", "2026-02-12"):
        fields = {"session": day, "timestamp": f"{day}T08:00:00+01:00"}
        tell(store, row("The green ferry was late again today.", **fields))
    assert [len(m.sources) for m in found(store, "green ferry late")] == [2]
    for day, asked in (("2026-02-10", "10 February 2026"), ("2026-02-12", "2026-02-12")):
        first, second = found(store, f"Was the green ferry late on {asked}?")
        assert (first.session, first.why.date) == (day, 1.0)
        assert second.why.date < 1.0


def test_what_is_said_of_a_day_counts_as_of_that_day(store: Store) -> None:
    tell(store, row("Yesterday we walked along the river.", session="a"))
    tell(store, row("Sometimes we walk along the river.", session="b"))
    first, second = found(store, "Did we walk on 23 February 2026?")
    assert (first.session, first.why.date) == ("a", 1.0)
    assert second.why.date == 0.14  # told a day later


def test_a_statement_is_of_a_day_as_far_as_its_turns_are(store: Store) -> None:
    for day in ("2026-01-10", "2026-02-12"):
        tell(store, row("Walked by the river.", session=day, timestamp=f"{day}T08:00:00+01:00"))
    keys = tuple(memory.id for memory in found(store, "river"))
    known = state(store, "identity", "mara", "The theremin hums at night.", keys)
    asked = found(store, "Did the theremin hum on 12 February 2026?")
    assert [m.why.date for m in asked if m.id == known] == [0.5]


def test_the_conversation_that_is_named_answers(store: Store) -> None:
    """However little its words say: the question leaves no other."""
    tell(store, *(row(text, session="a", timestamp=f"{DAY}T08:00:00+01:00") for text in FILLER))
    later = {"session": "b", "timestamp": f"{DAY}T18:00:00+01:00"}
    tell(store, row("Ran into Odette at the market.", **later))
    now = "2026-02-25T12:00:00+01:00"
    answer = ask(store, "Who did I see in our last conversation?", now=now)
    assert [memory.session for memory in answer.memories] == ["b"]
    answer = ask(store, "Who did I see in our first conversation?", now=now)
    assert {memory.session for memory in answer.memories} == {"a"}


def test_a_question_for_a_day_finds_the_note_of_that_day(store: Store, tmp_path: Path) -> None:
    """The less else it asks for, the more: the answer may stand in the note of another day."""
    note(store, tmp_path / "2026-02-12.md", "We walked along the river.\n\nIt rained.\n")
    note(store, tmp_path / "2026-02-13.md", "The bus was late.\n\nThe sun shone.\n")
    for asked in ("what happened on 12 February 2026", "12 February 2026", "2026-02-12"):
        first = ask(store, asked).memories[0]
        assert first.sources[0].path.endswith("2026-02-12.md")
    for asked, date in (("12 February 2026", 1.0), ("Where did we walk on 12 February 2026?", 0.5)):
        assert {m.why.date for m in found(store, asked) if "12.md" in m.session} == {date}


def test_what_the_model_does_not_know_decides(store: Store) -> None:
    """To the model all these are alike; the nearest in meaning is another."""
    codes = [f"zq{n}x{n * 7 % 10}k{n * 13 % 100:02}" for n in range(10)]
    tell(store, *(row(f"Locker {code} opens the shed.", session=code) for code in codes))
    for code in codes:
        for asked in (code, f"what does the code {code} open?"):
            first = ask(store, asked).memories[0]
            assert code in first.text
            assert first.why.literal > 0


def test_an_identifier_is_more_than_its_words(store: Store) -> None:
    """10.4.0.17 and 10.17.0.4 have the same words; a number has its groups, or none."""
    told = ("10.4.0.17", "10.17.0.4", "10.0.17.4")
    tell(store, *(row(f"The sensor listens on {x}.", session=x) for x in told))
    tell(store, row("Call +49 (30) 555 01 42 about the boat.", session="boat"))
    assert [ask(store, x).memories[0].session for x in told] == list(told)
    assert ask(store, "+49 30 5550142").memories[0].session == "boat"


def test_a_code_that_nothing_has_gets_no_other_one(store: Store) -> None:
    told = ("Staging runs Kubernetes 1.31.4.", "The k8s freeze ends on 8 December.", "Pin 5550142.")
    tell(store, *(row(text, session=f"s{n}") for n, text in enumerate(told)))
    for absent in ("1.32", "k8s-9", "1.31.5", "v2.7"):
        assert not ask(store, absent).memories, absent
    assert "1.31.4" in ask(store, "v1.31.4").memories[0].text
    assert "1.31.4" in ask(store, "1.31").memories[0].text


@pytest.mark.parametrize("code", ["node-e50.rack4", "00:1a:7d:ed:a3:0a", "4eada0ae7a"])
def test_letters_may_stand_between_the_numbers_of_a_code(store: Store, code: str) -> None:
    tell(store, row(f"The lamp {code} has a new fuse."))
    assert [each.text for each in ask(store, code).memories] == [f"The lamp {code} has a new fuse."]


def test_one_number_is_no_later_value_of_another(store: Store) -> None:
    """What was said later in much the same words replaces what it is about, not its like."""
    told = [f"Call +49 171 555 {n:04} if the lamp breaks." for n in (2317, 4297, 8810)]
    rows = (
        row(text, session=f"s{n}", timestamp=f"2026-02-{10 + n}T08:00:00+01:00")
        for n, text in enumerate(told)
    )
    tell(store, *rows)
    for text in told:
        assert ask(store, f"whose number is {text[5:21]}?").memories[0].text == text


def test_in_a_script_that_the_model_cannot_read_words_decide(store: Store) -> None:
    radio, bike = "爷爷的旧收音机只能收到两个频道。", "У Ильзы новый велосипед."
    told = (radio, "新邻居养了三只乌龟。", "读书会改到星期三晚上。", bike, "The ferry is late.")
    tell(store, *(row(text, session=f"s{n}") for n, text in enumerate(told)))
    first = ask(store, "收音机能收到几个频道？").memories[0]
    assert (first.text, first.why.literal) == (radio, 1.0)
    assert ask(store, "у кого новый велосипед?").memories[0].text == bike
    for asked in column(__file__, "foreign"):
        assert not ask(store, asked).memories, asked


def test_a_question_for_a_time_prefers_what_tells_one(store: Store) -> None:
    tell(store, row("We feed the heron on Fridays, the last was yesterday.", session="a"))
    tell(store, row("We feed the heron with fish, the last was a herring.", session="b"))
    why = {m.session: m.why.temporal for m in found(store, "When did we feed the heron?")}
    assert why == {"a": 1.0, "b": 0.0}
    assert found(store, "When did we feed the heron?")[0].session == "a"
    assert {m.why.temporal for m in found(store, "Did we feed the heron?")} == {0.0}


def test_a_question_is_no_answer(store: Store) -> None:
    tell(store, row("Is the heron on the gauge?", session="a"))
    tell(store, row("The heron is on the gauge.", session="b"))
    first, second = found(store, "heron gauge")
    assert [first.session, second.session] == ["b", "a"]
    assert (first.why.question, second.why.question) == (0.0, 1.0)
    assert second.shares.question < 0.0


def test_the_heading_gives_a_block_its_subject(store: Store, tmp_path: Path) -> None:
    text = "## Ferry\n\n- Ask Ilse at the desk.\n\n## Garlic\n\n- Ask Ilse at the desk!\n"
    note(store, tmp_path / "a.md", text)
    for subject in ("Ferry", "Garlic"):
        assert found(store, f"whom to ask about the {subject.lower()}")[0].heading == subject


def test_a_score_is_in_proportion_to_the_sum_of_its_shares(store: Store, tmp_path: Path) -> None:
    tell(store, *talk("a", *FILLER), *talk("b", "Is the soup good?", speaker="Brian"))
    note(store, tmp_path / "a.md", "# Soup\n\nSalt comes last.\n")
    memories = found(store, "When did Mara salt the soup on 24 February 2026?")
    sums = [sum(memory.shares) for memory in memories]
    for memory, total in zip(memories, sums, strict=True):
        weights = signal_weights(store.settings.recall, is_note=memory.heading == "Soup")
        for share, weight, value in zip(memory.shares, weights, memory.why, strict=True):
            assert share == pytest.approx(weight * value, abs=1e-3)
        assert abs(memory.score * sums[0] - memories[0].score * max(0.0, total)) < 1e-2
    assert 0 < memories[0].score <= 1


@pytest.mark.parametrize("around", [(), FILLER])
def test_the_turn_with_the_words_precedes_its_reply(store: Store, around: tuple[str, ...]) -> None:
    """A window of two holds all that its first turn says: it must not win by that."""
    tell(store, *talk("a", *around, "The ferry timetable is in the attic.", "Good, thanks."))
    assert found(store, "where is the ferry timetable")[0].text.startswith("The ferry")


CODES = column(__file__, "codes")


@pytest.fixture
def coded(store: Store) -> Store:
    """Each code told on a day of its own, so that its look-alike may seem to be its newer value."""
    times = [f"2026-02-{n:02}T08:00:00+01:00" for n in range(1, 9)]
    tell(store, *(row(t, session=at, timestamp=at) for t, at in zip(CODES, times, strict=True)))
    return store


def test_a_code_is_found_however_it_is_written(coded: Store) -> None:
    for asked, told in table(__file__, "spellings"):
        first = ask(coded, asked).memories[0]
        assert first.text == CODES[int(told)], asked
        assert first.until is first.perhaps_until is None


@pytest.mark.parametrize("asked", column(__file__, "other codes"))
def test_what_has_another_code_is_no_answer(coded: Store, asked: str) -> None:
    assert not ask(coded, asked).memories


def test_of_what_is_read_the_answer_comes_first(store: Store) -> None:
    near = "Mum, what about insurance, the old one was with Petplan."
    answer = "I asked three, it'll be Agria, 31 a month."
    for text in (near, answer, *FILLER, "The tulips came up.", "Noor lost a tooth."):
        tell(store, row(text, session=text))
    first, second, *_ = found(store, "how much does the insurance cost a month?")
    assert (first.text, second.text) == (answer, near)
    assert sum(first.shares) - first.shares.reading < sum(second.shares) - second.shares.reading
