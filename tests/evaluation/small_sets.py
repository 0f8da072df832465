"""Sets of a few turns in the shape of the real ones, which may not be committed."""

import json
import shutil
from pathlib import Path
from typing import Any

from clsm_cli.evaluation import benches
from clsm_cli.evaluation.benches import Bench
from clsm_cli.evaluation.dataset import Case, Dataset, EvidenceUnit
from clsm_cli.evaluation.stores import StoreFactory
from clsm_cli.retrieval.dense_search import Engine

_HERE = Path(__file__).with_name("small")


def locomo_talk(one: str, other: str, topic: str) -> dict[str, Any]:
    """A conversation of three sessions with five questions, one of each kind of trouble."""
    said = {
        "session_1": [
            (one, "D1:1", f"Hi {other}! How are you?"),
            (other, "D1:2", f"Hey {one}! I adopted a {topic} today."),
            (one, "D1:3", "Look at this!"),
        ],
        # Session 10 comes after session 2, whatever the order of their keys as text.
        "session_10": [
            (other, "D10:1", f"The {topic} sleeps all day now."),
            (one, "D10:2", "I painted the kitchen yellow."),
        ],
        "session_2": [
            (one, "D2:1", "I bought a violin at the market."),
            (other, "D2:2", "Hi!"),
            (other, "D2:3", "Hi!"),
        ],
    }
    asked: tuple[tuple[str, list[str], int, dict[str, Any]], ...] = (
        (f"When did {other} adopt a {topic}?", ["D1:2"], 2, {"answer": "8 May 2023"}),
        (f"What does the {topic} do?", ["D1:3; D10:01"], 1, {}),
        (f"What did {one} buy?", ["D:2:1", "D9:9"], 4, {"answer": 1}),
        (f"Is {one} kind?", ["D"], 3, {}),
        (f"What did {other} paint?", ["D10:2"], 5, {}),
    )
    found: dict[str, Any] = {
        session: [dict(zip(("speaker", "dia_id", "text"), turn, strict=True)) for turn in turns]
        for session, turns in said.items()
    }
    found["session_1"][2] |= {"blip_caption": f"a photo of a {topic} on a sofa", "query": "unicorn"}
    return {
        **found,
        "speaker_a": one,
        "speaker_b": other,
        "session_1_date_time": "1:56 pm on 8 May, 2023",
        "session_10_date_time": "9:05 am on 1 June, 2023",
        "session_2_date_time": "12:30 pm on 20 May, 2023",
        "qa": [
            {"question": text, "evidence": evidence, "category": category, **more}
            for text, evidence, category, more in asked
        ],
    }


def write_locomo(folder: Path) -> Path:
    folder.mkdir(parents=True)
    for number, names in enumerate((("Ann", "Bob", "cat"), ("Cleo", "Dan", "parrot")), 1):
        (folder / f"{number}.json").write_text(json.dumps(locomo_talk(*names)), encoding="utf-8")
    return folder


def haystack(name: str, **changes: Any) -> dict[str, Any]:
    """A question of LongMemEval: two sessions, the second one older, evidence in the first."""
    row = json.loads((_HERE / "longmemeval.json").read_text("utf-8"))
    return {"question_id": name, **row, **changes}


def write_longmemeval(folder: Path, *rows: dict[str, Any]) -> Path:
    """A folder with the small file of the set; without rows, two questions, one unanswerable."""
    folder.mkdir(parents=True)
    given = rows or (haystack("q1"), haystack("q2_abs", question="Which horse did I buy?"))
    (folder / "longmemeval_s_cleaned.json").write_text(json.dumps(given), encoding="utf-8")
    return folder


GVD_HISTORY = json.loads((_HERE / "gvd.json").read_text("utf-8"))
GVD_QUESTIONS = [
    "What was my mood on May 4th?",
    '"What did I see in Xiamen?"',
    "What did we talk about a few days ago?",
    "Tell me of the horse.",
]


def write_gvd(folder: Path) -> Path:
    """A folder with one user, her name written with blanks as in the published file."""
    folder.mkdir(parents=True)
    memory = {" Emily ": {"name": "Emily", "history": GVD_HISTORY}}
    (folder / "memory_bank_en.json").write_text(json.dumps(memory), encoding="utf-8")
    (folder / "probing_questions_en.jsonl").write_text(
        json.dumps({"Emily": GVD_QUESTIONS}) + "\n\n", encoding="utf-8"
    )
    return folder


def write_notes(folder: Path) -> Path:
    """A workspace of one note with two queries."""
    return Path(shutil.copytree(_HERE / "memory", folder, dirs_exist_ok=True))


def bench_of(
    case: Case, factory: StoreFactory, engine: Engine, unit: EvidenceUnit = "turn"
) -> Bench:
    dataset = Dataset("test", "test", "0" * 64, unit, "recall@10", (case,))
    (made,) = benches.make_benches(dataset, factory, engine)
    return made
