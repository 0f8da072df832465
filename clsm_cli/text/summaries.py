"""Sentences that define a named thing, for a node's summary."""

import re
from collections.abc import Sequence
from functools import cache, lru_cache

from clsm_cli.text.language_data import pattern, table_rows
from clsm_cli.text.markdown_marks import BOX, ITEM
from clsm_cli.text.plain import to_plain
from clsm_cli.text.sentences import sentences
from clsm_cli.text.tokens import terms

_MAX_CHARS = 240
_MAX_SENTENCES = 2
_MIN_SCORE = 0.2  # a mere mention scores less
_MIN_OVERLAP = 0.6  # shared stems / stems of the shorter sentence, of which one is dropped
_BULLET = re.compile(rf"[ \t]*(?:{ITEM}[ \t]+)?(?:(?P<box>{BOX})[ \t]+)?")


@cache
def _forms(where: str) -> list[tuple[float, re.Pattern[str]]]:
    """Patterns for the text ``behind`` or ``before`` the name, each with its score, in order."""
    end, flags = ("", 0) if where == "behind" else (r"[ \"'(]{0,4}(?:the )?$", re.IGNORECASE)
    rows = (row for row in table_rows("summaries") if row[0] == where)
    return [(float(worth), re.compile(form + end, flags)) for _, worth, form in rows]


def definition_score(sentence: str, label: str) -> float:
    """Return how well a sentence defines a named thing, 0 to 1.

    A defining form has its own score ("X is a …" 0.95, "X: …" 0.9, "X, our …," 0.75); a name that opens the
    sentence scores 0.35, any other mention 0.15. Past events, a name far from the start and a leading word
    that points back lower the score. Questions, fragments, code, open tasks and sentences of more than
    240 characters score 0, as does a sentence without the name.

    >>> definition_score("Ann is a retired signal engineer.", "Ann")
    0.95
    >>> definition_score("Is Ann a plumber?", "Ann")
    0.0
    """
    if len(sentence) > _MAX_CHARS:
        return 0.0
    bullet = _BULLET.match(sentence)
    plain = _plain(sentence[bullet.end() :] if bullet else sentence)
    place = _name_pattern(label).search(plain)
    open_task = bullet is not None and bullet["box"] == "[ ]"
    is_fragment = len(plain.split()) < (3 if ": " in plain else 4)
    if place is None or open_task or is_fragment or pattern("summaries.unfit").search(sentence):
        return 0.0
    score = _form_score(plain, place.start(), place.end())
    if score < 0.55 and not pattern("summaries.finite verb").search(plain):
        return 0.0
    return round(score * _penalty(plain, place.start()), 3)


def _form_score(plain: str, start: int, end: int) -> float:
    before, behind = plain[:start], plain[end:]
    subject = re.fullmatch(r"\W*(?:(?:so|the|a|an|and|but|my|our) ){0,2}", before, re.IGNORECASE)
    score = 0.35 if subject else 0.15
    for worth, form in _forms("behind"):
        if form.match(behind):
            score = max(score, worth if subject else _score_off_subject(worth, before, behind))
            break
    for worth, form in _forms("before"):
        if form.search(before[-80:]):
            score = max(score, worth)
    return score


def _score_off_subject(worth: float, before: str, behind: str) -> float:
    if re.match(r": (?:a|an)\b", behind) and len(before.split()) > 2:
        return 0.6
    return 0.15 if behind.startswith((":", " (")) else 0.65 * worth


def _penalty(plain: str, start: int) -> float:
    factor = 0.7 if pattern("summaries.past talk").search(plain) else 1.0
    if re.match(r"(?:he|she|it|they|this|these|then|also|and|but|so)\b", plain, re.IGNORECASE):
        factor *= 0.8
    if re.search(r"\b(?:not|never|no longer)\b|n't\b", plain):
        factor *= 0.8
    if pattern("summaries.hearsay").search(plain[:start]):
        factor *= 0.6
    return factor if start < 80 else factor * 0.8


@lru_cache(maxsize=1024)
def _name_pattern(label: str) -> re.Pattern[str]:
    """Match a name, extended to a longer one: "Ann" and "Lee" in "Ann Lee"."""
    words = re.escape(_plain(label))
    if not label[:1].isupper():
        return re.compile(rf"(?<!\w)(?i:{words})s?(?!\w)(?!['\u2019]s\b)")
    more = r"[A-Z][\w-]{1,20}"
    no_name = (
        "From|The|A|An|In|On|At|To|For|With|By|And|But|So|If|When|While|As|Of|Is|Was|My|Our|Her|His"
    )
    before = rf"(?:\b(?!(?:{no_name}) ){more} )?" if " " not in label else ""
    return re.compile(rf"(?<!\w){before}(?i:{words})(?: {more}){{0,2}}(?!\w)(?!['\u2019]s\b)")


def _plain(text: str) -> str:
    """Return a text without marks of emphasis and links, with single blanks."""
    text = re.sub(r"\[\[(?:[^\[\]|\n]{1,200}\|)?([^\[\]|\n]{1,200})\]\]", r"\1", text)
    return " ".join(re.sub(r"\*{1,3}|(?<!\w)_|_(?!\w)|`", "", text).split())


_Candidate = tuple[str, str, str]  # sentence, time (ISO 8601, or "") and key of its turn


def best_sentences(candidates: Sequence[_Candidate], label: str) -> list[_Candidate]:
    """Return at most two sentences that best define a named thing, best first.

    Mere mentions (a score under 0.2), and sentences that share most of their words with a better one, are
    left out. Ties go to the newer time, then key, then text.
    """
    scored = [(definition_score(each[0], label), each) for each in sorted(set(candidates))]
    ranked = sorted(scored, key=lambda pair: (pair[1][2], pair[1][0]))
    ranked.sort(key=lambda pair: pair[1][1], reverse=True)
    ranked.sort(key=lambda pair: -pair[0])
    chosen: list[_Candidate] = []
    for score, each in ranked:
        if len(chosen) == _MAX_SENTENCES or score < _MIN_SCORE:
            break
        if not any(_is_alike(each[0], old[0]) for old in chosen):
            chosen.append(each)
    return chosen


def opening(heading: str, text: str) -> tuple[str, str]:
    r"""The name that a heading path ends with, and what the first sentence below it says about that.

    >>> opening("USER › **Ann Lee**", "- Signal engineer, retired.\n- Hates the phone.")
    ('Ann Lee', 'Ann Lee: Signal engineer, retired.')
    """
    name = to_plain(heading.rpartition(" › ")[2])
    return name, f"{name}: {to_plain(next(iter(sentences(text)), ''))}"


def full_line(summary: str, turn_text: str) -> str:
    r"""The line of a turn that begins a summary; the rest of the summary may come from elsewhere.

    >>> full_line("Jo: night baker. Jo rows.", "- Mia: baker.\n- Jo: night baker. Allergic to nuts.")
    'Jo: night baker. Allergic to nuts.'
    """
    first = next(iter(sentences(summary)), summary).rstrip(".")
    lines = (to_plain(line, has_addresses=True) for line in turn_text.split("\n"))
    return next((line for line in lines if first in line and len(line) <= _MAX_CHARS), summary)


def _is_alike(one: str, other: str) -> bool:
    left, right = terms(one), terms(other)
    return len(left & right) >= _MIN_OVERLAP * max(1, min(len(left), len(right)))
