"""The probes: each tells a memory something, lets it sleep, asks, and judges the answers.

Drift: facts that change again and again. Distractor, split information, and identifiers: told in one
go, consolidated once.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import chain, groupby, starmap
from operator import attrgetter
from pathlib import Path
from statistics import fmean
from typing import Any

from clsm_cli.evaluation.benches import Bench
from clsm_cli.evaluation.dataset import Chat, Folders, LabelledQuery, LabelledTurn, packaged_yaml
from clsm_cli.evaluation.measures import Item, Retrieved
from clsm_cli.evaluation.probes import material
from clsm_cli.evaluation.probes.material import Line, RandomDraw, first_rank, make_bench, make_turns
from clsm_cli.evaluation.result import ProbeResult, ProbeVerdict
from clsm_cli.evaluation.stores import StoreFactory
from clsm_cli.evaluation.systems import CLSM, MAIN, ask_main
from clsm_cli.model.graph import Statement
from clsm_cli.model.grouping import grouped
from clsm_cli.retrieval.dense_search import Engine
from clsm_cli.startup.records import NamedTuple
from clsm_cli.store import atomic, record_files, shards

SystemFigures = dict[str, dict[str, float]]  # system → figure → value
Judge = Callable[[LabelledQuery, Retrieved], dict[str, float]]  # the figures of one answer

CHATTER, LONG_CHATTER = 3, 4  # lines of a session about something else
FIRST = 10  # items of an answer that are looked at

DRIFT_SESSIONS = 50
CHECKS = 5  # times at which everything is asked, as many sessions apart
TELLINGS = 10  # of each fact


class FactChange(NamedTuple):
    """One change of a fact."""

    id: str
    fact: int
    week: int
    value: str
    text: str


def run_drift(factory: StoreFactory, engine: Engine, seed: int) -> SystemFigures:
    """Tell, sleep and ask."""
    asks, tellings, turns = make_drift(seed)
    each = DRIFT_SESSIONS // CHECKS
    sessions = [list(session) for _, session in groupby(turns, key=attrgetter("session"))]
    parts = [list(chain(*sessions[at : at + each])) for at in range(0, DRIFT_SESSIONS, each)]
    benches = material.growing_benches(factory, engine, "drift", parts)
    latest: dict[str, list[float]] = {name: [] for name in MAIN}
    for check, bench in enumerate(benches, 1):
        factory.progress("drift", check, CHECKS)
        so_far = grouped((t.fact, t) for t in tellings if t.week < check * each)
        wordings = (ask[check % len(ask)] for ask in asks)
        queries = [LabelledQuery(f"{check}-{fact}", ask) for fact, ask in enumerate(wordings)]
        for name, answers in ask_main(bench, queries).items():
            latest[name] += (tells_latest(a.items, so_far[at]) for at, a in enumerate(answers))
    figures = {name: {"latest": fmean(rows)} for name, rows in latest.items()}
    figures[CLSM] |= closing_figures(benches[-1], tellings)
    return figures


def make_drift(seed: int) -> tuple[list[list[str]], list[FactChange], list[LabelledTurn]]:
    """The questions for each fact in several wordings, its changes, and the conversation of a seed."""
    draw = RandomDraw(seed, "drift")
    (one, other), tellings = draw.people[:2], list[FactChange]()
    names = {"p": one, "q": other, "project": draw.name(), "pet": draw.name()}
    facts = packaged_yaml("probes/drift.yaml")
    for fact, row in enumerate(facts):
        # The first telling is early, so that every check has something to ask for.
        weeks = [draw.below(5), *sorted(draw.some(range(5, DRIFT_SESSIONS), TELLINGS - 1))]
        values = draw.values(row["values"], TELLINGS)
        for week, value, old in zip(weeks, values, ["", *values], strict=False):
            wordings = row["news"] if old else row["news"][:1]
            text = draw.one(wordings).format_map({**names, "v": value, "old": old})
            tellings.append(FactChange(f"{row['id']}-{week}", fact, week, value, text))
    tellings.sort(key=lambda telling: telling.week)
    asks = [[ask.format_map(names) for ask in row["asks"]] for row in facts]
    placed = ((each.week, Line(each.text, each.id)) for each in tellings)
    start, every = datetime(2025, 3, 3, 18, tzinfo=UTC), timedelta(weeks=1)
    return asks, tellings, _conversation(draw, DRIFT_SESSIONS, placed, CHATTER, start, every)


def _conversation(
    draw: RandomDraw,
    count: int,
    placed: Iterable[tuple[int, Line]],
    chatter: int,
    start: datetime,
    every: timedelta,
) -> list[LabelledTurn]:
    """A conversation of some sessions, of lines that each belong to one and are mixed there."""
    lines = grouped(placed)
    here = (lines.get(at, []) for at in range(count))
    return make_turns(draw, (draw.some(each, len(each)) for each in here), chatter, start, every)


def tells_latest(items: Iterable[Item], changes: Iterable[FactChange]) -> bool:
    """Whether the first item that tells a fact tells its latest value, and no other."""
    values = {change.id: change.value for change in changes}
    by_item = ({values[turn] for turn in item.turns if turn in values} for item in items)
    return next(filter(None, by_item), None) == {list(values.values())[-1]}


def closing_figures(bench: Bench, tellings: Sequence[FactChange]) -> dict[str, float]:
    """The share of replaced values that was ``learnt`` as statements, of these that no longer current."""
    latest = {telling.fact: telling.value for telling in tellings}
    replaced = [each for each in tellings if each.value != latest[each.fact]]
    stated = _statements(bench)
    found = ([row.is_current for row in stated[e.id] if e.value in row.text] for e in replaced)
    closed = [not any(current) for current in found if current]
    share = sum(closed) / len(closed) if closed else 0.0
    return {"learnt": len(closed) / len(replaced), "closed": share}


def _statements(bench: Bench) -> defaultdict[str, list[Statement]]:
    """Id of a turn → the statements that rest on it."""
    ids = {passage.key: passage.foreign_id or "" for passage in bench.passages}
    graph = shards.load_graph(bench.store.graphs(), only="statement")
    rows = record_files.load_statements(bench.store, graph.records, bench.now.isoformat())
    found: defaultdict[str, list[Statement]] = defaultdict(list)
    for row in rows.values():
        for key in row.sources if row.kind != "gist" else ():
            found[ids.get(key, "")].append(row)
    return found


FALSE_KINDS = SIMILAR, SUPERSEDED, POISONED = "similar", "superseded", "poisoned"
TRAPS = 3  # questions from each template of the distractor probe, about other people
TRAP_SESSIONS = 24


def run_distractor(factory: StoreFactory, engine: Engine, seed: int) -> SystemFigures:
    """The share of questions whose true memory stands above each kind of false one."""
    queries, turns = make_traps(seed)
    bench = make_bench(factory, engine, "distractor", Chat((), tuple(turns)))
    return judged_answers(
        bench, queries, lambda q, a: {kind: is_above(a, q, kind) for kind in FALSE_KINDS}
    )


def judged_answers(bench: Bench, queries: Sequence[LabelledQuery], judge: Judge) -> SystemFigures:
    """Of each system the means of what is judged of its answers."""
    figures: SystemFigures = {}
    for name, answers in ask_main(bench, queries).items():
        rows = [judge(*pair) for pair in zip(queries, answers, strict=True)]
        figures[name] = {key: fmean(row[key] for row in rows) for key in rows[0]}
    return figures


def is_above(answer: Retrieved, query: LabelledQuery, kind: str) -> bool:
    """Whether the true memory is returned, and above every other of a kind."""

    def place(name: str) -> float:
        start = f"{query.id}-{name}"
        return first_rank(answer.items, lambda it: any(t.startswith(start) for t in it.turns))

    return place("true") < place(kind)


def make_traps(seed: int) -> tuple[list[LabelledQuery], list[LabelledTurn]]:
    """The questions and the conversation of a seed.

    Lines for the ``n``-th question have ids ``n-true``, ``n-similar-0`` and so on.
    """
    draw = RandomDraw(seed, "distractor")
    rows = [row for row in packaged_yaml("probes/distractor.yaml") for _ in range(TRAPS)]
    drawn = [_trap(draw, row, number) for number, row in enumerate(rows)]
    placed: list[tuple[int, Line]] = []
    for _, lines in drawn:  # what was true before comes before what is, the rest anywhere
        places = sorted(draw.some(range(TRAP_SESSIONS), 2))
        places += [draw.below(TRAP_SESSIONS) for _ in range(3)]
        placed += zip(places, lines, strict=True)
    start, every = datetime(2025, 9, 1, 9, tzinfo=UTC), timedelta(days=4)
    turns = _conversation(draw, TRAP_SESSIONS, placed, CHATTER, start, every)
    return [query for query, _ in drawn], turns


def _trap(draw: RandomDraw, row: dict[str, Any], number: int) -> tuple[LabelledQuery, list[Line]]:
    true, *false = draw.values(row["values"], 5)
    given = {"p": draw.name(), "q": draw.name(), "project": draw.name(), "second": draw.name()}
    given |= {"town": draw.name("towns"), "other": draw.name("towns"), "v": true}
    given |= {f"w{place}": value for place, value in enumerate(false, 1)}
    texts = [(SUPERSEDED, row["old"]), ("true", row["true"])]
    texts += [(f"{SIMILAR}-{place}", each) for place, each in enumerate(row["similar"])]
    lines = [Line(text.format_map(given), f"{number}-{name}") for name, text in texts]
    planted = Line(row["poison"].format_map(given), f"{number}-{POISONED}", "tool")
    return LabelledQuery(str(number), row["ask"].format_map(given)), [*lines, planted]


SETS = 6  # questions from each template of the split probe
SPLIT_SESSIONS = 30


def run_split(factory: StoreFactory, engine: Engine, seed: int) -> SystemFigures:
    """The share of questions of which both memories are returned."""
    queries, turns = make_split(seed)
    bench = make_bench(factory, engine, "split", Chat((), tuple(turns)))

    def judge(query: LabelledQuery, found: Retrieved) -> dict[str, float]:
        hits = [any(id_ in item.turns for item in found.items[:FIRST]) for id_ in query.gold]
        return {"both@10": all(hits), "recall@10": fmean(hits)}

    return judged_answers(bench, queries, judge)


def make_split(seed: int) -> tuple[list[LabelledQuery], list[LabelledTurn]]:
    """The questions of a seed with the ids of what they need, and the conversation."""
    draw = RandomDraw(seed, "split")
    placed: list[tuple[int, Line]] = []
    queries = []
    for number, row in enumerate(packaged_yaml("probes/split.yaml")):
        for id_ in (f"{number}-{copy}" for copy in range(SETS)):
            given = _given(draw)
            lines = [Line(t.format_map(given), f"{id_}-{at}") for at, t in enumerate(row["told"])]
            placed += zip(draw.some(range(SPLIT_SESSIONS), len(lines)), lines, strict=True)
            gold = tuple(line.id for line in lines)
            queries.append(LabelledQuery(id_, row["ask"].format_map(given), gold=gold))
    start, every = datetime(2025, 10, 6, 8, tzinfo=UTC), timedelta(days=3)
    return queries, _conversation(draw, SPLIT_SESSIONS, placed, LONG_CHATTER, start, every)


def _given(draw: RandomDraw) -> dict[str, str]:
    words = packaged_yaml("probes/words.yaml")
    coined = {key: draw.name() for key in ("p", "q", "project", "pet", "team")}
    listed = {"month": "months", "food": "foods", "trade": "trades"}
    return {
        **coined,
        "town": draw.name("towns"),
        "other": draw.name("towns"),
        "company": draw.values("companies", 1)[0],
        "n": str(25 + draw.below(25)),
        "m": str(51 + draw.below(25)),
        **{key: draw.one(words[name]) for key, name in listed.items()},
    }


ALIKE = 100  # identifiers of each kind
ASKED = 20  # of each kind that are asked for
NOTED = 20  # sessions, and dated notes, that identifiers are told in
APRIL = datetime(2025, 4, 7, 9, tzinfo=UTC)


def run_identifiers(factory: StoreFactory, engine: Engine, seed: int) -> SystemFigures:
    """The share of identifiers that are found, and in the first item, in a chat and in notes."""
    lines, asked = make_identifiers(seed)
    draw = RandomDraw(seed, "identifiers, spoken")
    mixed = draw.some(list(map(Line, lines)), len(lines))
    sessions = (mixed[place::NOTED] for place in range(NOTED))
    spoken = make_turns(draw, sessions, LONG_CHATTER, APRIL, timedelta(days=3))
    chat = make_bench(factory, engine, "identifiers", Chat((), tuple(spoken)))
    folder = write_notes(lines, factory.folder / "identifiers-notes")
    notes = make_bench(factory, engine, folder.name, Folders(folder, ("memory",)))
    queries = {
        "alone": [LabelledQuery(x, x) for x, _ in asked],
        "in a question": [*starmap(LabelledQuery, asked)],
    }

    def judge(query: LabelledQuery, found: Retrieved) -> dict[str, float]:
        shown = re.compile(rf"(?<!\w){re.escape(query.id)}(?!\w)")
        place = first_rank(found.items, lambda item: shown.search(item.text))
        return {"found": place <= FIRST, "first": place <= 1}

    figures: SystemFigures = {name: {} for name in MAIN}
    for where, bench in (("chat", chat), ("notes", notes)):
        for how, each in queries.items():
            for name, row in judged_answers(bench, each, judge).items():
                figures[name] |= {f"{what}, {where} {how}": mean for what, mean in row.items()}
    return figures


def make_identifiers(seed: int) -> tuple[list[str], list[tuple[str, str]]]:
    """Sentences with one identifier each; identifiers that are asked for, each with a question."""
    draw = RandomDraw(seed, "identifiers", people=0)
    lines, asked = [], []
    for kind, row in packaged_yaml("probes/identifiers.yaml").items():
        alike = draw.values(kind, ALIKE)
        lines += [draw.fill(row["told"], x=x) for x in alike]
        asked += [(x, row["ask"].format(x=x)) for x in draw.some(alike, ASKED)]
    return draw.some(lines, len(lines)), asked


def write_notes(lines: list[str], folder: Path) -> Path:
    """The sentences in dated notes, a list in each."""
    for number in range(NOTED):
        day = (APRIL + timedelta(days=3 * number)).date().isoformat()
        listed = "".join(f"- {line}\n" for line in lines[number::NOTED])
        atomic.put(folder / "memory" / f"{day}.md", f"# {day}\n\n## Log\n\n{listed}".encode())
    return folder


class Probe(NamedTuple):
    """A test of one ability."""

    bars: dict[str, float]  # the least of each figure, where a system has such a figure
    run: Callable[[StoreFactory, Engine, int], SystemFigures]  # with an open engine, from a seed

    def passes(self, figures: dict[str, float]) -> bool:
        """Whether the figures of a system reach the bars."""
        return all(figures[name] >= bar for name, bar in self.bars.items() if name in figures)


_PLACES = [f"{where} {how}" for where in ("chat", "notes") for how in ("alone", "in a question")]
_FOUND = {f"{what}, {at}": bar for at in _PLACES for what, bar in (("found", 1.0), ("first", 0.97))}
PROBES = {
    "drift": Probe({"latest": 0.9, "closed": 0.9}, run_drift),  # CMA §6.3
    "distractor": Probe(dict.fromkeys(FALSE_KINDS, 0.9), run_distractor),
    "split": Probe({"both@10": 0.75}, run_split),
    "identifiers": Probe(_FOUND, run_identifiers),
}


def run_probe(name: str, factory: StoreFactory, engine: Engine, seed: int) -> ProbeResult:
    """Run a probe."""
    probe, words = PROBES[name], packaged_yaml("probes/about.yaml")[name]
    factory = replace(factory, folder=factory.folder / "probes")
    verdicts = [
        ProbeVerdict(system=system, passed=probe.passes(found), figures=found)
        for system, found in probe.run(factory, engine, seed).items()
    ]
    about, criterion = words["about"], words["criterion"]
    return ProbeResult(name=name, about=about, criterion=criterion, verdicts=verdicts)
