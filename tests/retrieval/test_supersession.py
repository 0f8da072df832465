"""What a later passage takes the place of: it stands below, with the day until which it held."""

from datetime import date, datetime, timedelta
from pathlib import Path

import aging
import pytest
from small_store import found, note, row, state, tell
from tables import table

from clsm_cli.model.ids import normalise_text, statement_id
from clsm_cli.retrieval.answer import Memory
from clsm_cli.store import layout
from clsm_cli.store.layout import Store


def answered(store: Store, question: str, *told: str) -> list[Memory]:
    """What a question brings after some turns, one a day from 1 February."""
    for day, text in enumerate(told, 1):
        tell(store, row(text, timestamp=f"2026-02-{day:02}T08:00Z", session=f"s{day}"))
    return found(store, question)


@pytest.mark.parametrize(("old", "new", "question"), table(__file__, "over"))
def test_the_old_is_below_and_over(store: Store, old: str, new: str, question: str) -> None:
    first, second = answered(store, question, old, new)
    assert (first.text, first.until) == (new, None)
    assert (second.text, second.until, second.replaced_by) == (old, "2026-02-02", first.id)
    assert first.confidence > 0.96 * second.confidence


def test_a_mark_is_of_its_own_block_alone(store: Store, tmp_path: Path) -> None:
    """Its neighbours still hold; and as their neighbour, it would be unmarked."""
    old, new = "- The club meets on Tuesdays.", "- The club now meets on Thursdays."
    beside = "- Ruben lives in Goes.\n- The mooring costs 300 euros."
    for day, text in (("02", old), ("03", new)):
        note(store, tmp_path / f"2026-02-{day}.md", f"# Log {day}\n\n{text}\n{beside}\n")
    items = found(store, "which day does the club meet?")
    assert new in items[0].text
    assert [each.text for each in items if each.until or each.perhaps_until] == [old]
    assert sum(old in each.text for each in items) == 1


@pytest.mark.parametrize(("old", "new", "question"), table(__file__, "may still hold"))
def test_what_may_still_hold_is_not(store: Store, old: str, new: str, question: str) -> None:
    assert not any(each.until for each in answered(store, question, old, new))


@pytest.mark.parametrize(("old", "new", "question"), table(__file__, "marked in no way"))
def test_what_says_nothing_of_it_or_the_same_is_marked_in_no_way(
    store: Store, old: str, new: str, question: str
) -> None:
    told = answered(store, question, old, new)
    assert not any(each.until or each.perhaps_until for each in told)


def test_a_name_alone_is_not_answered_by_what_lacks_it(store: Store, tmp_path: Path) -> None:
    told = "Govasa Quiselda looks after the mixer that needs a new fuse."
    tell(store, row(told, timestamp="2026-02-01T08:00Z", role="assistant"))
    other = "Govadel Quiveslun looks after the crate that waits for its paint."
    note(store, tmp_path / "people.md", f"# People\n\n{other}\n")
    assert found(store, "Govasa Quiselda")[0].text == told


def test_what_does_not_answer_when_read_goes_above_nothing(store: Store) -> None:
    told = (
        "theo cant eat shellfish and hannahs sister robin is celiac",
        "hannah and theo are down to 58",
    )
    assert answered(store, "who is hannah's sister", *told)[0].text == told[0]


def test_what_does_not_answer_is_not_held_against_anything(store: Store) -> None:
    told = (
        "My uncle is Henrik Dahl, head of design. We live in Altona.",
        "Booked the trip to Lisbon with Oskar, 10 to 17 April.",
        "Annika is the new head of design since today; Henrik left for Copenhagen.",
    )
    items = answered(store, "is the trip to Lisbon still on?", *told)
    assert items[0].text == told[1]
    assert not any(each.perhaps_until for each in items)


def test_what_changed_twice_was_over_at_the_first(store: Store) -> None:
    club = "The book club meets at Café Olivier."
    moves = "The book club has moved to the library.", "The book club now meets at Ben's place."
    last, *others = answered(store, "where does the book club meet", club, *moves)
    assert last.text == moves[1]
    ends = {each.text: (each.perhaps_until or each.until, each.replaced_by) for each in others}
    assert ends == {club: ("2026-02-02", last.id), moves[0]: ("2026-02-03", last.id)}


def test_two_sources_of_one_statement_end_each_other_not(store: Store) -> None:
    question = "what do I drink in the morning"
    old, new = "In the morning I drink black tea.", "I drink green tea in the morning now."
    first, second = answered(store, question, old, new)
    assert second.until or second.perhaps_until
    state(store, "identity", "people", old, (first.id, second.id))
    assert not any(each.until or each.perhaps_until for each in found(store, question))


@pytest.mark.parametrize("agents_day", [1, 3])
def test_an_agents_answer_is_below_its_owners_word_and_marked(
    store: Store, agents_day: int
) -> None:
    wrong, right = "Your office is now in room 300.", "My office moved to room 118."
    said = {"role": "assistant", "speaker": "assistant", "session": "b"}
    tell(store, row(wrong, timestamp=f"2026-02-0{agents_day}T08:00Z", **said))
    tell(store, row("Noted, room 118.", timestamp="2026-02-02T08:01Z", **said))
    tell(store, row(right, timestamp="2026-02-02T08:00Z", session="a"))
    first, *others = found(store, "where is my office")
    assert (first.text, first.until, first.perhaps_until) == (right, None, None)
    marked = {each.text: each.until or each.perhaps_until for each in others}
    assert marked == {wrong: f"2026-02-0{max(2, agents_day)}", "Noted, room 118.": None}


def test_an_agent_that_repeats_what_it_was_told_is_not_contradicted_by_what_was_so_before(
    store: Store,
) -> None:
    told = (
        "The morning visit goes from 8:00 to 8:45.",
        "Morning visit now 8:45 instead of 8:00.",
        "Blessing comes at 8:15 now, not 8:45, and we add a bedtime visit.",
        "Morning visit 8:15; extra bedtime visit.",
    )
    for n, text in enumerate(told):
        who = {"role": "assistant", "speaker": "assistant"} if n % 2 else {}
        tell(
            store,
            row(text, timestamp=f"2026-02-0{1 + n // 2}T08:0{n}Z", session=f"s{n // 2}", **who),
        )
    marked = {
        each.text: each.perhaps_until for each in found(store, "what time is the morning visit?")
    }
    assert marked == dict(zip(told, ["2026-02-02", "2026-02-02", None, None], strict=True))


def test_an_agent_repeats_a_name_that_its_owner_writes_in_lower_case(
    store: Store, tmp_path: Path
) -> None:
    line = "- Invoices go to rechnung@example.org, no longer to Paolo\n"
    note(store, tmp_path / "2026-02-01.md", f"# Brückner, first call with Henrike\n\n{line}")
    told = "frau teske is gone, invoices to feldhaus go to milan hájek now"
    noted = "Noted: invoices for Museum Feldhaus go to Milan Hájek."
    tell(store, row(told, timestamp="2026-02-02T08:00Z"))
    who = {"role": "assistant", "speaker": "assistant"}
    tell(store, row(noted, timestamp="2026-02-02T08:01Z", **who))
    items = {each.text: each for each in found(store, "who gets the invoices of the museum")}
    assert items[noted].perhaps_until is None


def test_a_tool_ends_nothing(store: Store) -> None:
    tell(store, row("Ticket 90 is open.", timestamp="2026-02-01T08:00Z", session="a"))
    said = {"role": "tool", "speaker": "tool", "timestamp": "2026-02-02T08:00Z", "session": "b"}
    tell(store, row("Ticket 90 is closed.", **said))
    first, *_ = found(store, "is ticket 90 open")
    assert (first.text, first.until) == ("Ticket 90 is open.", None)


def test_a_page_without_a_day_lies_between_two_captures(store: Store, tmp_path: Path) -> None:
    old, new = "The heating is on.", "The heating is broken."
    for name, text, day in (
        ("hall.md", old, "2026-02-01"),
        ("2026-02-03.md", new, "2026-02-03"),
        ("else/once.md", "The heating is off.", "2026-02-09"),  # nobody knows since when
    ):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        note(store, tmp_path / name, f"{text}\n", now=f"{day}T20:00:00+01:00")
    told = {each.text: each for each in found(store, "is the heating on")}
    assert (told[old].until or told[old].perhaps_until) == "2026-02-03"
    assert not (told[new].until)
    assert not (told[new].perhaps_until)


@pytest.mark.parametrize("zone", ["Europe/Amsterdam", "America/Los_Angeles", "UTC"])
@pytest.mark.parametrize("minutes", [-30, 30])
def test_what_is_later_is_so_on_every_clock(tmp_path: Path, zone: str, minutes: int) -> None:
    """A page is dated by when it was taken in, in UTC, and a turn by the store's clock."""
    layout.create(tmp_path / "memory", zone)
    store, page = layout.open_store(tmp_path / "memory", {}), tmp_path / "hall.md"
    broken, hot = "The heating is broken.", "The heating is on."
    begin, end = (f"2026-02-10T05:{minute}:00+00:00" for minute in (30, 59))
    said = datetime.fromisoformat(begin) + timedelta(minutes=minutes)
    note(store, page, "The hall is green.\n" if minutes < 0 else f"{hot}\n", now=begin)
    tell(store, row(hot if minutes < 0 else broken, timestamp=said.isoformat()))
    if minutes < 0:  # it was written after the hour of the first look at the page
        note(store, page, f"{broken}\n", now=end)
    told = {each.text: each for each in found(store, "is the heating on")}
    assert told[hot].until or told[hot].perhaps_until
    assert (told[broken].until, told[broken].perhaps_until) == (None, None)


@pytest.mark.parametrize("zone", ["Europe/Amsterdam", "America/Los_Angeles", "UTC"])
def test_what_was_said_before_a_page_was_taken_in_ends_nothing_of_it(
    tmp_path: Path, zone: str
) -> None:
    layout.create(tmp_path / "memory", zone)
    store, page = layout.open_store(tmp_path / "memory", {}), tmp_path / "hall.md"
    note(store, page, "The heating is on.\n", now="2026-02-10T05:30:00+00:00")
    tell(store, row("The heating is broken.", timestamp="2026-02-10T05:00:00Z"))
    assert not any(each.until or each.perhaps_until for each in found(store, "is the heating on"))


def test_an_agents_word_ends_its_owners_perhaps(store: Store, tmp_path: Path) -> None:
    old = "The gateway is up."
    tell(store, row(old, timestamp="2026-02-01T08:00Z"))
    dead = "- 2026-02-02 The gateway is dead, its power supply burnt out.\n"
    note(store, tmp_path / "MEMORY.md", dead)
    (told,) = [each for each in found(store, "is the gateway up") if each.text == old]
    assert (told.until, told.perhaps_until) == (None, "2026-02-02")


@pytest.mark.parametrize(("old", "new", "question"), table(__file__, "perhaps over"))
def test_what_may_be_over_is_below(store: Store, old: str, new: str, question: str) -> None:
    assert [each.text for each in answered(store, question, old, new)] == [new, old]


def test_a_rule_outlives_the_minor_part_of_its_message_that_changed(store: Store) -> None:
    text = "We never promise gluten free, not even for oats. The flour is in the blue bin."
    tell(store, row(text, timestamp="2026-02-01T08:00Z", session="s1"))
    tell(store, row("Yellow, for moths.", timestamp="2026-02-03T08:00Z", session="s2"))
    key, heir = (found(store, words)[0].id for words in ("gluten free oats", "yellow for moths"))
    rule, part, now = (
        "We never promise gluten free, not even for oats.",
        "The flour is in the blue bin.",
        "Yellow.",
    )
    ids = {each: statement_id(normalise_text(each)) for each in (rule, part, now)}
    for each, day, fields in (
        (rule, 1, {"sources": (key,)}),
        (part, 1, {"sources": (key,), "valid_until": "2026-02-03"}),
        (now, 3, {"sources": (heir,), "supersedes": ids[part]}),
    ):
        aging.state(store, each, date(2026, 2, day), id=ids[each], **fields)
    question = "can we tell a customer that the oat bread is gluten free?"
    assert [each.until for each in found(store, question) if each.text == text] == [None]
    first, second, *_ = found(store, "in which bin is the flour?")
    assert (second.text, second.until, second.replaced_by) == (text, "2026-02-03", first.id)
    assert first.id == heir


def test_a_new_page_of_a_known_folder_is_later(store: Store, tmp_path: Path) -> None:
    """It was written between two captures of the folder, so rather after what was said in their first half."""
    note(store, tmp_path / "house.md", "The roof is red.\n", now="2026-02-01T20:00:00+01:00")
    old, new = "The plumber is Ekman.", "The plumber is Sundin now."
    tell(store, row(old, timestamp="2026-02-03T08:00Z"))
    note(store, tmp_path / "people.md", f"{new}\n", now="2026-02-20T20:00:00+01:00")
    first, *others = found(store, "who is the plumber")
    assert first.text == new
    assert [each.perhaps_until for each in others if each.text == old] == ["2026-02-20"]


CAFE = """\
We opened the cafe in the old pharmacy in 2017, with eleven tables. Dogs are welcome, laptops only until \
noon. The landlord is old Herr Sperling, who lives above us and wants his coffee at nine, and the rent is \
1450 a month until the end of the lease. My brother keeps the books."""


@pytest.mark.parametrize(
    ("question", "is_over"), [("what is the rent", True), ("are dogs welcome", False)]
)
def test_a_long_passage_is_perhaps_over_in_part(
    store: Store, tmp_path: Path, question: str, is_over: bool
) -> None:
    """It is compared by the clause that the question asks about."""
    note(store, tmp_path / "cafe.md", f"# Cafe\n\n{CAFE}\n", now="2026-02-01T20:00:00+01:00")
    tell(store, row("The rent goes up to 1600 from June.", timestamp="2026-02-03T08:00Z"))
    items = found(store, question)
    (old,) = [each for each in items if each.text == CAFE]
    assert (old.until, old.perhaps_until) == (None, "2026-02-03" if is_over else None)
    assert items.index(old) == is_over


def test_a_document_that_says_it_is_superseded_is_over(store: Store, tmp_path: Path) -> None:
    record = "# ADR {}: Queue\n\nStatus: {}\n\n{}\n"
    for day, number, status, text in (
        ("01", "0003", "accepted", "We use RabbitMQ for all events."),
        ("09", "0007", "accepted", "Events go through Kafka."),
        ("09", "0003", "superseded by ADR 0007", "We use RabbitMQ for all events."),
    ):
        path = tmp_path / f"{number}.md"
        note(store, path, record.format(number, status, text), now=f"2026-02-{day}T20:00:00+01:00")
    items = [each for each in found(store, "what do we use for events") if "vents" in each.text]
    assert ["Kafka" in each.text for each in items] == [True, False]
    assert (items[1].until, items[1].replaced_by) == ("2026-02-09", items[0].id)


@pytest.mark.parametrize(
    ("text", "over"),
    [
        ("# Notes\n\nStatus: superseded by Plan B\n\n{}\n\n## Plan B\n\n{}\n", [0]),
        ("# Notes\n\n## Plan A\n\nStatus: superseded\n\n{}\n\n## Plan B\n\n{}\n", [0]),
        ("## A\n\n{}\n\nStatus: superseded by B\n\n## B\n\n{}\n\nStatus: superseded by A", [0, 1]),
    ],
)
def test_a_status_is_about_its_section(
    store: Store, tmp_path: Path, text: str, over: list[int]
) -> None:
    told = ("The budget of the hall is 4,000 euros.", "The rent of the hall is 900 euros.")
    note(store, tmp_path / "plans.md", text.format(*told), now="2026-02-01T20:00:00+01:00")
    items = found(store, "what do we pay for the hall")
    assert {each.text for each in items if each.until} == {told[at] for at in over}


def test_of_a_past_period_what_was_told_later_is_below(store: Store) -> None:
    told = ("Standup is at 9:30.", "Standup is at 10 now.")
    for month, text in zip(("01", "02"), told, strict=True):
        tell(store, row(text, timestamp=f"2026-{month}-12T08:00Z", session=month))
    items = found(store, "when was standup in January")
    assert [(each.text, each.until, each.perhaps_until) for each in items] == [
        (text, None, None) for text in told
    ]


LONG = """\
Post bot is running (140 posts an account, 20 a day). The kiosk sold nine maps, four umbrellas and the \
last of the postcards from the old set. Two visitors asked for the key of the tower, and one of them \
left a note about the bell."""


@pytest.mark.parametrize(
    ("old", "new", "question", "is_over"),
    [
        ("## Crew\n\n- Skipper: Ines", "## Week two\n\n- Skipper: Bao", "who is the skipper", True),
        (
            "## Crew\n\n- Skipper: Ines",
            "## Week two\n\n- Skipper: Bao",
            "skipper of the crew",
            False,
        ),
        ("- The weir pump runs.", "- The weir pump is broken.", "does the weir pump run", True),
        (LONG, "- Post bot: running (420 posts, 20 a day)", "how many posts has the bot", True),
    ],
)
def test_a_line_of_a_day_is_held_against_one_that_was_captured_later(
    store: Store, tmp_path: Path, old: str, new: str, question: str, *, is_over: bool
) -> None:
    """Without their headings, unless the question names one, and as wholes."""
    for hour, text in enumerate((old, new), 10):
        path = tmp_path / f"2026-02-03-{hour}.md"
        note(store, path, f"{text}\n", now=f"2026-02-03T{hour}:00:00+01:00")
    items = found(store, question)
    assert [bool(each.perhaps_until) for each in items if each.text in old] == [is_over]
    assert not any(each.perhaps_until for each in items if each.text in new)
