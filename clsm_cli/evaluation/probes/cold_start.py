"""Cold start: a store with nothing answers nothing; what one session tells is found at once."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from clsm_cli.evaluation.dataset import Query
from clsm_cli.evaluation.probes import asking, material, recorded
from clsm_cli.evaluation.probes.asking import BM25, CLSM, MINILM
from clsm_cli.evaluation.probes.material import Draw
from clsm_cli.evaluation.result import ProbeResult

if TYPE_CHECKING:
    from clsm_cli.evaluation.bench import Bench
    from clsm_cli.evaluation.probes.recorded import Fact
    from clsm_cli.evaluation.retrieved import Retrieved
    from clsm_cli.evaluation.stores import Workshop
    from clsm_cli.retrieval.meaning import Engine

ABOUT = (
    "Four people's first session of a dozen facts, asked before anything was consolidated, in other"
    " words than theirs; general knowledge besides; and a store to which nothing was told. So little"
    " text shares no word with many of the questions."
)
CRITERION = (
    "90 % of the facts are among the first three items, 90 % of the questions of general knowledge"
    " get nothing, and an empty store answers nothing"
)
BARS = {"found": 0.9, "refused": 0.9, "empty": 1.0}
SYSTEMS = (CLSM, BM25, MINILM)

STORES = 4
FACTS = 12
CHATTER = 6
"""Lines of the session about something else."""
FIRST = 3
"""Items of an answer that are looked at."""


def run(shop: Workshop, engine: Engine, seed: int) -> ProbeResult:
    """Tell and ask.

    Raises:
        DiskError: The work folder cannot be written.
    """
    off = [Query(f"off-{at}", text) for at, text in enumerate(material.load("words")["off"])]
    found: dict[str, list[bool]] = {name: [] for name in SYSTEMS}
    refused: dict[str, list[bool]] = {name: [] for name in SYSTEMS}
    empty: dict[str, list[bool]] = {name: [] for name in SYSTEMS}
    for number in range(STORES):
        facts, bench = _first_session(shop, engine, seed, number)
        queries = [fact.query for fact in facts]
        for name, answers in asking.ask(bench, [*queries, *off], SYSTEMS).items():
            pairs = zip(queries, answers, strict=False)
            found[name] += [asking.first(a.items, q.gold) <= FIRST for q, a in pairs]
            refused[name] += _refused(answers[len(queries) :])
        nothing = asking.empty(shop, engine, bench)
        for name, answers in asking.ask(nothing, [*queries, *off], SYSTEMS).items():
            empty[name] += _refused(answers)
    verdicts = []
    for name in SYSTEMS:
        listed = {"found": found[name], "refused": refused[name], "empty": empty[name]}
        figures = {key: asking.share(values) for key, values in listed.items()}
        verdicts.append(asking.verdict(name, figures, BARS))
    return ProbeResult("cold-start", ABOUT, CRITERION, tuple(verdicts))


def _first_session(
    shop: Workshop, engine: Engine, seed: int, number: int
) -> tuple[list[Fact], Bench]:
    draw = Draw(seed, f"cold-start {number}")
    people = [draw.name() for _ in range(FACTS)]
    facts = draw.some(recorded.facts(draw, people), FACTS)
    talk = draw.talk([fact.told for fact in facts], CHATTER, people)
    start = recorded.START + timedelta(days=number)
    turns = material.session(0, start, talk)
    return facts, asking.awake(asking.bench(shop, engine, f"cold-start-{number}", turns))


def _refused(answers: list[Retrieved]) -> list[bool]:
    return [not answer.items for answer in answers]
