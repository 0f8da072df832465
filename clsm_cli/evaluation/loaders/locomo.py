"""LoCoMo: two people, many sessions; questions about strangers.

The published file has evidence that is not one well-formed id of a turn; what can be read in it is
taken, and said. Adversarial questions ask the wrong person, so nothing answers them.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from clsm_cli.errors import BadInputError
from clsm_cli.evaluation.dataset import (
    CASE_TWICE,
    NO_GOLD,
    NO_QUERIES,
    NO_TEXT,
    TURN_TWICE,
    Case,
    Chat,
    Dataset,
    Faults,
    LabelledTurn,
    Query,
    answer_of,
    digest_contents,
    load_json,
    malformed_error,
    naming_place,
    required_field,
)
from clsm_cli.evaluation.nodes.planted import (
    LEAST_GOLD,
    SIZE,
    case_chat,
    choose_concepts,
    label_queries,
)
from clsm_cli.store import atomic

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path


OFF_TOPIC = 50
"""Off-topic queries to each conversation, at most."""
SAID = (
    f"off-topic queries of a conversation are {OFF_TOPIC} questions to the others, without the"
    " names of the people there, drawn by a hash of their text"
)


def without_names(text: str, names: Sequence[str]) -> str:
    """A question without some people's names.

    >>> without_names("When did Caroline's cat meet Mel?", ["Caroline", "Mel"])
    'When did cat meet ?'
    """
    words = "|".join(re.escape(word) for name in names for word in name.split())
    if words:
        text = re.sub(rf"\b(?:{words})\b(?:['’]s)?", " ", text, flags=re.IGNORECASE)
    return " ".join(text.split())


def with_off_topic(dataset: Dataset) -> Dataset:
    """A set whose conversations each get questions that were put to the other ones.

    What reads the same as a question to this one, names left out, is none of them. The draw is
    the same whatever the order of the conversations.
    """
    bare: list[set[str]] = []
    for case in dataset.cases:
        names = case.source.participants if isinstance(case.source, Chat) else ()
        bare.append({without_names(query.text, names) for query in case.queries})
    made = []
    for place, case in enumerate(dataset.cases):
        others = {text for at, texts in enumerate(bare) if at != place for text in texts}

        def drawn(text: str, name: str = case.name) -> str:
            return atomic.sha256(f"{name}\n{text}".encode())

        strange = (
            Query(id=f"{case.name}-off-{number}", text=text, negative="off topic")
            for number, text in enumerate(
                sorted(others - bare[place] - {""}, key=drawn)[:OFF_TOPIC], 1
            )
        )
        made.append(case._replace(queries=(*case.queries, *strange)))
    said = (SAID,) if len(made) > 1 else ()
    return dataset._replace(cases=tuple(made), notes=(*dataset.notes, *said))


KIND = "locomo"
CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}
"""The set's numbers and what they mean; adversarial questions ask the wrong person."""
ADVERSARIAL = CATEGORIES[5]

_SESSION = re.compile(r"session_(\d+)\Z")
_EVIDENCE = re.compile(r"D:?(\d+):(\d+)")
_REPAIRED = "evidence entry repaired"
_LOST = "evidence entry names no turn and is left out"


def load(path: Path) -> Dataset:
    """Read a folder of files with one conversation each, or the original file with a list of all.

    Each conversation gets off-topic queries from the others.
    """
    return with_off_topic(as_published(path))


def as_published(path: Path) -> Dataset:
    """The set with its own questions alone."""
    found = Faults()
    cases: dict[str, Case] = {}
    samples, read = _samples(path)
    for name, source, data in samples:
        if name in cases:
            found.add(CASE_TWICE, name)
            continue
        with naming_place(source, f"conversation {name}"):
            cases[name] = _case(name, data, found)
    if not cases:
        raise malformed_error(path, "it holds no conversation")
    digest = digest_contents(path, read)
    return Dataset(
        kind=KIND,
        name=path.resolve().name,
        digest=digest,
        unit="turn",
        headline="recall@10",
        cases=tuple(cases.values()),
        notes=found.sentences(),
    )


def session_time(text: str) -> datetime:
    """When a session began; the set names no time zone, so UTC stands for it.

    >>> session_time("1:56 pm on 8 May, 2023").isoformat()
    '2023-05-08T13:56:00+00:00'
    """
    return datetime.strptime(text.strip().upper(), "%I:%M %p ON %d %B, %Y").replace(tzinfo=UTC)


def evidence_ids(entry: str) -> list[str]:
    """The turn ids in one evidence entry, also in the malformed ones of the published file.

    >>> evidence_ids("D8:6; D9:17"), evidence_ids("D:11:26"), evidence_ids("D30:05"), evidence_ids("D")
    (['D8:6', 'D9:17'], ['D11:26'], ['D30:5'], [])
    """
    return [f"D{int(session)}:{int(turn)}" for session, turn in _EVIDENCE.findall(entry)]


def turn_text(turn: Mapping[str, Any]) -> str:
    """What a turn says, with the caption of the image it shares.

    >>> turn_text({"text": "Look!", "blip_caption": "a photo of a cat", "query": "cat"})
    'Look! [shares a photo of a cat]'
    """
    caption = turn.get("blip_caption")
    return f"{turn['text']} [shares {caption}]" if caption else str(turn["text"])


def _samples(path: Path) -> tuple[list[tuple[str, Path, Any]], list[Path]]:
    if path.is_dir():
        read = sorted(path.glob("*.json"))
        if not read:
            raise BadInputError(str(path), "holds no .json file", "see docs/evaluation.md")
        return [(file.stem, file, load_json(file)) for file in read], read
    listed = load_json(path)
    if not isinstance(listed, list):
        raise malformed_error(path, "it holds no list of conversations")
    named = []
    for number, sample in enumerate(listed, 1):
        given = sample.get("sample_id", number) if isinstance(sample, dict) else number
        named.append((str(given).removeprefix("conv-"), path, sample))
    return named, [path]


def _case(name: str, data: Any, found: Faults) -> Case:
    """One conversation."""
    rows = required_field(data, "qa", list)
    talk = required_field(data, "conversation", dict) if "conversation" in data else data
    people = (required_field(talk, "speaker_a", str), required_field(talk, "speaker_b", str))
    turns: dict[str, LabelledTurn] = {}
    for turn in _turns(name, talk, found):
        if turn.id in turns:
            found.add(TURN_TWICE, f"{name} {turn.id}")
        turns.setdefault(turn.id, turn)
    if not turns:
        raise ValueError("it has no turn")
    queries = []
    for number, row in enumerate(rows, 1):
        query = _query(f"{name}-{number}", row, turns, found)
        if query is not None:
            queries.append(query)
    return Case(name, Chat(people, tuple(turns.values())), tuple(queries))


def _turns(name: str, talk: dict[str, Any], found: Faults) -> Iterator[LabelledTurn]:
    """The turns by session; a session names one time, so its turns follow each other by seconds."""
    numbers = sorted(int(match.group(1)) for key in talk if (match := _SESSION.match(key)))
    for number in numbers:
        rows = required_field(talk, f"session_{number}", list)
        begin = session_time(required_field(talk, f"session_{number}_date_time", str))
        for place, turn in enumerate(rows):
            identity = required_field(turn, "dia_id", str)
            if not required_field(turn, "text", str).strip() and not turn.get("blip_caption"):
                found.add(NO_TEXT, f"{name} {identity}")
                continue
            yield LabelledTurn(
                id=identity,
                speaker=required_field(turn, "speaker", str),
                role="user",
                text=turn_text(turn),
                time=(begin + timedelta(seconds=place)).isoformat(),
                session=f"session {number}",
            )


def _query(name: str, row: Any, known: Mapping[str, LabelledTurn], found: Faults) -> Query | None:
    """A question with its evidence; None for one that nothing is known to answer."""
    text = required_field(row, "question", str)
    number = row.get("category")
    category = CATEGORIES.get(number, "") if isinstance(number, int) else ""
    if category == ADVERSARIAL:
        return Query(id=name, text=text, category=category, negative="wrong person")
    gold = _evidence(name, row.get("evidence"), known, found)
    if not gold:
        found.add(NO_GOLD, name)
        return None
    return Query(id=name, text=text, category=category, gold=gold, answer=answer_of(row))


def _evidence(
    name: str, entries: Any, known: Mapping[str, LabelledTurn], found: Faults
) -> tuple[str, ...]:
    gold: dict[str, None] = {}
    for entry in entries if isinstance(entries, list) else ():
        ids = [each for each in evidence_ids(str(entry)) if each in known]
        if not ids:
            found.add(_LOST, f"{name}: {entry!r}")
        elif ids != [entry]:
            found.add(_REPAIRED, f"{name}: {entry!r} -> {', '.join(ids)}")
        gold |= dict.fromkeys(ids)
    return tuple(gold)


NODES = "nodes"
"""Kind of LoCoMo with concept labels."""


def load_nodes(path: Path) -> Dataset:
    """Read LoCoMo and label its questions with concepts, as CLS-M measures its retrieval (§5.3).

    CLS-M's 45 queries are not published, so the nodes are found by count alone
    (``planted.choose_concepts``), and gold are those in a question's evidence and in its answer.

    Questions without an answer are left out.
    """
    read = as_published(path)
    found = Faults()
    cases = []
    answered = 0
    for case in read.cases:
        queries = [query for query in case.queries if not query.negative]
        answered += len(queries)
        labelled = label_queries(queries, choose_concepts(case_chat(case)))
        if labelled:
            cases.append(case._replace(queries=labelled))
        else:
            found.add(NO_QUERIES, case.name)
    kept = sum(len(case.queries) for case in cases)
    if not kept:
        raise BadInputError(str(path), "has no question with two gold concepts", "give all of it")
    gold = (
        f"the concepts of a conversation are its {SIZE} most bursty stems and pairs of stems; gold are"
        " those in the turns that answer a query and in its answer"
    )
    few = (
        f"{answered - kept} queries with fewer than {LEAST_GOLD} gold concepts are left out, and all"
        " without an answer"
    )
    notes = (*read.notes, *found.sentences(), gold, few)
    return read._replace(kind=NODES, headline="f1", cases=tuple(cases), notes=notes)
