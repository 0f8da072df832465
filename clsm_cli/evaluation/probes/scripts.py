"""Script probe: facts and questions in writing that the embedding model hardly knows."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
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
    "Sentences in Chinese, Japanese, Korean, Arabic, Hindi, Greek and Russian, and a question for"
    " each. The model has a tenth of these characters and few of the words, so what it makes of two"
    " sentences of one language is much the same."
)
CRITERION = "of the sentences of all languages 90 % are found in the first item, and 97 % in three"
BARS = {"first": 0.9, "first three": 0.97}
SYSTEMS = (CLSM, BM25, MINILM)

SESSIONS = 12
CHATTER = 4
"""Lines of a session about something else."""
START = datetime(2025, 5, 5, 9, tzinfo=UTC)


def run(factory: StoreFactory, engine: Engine, seed: int) -> ProbeResult:
    """Tell and ask.

    Raises:
        DiskError: The work folder cannot be written.
    """
    queries, turns = make_material(seed)
    bench = probe_questions.make_bench(factory, engine, "scripts", turns)
    verdicts = []
    for name, answers in probe_questions.ask_systems(bench, queries, SYSTEMS).items():
        places = [
            probe_questions.first_rank(answer.items, query.gold)
            for query, answer in zip(queries, answers, strict=True)
        ]
        figures = {
            "first": probe_questions.true_share(place == 1 for place in places),
            "first three": probe_questions.true_share(place <= 3 for place in places),
        }
        for script in material.load_yaml("scripts"):
            figures[script] = probe_questions.true_share(
                place == 1
                for query, place in zip(queries, places, strict=True)
                if query.category == script
            )
        verdicts.append(probe_questions.verdict(name, figures, BARS))
    return ProbeResult("scripts", ABOUT, CRITERION, tuple(verdicts))


def make_material(seed: int) -> tuple[list[Query], list[LabelledTurn]]:
    """The questions with the ids of what answers them, and the conversation."""
    draw = RandomDraw(seed, "scripts")
    people = [draw.name() for _ in range(6)]
    queries, told = [], []
    for script, rows in material.load_yaml("scripts").items():
        for number, (line, ask) in enumerate(rows):
            id_ = f"{script}-{number}"
            told.append(Line(line, id_))
            queries.append(Query(id_, ask, category=script, gold=(id_,)))
    turns: list[LabelledTurn] = []
    for number, lines in enumerate(material.spread_lines(draw, told, SESSIONS)):
        talk = draw.talk(lines, CHATTER, people)
        turns += material.session_turns(number, START + timedelta(days=3 * number), talk)
    return queries, turns
