"""What a change replaces, by the real program on a real store."""

import itertools
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import numpy as np
import pytest
from ingesting import new_store, take
from sample_store import ask
from sleeping import bytes_of, chat, current, rows, sleep
from tables import table
from using_git import commit, git

from clsm_cli.consolidation.calibrate import is_same_day
from clsm_cli.consolidation.claims import Claim, sort_claims
from clsm_cli.consolidation.edges import ended_turns, with_validity
from clsm_cli.consolidation.lookup import StatementIndex
from clsm_cli.consolidation.supersession_check import said_before
from clsm_cli.curation.correction import correct
from clsm_cli.curation.review_queue import decide
from clsm_cli.heads import pair_head
from clsm_cli.model.graph import Edge, Statement
from clsm_cli.store.layout import Store, create, open_store
from clsm_cli.store.logs import review_items
from clsm_cli.text import plain, todo

HOME = ZoneInfo("Europe/Amsterdam")
CLUB = (
    "Our reading club meets at Holm on Fridays.",
    "Our reading club no longer meets at Holm, it has moved to Besgate.",
)


def monday(week: int) -> datetime:
    return datetime.fromisoformat("2025-01-06T10:00:00+01:00") + timedelta(weeks=week)


def night(week: int) -> str:
    return (monday(week) + timedelta(days=4, hours=17)).isoformat()


def told(folder: Path, *texts: str, speaker: str = "user") -> Store:
    """A store that heard a sentence every Monday, and slept after each."""
    return talked(folder, *((speaker, text) for text in texts))


def test_the_older_value_is_closed_and_kept(tmp_path: Path) -> None:
    store = told(tmp_path, *CLUB)
    assert len(current(store)) == 1
    assert "moved to Besgate" in current(store)[0]
    found = rows(store).values()
    (closed,) = [row for row in found if row.valid_until and "Holm" in row.text]
    assert (closed.valid_until or "")[:10] == monday(1).isoformat()[:10]
    (old,) = [row for row in found if row.superseded_at]
    (new,) = [row for row in found if row.is_current and row.kind != "gist"]
    assert new.supersedes == old.id


@pytest.mark.parametrize("mark", ["", "."])
@pytest.mark.parametrize("speaker", ["user", "Mara"])
def test_a_change_is_seen_that_has_no_word_of_what_it_ends(
    tmp_path: Path, speaker: str, mark: str
) -> None:
    database, changed = (
        f"We're using PostgreSQL for the database{mark}",
        "Actually, we migrated to SQLite.",
    )
    store = told(tmp_path, database, "I like Java.", changed, speaker=speaker)
    title = "" if speaker == "user" else f"{speaker}: "
    assert [row.text for row in rows(store).values() if row.valid_until] == [title + database]
    assert title + changed in current(store)


@pytest.mark.parametrize("speaker", ["user", "Mara"])
def test_what_is_called_off_is_over_and_nothing_else(tmp_path: Path, speaker: str) -> None:
    going, job, off = (
        "We're going to Ghent on 3 May.",
        "Tomas works at Philips.",
        "The Ghent trip is cancelled.",
    )
    store = told(
        tmp_path,
        going,
        job,
        off,
        "The party is off, Tomas has to work on Saturday.",
        speaker=speaker,
    )
    title = "" if speaker == "user" else f"{speaker}: "
    assert [row.text for row in rows(store).values() if row.valid_until] == [title + going]
    assert "contradiction" not in {each.reason for each in review_items(store).values()}


@pytest.mark.parametrize(
    "said", ["The rack switch has firmware 7.12.{}.", "tracking-redis has {}gb of memory."]
)
def test_a_sentence_with_another_number_repeats_nothing(tmp_path: Path, said: str) -> None:
    store = told(tmp_path, said.format(1), said.format(2))
    assert said.format(2) in current(store)
    assert "contradiction" in {each.reason for each in review_items(store).values()}


def test_what_is_said_in_a_chat_is_held_against_no_other_subject(tmp_path: Path) -> None:
    store = new_store(tmp_path / "memory")
    said = [
        ("Ada", monday(0).isoformat(), "thinking of moving to Lisbon after my exams"),
        ("Ada", monday(1).isoformat(), "staying here, I got a student job at the aquarium"),
        ("Ada", monday(2).isoformat(), "Bo is out of surgery, all went well"),
        ("Bo", monday(3).isoformat(), "I'm working from home on Thursdays, call me then"),
        ("Bo", monday(4).isoformat(), "Priya wants a pasta machine for her birthday"),
    ]
    take(store, chat(tmp_path, "family", said))
    sleep(store, night(5))
    asked = [each for each in review_items(store).values() if each.reason == "contradiction"]
    pairs = [(row.text, row.valid_until) for row in rows(store).values() if row.valid_until]
    assert (len(asked), len(pairs)) <= (1, 0), (asked, pairs)


def talked(folder: Path, *turns: tuple[str, str]) -> Store:
    """A store that heard a conversation with an agent on each of some Mondays, and slept after each."""
    store = new_store(folder / "memory")
    for week, (speaker, text) in enumerate(turns):
        lines = zip((speaker, "user"), text.split(" / "), strict=False)
        said = [
            (who, (monday(week) + timedelta(minutes=n)).isoformat(), each)
            for n, (who, each) in enumerate(lines)
        ]
        take(store, chat(folder, f"week-{week}", said))
        sleep(store, night(week))
    return store


@pytest.mark.parametrize(
    "turns",
    [
        [("user", "My rent is 1,210 euros now."), ("assistant", "Your rent is 1,300 euros.")],
        [("assistant", "Tomas works at Philips. / No, he's at ASML.")],
        [
            ("user", "Our reading club meets at Holm on Fridays."),
            ("assistant", "Our reading club no longer meets at Holm, it has moved to Besgate."),
        ],
    ],
)
def test_an_agent_ends_nothing_and_states_nothing_that_its_owner_gainsays(
    tmp_path: Path, turns: list[tuple[str, str]]
) -> None:
    store = talked(tmp_path, *turns)
    agents = [text.split(" / ")[0] for speaker, text in turns if speaker == "assistant"]
    assert not {*agents} & {*current(store)}
    assert {text for speaker, text in turns if speaker == "user"} <= {*current(store)}
    assert not any(row.valid_until for row in rows(store).values())


def test_a_person_is_only_asked_what_is_worth_asking(tmp_path: Path) -> None:
    dinghy = (
        "Ole wants to sell the old dinghy, it needs a new floor, 800 euros maybe.",
        "The old dinghy is sold to the sailing school in Strande for 650 euros.",
    )
    petra = ("Petra says truncation at 250.", "Petra took Snorre up Ben Griam.")
    dinner = (
        "Team dinner at Arsenaal cancelled by the restaurant, double booked.",
        "Arsenaal just called: double booked, no dinner for us on the 4th.",
    )
    store = told(tmp_path, dinghy[0], petra[0], " / ".join(dinner), dinghy[1], petra[1])
    assert {*petra, *dinner} <= {*current(store)}
    assert [(each.kept, each.other) for each in review_items(store).values()] == [dinghy]


def test_who_was_there_is_a_property_of_its_own_note(tmp_path: Path) -> None:
    store = told(tmp_path, "attendees: [Ann, Ben]", "attendees: [Ann, Carla]")
    assert not review_items(store)
    assert not any(row.valid_until for row in rows(store).values())


def test_a_preference_said_again_by_what_it_is_not_is_no_contradiction(tmp_path: Path) -> None:
    store = told(tmp_path, "I prefer tabs over spaces", "Not two spaces, use tabs instead")
    assert not review_items(store)
    assert not any(row.valid_until for row in rows(store).values())


def test_two_people_and_two_things_stand_side_by_side(tmp_path: Path) -> None:
    store = told(
        tmp_path,
        "My sister Ann Hart lives in Holm with her husband.",
        "My brother Ben Vos lives in Besgate with his wife.",
        "Our rowing club meets at Kelmoor on Fridays.",
        "Our reading club meets at Torvel on Fridays.",
        "Zoe lives in Malmo.",
        "Zoe works as a judge.",
        "I am learning Greek for the trip to Corfu.",
        "Corfu is cancelled, we go to Leiden instead.",
    )
    assert len(current(store)) == 8


def test_names_keep_rules_apart(tmp_path: Path) -> None:
    store = told(
        tmp_path,
        "First day at Holm Foods today, I work for them from now on.",
        "First day at Besgate Foods today, I work for them from now on.",
        "First day at Torvel Foods today, I work for them from now on.",
    )
    for row in rows(store).values():
        if row.kind != "gist":
            assert len(row.sources) == 1, row.text


def test_the_latest_is_recalled_first(tmp_path: Path) -> None:
    store = told(
        tmp_path,
        "My gym is Holm Fitness now.",
        "I work out at Besgate Sports these days.",
        "New gym: Torvel Hall, two minutes from here.",
    )
    answer = ask(store, "Which gym do I go to?", now=night(3))
    assert "Torvel" in answer.memories[0].text
    before = ask(store, "Which gym did I go to before?", now=night(3))
    assert any("Holm" in memory.text for memory in before.memories)


@pytest.mark.parametrize("zone", ["Europe/Amsterdam", "America/Los_Angeles", "UTC"])
@pytest.mark.parametrize("minutes", [-30, 30])
def test_what_was_said_last_holds_on_every_clock(tmp_path: Path, zone: str, minutes: int) -> None:
    """A page is dated by when it was read, in UTC, and a turn by the store's clock."""
    create(tmp_path / "memory", zone)
    store, page = open_store(tmp_path / "memory", {}), tmp_path / "club.md"
    taken_in = datetime.fromisoformat("2025-01-07T05:30:00+00:00")
    said = (taken_in + timedelta(minutes=minutes)).isoformat()
    page.write_text(f"{CLUB[minutes < 0]}\n\nThe boat lies in Ghent.\n")
    take(store, page, now=taken_in.isoformat())
    sleep(store, taken_in.isoformat())
    take(store, chat(tmp_path, "talk", [("user", said, CLUB[minutes > 0])]))
    sleep(store, (taken_in + timedelta(days=1)).isoformat())
    assert current(store, "club") == [CLUB[1]]


@pytest.mark.parametrize(("until", "later"), table(__file__, "until and later"))
def test_a_turn_was_over_when_the_last_that_is_stated_of_it_was(until: str, later: str) -> None:
    made = Statement(id="a", rev=(1, "a"), sources=("k",))
    for order in ((until, later), (later, until)):
        told = [replace(made, valid_until=each) for each in order]
        assert ended_turns(told, HOME) == {"k": later}
    closed = dict(zip("kl", (until, later), strict=True))
    edge = Edge(id="e", rev=(1, "a"), source="x", target="y", sources=("k", "l"))
    ended = with_validity(edge, closed, closed, HOME)
    assert (ended.valid_from, ended.valid_until) == (until, later)


@pytest.mark.parametrize(("first", "last", "zone"), table(__file__, "instants"))
def test_claims_are_read_in_the_order_of_their_instants(first: str, last: str, zone: str) -> None:
    told = [Claim(valid_from=time, recorded_at=time) for time in (first, last)]
    assert sort_claims(told[::-1], ZoneInfo(zone)) == told


@pytest.mark.parametrize(
    ("recorded", "zone", "is_same"),
    [
        ("2026-02-21T04:00:00Z", "America/Los_Angeles", False),
        ("2026-02-21T09:00:00Z", "America/Los_Angeles", True),
        ("2026-02-21T04:00:00Z", "UTC", True),
    ],
)
def test_yesterday_is_counted_by_the_clock_of_the_store(
    recorded: str, zone: str, *, is_same: bool
) -> None:
    text = "I rowed to Lund yesterday."
    row = Statement(id="f", rev=(1, "pi"), text=text, recorded_at=recorded)
    claim = Claim(text=text, sources=("k",), recorded_at="2026-02-21")
    assert is_same_day(claim, row, ZoneInfo(zone)) is is_same


def test_an_edge_ends_with_all_that_is_stated_of_it() -> None:
    def row(name: str, until: str | None = None, at: str | None = None) -> Statement:
        made = Statement(id=name, rev=(1, "a"), text=name, sources=(name[0],))
        return replace(made, valid_until=until, superseded_at=at)

    end, at = "2026-02-02", "2026-02-03"
    never = replace(row("d1", at=at), withdrawn=True, valid_from="2026-02-01")
    told = [row("a1", at=at), row("a2", end), row("b1", end), row("b2"), row("c1", at=at), never]
    closed = ended_turns(told, HOME)
    assert closed == {"a": "2026-02-02", "d": "2026-02-01"}
    edge = Edge(id="e", rev=(1, "a"), source="x", target="y", sources=("a", "b"))
    assert with_validity(edge, {}, closed, HOME).valid_until is None
    assert (
        with_validity(replace(edge, sources=("a",)), {}, closed, HOME).valid_until == "2026-02-02"
    )


def test_the_same_in_other_words_is_one_statement_with_both_sources(tmp_path: Path) -> None:
    store = told(
        tmp_path,
        "We decided to call our new project Heron.",
        "Our new project will be called Heron, that is decided.",
    )
    (row,) = [row for row in rows(store).values() if row.kind != "gist"]
    assert len(row.sources) == 2


def test_two_rules_in_like_words_are_two() -> None:
    rule = Statement(id="f-1", rev=(1, "pi"), text="Never commit a file with API keys.")
    vector = np.ones(1, np.float32)
    known = StatementIndex([rule], {"f-1": vector})
    assert said_before(known, Claim(text="Never return API keys in a response."), vector) is None


def test_near_statements_are_read_once_for_all_claims(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [Statement(id=f"f-{n}", rev=(1, "pi"), text=f"Gauge {n} is wet.") for n in range(50)]
    vector = np.ones(1, np.float32)
    known = StatementIndex(rows, dict.fromkeys((row.id for row in rows), vector))
    read, count = pair_head.particulars, itertools.count()
    monkeypatch.setattr(pair_head, "particulars", lambda found: (next(count), read(found))[1])
    claims = [Claim(text=f"Gauge {n} is dry.") for n in range(90, 93)]
    assert [said_before(known, claim, vector) for claim in claims] == [None] * len(claims)
    assert next(count) <= len(rows) + len(claims)


def test_a_task_is_found_among_many_that_are_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    tasks = [
        Statement(id=f"f-{n}", rev=(1, "pi"), kind="task", text=f"Call gauge {n} of hut {n}")
        for n in range(4200)
    ]
    known, read, count = StatementIndex(tasks, {}), plain.strip_markdown, itertools.count()
    monkeypatch.setattr(todo, "strip_markdown", lambda text: (next(count), read(text))[1])
    items = ("Call hut 9", "Paint hut 7", "Call gauge 7 of hut 7")
    found = [known.task_of(item) for item in items]
    assert [row and row.id for row in found] == ["f-9", None, "f-7"]
    assert next(count) <= len(tasks) + len(found)


# What two machines learnt apart, after git put it together: the next night of each puts it in order.


def clones(folder: Path) -> list[Store]:
    """Two machines with a clone each of one store."""
    new_store(folder / "a", "a")
    assert git(folder, "init", "-q", "--bare", "-b", "main", str(folder / "o")).returncode == 0
    git(folder / "a", "init", "-q", "-b", "main")
    git(folder / "a", "remote", "add", "origin", str(folder / "o"))
    commit(folder / "a")
    assert git(folder / "a", "push", "-q", "origin", "main").returncode == 0
    assert git(folder, "clone", "-q", str(folder / "o"), str(folder / "b")).returncode == 0
    return [open_store(folder / name, {"CLSM_DEVICE": name}) for name in "ab"]


def exchange(machines: list[Store]) -> None:
    """Each commits, merges and pushes; the first one once more, to hear of the second."""
    for store in (*machines, machines[0]):
        commit(store.root)
        pull = git(store.root, "pull", "-q", "--no-rebase", "--no-edit", "origin", "main")
        assert pull.returncode == 0
        assert git(store.root, "push", "-q", "origin", "HEAD:main").returncode == 0


def files(store: Store) -> dict[str, bytes]:
    return {name: data for name, data in bytes_of(store).items() if not name.startswith(".git/")}


def test_two_machines_where_a_person_corrected_one_statement(tmp_path: Path) -> None:
    machines = clones(tmp_path)
    take(machines[0], chat(tmp_path, "week-0", [("user", monday(0).isoformat(), CLUB[0])]))
    sleep(machines[0], night(0))
    exchange(machines)
    (old,) = [row.id for row in rows(machines[0]).values() if row.is_current]
    said = ("Our reading club meets in Delft.", "Our reading club meets in Gouda.")
    for week, (store, text) in enumerate(zip(machines, said, strict=True), 1):
        correct(store, old, text, datetime.fromisoformat(night(week)), print)
    exchange(machines)
    asked = set()
    for store in machines:
        sleep(store, night(3))
        asked |= {(i.id, i.kept, i.other) for i in review_items(store).values() if i.other in said}
    ((item, *texts),) = asked
    assert texts == [*said]
    decide(machines[0], [(item, "accepted")], datetime.fromisoformat(night(4)), print)
    assert current(machines[0], "club") == [said[1]]


def test_a_value_that_each_machine_heard_of(tmp_path: Path) -> None:
    machines = clones(tmp_path)
    for week, (store, text) in enumerate(zip(machines, CLUB, strict=True)):
        take(store, chat(tmp_path, f"week-{week}", [("user", monday(week).isoformat(), text)]))
        sleep(store, night(week))
    exchange(machines)
    for store in machines:
        sleep(store, night(2))
        (held,) = current(store, "club")
        assert "Besgate" in held
        (closed,) = [row for row in rows(store).values() if row.valid_until]
        assert (closed.valid_until or "")[:10] == monday(1).isoformat()[:10]
    exchange(machines)
    assert files(machines[0]) == files(machines[1])
    for store in machines:
        assert sleep(store, night(3)).run is None
