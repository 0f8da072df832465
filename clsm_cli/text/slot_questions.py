"""Questions about a slot, read into the subjects and slots of :mod:`clsm_cli.text.slots`.

Recall asks this of every query: one look at the first word comes first, plain tables of words after
it, and no pattern is compiled for a question that asks for no slot.
"""

from __future__ import annotations

from clsm_cli.records import NamedTuple


class Asked(NamedTuple):
    """What a question asks for.

    Attributes:
        subject: as written, without article; "" where it asks for what "we" or "I" have.
        slot: a name of ``slots.SLOTS``, with what tells it apart after a slash where it is asked for.
        value: the value that a yes-or-no question names, normalised; None where it asks for one.
    """

    subject: str
    slot: str
    value: str | None = None


_VERBS = frozenset({"are", "did", "do", "does", "is", "was", "were"})
_WORDS = frozenset(
    {"at", "how", "in", "on", "what", "what's", "when", "where", "where's", "which", "who", "who's"}
)
"""First words of a question for a value."""
LONGEST = 200
"""Characters from which on a question asks for more than a slot."""


def asked(text: str) -> Asked | None:
    """Return whom and which slot a question asks for, None where it asks for no slot.

    Args:
        text: a query.

    >>> asked("Where did Brian live in 2024?")
    Asked(subject='Brian', slot='residence', value=None)
    >>> asked("Is the heartbeat every 30 minutes?")
    Asked(subject='heartbeat', slot='interval', value='30 minutes')
    >>> asked("Why did the pump fail?") is None
    True
    """
    text = text.strip()
    opener = text.partition(" ")[0].lower()
    if len(text) > LONGEST or opener not in _WORDS | _VERBS:
        return None
    from clsm_cli.text import slot_question_forms as forms

    words = forms.words_of(text)
    if opener in _WORDS:
        from clsm_cli.text import slot_question_verbs

        found = slot_question_verbs.read(words)
    else:
        from clsm_cli.text import slot_question_claims

        found = slot_question_claims.read(words, text)
    return found if found is not None and forms.is_name(found.subject) else None


def same_value(slot: str, a: str, b: str) -> bool:
    """Return whether two values of one slot agree, whatever their units, case and articles.

    One that says less agrees as well: "shed" and "the signal shed".

    >>> same_value("interval", "ten mins", "10 minutes"), same_value("rate", "1 %", "0.5 %")
    (True, False)
    """
    from clsm_cli.text import slot_identity

    return slot_identity.same_value(a, b, slot)


def is_about(question: Asked, subject: str, slot: str) -> bool:
    """Return whether a fact of a subject and a slot may answer a question.

    A question that does not say which of several slots of one name is about each of them, and "the
    backup" is the one that memory tells of.

    >>> is_about(Asked("dog", "dose"), "dog", "dose/aspirin")
    True
    >>> is_about(Asked("backup", "target"), "restic", "target")
    True
    """
    from clsm_cli.text import slot_identity

    name, _, about = question.slot.partition("/")
    base, _, other = slot.partition("/")
    if name != base or (about and other and not slot_identity.same_value(about, other, "")):
        return False
    is_any = name == "target" and question.subject.lower() in {"backup", "backups"}
    return is_any or slot_identity.same_subject(question.subject, subject, slot)
