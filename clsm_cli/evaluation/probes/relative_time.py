"""Relative time: the session of the day that a question names by its distance, order or an event."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from typing import TYPE_CHECKING, Any

from clsm_cli.evaluation.dataset import Query
from clsm_cli.evaluation.probes import asking, material
from clsm_cli.evaluation.probes.asking import BM25, CLSM, MINILM
from clsm_cli.evaluation.probes.material import Draw, Line
from clsm_cli.evaluation.result import ProbeResult

if TYPE_CHECKING:
    from clsm_cli.evaluation.loaders.cases import Said
    from clsm_cli.evaluation.stores import Workshop
    from clsm_cli.retrieval.meaning import Engine

ABOUT = (
    "A session a day for 60 days, each telling a dinner, a sport and a meeting; asked for one of"
    " them on a day that is named from now, by weekday, by date, from an event or by its place in"
    " order. Every day tells the same in much the same words; only its date tells it apart."
)
CRITERION = "in 90 % of the questions the first item is of the session that is meant"
BARS = {"right session first": 0.9}
SYSTEMS = (CLSM, BM25, MINILM)

DAYS = 60
TOPICS = ("dinner", "sport", "met")
ASKED = 2
"""Topics that are asked for with each way to name a day."""
CHATTER = 2
"""Lines of a session about something else."""
EVENTS = {"trip": 25, "wedding": 18}
"""Days before now."""
MIDWEEK = date(2025, 6, 4)
"""A Wednesday: what "last Monday" means is beyond dispute on it."""


def run(shop: Workshop, engine: Engine, seed: int) -> ProbeResult:
    """Tell, sleep and ask.

    Raises:
        DiskError: The work folder cannot be written.
    """
    queries, turns = made(seed)
    bench = asking.bench(shop, engine, "relative-time", turns)
    session = {turn.id: turn.session for turn in turns}
    verdicts = []
    for name, answers in asking.ask(bench, queries, SYSTEMS).items():
        held = [
            {session[turn] for item in answer.items[:1] for turn in item.turns}
            == {session[query.gold[0]]}
            for query, answer in zip(queries, answers, strict=True)
        ]
        verdicts.append(asking.verdict(name, {"right session first": asking.share(held)}, BARS))
    return ProbeResult("relative-time", ABOUT, CRITERION, tuple(verdicts))


def made(seed: int) -> tuple[list[Query], list[Said]]:
    """The questions of a seed with the turn that is meant, and the conversation."""
    draw = Draw(seed, "relative-time")
    rows = material.load("relative-time")
    people = [draw.name() for _ in range(12)]
    given = {"town": draw.name("towns"), "p": draw.name()}
    now = MIDWEEK + timedelta(weeks=draw.below(40))
    turns: list[Said] = []
    for number in range(DAYS):
        day = now - timedelta(days=DAYS - number)
        lines = [Line(_told(draw, rows, topic, people), f"{day}-{topic}") for topic in TOPICS]
        for event, before in EVENTS.items():
            if day == now - timedelta(days=before):
                lines.append(Line(rows[event].format_map(given), event))
        talk = draw.talk(draw.some(lines, len(lines)), CHATTER, people)
        turns += material.session(number, datetime.combine(day, time(20), UTC), talk)
    queries = []
    for number, way in enumerate(rows["when"]):
        day = _meant(draw, way, now)
        words = {"weekday": f"{day:%A}", "date": f"{day.day} {day:%B}", "month": f"{day:%B}"}
        when = way["text"].format_map({**given, **words, "day": _ordinal(day.day)})
        for topic in draw.some(TOPICS, ASKED):
            text = draw.one(rows["ask"][topic]).format(when=when)
            at = datetime.combine(now, time(20), UTC).isoformat()
            queries.append(Query(f"{number}-{topic}", text, gold=(f"{day}-{topic}",), at=at))
    return queries, turns


def _told(draw: Draw, rows: dict[str, Any], topic: str, people: list[str]) -> str:
    words = {"dish": draw.one(material.load("words")["dishes"]), "p": draw.one(people)}
    return str(draw.one(rows[topic]).format_map({**words, "n": 3 + draw.below(28)}))


def _meant(draw: Draw, way: dict[str, Any], now: date) -> date:
    """The day that a way to name one means; see ``relative-time.yaml``."""
    monday = now - timedelta(days=now.weekday())
    if "week" in way:
        return monday + timedelta(days=draw.below(7), weeks=-way["week"])
    if "before" in way:
        return now - timedelta(days=1 + draw.below(6), weeks=way["before"])
    if "event" in way:
        return now + timedelta(days=way["offset"] - EVENTS[way["event"]])
    if "session" in way:
        return now - timedelta(days=DAYS - way["session"] % DAYS)
    return now - timedelta(days=way["days"])


def _ordinal(day: int) -> str:
    """A day of the month as it is said.

    >>> _ordinal(1), _ordinal(12), _ordinal(23)
    ('1st', '12th', '23rd')
    """
    ending = "th" if day in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(day % 10, "th")
    return f"{day}{ending}"
