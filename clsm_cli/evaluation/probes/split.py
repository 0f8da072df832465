"""Split-information probe: what a question needs was said in two sessions."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from statistics import fmean
from typing import TYPE_CHECKING

from clsm_cli.evaluation.dataset import Query
from clsm_cli.evaluation.probes import material, probe_questions
from clsm_cli.evaluation.probes.material import Line, RandomDraw
from clsm_cli.evaluation.probes.probe_questions import BM25, CLSM, MINILM
from clsm_cli.evaluation.result import ProbeResult

if TYPE_CHECKING:
    from clsm_cli.evaluation.loaders.parsing import LabelledTurn
    from clsm_cli.evaluation.stores import StoreFactory
    from clsm_cli.retrieval.dense_search import Engine

ABOUT = (
    "Questions that need two memories from two sessions, six from each of ten templates. The second"
    " one is mostly about somebody or something that only the first one names, and five others of"
    " its kind are in the store, so neither words nor meaning lead to it."
)
CRITERION = "in 75 % of the questions both memories are among the first ten items"
BARS = {"both@10": 0.75}
SYSTEMS = (CLSM, BM25, MINILM)

SETS = 6
"""Questions from each template."""
SESSIONS = 30
CHATTER = 4
"""Lines of a session about something else."""
FIRST = 10
"""Items of an answer that are looked at."""
START = datetime(2025, 10, 6, 8, tzinfo=UTC)


def run(factory: StoreFactory, engine: Engine, seed: int) -> ProbeResult:
    """Tell, sleep and ask.

    Raises:
        DiskError: The work folder cannot be written.
    """
    queries, turns = make_material(seed)
    bench = probe_questions.make_bench(factory, engine, "split", turns)
    verdicts = []
    for name, answers in probe_questions.ask_systems(bench, queries, SYSTEMS).items():
        held = [
            [probe_questions.first_rank(answer.items, [id_]) <= FIRST for id_ in query.gold]
            for query, answer in zip(queries, answers, strict=True)
        ]
        figures = {
            "both@10": probe_questions.true_share(map(all, held)),
            "recall@10": fmean(map(probe_questions.true_share, held)),
        }
        verdicts.append(probe_questions.verdict(name, figures, BARS))
    return ProbeResult("split", ABOUT, CRITERION, tuple(verdicts))


def make_material(seed: int) -> tuple[list[Query], list[LabelledTurn]]:
    """The questions of a seed with the ids of what they need, and the conversation."""
    draw = RandomDraw(seed, "split")
    people = [draw.name() for _ in range(6)]
    sessions: list[list[Line]] = [[] for _ in range(SESSIONS)]
    queries = []
    for number, row in enumerate(material.load_yaml("split")):
        for copy in range(SETS):
            given = _given(draw)
            id_ = f"{number}-{copy}"
            gold = tuple(f"{id_}-{place}" for place in range(len(row["told"])))
            for told, line, at in zip(
                row["told"], gold, draw.some(range(SESSIONS), len(gold)), strict=True
            ):
                sessions[at].append(Line(told.format_map(given), line))
            queries.append(Query(id_, row["ask"].format_map(given), gold=gold))
    turns: list[LabelledTurn] = []
    for number, lines in enumerate(sessions):
        talk = draw.talk(draw.some(lines, len(lines)), CHATTER, people)
        turns += material.session_turns(number, START + timedelta(days=3 * number), talk)
    return queries, turns


def _given(draw: RandomDraw) -> dict[str, str]:
    words = material.load_yaml("words")
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
