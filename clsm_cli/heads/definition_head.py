"""The definition head: whether a sentence says what a named thing is.

"Noor: Ilse's niece" defines Noor, "Noor rang twice" does not, though both name her. It is a logistic
regression on the form of the sentence and on where it stands, fitted by ``scripts/fit_definitions.py``, which
also tells what it is worth on workspaces left out.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from math import exp

from clsm_cli.startup.records import NamedTuple
from clsm_cli.text.language_data import pattern
from clsm_cli.text.markdown_marks import BOX, ITEM
from clsm_cli.text.plain import to_plain
from clsm_cli.text.sentences import split

NUMBERS = 4
"""Numbers in a sentence that count in full: it tells of an event."""
_ITEM = re.compile(rf"[ \t]*(?:{ITEM}[ \t]+)?(?:{BOX}[ \t]+)?")
_EMPHASIS = ("*", "_", "`", "[[")
_CODE_FENCES = ("```", "~~~")
_NUMBER = re.compile(r"\d+")


class Form(NamedTuple):
    """The form of a sentence that names a thing; also the weights, in the same order.

    Attributes:
        emphasised: It begins with the name, in bold, italics, code or a link.
        article: An article or a possessive follows the name: "Noor, a …", "Noor is my …".
        subject: It does so where the name begins the sentence.
        owner: It speaks of what is the thing's: "Noor's quiz".
        undated: Its text has no time: it is from a document that is kept up to date, not from a diary.
        numbers: How many numbers it has, as a share of ``NUMBERS``, at most 1.
    """

    emphasised: float
    article: float
    subject: float
    owner: float
    undated: float
    numbers: float


WEIGHTS = Form(emphasised=0.6, article=0.51, subject=0.81, owner=-0.58, undated=0.75, numbers=-0.52)
BIAS = -1.17
MIN_DEFINITION = 0.25
"""Probability from which the best sentence about a thing defines it: about one good sign."""


class Definition(NamedTuple):
    """A plain sentence that names a thing, its form, and the probability that it says what that is."""

    text: str
    form: Form
    probability: float


def judge(marked: str, plain: str, name: str, *, is_dated: bool) -> Definition | None:
    """How likely a sentence defines a thing; None if it does not name it, or says nothing of it.

    A name alone says nothing, nor does code, or what only introduces the lines below it ("Noor:").

    Args:
        marked: In Markdown.
        plain: The same, plain.
        name: As it is written, or in any case.
        is_dated: Whether its text has a time.

    >>> told = judge("- **Noor**: my niece.", "Noor: my niece.", "Noor", is_dated=False)
    >>> told is not None and told.probability > MIN_DEFINITION
    True
    """
    found = _name_pattern(name).search(plain)
    if found is None or plain.endswith(":") or marked.lstrip().startswith(_CODE_FENCES):
        return None
    start, end = found.span()
    if not any(map(str.isalnum, plain[:start] + plain[end:])):
        return None
    form = _form(marked, plain, found.span(), is_dated=is_dated)
    is_question = pattern("definitions.question").search(plain) is not None
    return Definition(plain, form, 0.0 if is_question else probability(form))


def name_above(heading: str) -> str:
    """The last part of a heading path, plain: the only one that a section may define."""
    return to_plain(heading.rpartition(" › ")[2])


def below_heading(text: str, heading: str) -> Definition | None:
    r"""What the first sentence of an undated section says about the name above it.

    >>> told = below_heading("- A signal engineer, retired.\n- Hates the phone.", "People › **Ann Lee**")
    >>> told and told.text
    'Ann Lee: A signal engineer, retired.'
    """
    name, first = name_above(heading), next(iter(split(text)), None)
    if not name or first is None:
        return None
    below = to_plain(text[first.start : first.end])
    return judge(f"**{name}**: {below}", f"{name}: {below}", name, is_dated=False)


def definitions(
    text: str, name: str, heading: str, *, is_dated: bool, opens_section: bool = False
) -> Iterator[Definition]:
    """What the sentences of a text say about a thing, in order.

    Args:
        heading: The heading path above the text.
        opens_section: Whether the text is the first below its heading, which then may be the name.
    """
    is_about = name_above(heading).casefold() == name.casefold()
    found = below_heading(text, heading) if opens_section and is_about and not is_dated else None
    if found is not None:
        yield found
    for start, end in split(text):
        marked = text[start:end]
        found = judge(marked, to_plain(marked), name, is_dated=is_dated)
        if found is not None:
            yield found


def probability(form: Form) -> float:
    """P = 1 / (1 + exp(−(w · x + bias))), to four decimals.

    >>> probability(Form(0, 0, 0, 0, 0, 1)) < MIN_DEFINITION < 0.7 < probability(Form(1, 1, 1, 0, 1, 0))
    True
    """
    return round(1 / (1 + exp(-sum(w * x for w, x in zip(WEIGHTS, form, strict=True)) - BIAS)), 4)


def _form(marked: str, plain: str, name: tuple[int, int], *, is_dated: bool) -> Form:
    start, end = name
    item = _ITEM.match(marked)
    body, behind = marked[item.end() if item else 0 :], plain[end:]
    has_article = pattern("definitions.article").match(behind) is not None
    return Form(
        emphasised=float(not start and body.startswith(_EMPHASIS)),
        article=float(has_article),
        subject=float(has_article and len(plain[:start].split()) <= 1),
        owner=float(behind.startswith(("'s", "\u2019s"))),
        undated=float(not is_dated),
        numbers=min(1.0, len(_NUMBER.findall(plain)) / NUMBERS),
    )


@lru_cache(maxsize=1024)
def _name_pattern(name: str) -> re.Pattern[str]:
    """Match a name, in any case, extended to a longer one: "Ann" in "Ann Lee"."""
    more = r"[A-Z][\w-]{1,20}"
    words = re.escape(" ".join(name.split()))
    longer = rf"(?: {more}){{0,2}}" if name[:1].isupper() else "s?"
    return re.compile(rf"(?<!\w)(?i:{words}){longer}(?!\w)")
