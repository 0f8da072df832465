"""Checkable facts of a sentence: who or what, which slot, which value, and from when.

A fact is taken only where a form of the table says it plainly. A question, a condition, a wish, a
denial and what somebody else is said to have claimed give nothing: a wrong fact would close a right
one.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from clsm_cli.text import slot_values
from clsm_cli.text.names import NO_NAMES
from clsm_cli.text.slot_clauses import clauses, last_phrase, subject
from clsm_cli.text.slot_rules import RULES, SLOTS
from clsm_cli.text.slot_times import bounds, earlier_days
from clsm_cli.text.slot_words import ABSTRACT, DATA, KIN, NAME, PERSON_PRONOUNS, UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import date

    from clsm_cli.text.slot_clauses import Clause
    from clsm_cli.text.slot_readers import Reading, Rule

__all__ = ["SLOTS", "Fact", "conflicts", "facts", "subject_key"]


class Fact(NamedTuple):
    """A value that somebody or something has, as one sentence tells it.

    Attributes:
        subject: as written, without article; the speaker for "I", the owner of "Ilse's days"; a
            third-person pronoun as such; "" for an agent's "I" and where no subject is named.
        slot: a name of ``SLOTS``, with what tells it apart after a slash: "dose/aspirin".
        value: normalised and short: "10 minutes", "2026-03-02", "Monday and Wednesday".
        is_single: whether a newer value takes the place of the older one.
        since: ISO date of the first day on which it holds, where the sentence says so.
        until: ISO date of the first day on which it holds no more, where the sentence says so.
        is_ended: whether the sentence says that the value no longer holds.
        was: older values that the sentence names, normalised alike.
    """

    subject: str
    slot: str
    value: str
    is_single: bool
    since: str | None = None
    until: str | None = None
    is_ended: bool = False
    was: tuple[str, ...] = ()


_ASKS = re.compile(r"\?[\"')\]*_\u201d\u2019!]{0,4}\s*$")
_UNREAL = re.compile(
    r"\b(?:if|unless|whether|would|could|might|may|maybe|perhaps|probably|wish|wishes|hope|hopes|hoping|imagine|"
    r"should|suppose|supposed to|pretend|as though|almost|nearly|dreams?|dreamt|dreamed|consider|considering|"
    r"thinking (?:of|about)|want|wants|wanted|plan|plans|planning|try|trying|tries|going to|gonna|like to|love to|"
    r"looking to|able to|need to|offered|ought|must have|"
    r"when|whenever|until|once|before|after|had)\b",
    re.IGNORECASE,
)
_HEARSAY = re.compile(
    r"\b(?:told|tells|says|said|claims?|claimed|thinks?|thought|believes?|believed|guess|guessed|supposes|supposed|"
    r"assumes?|assumed|heard|hears|rumou?r|insists?|insisted|wrote|writes|asks?|asked|wonders?|wondered|dreamt|"
    r"doubts?|doubted|denies|denied|pretends|suggests?|suggested|recommends?|imagines)\b[^.;]{0,60}$",
    re.IGNORECASE,
)
_ENDS = re.compile(r"\b(?:no longer|any ?more|any longer|used to|not\b[^.;]{0,40}\bany ?more)\b")
_NEVER = re.compile(r"\b(?:not|never|neither|nor|hardly|nobody|no one|none)\b", re.IGNORECASE)
_OWNER = re.compile(
    r"(?P<owner>\b[Mm]y|\b[Oo]ur|\b[Hh]is|\b[Hh]er|\b[Tt]heir|\b[Ii]ts|[\w\ue000\ue001. -]{1,60}?['’]s)(?: [a-z-]{1,20}){0,2} ?$"
)
_PRONOUN_OF = {"my": "I", "our": "we", "his": "he", "her": "she", "their": "they", "its": "it"}
_PATIENT = re.compile(
    rf"(?P<np>\b(?:I|[Hh]e|[Ss]he|[Tt]hey)|{NAME}) (?:(?:now|still|also) )?(?:takes?|took|starts? (?:with|on)|"
    r"started (?:with|on|taking)|(?:is|am) on|gets?|(?:is|am) (?:given|taking)|went on|has been on)$"
)
_WAS = re.compile(
    r"^(?:it |which |that |he |she )?(?:was|were|had been|previously|formerly|before(?: that)?|earlier|used to be|until [\w ]{2,15},?)(?: at| in| on)? (?P<old>.{1,80})",
    re.IGNORECASE,
)
_AGAIN = re.compile(r"\b(?:from|as of) (?:today|now on|now|tomorrow),? (?:it is|they are|it will be) (?P<v>[\w' -]{2,40})")
_REPLACED = re.compile(
    r"[\"\u201c\ue000](?P<w>[^\"\u201c\u201d\ue000\ue001]{3,60})[\"\u201d\ue001] (?:(?:is|was|has been|now) ){0,2}replaced (?:by|with) [\"\u201c\ue000](?P<v>[^\"\u201c\u201d\ue000\ue001]{3,60})[\"\u201d\ue001]"
)


def facts(sentence: str, at: date | None, *, speaker: str = "") -> list[Fact]:
    """Return the facts of one sentence, in the order of its words.

    Args:
        sentence: one sentence of prose or of a Markdown list.
        at: day on which it was said; without it only absolute dates are resolved.
        speaker: name of who says "I"; "" for an agent's own notes.

    >>> from datetime import date
    >>> [found] = facts("From today the bell rings every 10 minutes.", date(2026, 2, 20))
    >>> found.subject, found.slot, found.value, found.since
    ('bell', 'interval', '10 minutes', '2026-02-20')
    >>> facts("Does the bell ring every 10 minutes?", None)
    []
    """
    if _ASKS.search(sentence[-20:]) or sentence.lstrip().startswith("#"):
        return []
    found: list[Fact] = []
    for clause in clauses(sentence):
        here = sorted(_of_clause(clause, at, speaker), key=lambda pair: pair[0])
        found += [fact for _, fact in here]
        if found and (again := _AGAIN.search(clause.text)) and not here:
            found += _continued(found[-1], again, clause, at)
    return _distinct(found)


def conflicts(a: Fact, b: Fact) -> bool:
    """Return whether two facts cannot both hold on one day.

    Same subject, same single-valued slot, and values of which neither only says more than the
    other ("Leeds", "Leeds by the station").

    >>> one = Fact("the barge", "location", "Spaarne quay", is_single=True)
    >>> conflicts(one, one._replace(subject="Barge", value="Leidsevaart"))
    True
    """
    if a.slot != b.slot or not (a.is_single and b.is_single):
        return False
    return _same_subject(a, b) and not _same_value(a, b)


def subject_key(subject_text: str) -> str:
    """Return what two writings of one subject have in common.

    >>> subject_key("The Backups"), subject_key("Ilse's cat")
    ('backup', 'ilse cat')
    """
    words = re.findall(r"[^\W_][\w.]*", re.sub(r"['’]s?(?!\w)", "", subject_text.casefold()))
    kept = [word for word in words if word not in {"the", "a", "an", "our", "my", "this", "that"}]
    return " ".join(word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word for word in kept)


def _same_subject(a: Fact, b: Fact) -> bool:
    one, other = subject_key(a.subject), subject_key(b.subject)
    unknown = [not key or key.split()[0] in UNKNOWN or key in _UNSPECIFIC for key in (one, other)]
    if a.slot.startswith("dose/"):
        medicine = subject_key(a.slot.removeprefix("dose/"))
        unknown = [each or key == medicine for each, key in zip(unknown, (one, other), strict=True)]
        return any(unknown) or one == other
    if one == other:
        return not any(unknown) or (not one and a.slot.split("/")[0] in _OF_THE_AGENT)
    if any(unknown):
        return False
    if a.slot == "target" and _without_kind(one) and _without_kind(one) == _without_kind(other):
        return True
    # "the club" is the reading club that was named before.
    short, long = sorted((a.subject, b.subject), key=len)
    return short.islower() and " " not in short and subject_key(long).endswith(" " + subject_key(short))


_UNSPECIFIC = frozenset({"deadline", "meeting", "session", "game", "page", "appointment", "name"})
# "like" is a preposition as well, "read" and "love" are nouns: only a subject beside them counts.
_STRICT = frozenset({"likes", "dislikes", "prefers"})
_OF_THE_AGENT = frozenset({"runs on", "rule", "name", "uses", "version", "residence", "interval"})


def _without_kind(key: str) -> str:
    """Return a key without its word for what is stored: "restic" of "restic repository"."""
    head, _, kind = key.rpartition(" ")
    return head if kind in DATA else ""


def _same_value(a: Fact, b: Fact) -> bool:
    if a.slot.startswith("workdays"):
        return a.value == b.value
    one, other = (frozenset(re.findall(r"[^\W_][\w.%-]*", each.value.casefold())) for each in (a, b))
    if one <= other or other <= one:
        return True
    return _month_and_day(a.value) == _month_and_day(b.value) is not None


def _month_and_day(value: str) -> tuple[str, str] | None:
    """Return month and day of "2026-03-02" and of "2 March"."""
    iso = re.fullmatch(r"\d{4}-(\d\d)-(\d\d)", value)
    if iso:
        return iso.group(1), iso.group(2)
    half = re.fullmatch(r"(\d{1,2}) ([A-Z][a-z]{2,8})", value)
    months = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split()
    if half is None or half.group(2)[:3] not in months:
        return None
    return f"{months.index(half.group(2)[:3]) + 1:02}", f"{int(half.group(1)):02}"


def _of_clause(clause: Clause, at: date | None, speaker: str) -> Iterator[tuple[int, Fact]]:
    seen: dict[str, list[tuple[int, int]]] = {}
    if replaced := _REPLACED.search(clause.text):
        yield from _replaced(replaced, at)
        return
    text = clause.text
    if _TOLD.match(text[:1].lower() + text[1:]):
        text = text[:1].lower() + text[1:]
    for rule in RULES:
        for match in rule.pattern.finditer(text):
            fact = _fact(rule, match, clause, at, speaker)
            taken = seen.setdefault(rule.slot, [])
            if fact and not any(match.start() < end and start < match.end() for start, end in taken):
                taken.append(match.span())
                yield match.start(), fact
        if clause.label and not seen.get(rule.slot):
            yield from _of_label(rule, clause, at, speaker)


def _of_label(rule: Rule, clause: Clause, at: date | None, speaker: str) -> Iterator[tuple[int, Fact]]:
    """Yield the facts of "name: ten, in Leeds", read as "name is ten" and "name is in Leeds"."""
    pieces = clause.text.split(", ")
    for number, piece in enumerate([clause.text, *pieces[1:5]]):
        if piece.split(" ")[0].lower() in {"which", "who", "that", "and", "but", "or"}:
            continue
        if rule.slot == "age" and number == 0 and piece.strip(".").isalnum():
            continue  # "Guests: eleven."
        for lead in (f"{clause.label} is ", f"{clause.label} "):
            match = rule.pattern.search(lead + piece)
            if match and match.start() <= len(lead):
                fact = _fact(rule, match, clause, at, speaker)
                if fact and subject_key(fact.subject) == subject_key(slot_values.unmarked(clause.label)):
                    yield len(clause.text), fact


def _fact(rule: Rule, match: re.Match[str], clause: Clause, at: date | None, speaker: str) -> Fact | None:
    left = match.string[: match.start()]
    if not _is_real(match, left):
        return None
    reading = rule.read(match, at)
    if reading is None or not reading.value:
        return None
    who = _subject(rule, match, left, clause, speaker)
    if who is None or (clause.is_quoted and who == "" and not speaker and rule.who != "none"):
        return None
    said = bounds(_window(match), at, change=rule.is_change)
    ended = _ended(rule, match, left)
    if ended is None:
        return None
    if rule.slot == "workdays" and re.match(r" there\b", match.string[match.end() :]):
        reading = reading._replace(qualifier=_place_before(clause.before))
    slot = f"{rule.slot}/{reading.qualifier}" if reading.qualifier else rule.slot
    was = reading.was + _aside(clause.aside, slot, reading)
    since, until = said.since, said.until
    if rule.slot in {"due", "appointment", "birthday", "expires"}:
        since, until = _announced(match.string, at), None
    is_over = ended or said.is_over
    if ended and until is None and since is not None:
        since, until = None, since
    return Fact(who, slot, reading.value, rule.is_single, since, until, is_over, was)


_SIDE = re.compile(r", (?:and|but|so|while|which|because|who|as|since the|then)\b", re.IGNORECASE)


def _window(match: re.Match[str]) -> str:
    """Return the words that a match stands among, up to the next clause on either side."""
    start = max((each.end() for each in _SIDE.finditer(match.string, 0, match.start())), default=0)
    behind = _SIDE.search(match.string, match.end())
    return match.string[start : behind.start() if behind else len(match.string)]


def _announced(text: str, at: date | None) -> str | None:
    """Return the day of speaking where a date is told as new."""
    new = re.search(r"\b(?:now|has been|have been|no longer|from today|got|as of today)\b", text)
    return at.isoformat() if new and at else None


def _is_real(match: re.Match[str], left: str) -> bool:
    """Whether the words before a match leave it a plain statement."""
    comma = left.rfind(", ") + 1
    near = left[comma:] if comma and not _UNREAL.match(left[comma:].strip()) else left
    unreal = _UNREAL.search(re.sub(r"^\W*(?:until|before|after|once) [\w ]{2,20},? ", " ", near, flags=re.IGNORECASE))
    if unreal or re.search(r"\b[Ii]f\b", _window(match)):
        return False
    return not _HEARSAY.search(left)


def _ended(rule: Rule, match: re.Match[str], left: str) -> bool | None:
    """Return whether the value is told as past; ``None`` where it is denied."""
    tail = " ".join(left.split()[-2:])
    end = match.start("v") if match.groupdict().get("v") else match.end()
    around = f"{tail} {match.string[match.start() : end]}"
    if rule.is_ended or re.search(r"\b(?:no longer|used to)\b", around):
        return True
    if _NEVER.search(around if rule.slot != "target" else tail):
        return True if _ENDS.search(match.string[match.start() - len(tail) :]) else None
    return False


def _subject(rule: Rule, match: re.Match[str], left: str, clause: Clause, speaker: str) -> str | None:
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
        if written is None or not _agrees(written, match.group()):
            return None
    elif match.group().startswith(","):
        written = last_phrase(left)
    else:
        written = subject(left, clause.label or clause.lead)
    if written is None:
        return None
    if rule.slot == "name":
        written = _of_owner(written) or written
    if rule.slot == "dose" and not written:
        written = match.group("q")
    return _allowed(rule, written, clause, speaker)


def _agrees(written: str, verb: str) -> bool:
    """Whether a subject takes the verb that follows: "themes like" has none that likes."""
    last = written.split()[-1].lower()
    third = re.search(r"\b(?:likes|loves|enjoys|adores|dislikes|hates|prefers)\b", verb) is not None
    if last in {"i", "we", "they"} or (last in KIN and last.endswith(("s", "children"))):
        return not third
    return third or re.search(r"\bcan not\b", verb) is not None


_FILLER = re.compile(
    r"(?:(?:just|finally|also|recently|currently|still|oh|yes|yeah|and|well|so|hey|last \w{3,8}|yesterday|today|"
    r"this \w{3,8}|on another note|guess what)\W{0,3}){0,4}",
    re.IGNORECASE,
)
_TOLD = re.compile(
    r"(?:visited|went|lost|got|bought|adopted|joined|started|finished|moved|switched|migrated|became|reading|read"
    r"(?= \ue000)|been|working|landed|found|took a|gave up|given up|quit|stopped)\b",
    re.IGNORECASE,
)


def _is_own(rule: Rule, match: re.Match[str], left: str, speaker: str) -> bool:
    """Whether a verb without a subject is told by the speaker of a chat, or of what an agent reads."""
    if not (speaker or rule.slot == "reads") or rule.who not in {"person", "any"}:
        return False
    return _FILLER.fullmatch(left.strip()) is not None and _TOLD.match(match.group()) is not None


def _owner(rule: Rule, left: str, clause: Clause) -> str:
    if rule.slot == "dose":
        patient = _PATIENT.search(left.rstrip())
        return patient.group("np") if patient else clause.label
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


def _allowed(rule: Rule, written: str, clause: Clause, speaker: str) -> str | None:
    """Return the subject in its final form; ``None`` where the rule does not take it."""
    plain = slot_values.unmarked(written).strip(" ,.\"'")
    is_marked = written == f"{slot_values.OPEN}{plain}{slot_values.CLOSE}"
    folded = plain.lower()
    words = folded.split()
    is_self = folded in {"i", "we", "me", "us"}
    if not words:
        return "" if rule.who == "none" and rule.slot in {"rule", "rate"} else None
    if (words[0] in UNKNOWN and folded not in PERSON_PRONOUNS) or words[-1] in UNKNOWN - PERSON_PRONOUNS:
        return None
    if (rule.nouns and words[-1] not in rule.nouns) or (rule.slot == "location" and words[-1] in DATA):
        return None
    if plain.split()[-1] in NO_NAMES and folded not in PERSON_PRONOUNS and not is_self:
        return None
    if rule.who == "object" and (is_self or words[-1] in KIN or plain.split()[-1][:1].isupper() or folded in PERSON_PRONOUNS):
        return None
    if rule.who == "person" and not _is_person(plain, words):
        return None
    if rule.who == "thing" and (folded in PERSON_PRONOUNS or words[-1] in KIN) and not _agent(rule, is_self, speaker):
        return None
    if rule.slot == "location" and words[-1] in ABSTRACT:
        return None
    if is_self:
        return speaker
    if folded in PERSON_PRONOUNS:
        return _antecedent(folded, clause) or folded
    return plain if is_marked else _named(plain, speaker)


_OFFICE = re.compile(rf"\b[Tt]he (?P<q>{NAME}) (?:office|school|shop|lab|site|campus|clinic|hospital|branch)\b")
_NAMED = re.compile(rf"(?P<lead>\b(?:in|on|at|of|for|with|from|to|by|the|The|under|near) )?(?P<name>{NAME})")


def _place_before(text: str) -> str:
    """Return the place that "there" means: "Leiden" of "the Leiden office"."""
    match = _OFFICE.search(text)
    return slot_values.phrase(match.group("q")) if match else ""


def _antecedent(pronoun: str, clause: Clause) -> str:
    """Return whom a pronoun means, if the clauses before it name one person only."""
    if pronoun in {"we", "they"} or not clause.before:
        return ""
    named = {
        slot_values.phrase(match.group("name"))
        for match in _NAMED.finditer(clause.before)
        if not match.group("lead") and match.group("name").split()[0] not in NO_NAMES
    }
    return named.pop() if len(named) == 1 and slot_values.unmarked(clause.lead) in named else ""


def _agent(rule: Rule, is_self: bool, speaker: str) -> bool:
    return is_self and not speaker and rule.slot in _OF_THE_AGENT


def _is_person(plain: str, words: list[str]) -> bool:
    if " ".join(words) in PERSON_PRONOUNS or words[-1] in KIN:
        return True
    return plain.split()[-1][:1].isupper() and not plain.isupper()


def _named(plain: str, speaker: str) -> str:
    """Return a noun phrase without article; "my sister" of a speaker is the speaker's sister."""
    words = plain.split()
    first = words[0].lower()
    capitals = [index for index, word in enumerate(words) if word[:1].isupper() and index]
    if first in {"the", "a", "an", "this", "that", "our", "my", "his", "her", "their", "its", "these"}:
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


def _aside(aside: str, slot: str, reading: Reading) -> tuple[str, ...]:
    """Return the older values in brackets: "(was 20, then 27 February)"."""
    match = _WAS.match(aside)
    if match is None:
        return ()
    old = match.group("old")
    if slot.startswith(("due", "appointment")):
        return earlier_days(old, reading.value)
    if slot.startswith("workdays"):
        days = slot_values.weekdays(old)
        return (days,) if days else ()
    if slot == "interval" or slot.startswith(("rate", "weight", "price", "size")):
        unit = reading.value.split(" ", 1)[-1]
        count = slot_values.number(old.split()[0].rstrip(",."))
        return (slot_values.quantity(count, unit),) if count else ()
    older = slot_values.phrase(old)
    return (older,) if older and len(older.split()) <= 5 else ()


def _continued(last: Fact, again: re.Match[str], clause: Clause, at: date | None) -> list[Fact]:
    """Return the fact of "from today it is tea", whose subject stands in the clause before."""
    value = slot_values.phrase(again.group("v"))
    if not value or len(value.split()) > 5 or not last.is_single:
        return []
    said = bounds(clause.text, at, change=False)
    return [last._replace(value=value, since=said.since, until=None, is_ended=False, was=(last.value,))]


def _replaced(match: re.Match[str], at: date | None) -> Iterator[tuple[int, Fact]]:
    """Yield the fact of two rules of one form, of which one replaces the other."""
    one, other = (_rule_in(match.group(name), at) for name in ("v", "w"))
    if one and other and one.qualifier == other.qualifier:
        since = at.isoformat() if at else None
        yield match.start(), Fact("", f"rule/{one.qualifier}", one.value, True, since, was=(other.value,))


def _rule_in(text: str, at: date | None) -> Reading | None:
    for rule in RULES:
        if rule.slot == "rule" and (match := rule.pattern.search(text)):
            return rule.read(match, at)
    return None


def _distinct(found: list[Fact]) -> list[Fact]:
    """Keep the fullest of facts that agree in subject, slot and value."""
    kept: dict[tuple[str, str, str], Fact] = {}
    for fact in found:
        key = (subject_key(fact.subject), fact.slot, fact.value.casefold())
        if key not in kept or sum(map(bool, fact)) > sum(map(bool, kept[key])):
            kept[key] = fact
    return list(kept.values())
