"""The Generated Virtual Dataset (MemoryBank, Zhong et al., 2023): a user, an assistant, ten days.

It has neither answers nor evidence, so the days that answer a question are derived from the text by
two rules, and a question that neither rule decides is left out.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import TYPE_CHECKING, Any

from clsm_cli.evaluation.loaders.cases import Conversation, Question, Said, load_json, malformed
from clsm_cli.text import timex, tokens

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

MEMORY = "memory_bank_en.json"
QUESTIONS = "probing_questions_en.jsonl"
DATED = "dated"
LEXICAL = "lexical"
RARE = 3
"""Days on which a word may occur and still tell where something was said."""
FRAME = (
    "advice ask bring chat conversation consult day detail discuss discussion enjoy experience"
    " favorite good help introduce kind know like main mention method name opinion people place"
    " question recent recently recommend recommendation remember said share speak specific"
    " suggest suggestion talk tell thing think time told topic type way"
)
"""Words that tell of the conversation, or ask, and name no content; with all words of their stems."""
_LATER = timedelta(days=40)
_NOON = time(12, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Gvd:
    """The set as it is used.

    Attributes:
        rules: Questions by the rule that labelled them.
        unlabelled: Ids of the questions that no rule decides; they are left out.
    """

    conversations: tuple[Conversation, ...]
    rules: dict[str, int]
    unlabelled: tuple[str, ...]


def load(path: Path) -> Gvd:
    """Read the folder that holds the two English files of the set.

    Raises:
        BadInputError: A file is missing or not what it must be.
    """
    memory = load_json(path / MEMORY)
    asked = _asked(path / QUESTIONS)
    unlabelled: list[str] = []
    conversations = []
    try:
        for key, user in memory.items():
            name = key.strip()
            turns = tuple(_turns(name, user["history"]))
            questions = tuple(_questions(name, turns, asked.get(name, []), unlabelled))
            conversations.append(Conversation(name, (name,), turns, questions))
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise malformed(path / MEMORY, repr(error)) from error
    rules = Counter(q.category for each in conversations for q in each.questions)
    return Gvd(tuple(conversations), dict(sorted(rules.items())), tuple(unlabelled))


def label(question: str, words_of_days: Mapping[str, frozenset[str]]) -> tuple[str, list[str]]:
    """The rule that labels a question, and the days it names; no days when neither rule decides.

    1. *dated*: the question names a day or a period, and the days inside it are the gold.
    2. *lexical*: of the question's content words (no stop words, none of ``FRAME``) take those that
       occur on at most three days. When those among them that occur on exactly one day agree on it, that day is the gold; else the
       days on which all the rare words occur, if these are one or two.

    Args:
        question: As asked.
        words_of_days: ISO date → stems of all that was said on it, in order of time.

    >>> days = {"2023-05-01": frozenset({"xiamen", "trip"}), "2023-05-02": frozenset({"trip"})}
    >>> label("What did I do on May 2nd?", days), label("How was the trip to Xiamen?", days)
    (('dated', ['2023-05-02']), ('lexical', ['2023-05-01']))
    """
    named = _named_days(question, words_of_days)
    if named:
        return DATED, named
    frame = set(tokens.stems(FRAME))
    found = [
        frozenset(day for day, words in words_of_days.items() if word in words)
        for word in dict.fromkeys(tokens.stems(question))
        if word not in frame
    ]
    rare = [days for days in found if 1 <= len(days) <= RARE]
    single = frozenset[str]().union(*(days for days in rare if len(days) == 1))
    common = frozenset.intersection(*rare) if rare else frozenset()
    gold = single if len(single) == 1 else common
    return LEXICAL, sorted(gold) if len(gold) <= 2 else []


def _named_days(question: str, days: Mapping[str, object]) -> list[str]:
    """The days inside the periods that a question names, whenever it is asked.

    "May 4th" is the same day when it is asked forty days later; "a few days ago" is not.
    """
    asked = date.fromisoformat(max(days)) + timedelta(days=1)
    later = {(each.first, each.until) for each in timex.find(question, asked + _LATER)}
    named = [each for each in timex.find(question, asked) if (each.first, each.until) in later]
    return [
        day
        for day in days
        if any(each.first <= date.fromisoformat(day) < each.until for each in named)
    ]


def _turns(name: str, history: Mapping[str, list[Mapping[str, str]]]) -> Iterator[Said]:
    """The turns by day; a day names no hour, so its turns follow each other by seconds from noon."""
    for day in sorted(history):
        begin = datetime.combine(date.fromisoformat(day), _NOON)
        place = 0
        for exchange in history[day]:
            for key, role, speaker in (
                ("query", "user", name),
                ("response", "assistant", "assistant"),
            ):
                moment = (begin + timedelta(seconds=place)).isoformat()
                place += 1
                yield Said(f"{day}#{place}", speaker, role, exchange[key], moment, day, day)


def _questions(
    name: str, turns: tuple[Said, ...], asked: list[str], unlabelled: list[str]
) -> Iterator[Question]:
    words: dict[str, set[str]] = {}
    for turn in turns:
        words.setdefault(turn.unit, set()).update(tokens.stems(turn.text))
    frozen = {day: frozenset(found) for day, found in words.items()}
    for number, given in enumerate(asked, 1):
        text = given.strip().strip('"')
        rule, gold = label(text, frozen)
        if gold:
            yield Question(f"{name}-{number}", text, rule, tuple(gold))
        else:
            unlabelled.append(f"{name}-{number}")


def _asked(path: Path) -> dict[str, list[str]]:
    """Questions by user: one JSON object a line, ``{"<name>": [question, …]}``."""
    found: dict[str, list[str]] = {}
    try:
        for line in path.read_text(encoding="utf-8").splitlines():
            row: dict[str, Any] = json.loads(line) if line.strip() else {}
            found |= {name.strip(): [str(each) for each in listed] for name, listed in row.items()}
    except OSError as error:
        raise malformed(path, error.strerror or str(error)) from error
    except (ValueError, TypeError, AttributeError) as error:
        raise malformed(path, repr(error)) from error
    return found
