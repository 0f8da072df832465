"""Match the contents of a memory with its labels: concepts, statements, facts."""

from __future__ import annotations

import re
from calendar import month_name
from collections import Counter
from typing import TYPE_CHECKING

from clsm_cli.evaluation.studies.labelled import (
    Concept,
    ConceptFigures,
    Contents,
    Fact,
    FactFigures,
    Labels,
    Missed,
    StatementFigures,
    Value,
    ValueFigures,
    Wording,
    normal_name,
    normal_names,
)
from clsm_cli.text import tokens

if TYPE_CHECKING:
    from collections.abc import Sequence

    from clsm_cli.model.graph import Statement


SHOWN = 3
"""Rows that are listed beside what is missing or wrong."""
_WORD = re.compile(r"\d+(?:[.,:]\d+)+|%|\w+")
_LITTLE = frozenset(("a", "an", "and", "at", "by", "for", "from", "has", "in", "into", "is"))
_LITTLE |= {"of", "on", "s", "the", "to", "was", "with"}
_COUNTED = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_NUMBERS = {word: str(number) for number, word in enumerate((*_COUNTED, "eleven", "twelve"))}
_DATE = re.compile(r"(\d{4})-(\d\d)-(\d\d)")


def match_concepts(labels: Sequence[Concept], contents: Contents) -> ConceptFigures:
    """Which labelled concepts have a node, and which nodes mix several of them."""
    names = {node.id: normal_names((node.label, *node.aliases)) for node in contents.nodes.values()}
    by_label = {
        concept.label: [i for i, found in names.items() if found & concept.names]
        for concept in labels
    }
    owners: dict[str, set[str]] = {}
    for concept in labels:
        for name in concept.names:
            owners.setdefault(name, set()).add(concept.label)
    kinded = [concept for concept in labels if concept.kind and by_label[concept.label]]
    merges = {
        contents.nodes[node].label: tuple(sorted({each for name in found for each in owners[name]}))
        for node, all_names in sorted(names.items())
        if (found := [name for name in all_names if name in owners])
        and not set.intersection(*(owners[name] for name in found))
    }
    matched = {node for nodes in by_label.values() for node in nodes}
    return ConceptFigures(
        labels=len(labels),
        found=sum(bool(nodes) for nodes in by_label.values()),
        nodes=len(names),
        unmatched=len(names) - len(matched),
        kinded=len(kinded),
        kinds_right=sum(
            any(contents.nodes[node].kind == concept.kind for node in by_label[concept.label])
            for concept in kinded
        ),
        missing=tuple(label for label, nodes in by_label.items() if not nodes),
        split={
            label: tuple(sorted(contents.nodes[node].label for node in nodes))
            for label, nodes in by_label.items()
            if len(nodes) > 1
        },
        merges=merges,
    )


def match_statements(labels: Labels, contents: Contents) -> StatementFigures:
    """Which sentences worth keeping were kept, and where; which fragments were kept as well."""
    rows = contents.statements
    found = {
        wording: [row for row in rows if contains_wording(row.text, wording)]
        for wording in labels.keep
    }
    present = [wording for wording in labels.keep if found[wording]]
    streams = {wording: {row.stream for row in found[wording]} for wording in present}
    counts: dict[str, Counter[str]] = {}
    for row in contents.rows.values():
        if row.superseded_at is None and not row.withdrawn:
            counts.setdefault(row.kind, Counter())[row.stream] += 1
    return StatementFigures(
        keep=len(labels.keep),
        present=len(present),
        stream_right=sum(wording.stream in streams[wording] for wording in present),
        missing=tuple(
            Missed(
                wording.text,
                wording.quote,
                tuple(row.text for row in contents.resting_on(wording.quote)[:SHOWN]),
            )
            for wording in labels.keep
            if not found[wording]
        ),
        misplaced=tuple(
            (wording.text, wording.stream, ", ".join(sorted(streams[wording])))
            for wording in present
            if wording.stream not in streams[wording]
        ),
        junk=len(labels.junk),
        promoted=tuple(
            (wording.text, row.text)
            for wording in labels.junk
            for row in [each for each in rows if contains_wording(each.text, wording)][:1]
        ),
        counts={kind: dict(sorted(by.items())) for kind, by in sorted(counts.items())},
    )


def contains_wording(text: str, wording: Wording) -> bool:
    """Whether a text has a word or phrase of every group, whatever its case.

    >>> from clsm_cli.evaluation.studies.labelled import Wording
    >>> often = Wording("", "", (("ten", "10"), ("often",)), "")
    >>> contains_wording("Often it is Ten.", often), contains_wording("It is often 0.10.", often)
    (True, False)
    """
    return all(any(_stands(phrase, text) for phrase in group) for group in wording.groups)


def _stands(phrase: str, text: str) -> bool:
    """Whether a phrase stands in a text as whole words; a part of a decimal number is none."""
    found = rf"(?<!\w)(?<!\d[.,]){re.escape(phrase)}(?!\w)"
    return re.search(found, text, re.IGNORECASE) is not None


def match_fact(label: Fact, contents: Contents) -> FactFigures:
    """Whether the values of a fact stand in memory, each with the dates between which it held."""
    rows = contents.statements
    saying = {value: _saying(value, label, rows, contents) for value in label.values}
    last = label.values[-1]
    now = [row for row in saying[last] if row.is_current]
    stale = [
        row
        for value in label.values[:-1]
        for row in saying[value]
        if row.is_current and row not in now and _is_made_of(row.text, value.quote)
    ]
    return FactFigures(
        label.id,
        bool(now) and not stale,
        tuple(dict.fromkeys(map(statement_line, stale))),
        tuple(_value(value, saying[value], contents) for value in label.values),
    )


def says_value(value: str, text: str) -> bool:
    """Whether a text has all words and numbers of a value, or its date in either form.

    >>> says_value("2026-03-02", "It is due on Monday 2 March."), says_value("15 minutes", "every 5 minutes")
    (True, False)
    >>> says_value("10", "Noor is ten."), says_value("1 %", "It risks 0.1 % a trade.")
    (True, False)
    """
    date = _DATE.fullmatch(value)
    if date is None:
        return _words(value) <= _words(text)
    month, day = month_name[int(date[2])], int(date[3])
    named = rf"(?:{month}|{month[:3]}\.?)"
    spoken = rf"\b0?{day}(?:st|nd|rd|th)?(?: of)? {named}\b|\b{named} 0?{day}(?:st|nd|rd|th)?\b"
    return value in text or re.search(spoken, text, re.IGNORECASE) is not None


def statement_line(row: Statement) -> str:
    """A statement with its dates, in a line."""
    until = f" until {row.valid_until[:10]}" if row.valid_until else ""
    since = row.valid_from[:10] if row.valid_from else "?"
    return f"{row.text} [from {since}{until}]"


def _words(text: str) -> set[str]:
    """Words and numbers of a text: without case, little words and plural s; numbers as digits."""
    found = {_NUMBERS.get(word, word) for word in _WORD.findall(text.casefold())}
    return {normal_name(word) if word.isalpha() else word for word in found - _LITTLE}


def _saying(
    value: Value, label: Fact, rows: Sequence[Statement], contents: Contents
) -> list[Statement]:
    """The rows that say a value of the subject.

    A row says it when it has its words, and either rests on the turn of the quote or is about the
    subject; a value of one word may stand in many sentences, so its row must rest on the turn.
    Where the quote itself does not have the words, the label describes it, and a row made of the
    quote says it.
    """
    is_described = not says_value(value.text, value.quote)
    found: list[Statement] = []
    for row in rows:
        rests = any(value.quote in text for text in contents.source_texts(row))
        if says_value(value.text, row.text):
            is_telling = len(_words(value.text)) > 1
            said = rests or (is_telling and _is_about(row, label, contents))
        else:
            said = is_described and rests and _is_made_of(row.text, value.quote)
        if said:
            found.append(row)
    return found


def _is_about(row: Statement, label: Fact, contents: Contents) -> bool:
    node = contents.nodes.get(row.subject or "")
    if node is not None and normal_name(label.subject) in normal_names((node.label, *node.aliases)):
        return True
    return _words(label.subject) <= _words(row.text)


def _is_made_of(text: str, quote: str) -> bool:
    """Whether a text has at least half of the content words of a quote."""
    wanted = set(tokens.stems(quote))
    return 2 * len(wanted & set(tokens.stems(text))) >= max(1, len(wanted))


def _value(value: Value, rows: Sequence[Statement], contents: Contents) -> ValueFigures:
    starts = [row for row in rows if _day(row.valid_from) == value.valid_from]
    ends = [row for row in rows if _day(row.valid_until) == value.valid_until]
    right = [row for row in starts if row in ends]
    near = rows or contents.resting_on(value.quote)
    if right:
        why = ""
    elif not rows:
        why = "no row says it" if near else "nothing of its turn was kept"
    elif not starts and not ends:
        why = "both dates are wrong"
    elif not starts:
        why = "begins at another date"
    elif not ends:
        why = "is still current" if value.valid_until else "was closed"
        if any(row.valid_until for row in starts) and value.valid_until:
            why = "ends at another date"
    else:
        why = "no row has both dates right"
    return ValueFigures(
        value.text,
        value.valid_from,
        value.valid_until,
        is_stated=bool(rows),
        is_right=bool(right),
        ends_right=bool(ends),
        why=why,
        found=() if right else tuple(map(statement_line, near[:SHOWN])),
    )


def _day(time: str | None) -> str | None:
    return time[:10] if time else None
