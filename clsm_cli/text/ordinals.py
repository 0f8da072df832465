"""Questions that place a memory among the conversations: "our third talk", "before we spoke of X".

Only the structure is read; retrieval looks up the conversations. A place counts conversations (all, or those
about a subject) from either end; a relation selects those before, after or between places.
"""

import re
from functools import cache

from clsm_cli.model.grouping import grouped
from clsm_cli.startup.records import NamedTuple
from clsm_cli.text.language_data import compiled, number_words, table_rows, word_list

ORDINALS = word_list("ordinals")[:12]
_COUNTS = word_list("numbers")[1:11]

MAX_CHARS = 2000  # characters of a question to read: more is quoted text
_MAX_SUBJECT_CHARS = 80
_FEW_COUNT = 3
_MAX_NUMBER = 10**6  # more conversations than any store has; longer numbers are cut to it
_NEWEST = frozenset({"last", "latest", "newest", "final", "previous", "prior", "most recent"})


class _Form(NamedTuple):
    """Kind of a place, the cue words of which one must occur, and its pattern."""

    kind: str
    needs: tuple[str, ...]
    pattern: str


@cache
def _forms() -> dict[str, list[_Form]]:
    rows = table_rows("ordinals", ORDINAL="|".join(ORDINALS), COUNT="|".join(_COUNTS))
    return grouped(
        (name, _Form(kind, tuple(needs.split("|")), pattern.replace("[A-Z]", "(?-i:[A-Z])")))
        for name, kind, needs, pattern in rows
    )


def _pattern_of(name: str, before: str = "") -> re.Pattern[str]:
    return compiled(f"(?i){before}{_forms()[name][0].pattern}")


class ConversationPlace(NamedTuple):
    """A place among conversations."""

    subject: str = ""  # subject of the conversations; empty: any
    number: int = 0  # ordinal, from 1; 0: the one closest to the subject
    length: int = 1  # how many, away from the end where counting starts
    from_end: bool = False  # whether to count from the last one
    is_mention: bool = False  # whether any mention of the subject counts, also in a note


class ConversationReference(NamedTuple):
    """Conversations that a question asks about."""

    start: int  # offset of its first character, including the subject
    end: int
    relation: str  # ``at`` the place, ``before`` or ``after`` it, or ``between`` two
    place: ConversationPlace
    other: ConversationPlace | None = None
    step: int = 0  # n-th before or after; 0: all
    length: int = 1  # how many, from the n-th on
    hard: bool = True  # whether it names conversations, so that only these can answer


class Event(NamedTuple):
    """The event of a question for what came before or after, and where its words begin."""

    start: int
    side: str
    phrase: str


class _ParsedPlace(NamedTuple):
    """A place, and where its words end; ``is_event``: given by its subject alone."""

    place: ConversationPlace
    end: int
    is_event: bool = False


def read_reference(text: str) -> ConversationReference | None:
    """Read the place among the conversations that a question asks about; None without one.

    >>> asked = read_reference("What did I say the second time the bike came up?")
    >>> asked.relation, asked.place.subject, asked.place.number, asked.place.from_end
    ('at', 'the bike', 2, False)
    >>> asked = read_reference("What did we talk about right before the conversation about the move?")
    >>> asked.relation, asked.step, asked.place.subject
    ('before', 1, 'the move')
    """
    text = text[:MAX_CHARS]
    found = _read_between(text) if "between " in text.lower() else None
    return found or _read_relation(text) or _read_place(text)


def read_event(text: str) -> Event | None:
    """Read a question for anything that came before or after an event.

    >>> read_event("What came next after the skylight was delivered?")
    Event(start=15, side='after', phrase='the skylight was delivered')
    >>> read_event("What squeaked after the move?")
    """
    match = _pattern_of("came").fullmatch(text[:MAX_CHARS].rstrip(" .?!"))
    if match is None:
        return None
    return Event(match.start("side"), _side(match["side"]), match["event"])


def _side(word: str) -> str:
    return "after" if word.lower() in {"after", "since", "following"} else "before"


def _read_between(text: str) -> ConversationReference | None:
    for match in compiled(r"(?i)\bbetween ").finditer(text):
        here = _place_at(text, match.end(), stop=" and ")
        if here is None or not text.startswith(" and ", here.end):
            continue
        there = _place_at(text, here.end + 5)
        if there is None or _lacks_talk(text, here.is_event or there.is_event):
            continue
        hard = not (here.is_event or there.is_event) or _is_ours(text)
        return ConversationReference(
            match.start(), there.end, "between", here.place, there.place, hard=hard
        )
    return None


def _read_relation(text: str) -> ConversationReference | None:
    for match in _pattern_of("relation", r"\b").finditer(text):
        found = _place_at(text, match.end())
        if found is None or _lacks_talk(text, found.is_event and not match["noun"]):
            continue
        step, length = int(bool(match["near"] or match["noun"])), 1
        if match["nth"]:
            step = _read_position(match["nth"])[0]
        elif match["many"] and match["all"]:
            length = _read_count(match["many"])
        elif match["many"]:
            step = _read_count(match["many"])
        hard = not found.is_event or bool(match["noun"]) or _is_ours(text)
        side = _side(match["side"])
        return ConversationReference(
            match.start(), found.end, side, found.place, None, step, length, hard
        )
    return None


def _read_place(text: str) -> ConversationReference | None:
    best: ConversationReference | None = None
    folded = text.lower()
    for kind, needs, pattern in _forms()["place"]:
        if not any(cue in folded for cue in needs) or _lacks_talk(text, kind == "time"):
            continue
        match = compiled(rf"(?i)\b{pattern}").search(text)
        if match and (best is None or match.start() < best.start):
            found = _place_of_match(text, match, kind, "")
            best = ConversationReference(match.start(), found.end, "at", found.place)
    return best or _read_topic(text)


def _read_topic(text: str) -> ConversationReference | None:
    """Read "in our conversation about X", which prefers all of them."""
    match = _pattern_of("topic", r"\b").search(text)
    if match is None:
        return None
    subject, end = _subject(text, match.end(), "")
    place = ConversationPlace(subject)
    return ConversationReference(match.start(), end, "at", place, hard=False) if subject else None


def _place_at(text: str, start: int, stop: str = "") -> _ParsedPlace | None:
    folded = text[start : start + _MAX_SUBJECT_CHARS].lower()
    for kind, needs, pattern in (*_forms()["place"], *_forms()["anchor"]):
        if not any(cue in folded for cue in needs):
            continue
        match = compiled(f"(?i){pattern}").match(text, start)
        if match:
            return _place_of_match(text, match, kind, stop)
    for form in (*_forms()["topic"], *_forms()["event"]):
        match = compiled(f"(?i){form.pattern}").match(text, start)
        if match and (found := _subject(text, match.end(), stop))[0]:
            subject = _pattern_of("one").sub("", found[0])
            is_event = form in _forms()["event"] and subject == found[0]
            return _ParsedPlace(ConversationPlace(subject), found[1], is_event)
    return None


def _place_of_match(text: str, match: re.Match[str], kind: str, stop: str) -> _ParsedPlace:
    groups = match.groupdict()
    subject, end = groups.get("subject") or "", match.end()
    if groups.get("open") is not None and not subject:
        found, after = _subject(text, match.end(), stop)
        subject, end = (found, after) if found else ("", match.end("open"))
    if kind == "ago":
        number = _read_count(groups["many"] or "one")
        return _ParsedPlace(ConversationPlace(number=number, from_end=True), end)
    number, from_end = _read_position(groups["nth"] or "")
    from_end = from_end or bool(groups.get("rear"))
    count = _read_count(groups.get("many") or "one")
    is_mention = kind == "said" and bool(subject)
    return _ParsedPlace(ConversationPlace(subject, number, count, from_end, is_mention), end)


def _subject(text: str, start: int, stop: str) -> tuple[str, int]:
    """The text from an offset to the end of its phrase, and that end."""
    start += text.startswith(" ", start)
    window = text[start : start + _MAX_SUBJECT_CHARS]
    ends = _pattern_of("stop").search(window)
    end = ends.start() if ends else len(window.rstrip(" .?!"))
    if stop and (found := window.find(stop, 0, end)) >= 0:
        end = found
    return window[:end].strip(), start + end


def _read_position(words: str) -> tuple[int, bool]:
    """Number, and whether to count from the end, of "third", "second to last", "latest"."""
    words = words.lower().removeprefix("very ").replace("-", " ")
    if words in {"before last", "last but one", "penultimate"}:
        return 2, True
    if words in _NEWEST:
        return 1, True
    first = words.split(" ")[0]
    if first in {"earliest", "oldest", "initial"}:
        return 1, False
    number = 2 if first == "next" else 0
    if first in ORDINALS:
        number = ORDINALS.index(first) + 1
    elif first[0].isdigit():
        number = min(int(first.rstrip("stndrh")), _MAX_NUMBER)
    return number, words.endswith(" last")


def _read_count(word: str) -> int:
    word = word.lower()
    if word.isdigit():
        return min(int(word), _MAX_NUMBER)
    return {"few": _FEW_COUNT, "couple of": 2}.get(word) or number_words().get(word, 1)


def _lacks_talk(text: str, is_event: bool) -> bool:
    """Whether a question names an event or a time, but no conversation."""
    return is_event and _pattern_of("talk").search(text) is None


def is_about_talk(text: str) -> bool:
    """Whether a question asks what user and assistant told each other."""
    return _is_ours(text) or _pattern_of("told").search(text) is not None


def _is_ours(text: str) -> bool:
    return _pattern_of("ours").search(text) is not None
