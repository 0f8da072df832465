"""LoCoMo (Maharana et al., ACL 2024): two people, many sessions, questions with evidence turns."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from clsm_cli.errors import BadInputError
from clsm_cli.evaluation.loaders.cases import Conversation, Question, Said, load_json, malformed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}
"""The set's numbers and what they mean; adversarial questions ask the wrong person."""
ADVERSARIAL = CATEGORIES[5]

_SESSION = re.compile(r"session_(\d+)\Z")
_EVIDENCE = re.compile(r"D:?(\d+):(\d+)")


@dataclass(frozen=True, slots=True)
class Locomo:
    """The set as it is used.

    Attributes:
        repaired: Evidence entries that were not one well-formed id of a turn, but held some.
        unresolved: Evidence entries that name no turn.
        dropped: Ids of the questions that are left out: none of their evidence names a turn.
    """

    conversations: tuple[Conversation, ...]
    repaired: int
    unresolved: int
    dropped: tuple[str, ...]


def load(path: Path) -> Locomo:
    """Read a folder of files with one conversation each, or the original file with a list of all.

    Raises:
        BadInputError: There is nothing to read, or a file is not LoCoMo.
    """
    repaired = unresolved = 0
    dropped: list[str] = []
    conversations = []
    for name, source, data in _samples(path):
        try:
            turns = tuple(_turns(data.get("conversation", data)))
            labelled = _Evidence(frozenset(turn.id for turn in turns))
            questions = tuple(_questions(name, data["qa"], labelled, dropped))
            talk = data.get("conversation", data)
            people = (str(talk["speaker_a"]), str(talk["speaker_b"]))
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise malformed(source, f"conversation {name}: {error!r}") from error
        conversations.append(Conversation(name, people, turns, questions))
        repaired += labelled.repaired
        unresolved += labelled.unresolved
    return Locomo(tuple(conversations), repaired, unresolved, tuple(dropped))


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


def _samples(path: Path) -> Iterator[tuple[str, Path, dict[str, Any]]]:
    """Name, file and content of each conversation, in the order of their names or of the list."""
    if path.is_dir():
        files = sorted(path.glob("*.json"))
        if not files:
            raise BadInputError(str(path), "holds no .json file", "see docs/evaluation.md")
        found = [(file.stem, file, load_json(file)) for file in files]
    else:
        listed = load_json(path)
        if not isinstance(listed, list):
            raise malformed(path, "it holds no list of conversations")
        found = [("", path, sample) for sample in listed]
    for number, (name, file, data) in enumerate(found, 1):
        if not isinstance(data, dict):
            raise malformed(file, f"conversation {number} is no object")
        yield name or str(data.get("sample_id", number)).removeprefix("conv-"), file, data


def _turns(talk: Mapping[str, Any]) -> Iterator[Said]:
    """The turns by session; a session names one time, so its turns follow each other by seconds."""
    numbers = sorted(int(match.group(1)) for key in talk if (match := _SESSION.match(key)))
    for number in numbers:
        begin = session_time(talk[f"session_{number}_date_time"])
        for place, turn in enumerate(talk[f"session_{number}"]):
            yield Said(
                id=turn["dia_id"],
                speaker=turn["speaker"],
                role="user",
                text=turn_text(turn),
                time=(begin + timedelta(seconds=place)).isoformat(),
                session=f"session {number}",
                unit=turn["dia_id"],
            )


@dataclass(slots=True)
class _Evidence:
    """Resolves evidence entries and counts what was wrong with them."""

    known: frozenset[str]
    repaired: int = 0
    unresolved: int = 0

    def resolve(self, entries: Iterable[str]) -> tuple[str, ...]:
        gold: dict[str, None] = {}
        for entry in entries:
            ids = [each for each in evidence_ids(entry) if each in self.known]
            self.unresolved += not ids
            self.repaired += bool(ids) and ids != [entry]
            gold |= dict.fromkeys(ids)
        return tuple(gold)


def _questions(
    name: str, rows: Iterable[Mapping[str, Any]], evidence: _Evidence, dropped: list[str]
) -> Iterator[Question]:
    for number, row in enumerate(rows, 1):
        question_id = f"{name}-{number}"
        gold = evidence.resolve(row.get("evidence") or ())
        if gold:
            yield Question(question_id, row["question"], CATEGORIES[row["category"]], gold)
        else:
            dropped.append(question_id)
