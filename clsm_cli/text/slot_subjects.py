"""Who or what a fact is about."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from clsm_cli.text import slot_values
from clsm_cli.text.name_matching import NO_NAMES
from clsm_cli.text.slot_clauses import last_phrase, subject
from clsm_cli.text.slot_identity import OF_THE_AGENT, UNKNOWN
from clsm_cli.text.slot_words import (
    ABSTRACT,
    DATA,
    GATHERINGS,
    KIN,
    NAME,
    PERSON_PRONOUNS,
    TOLD,
)

if TYPE_CHECKING:
    from clsm_cli.text.slot_clauses import Clause
    from clsm_cli.text.slot_readers import Rule

_OWNER = re.compile(
    r"(?P<owner>\b[Mm]y|\b[Oo]ur|\b[Hh]is|\b[Hh]er|\b[Tt]heir|\b[Ii]ts|[\w\ue000\ue001. -]{1,60}?['’]s)(?: [a-z-]{1,20}){0,2} ?$"
)
_PRONOUN_OF = {"my": "I", "our": "we", "his": "he", "her": "she", "their": "they", "its": "it"}
_TAKER = re.compile(
    r"\b(?:I|[Ww]e) (?:(?:now|still|also) )?(?:take|took|start(?:ed)? (?:with|on)|started taking|am on|"
    r"get|am (?:given|taking)|went on|have been on) $"
)
# "like" is a preposition as well, "read" and "love" are nouns: only a subject beside them counts.
_STRICT = frozenset({"likes", "dislikes", "prefers"})
_BASE = re.compile(
    r"(?:use|live|work|like|love|enjoy|own|play|drink|speak|prefer|run|lie|stand|hang|come|meet|go|read|reside|cost|"
    r"weigh|stay|remain|check|sync|boot|drink|belong|hate|dislike)\b"
)
_FILLER = re.compile(
    r"(?:(?:just|finally|also|recently|currently|still|oh|yes|yeah|and|well|so|hey|last \w{3,8}|yesterday|today|"
    r"this \w{3,8}|on another note|guess what)\W{0,3}){0,4}",
    re.IGNORECASE,
)
_OFFICE = re.compile(
    rf"\b[Tt]he (?P<q>{NAME}) (?:office|school|shop|lab|site|campus|clinic|hospital|branch)\b"
)
_NAMED = re.compile(
    rf"(?P<lead>\b(?:in|on|at|of|for|with|from|to|by|the|The|under|near) )?(?P<name>{NAME})"
)
_ODD = re.compile(r"[\"\u201c\u201d=<>{}|]|\s-|https?:")
_OTHERS = {
    "location": ABSTRACT | DATA | GATHERINGS,
    "setting": DATA - {"code"},
    "due": frozenset({"appointment"}),
}
# What "I" of a chat becomes; what the user likes and does are habits, which must be seen twice.
_OF_THE_USER = frozenset({"employer", "location", "occupation", "origin", "residence"})
_BACKUPS = frozenset({"backup", "backups", "repository", "repo", "snapshot", "snapshots"})
_COUPLE = re.compile(rf"({NAME}) and $")
_SELF = frozenset({"i", "we", "me", "us"})
_PLURAL = frozenset({"i", "you", "we", "they"})


def choose(rule: Rule, match: re.Match[str], left: str, clause: Clause, speaker: str) -> str | None:
    """Return the subject of a fact in its final form.

    Args:
        rule: the rule that matched.
        match: its match.
        left: the clause before the match.
        clause: the clause.
        speaker: who says "I"; "" for an agent's own notes.

    Returns:
        The subject; ``None`` where there is none, or none that the rule takes.
    """
    speaker = speaker.strip()
    groups = match.groupdict()
    written: str | None
    if groups.get("s"):
        written = _of_owner(groups["s"]) or groups["s"]
    elif rule.who == "none":
        written = _owner(rule, left, clause)
    elif _is_own(rule, match, left, speaker):
        written = "I"
    elif rule.slot in _STRICT:
        written = subject(left, "")
        written = written if written and _agrees(written, match.group()) else None
    elif match.group().startswith(","):
        written = last_phrase(left)
    else:
        written = subject(left, clause.label or clause.lead)
    if written and (other := _COUPLE.search(left.rstrip().removesuffix(written))):
        # "Anna and Paul" are no one person, "Bread and Roses" may be one book.
        written = None if rule.who == "person" else f"{other.group(1)} and {written}"
    if written is None or _disagrees(written, match.group(), left):
        return None
    if rule.slot == "name":
        written = _of_owner(written) or written
    if rule.slot == "dose" and not written:
        written = match.group("q").lower()
    return _final(rule, written, f"{clause.before} {left}", clause, speaker)


def _agrees(written: str, verb: str) -> bool:
    """Whether a subject takes the verb that follows: "themes like" has none that likes."""
    last = written.rsplit(maxsplit=1)[-1].lower()
    third = re.search(r"\b(?:likes|loves|enjoys|adores|dislikes|hates|prefers)\b", verb) is not None
    if last in {"i", "we", "they"} or (last in KIN and last.endswith(("s", "children"))):
        return not third
    return third or re.search(r"\bcan not\b", verb) is not None


def _disagrees(written: str, verb: str, left: str) -> bool:
    """Whether a singular name has a verb without its "s": an imperative, or somebody else's."""
    if _BASE.match(verb) is None or re.search(
        r"\b(?:not|to|let|did|does|will|can) (?:\w+ )?$", left
    ):
        return False
    last = slot_values.unmarked(written).split()[-1]
    return last.lower() in {"he", "she", "it"} or (
        last[:1].isupper() and last.lower() not in _PLURAL and not last.endswith("s")
    )


def _is_own(rule: Rule, match: re.Match[str], left: str, speaker: str) -> bool:
    """Whether a verb without a subject is told by the speaker of a chat, or of what an agent reads."""
    if not (speaker or rule.slot == "reads") or rule.who not in {"person", "any"}:
        return False
    return _FILLER.fullmatch(left.strip()) is not None and TOLD.match(match.group()) is not None


def _owner(rule: Rule, left: str, clause: Clause) -> str:
    if rule.slot == "dose":
        return "I" if _TAKER.search(left) else ""
    match = _OWNER.search(left)
    if match is None:
        return clause.label
    return _of_owner(match.group("owner")) or ""


def _of_owner(owner: str) -> str:
    """Return who an owner is: "I" of "my", "Ilse" of "Ilse's"; "" for no possessive."""
    if owner.lower() in _PRONOUN_OF:
        return _PRONOUN_OF[owner.lower()]
    if owner.endswith(("'s", "’s")):
        return (subject(owner[:-2], "") or owner[:-2]).strip()
    return ""


def _final(rule: Rule, written: str, before: str, clause: Clause, speaker: str) -> str | None:
    plain = slot_values.unmarked(written).strip(" ,.\"'")
    folded = plain.lower()
    if not plain.split():
        return "" if rule.who == "none" and rule.slot in {"rule", "rate"} else None
    if _ODD.search(plain) or not _takes(rule, plain, speaker):
        return None
    if folded in _SELF:
        return speaker
    if folded in PERSON_PRONOUNS:
        return _antecedent(folded, before, clause.lead) or None
    is_marked = written == f"{slot_values.OPEN}{plain}{slot_values.CLOSE}"
    named = plain if is_marked else _named(plain, speaker)
    return _stored(named) if rule.slot == "target" else named


def _stored(subject_text: str) -> str:
    """Return of what something is a backup: "restic repository" and "restic backup" are one."""
    head, _, last = subject_text.rpartition(" ")
    if last.lower() in _BACKUPS:
        return head or "backup"
    return subject_text


def _takes(rule: Rule, plain: str, speaker: str) -> bool:
    """Whether a rule takes a subject."""
    folded = plain.lower()
    first, last, last_written = folded.split()[0], folded.split()[-1], plain.rsplit(maxsplit=1)[-1]
    if folded in PERSON_PRONOUNS | _SELF:
        is_agent = folded in _SELF and not speaker and rule.slot in OF_THE_AGENT
        return rule.who in {"person", "any", "none"} or (rule.who == "thing" and is_agent)
    others = rule.nouns and last not in rule.nouns
    if others or first in UNKNOWN or last in UNKNOWN | _OTHERS.get(rule.slot, frozenset()):
        return False
    if last_written in NO_NAMES or (rule.who == "object" and last_written[:1].isupper()):
        return False
    if folded == "the user" and rule.slot in _OF_THE_USER:
        return rule.who in {"person", "any"}
    if rule.who == "person":
        return last in KIN or (last_written[:1].isupper() and not plain.isupper())
    return rule.who in {"any", "none"} or last not in KIN


def _antecedent(pronoun: str, before: str, lead: str) -> str:
    """Return whom a pronoun means, if the words before it name one person only."""
    if pronoun in {"we", "they"}:
        return ""
    named = {
        slot_values.phrase(match.group("name"))
        for match in _NAMED.finditer(before)
        if not match.group("lead") and match.group("name").split()[0] not in NO_NAMES
    }
    return named.pop() if len(named) == 1 and slot_values.unmarked(lead) in named else ""


def _named(plain: str, speaker: str) -> str:
    """Return a noun phrase without article; "my sister" of a speaker is the speaker's sister."""
    words = plain.split()
    first = words[0].lower()
    capitals = [index for index, word in enumerate(words) if word[:1].isupper() and index]
    if first in {
        "the",
        "a",
        "an",
        "this",
        "that",
        "our",
        "my",
        "his",
        "her",
        "their",
        "its",
        "these",
    }:
        if capitals and words[-1][:1].isupper() and " of " not in plain:
            # "our cat Juno" is Juno, "the city of Ghent" is not only Ghent.
            start = next(i for i in capitals if all(w[:1].isupper() for w in words[i:]))
            return " ".join(words[start:])
        if first == "my" and speaker:
            return f"{speaker}'s {' '.join(words[1:])}"
        if first in {"his", "her", "their", "its"}:
            return plain[0].lower() + plain[1:]
        return " ".join(words[1:])
    return plain


def place_before(text: str) -> str:
    """Return the place that "there" means: "Leiden" of "the Leiden office"."""
    match = _OFFICE.search(text)
    return slot_values.phrase(match.group("q")) if match else ""
