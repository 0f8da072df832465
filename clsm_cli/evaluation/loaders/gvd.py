"""The Generated Virtual Dataset (MemoryBank, Zhong et al., 2023): a user, an assistant, ten days.

It has neither answers nor evidence, so the days that answer a question are derived from the text by
two rules, and a question that neither rule decides is left out.
"""

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from typing import Any

from clsm_cli.evaluation import dataset
from clsm_cli.text import tokens
from clsm_cli.text.time import expressions

MEMORY = "memory_bank_en.json"
QUESTIONS = "probing_questions_en.jsonl"
DATED, LEXICAL = "dated", "lexical"
RARE = 3  # days on which a word may occur and still tell where something was said
# Words that tell of the conversation, or ask, and name no content; with all words of their stems.
FRAME = (
    "advice ask bring chat conversation consult day detail discuss discussion enjoy experience"
    " favorite good help introduce kind know like main mention method name opinion people place"
    " question recent recently recommend recommendation remember said share speak specific"
    " suggest suggestion talk tell thing think time told topic type way"
)
_LATER = timedelta(days=40)
_NOON = time(12, tzinfo=UTC)


def load(path: Path) -> dataset.Dataset:
    """Read the folder that holds the two English files of the set."""
    faults = dataset.Faults()
    asked, cases = _asked(path / QUESTIONS), []
    memory = dataset.load_json(path / MEMORY)
    if not isinstance(memory, dict) or not memory:
        raise dataset.malformed_error(path / MEMORY, "it holds no users")
    for key, user in memory.items():
        name = key.strip()
        with dataset.reading(path / MEMORY, f"user {name}"):
            turns = tuple(_turns(name, user["history"]))
            queries = tuple(_queries(name, turns, asked.get(name, []), faults))
        if queries:
            cases.append(dataset.Case(name, dataset.Chat((name,), turns), queries))
    if not cases:
        reason = "it holds no question to a user that a rule can label"
        raise dataset.malformed_error(path / QUESTIONS, reason)
    rules = Counter(query.category for case in cases for query in case.queries)
    rule = (
        "the set names no evidence; the days that answer a query are derived by two rules:"
        f" {rules[DATED]} name a day or a period ({DATED}),"
        f" {rules[LEXICAL]} have words that were said on one or two days only ({LEXICAL})"
    )
    read, notes = [path / MEMORY, path / QUESTIONS], (rule, *faults.sentences())
    return dataset.made_dataset("gvd", path, read, cases, notes, "day", "recall@1")


def label_question(
    question: str, words_of_days: Mapping[str, frozenset[str]]
) -> tuple[str, list[str]]:
    """The rule that labels a question, and the days it names; no days when neither rule decides.

    1. *dated*: the question names a day or a period, and the days inside it are the gold.
    2. *lexical*: of the question's content words (no stop words, none of ``FRAME``) take those that
       occur on at most three days. When those among them that occur on exactly one day agree on it,
       that day is the gold; else the days on which all the rare words occur, if these are one or two.

    ``words_of_days`` has, by ISO date in order of time, the stems of all that was said on it.

    >>> days = {"2023-05-01": frozenset({"xiamen", "trip"}), "2023-05-02": frozenset({"trip"})}
    >>> label_question("What did I do on May 2nd?", days), label_question("How was the trip to Xiamen?", days)
    (('dated', ['2023-05-02']), ('lexical', ['2023-05-01']))
    """
    named = _named_days(question, words_of_days)
    if named:
        return DATED, named
    content = dict.fromkeys(tokens.stems(question)).keys() - {*tokens.stems(FRAME)}
    found = [{day for day, words in words_of_days.items() if word in words} for word in content]
    rare = [days for days in found if 1 <= len(days) <= RARE]
    single = set[str]().union(*(days for days in rare if len(days) == 1))
    common = set.intersection(*rare) if rare else set()
    gold = single if len(single) == 1 else common
    return LEXICAL, sorted(gold) if len(gold) <= 2 else []


def _named_days(question: str, days: Mapping[str, object]) -> list[str]:
    """The days inside the periods that a question names, whenever it is asked.

    "May 4th" is the same day when it is asked forty days later; "a few days ago" is not.
    """
    asked = date.fromisoformat(max(days)) + timedelta(days=1)
    now, later = (
        {(each.first, each.until) for each in expressions.find_expressions(question, day)}
        for day in (asked, asked + _LATER)
    )
    dates = {day: date.fromisoformat(day) for day in days}
    named = now & later
    return [day for day in days if any(a <= dates[day] < b for a, b in named)]


def _turns(name: str, history: Mapping[str, Any]) -> Iterator[dataset.LabelledTurn]:
    """The turns by day, from noon on, as a day names no hour."""
    sides = (("query", "user", name), ("response", "assistant", "assistant"))
    for day in sorted(history):
        rows = ((speaker, role, each[key]) for each in history[day] for key, role, speaker in sides)
        numbered = ((f"{day}#{place}", *words) for place, words in enumerate(rows, 1))
        begin = datetime.combine(date.fromisoformat(day), _NOON)
        yield from dataset.turns_of(day, begin, numbered)


def _queries(
    name: str, turns: tuple[dataset.LabelledTurn, ...], asked: list[str], faults: dataset.Faults
) -> Iterator[dataset.LabelledQuery]:
    words: dict[str, frozenset[str]] = {}
    for turn in turns:
        words[turn.session] = words.get(turn.session, frozenset()).union(tokens.stems(turn.text))
    for number, given in enumerate(asked, 1):
        identity, text = f"{name}-{number}", given.strip().strip('"')
        rule, gold = label_question(text, words) if words else ("", [])
        if gold:
            yield dataset.LabelledQuery(id=identity, text=text, category=rule, gold=tuple(gold))
        else:
            faults.add("query is left out, neither rule decides", identity)


def _asked(path: Path) -> dict[str, list[str]]:
    """Questions by user: one JSON object a line, ``{"<name>": [question, …]}``."""
    asked: dict[str, list[str]] = {}
    for number, line in enumerate(dataset.read_bytes(path).splitlines(), 1):
        if line.strip():
            with dataset.reading(path, f"line {number}"):
                for name, questions in json.loads(line).items():
                    asked.setdefault(name.strip(), []).extend(map(str.strip, questions))
    return asked
