"""LoCoMo: two people, many sessions; questions about strangers.

The published file has evidence that is not one well-formed id of a turn; what can be read in it is
taken, and said. Adversarial questions ask the wrong person, so nothing answers them.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from clsm_cli.errors import BadInputError
from clsm_cli.evaluation import dataset
from clsm_cli.evaluation.nodes import LEAST_GOLD, SIZE, case_chat, label_queries
from clsm_cli.ingestion.timestamps import normalise
from clsm_cli.store import atomic

CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}
OFF_TOPIC = 50  # off-topic queries to each conversation, at most
_SESSION = re.compile(r"session_(\d+)\Z")
_EVIDENCE = re.compile(r"D:?(\d+):(\d+)")


def load(path: Path) -> dataset.Dataset:
    """Read a folder of files with one conversation each, or the original file with a list of all.

    Each conversation gets off-topic queries from the others: questions that were put to those and,
    names left out, do not read the same as one to this. Each is asked as it is and, "nameless", without
    the names of those people. The draw is the same whatever their order.
    """
    read = as_published(path)
    asked = [
        {
            without_names(query.text, case_chat(case).participants): query.text
            for query in case.queries
        }
        for case in read.cases
    ]
    cases = []
    for case, own in zip(read.cases, asked, strict=True):
        others = {bare: text for each in asked for bare, text in each.items() if bare not in own}
        cases.append(case._replace(queries=(*case.queries, *_strange(case.name, others))))
    rule = (
        f"off-topic queries of a conversation are {OFF_TOPIC} questions to the others, drawn by a hash of"
        " their text; nameless ones are the same without the names of the people there"
    )
    notes = (*read.notes, rule) if len(cases) > 1 else read.notes
    return read._replace(cases=tuple(cases), notes=notes)


def _strange(name: str, others: Mapping[str, str]) -> Iterator[dataset.LabelledQuery]:
    """Questions to other conversations, given without names and as they are."""
    drawn = {atomic.sha256(f"{name}\n{bare}".encode()): bare for bare in others if bare}
    for number, key in enumerate(sorted(drawn)[:OFF_TOPIC], 1):
        bare = drawn[key]
        yield dataset.LabelledQuery(
            id=f"{name}-off-{number}", text=others[bare], negative="off topic"
        )
        yield dataset.LabelledQuery(id=f"{name}-nameless-{number}", text=bare, negative="nameless")


def without_names(text: str, names: Sequence[str]) -> str:
    """A question without some people's names.

    >>> without_names("When did Caroline's cat meet Mel?", ["Caroline", "Mel"])
    'When did cat meet ?'
    """
    words = "|".join(re.escape(word) for name in names for word in name.split())
    if words:
        text = re.sub(rf"\b(?:{words})\b(?:['’]s)?", " ", text, flags=re.IGNORECASE)
    return " ".join(text.split())


def as_published(path: Path) -> dataset.Dataset:
    """The set with its own questions alone."""
    read = sorted(path.glob("*.json")) if path.is_dir() else [path]
    if not read:
        raise BadInputError(str(path), "holds no .json file", dataset.LAYOUT)
    faults = dataset.Faults()
    cases = []
    for name, source, data in _samples(read, is_folder=path.is_dir()):
        with dataset.reading(source, f"conversation {name}"):
            cases.append(_case(name, data, faults))
    if not cases:
        raise dataset.malformed_error(path, "it holds no conversation")
    return dataset.made_dataset(
        "locomo", path, read, cases, faults.sentences(), "turn", "recall@10"
    )


def evidence_ids(entry: str) -> list[str]:
    """The turn ids in one evidence entry, also in the malformed ones of the published file.

    >>> evidence_ids("D8:6; D9:17"), evidence_ids("D:11:26"), evidence_ids("D30:05"), evidence_ids("D")
    (['D8:6', 'D9:17'], ['D11:26'], ['D30:5'], [])
    """
    return [f"D{int(session)}:{int(turn)}" for session, turn in _EVIDENCE.findall(entry)]


def _samples(read: Sequence[Path], *, is_folder: bool) -> Iterator[tuple[str, Path, Any]]:
    if is_folder:
        yield from ((file.stem, file, dataset.load_json(file)) for file in read)
        return
    listed = dataset.load_json(read[0])
    if not isinstance(listed, list):
        raise dataset.malformed_error(read[0], "it holds no list of conversations")
    for number, sample in enumerate(listed, 1):
        given = sample.get("sample_id", number) if isinstance(sample, dict) else number
        yield str(given).removeprefix("conv-"), read[0], sample


def _case(name: str, data: Any, faults: dataset.Faults) -> dataset.Case:
    talk = data.get("conversation", data)
    people = (talk["speaker_a"], talk["speaker_b"])
    turns = tuple(_turns(talk))
    by_id = {turn.id: turn for turn in turns}
    if not turns:
        raise ValueError("it has no turn")
    if len(by_id) < len(turns):
        raise ValueError("two of its turns have one id")
    rows = enumerate(data["qa"], 1)
    queries = (_query(f"{name}-{number}", row, by_id, faults) for number, row in rows)
    return dataset.Case(name, dataset.Chat(people, turns), tuple(filter(None, queries)))


def _turns(talk: Mapping[str, Any]) -> Iterator[dataset.LabelledTurn]:
    """The turns by session; an image that is shared is told by its caption.

    The set names no time zone, so UTC stands for it.
    """
    for number in sorted(int(match[1]) for key in talk if (match := _SESSION.match(key))):
        time = normalise(talk[f"session_{number}_date_time"], UTC)
        if time is None:
            raise ValueError(f"the time of session {number} is none")
        rows = (
            (turn["dia_id"], turn["speaker"], "user", _text(turn))
            for turn in talk[f"session_{number}"]
        )
        yield from dataset.turns_of(f"session {number}", datetime.fromisoformat(time), rows)


def _text(turn: Mapping[str, Any]) -> str:
    caption = turn.get("blip_caption")
    return f"{turn['text']} [shares {caption}]" if caption else str(turn["text"])


def _query(
    name: str,
    row: Mapping[str, Any],
    known: Mapping[str, dataset.LabelledTurn],
    faults: dataset.Faults,
) -> dataset.LabelledQuery | None:
    """A question with its evidence; None for one that nothing is known to answer."""
    category = CATEGORIES.get(row.get("category", 0), "")
    query = dataset.LabelledQuery(
        name, row["question"], category, answer=str(row.get("answer") or "")
    )
    if category == CATEGORIES[5]:
        return query._replace(negative="wrong person", answer="")
    gold: dict[str, None] = {}
    for entry in row.get("evidence") or ():
        ids = [each for each in evidence_ids(str(entry)) if each in known]
        if not ids:
            faults.add("evidence entry names no turn and is left out", f"{name}: {entry!r}")
        elif ids != [entry]:
            faults.add("evidence entry repaired", f"{name}: {entry!r} -> {', '.join(ids)}")
        gold |= dict.fromkeys(ids)
    if not gold:
        faults.add(dataset.NO_GOLD, name)
    return query._replace(gold=tuple(gold)) if gold else None


def load_nodes(path: Path) -> dataset.Dataset:
    """Read LoCoMo and label its questions with concepts, as CLS-M measures its retrieval (§5.3).

    CLS-M's 45 queries are not published, so the nodes are found by count alone.
    """
    read = as_published(path)
    made = (c._replace(queries=label_queries(case_chat(c), c.queries)) for c in read.cases)
    cases = tuple(case for case in made if case.queries)
    if not cases:
        raise BadInputError(str(path), "has no question with two gold concepts", "give all of it")
    gold = (
        f"the concepts of a conversation are its {SIZE} most bursty stems and pairs of stems; gold are"
        " those in the turns that answer a query and in its answer"
    )
    left = sum(not query.negative for case in read.cases for query in case.queries)
    left -= sum(len(case.queries) for case in cases)
    few = (
        f"{left} queries with fewer than {LEAST_GOLD} gold concepts are left out, and all"
        " without an answer"
    )
    return read._replace(kind="nodes", headline="f1", cases=cases, notes=(*read.notes, gold, few))
