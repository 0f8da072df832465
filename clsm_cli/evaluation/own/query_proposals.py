"""Propose queries worth labelling, and some that should find nothing.

Best are questions that the person really asked. Then come facts that changed and, only where these are
too few, what the store knows something about. Some have no answer in it, for the floor has to be set on
such ones too.
"""

from __future__ import annotations

import re
from importlib.resources import files
from itertools import chain, zip_longest
from typing import TYPE_CHECKING

from clsm_cli.model.graph import Node
from clsm_cli.startup.records import NamedTuple
from clsm_cli.store import yaml_text
from clsm_cli.text import route
from clsm_cli.text.plain import to_plain
from clsm_cli.text.sentences import sentences
from clsm_cli.text.tokens import stems

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from clsm_cli.forgetting.store_contents import StoreContents

PERSON = "person"
"""Kind of node that is asked about."""


def unanswerable(contents: StoreContents) -> Iterator[Proposal]:
    """Near and far in turn, each with where it lies; none whose word the store holds."""
    text = files("clsm_cli.evaluation.own").joinpath("unanswerable.yaml").read_text("utf-8")
    forms: dict[str, dict[str, str]] = yaml_text.load(text, 1 << 16)
    texts = [told.turn.text for told in contents.turns.values()]
    texts += [row.text for row in contents.statements.values()]
    known = frozenset(chain.from_iterable(map(stems, texts)))
    near, far = (
        [form for word, form in forms[where].items() if known.isdisjoint(stems(word))]
        for where in ("near", "far")
    )
    names = [node.label or node.id for node in _nodes(contents) if node.kind == PERSON]
    about = [form.format(names[at % len(names)]) for at, form in enumerate(near) if names]
    for pair in zip_longest(about, far):
        for form, where in zip(pair, ("near what is known", "far from what is known"), strict=True):
            if form:
                yield Proposal(form, "negative", where)


NEGATIVE_EACH = 4
"""One query in so many should have no answer."""
SAME = 0.5
"""Share of common search terms (Jaccard) from which two queries are near duplicates."""
SHORTEST, LONGEST = 4, 30
"""Words of a question that can be asked by itself."""
_REQUEST = re.compile(
    r"(?:(?:and|so|well|ok(?:ay)?|please|now),? )*"
    r"(?:(?:can|could|would|will|shall|should|may|do|did|have|are|were) (?:you|i)\b|see\b)",
    re.IGNORECASE,
)
"""A question that asks somebody to do something, or about this very moment."""
_OPENING = re.compile(r"\A(?:(?:and|but|so|well|ok(?:ay)?|now|right)[,.]? )+", re.IGNORECASE)


_NAME = re.compile(r"(?<= )[A-Z]\w")
"""A capital inside a sentence."""


class Proposal(NamedTuple):
    """A query to be labelled.

    Attributes:
        kind: asked, changed, concept, or negative (it should have no answer).
        about: Where it comes from, for a person.
        hidden: Keys of turns that are no answer: the question itself.
    """

    text: str
    kind: str
    about: str
    hidden: frozenset[str] = frozenset()


def propose(contents: StoreContents, known: Iterable[str], number: int) -> list[Proposal]:
    """Queries of all kinds in turn, spread over the time of the store, no two nearly the same."""
    chosen = _Distinct(known)
    wanted = number - number // NEGATIVE_EACH
    kinds = [spread_out(_asked(contents)), spread_out(_changed(contents))]
    found = list(_in_turn(kinds, chosen, wanted))
    found += _in_turn([_concepts(contents)], chosen, wanted - len(found))
    without = list(_in_turn([unanswerable(contents)], chosen, number - wanted))
    for place, each in enumerate(without):  # among the others, as nobody should see them coming
        found.insert(min(len(found), (place + 1) * NEGATIVE_EACH - 1), each)
    return found


class _Distinct:
    def __init__(self, known: Iterable[str]) -> None:
        self._terms = [frozenset(stems(text)) for text in known]

    def takes(self, text: str) -> bool:
        """Whether a query is unlike all before; it is remembered then."""
        terms = frozenset(stems(text))
        if not terms or any(len(terms & o) >= SAME * len(terms | o) for o in self._terms):
            return False
        self._terms.append(terms)
        return True


def _in_turn(
    kinds: Sequence[Iterable[Proposal]], chosen: _Distinct, number: int
) -> Iterator[Proposal]:
    """One of each kind after the other, until there are enough or no more."""
    left = [iter(kind) for kind in kinds]
    while left and number > 0:
        for kind in tuple(left)[:number]:  # what is taken is remembered
            each = next((p for p in kind if chosen.takes(p.text)), None)
            if each is None:
                left.remove(kind)
            else:
                number -= 1
                yield each


def spread_out(items: Iterable[Proposal]) -> list[Proposal]:
    """Items that come in the order of time, so that the first few cover all of it.

    The place of each is its number with the binary digits turned round (van der Corput).

    >>> [int(p.text) for p in spread_out(Proposal(str(n), "", "") for n in range(5))]
    [0, 4, 2, 1, 3]
    """
    listed = list(items)
    width = (len(listed) - 1).bit_length()
    turned = (int(f"{n:0{width}b}"[::-1], 2) if width else n for n in range(1 << width))
    return [listed[at] for at in turned if at < len(listed)]


def _asked(contents: StoreContents) -> Iterator[Proposal]:
    for key in sorted(contents.turns, key=lambda k: (contents.turns[k].turn.time or "", k)):
        told = contents.turns[key]
        if told.document is not None or told.turn.role != "user":
            continue
        for sentence in sentences(told.turn.text):
            text = as_question(sentence)
            if text:
                day = (told.turn.time or "")[:10]
                yield Proposal(text, "asked", f"asked {day}".strip(), frozenset({key}))


def as_question(sentence: str) -> str:
    """A sentence as a question that can be asked by itself; empty where it is none.

    >>> as_question("And where were we with the NAS?"), as_question("Can you ring the vet for me?")
    ('Where were we with the NAS?', '')
    >>> as_question("And who wrote that?"), as_question("Thanks, how are you?")
    ('', '')
    """
    text = _OPENING.sub("", to_plain(sentence)).strip()
    if not text.endswith("?") or not SHORTEST <= len(text.split()) <= LONGEST:
        return ""
    if _REQUEST.match(text) or route.points_back(text):
        return ""
    if len(set(stems(text))) + len(_NAME.findall(text)) < 2:
        return ""
    if route.choose_route(text, has_current=False).route == "none":
        return ""
    return f"{text[0].upper()}{text[1:]}"


def _changed(contents: StoreContents) -> Iterator[Proposal]:
    rows = [row for row in contents.statements.values() if row.supersedes and row.subject]
    for row in sorted(rows, key=lambda row: (row.valid_from or row.recorded_at or "", row.id)):
        label = _label(contents, row.subject or "")
        if label:
            about = f"changed {(row.valid_from or row.recorded_at or '')[:10]}".strip()
            yield Proposal(f"What has changed about {label}?", "changed", about)


def _label(contents: StoreContents, subject: str) -> str:
    record = contents.records.get(subject)
    if isinstance(record, Node):
        return record.label or record.id
    return "" if re.search(r"-[0-9a-f]{8}\Z", subject) else subject.replace("-", " ")


def _nodes(contents: StoreContents) -> list[Node]:
    """The nodes, the most mentioned first."""
    nodes = [record for record in contents.records.values() if isinstance(record, Node)]
    return sorted(nodes, key=lambda node: (-node.n, node.id))


def _concepts(contents: StoreContents) -> Iterator[Proposal]:
    for node in _nodes(contents):
        yield Proposal(f"What do I know about {node.label or node.id}?", "concept", node.kind)
