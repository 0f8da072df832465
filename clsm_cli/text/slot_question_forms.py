"""The words of a question: without its time, as subject and slot, as subject and verb."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clsm_cli.text import slot_question_words as table

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

Words = list[str]
_STRIPPED = ',;:"\u201c\u201d()*[]?!'
_ADJECTIVES = frozenset({"current", "present", "exact", "new", "old", "latest", "actual", "main"})


def words_of(text: str) -> Words:
    """Return the words of a question without the time that it is about.

    >>> words_of("Where did the backup go on 14 February?")
    ['Where', 'did', 'the', 'backup', 'go']
    """
    words = [bare for word in text.split() if (bare := word.strip(_STRIPPED).removesuffix("."))]
    kept: Words = []
    at = 0
    while at < len(words):
        end = _time_end(words, at)
        if end > at:
            _drop_lead(kept, is_now=words[at].lower() in table.NOW)
        else:
            kept.append(words[at])
        at = max(end, at + 1)
    return kept


def _drop_lead(kept: Words, *, is_now: bool) -> None:
    """Take away the words that lead to a time: "on", "back in", "as seen on", "as of" now."""
    leads = {"of", "by", "until", "since"} if is_now else table.BEFORE_TIME
    if len(kept) > 1 and kept[-1].lower() in leads:
        kept.pop()
        while len(kept) > 1 and kept[-1].lower() in {"as", "seen", "back"}:
            kept.pop()


def _time_end(words: Sequence[str], at: int) -> int:
    """The word behind a time that begins at a word; ``at`` where none does."""
    low = [word.lower() for word in words[at : at + 4]] + [""] * 3
    day = low[0][:-2] if low[0][-2:] in {"st", "nd", "rd", "th"} else low[0]
    count = 0
    if at and words[at][0].isupper() and low[0] in table.MONTHS:
        count = 1 + low[1].isdigit()
    elif day.isdigit() and low[1] in table.MONTHS:
        count = 2 + low[2].isdigit()
    elif low[0] in table.WEEKDAYS:
        count = 1 + max(0, _time_end(words, at + 1) - at - 1 if at + 1 < len(words) else 0)
    elif low[0] in {"last", "this", "next", "previous"} and low[1] in table.PERIODS:
        count = 2
    elif low[2] == "ago":
        count = 3
    elif (low[0], low[1]) in {("the", "moment"), ("these", "days")}:
        count = 2
    elif low[0] in table.NOW or _is_date(low[0]) or (at and _is_year(low[0], words[at - 1])):
        count = 1
    return at + count


def _is_date(word: str) -> bool:
    return len(word) == 10 and word.count("-") == 2 and word[:4].isdigit()


def _is_year(word: str, before: str) -> bool:
    is_year = len(word) == 4 and word.isdigit() and word[:2] in {"19", "20"}
    return is_year and before.lower() in {"in", "since", "of", "until"}


def named(words: Sequence[str]) -> str:
    """Return a subject as statements write it: without article, "" for "we".

    >>> named(["the", "reading", "club"]), named(["we"])
    ('reading club', '')
    """
    rest = words[1:] if words and words[0].lower() in table.DETERMINERS else words
    if len(rest) == 1 and rest[0].lower() in table.TALKERS:
        return ""
    return " ".join(rest).removesuffix("'s").removesuffix("\u2019s")


def is_name(subject: str) -> bool:
    """Return whether a subject names something by itself, and no more than that.

    >>> is_name("Steward's Problem"), is_name("she"), is_name("John in town for a game")
    (True, False, False)
    """
    words = subject.split()
    if len(words) > 6 or (words and words[0].lower() in table.POINTING):
        return False
    return not any(
        word in table.LOOSE and words[place].islower() for place, word in enumerate(words[:-1], 1)
    )


def stored(words: Sequence[str]) -> str:
    """Return of what something is a backup, as statements write it: "restic" of "restic backup"."""
    name = named(words)
    head, _, last = name.rpartition(" ")
    return head if head and last.lower() in table.BACKUPS else name


def noun_slot(words: Sequence[str]) -> tuple[str, str] | None:
    """Return subject and slot of a phrase that names both; None for any other.

    >>> noun_slot(["Tom's", "job"]), noun_slot(["the", "deadline", "for", "the", "essay"])
    (('Tom', 'occupation'), ('essay', 'due'))
    >>> noun_slot(["the", "upload", "limit"]), noun_slot(["the", "boat"])
    (('upload limit', 'setting'), None)
    """
    words = words[1:] if words and words[0].lower() in table.DETERMINERS else words
    low = [word.lower() for word in words]
    if not words or table.LINKS & {*low}:
        return None
    if link := next((each for each in ("per", "of", "for") if each in low[1:-1]), ""):
        place = low.index(link)
        is_rate = link == "per"
        return _rate_of(words, place) if is_rate else _of(words[:place], words[place + 1 :])
    return _owned(words) or _compound(words, low)


def _owned(words: Sequence[str]) -> tuple[str, str] | None:
    """Return subject and slot of "Tom's job"."""
    for place, word in enumerate(words[:-1], 1):
        if word.endswith(("'s", "\u2019s")):
            return _of(words[place:], words[:place])
    return None


def _compound(words: Sequence[str], low: Sequence[str]) -> tuple[str, str] | None:
    """Return subject and slot of "the upload limit", "the heartbeat interval"."""
    if low[-1] in table.FEES | table.SETTINGS:
        return named(words), "price" if low[-1] in table.FEES else "setting"
    if len(words) > 1 and low[-1] in table.DISKS and low[-2] in table.DATA:
        return stored(words[:-1]), "target"
    for count in (2, 1):
        if len(words) > count and _slot(words[-count:]):
            return _of(words[-count:], words[:-count])
    return None


def _slot(head: Sequence[str]) -> str | None:
    low = [word.lower() for word in head]
    while len(low) > 1 and low[0] in _ADJECTIVES:
        low = low[1:]
    return table.NOUNS.get(" ".join(low))


def _of(head: Sequence[str], owner: Sequence[str]) -> tuple[str, str] | None:
    """Return what is asked of an owner: subject and slot."""
    low = [word.lower() for word in head]
    if not low:
        return None
    if low[0] in {"favourite", "favorite"} and 1 < len(low) < 4 and not table.LOOSE & {*low}:
        return named(owner), f"favourite/{' '.join(low[1:])}"
    if low[0] in table.PARTS_OF_DAY and len(low) > 1:
        return named(owner), f"habit/{low[0]}"
    if low[-1] in {"dose", "dosage"} and len(low) == 2:
        return low[0], f"dose/{low[0]}"
    slot = _slot(head)
    if slot is None:
        return None
    subject = stored(owner) if slot == "target" else named(owner)
    return subject, f"dose/{subject.split()[-1].lower()}" if slot == "dose" else slot


def _rate_of(words: Sequence[str], place: int) -> tuple[str, str] | None:
    """Return subject and slot of "Magpie's risk per trade"."""
    if place < 2 or words[place - 1].lower() not in table.RATES | {"fee", "share"}:
        return None
    return named(words[: place - 1]), f"rate/per {words[place + 1].lower()}"


def parts(words: Words, low: Words, verbs: Collection[str]) -> tuple[Words, str, Words] | None:
    """Return subject, verb and rest of "the club meet in winter", the words behind "does"."""
    for place in range(1, len(low)):
        if low[place] in verbs:
            return words[:place], low[place], words[place + 1 :]
    return None
