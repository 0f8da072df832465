"""Label by hand: queries worth labelling, pools of items to judge, the list, and what comes of it.

Best are questions that the person really asked. Then come facts that changed and, only where these are
too few, what the store knows something about. Some have no answer in it, for the floor has to be set on
such ones too.

Pooling as in TREC (Spärck Jones & van Rijsbergen 1975; Voorhees & Harman 2005): the first ten of
each system, each item once, in an order that does not tell who found it. What no system finds is not
judged, so recall on such a set is relative to the pool; evidence added by hand counts as well.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, islice, zip_longest

from clsm_cli.config import with_changes
from clsm_cli.errors import BadInputError, DamagedStoreError
from clsm_cli.evaluation import systems
from clsm_cli.evaluation.benches import unlabelled_bench
from clsm_cli.evaluation.dataset import Case, Existing, Query, label_key, label_keys, packaged_yaml
from clsm_cli.evaluation.measures import Item
from clsm_cli.evaluation.stores import MadeStore, StoreFactory
from clsm_cli.forgetting import selection
from clsm_cli.forgetting.selection import StoreContents
from clsm_cli.ingestion.ingest_run import end_begun_run
from clsm_cli.model.graph import Node
from clsm_cli.model.ids import digest
from clsm_cli.retrieval.dense_search import Engine
from clsm_cli.startup.records import NamedTuple
from clsm_cli.store import atomic, labels
from clsm_cli.store.labels import Label
from clsm_cli.store.layout import Store
from clsm_cli.store.lock import locked
from clsm_cli.text import route
from clsm_cli.text.plain import to_plain
from clsm_cli.text.sentences import sentences
from clsm_cli.text.terminal import safe
from clsm_cli.text.tokens import stems

NEGATIVE_EACH = 4  # one query in so many should have no answer
SAME = 0.5  # share of common search terms (Jaccard) from which two queries are near duplicates
SHORTEST, LONGEST = 4, 30  # words of a question that can be asked by itself
# A question that asks somebody to do something, or about this very moment.
_REQUEST = re.compile(
    r"(?:(?:and|so|well|ok(?:ay)?|please|now),? )*"
    r"(?:(?:can|could|would|will|shall|should|may|do|did|have|are|were) (?:you|i)\b|see\b)",
    re.IGNORECASE,
)
_OPENING = re.compile(r"\A(?:(?:and|but|so|well|ok(?:ay)?|now|right)[,.]? )+", re.IGNORECASE)
_NAME = re.compile(r"(?<= )[A-Z]\w")  # a capital inside a sentence


class Proposal(NamedTuple):
    """A query to be labelled, and where it comes from."""

    text: str
    kind: str  # asked, changed, concept, or negative (it should have no answer)
    about: str
    hidden: frozenset[str] = frozenset()  # keys of turns that are no answer: the question itself


def propose(contents: StoreContents, known: Iterable[str], number: int) -> list[Proposal]:
    """Queries of all kinds in turn, drawn from all of the time of the store, no two nearly the same."""
    seen = [frozenset(stems(text)) for text in known]

    def is_new(each: Proposal) -> bool:
        terms = frozenset(stems(each.text))
        if not terms or any(len(terms & other) >= SAME * len(terms | other) for other in seen):
            return False
        seen.append(terms)
        return True

    nodes = [record for record in contents.records.values() if isinstance(record, Node)]
    nodes.sort(key=lambda node: (-node.prominence, node.id))
    named = [(node.label or node.id, node.kind) for node in nodes]
    wanted = number - number // NEGATIVE_EACH
    kinds = (_asked(contents), _changed(contents))
    asked, changed = (sorted(kind, key=lambda each: digest(each.text)) for kind in kinds)
    concepts = (Proposal(f"What do I know about {n}?", "concept", kind) for n, kind in named)
    found = list(islice(filter(is_new, chain(_in_turn(asked, changed), concepts)), wanted))
    people = [name for name, kind in named if kind == "person"]
    without = islice(filter(is_new, unanswerable(contents, people)), number - wanted)
    for place, each in enumerate(without):  # among the others, as nobody should see them coming
        found.insert(min(len(found), (place + 1) * NEGATIVE_EACH - 1), each)
    return found


def _in_turn(*kinds: Iterable[Proposal]) -> Iterator[Proposal]:
    return (each for row in zip_longest(*kinds) for each in row if each is not None)


def unanswerable(contents: StoreContents, people: Sequence[str]) -> Iterator[Proposal]:
    """Near what is known and far from it in turn; none whose word the store holds."""
    forms: dict[str, dict[str, str]] = packaged_yaml("unanswerable.yaml")
    texts = [told.turn.text for told in contents.turns.values()]
    texts += [row.text for row in contents.statements.values()]
    known = frozenset(chain.from_iterable(map(stems, texts)))
    near, far = (
        [form for word, form in forms[where].items() if known.isdisjoint(stems(word))]
        for where in ("near", "far")
    )
    about = (form.format(people[at % len(people)]) for at, form in enumerate(near) if people)
    return _in_turn(
        (Proposal(form, "negative", "near what is known") for form in about),
        (Proposal(form, "negative", "far from what is known") for form in far),
    )


def _asked(contents: StoreContents) -> Iterator[Proposal]:
    for key, told in contents.turns.items():
        if told.document is None and told.turn.role == "user":
            for text in filter(None, map(as_question, sentences(told.turn.text))):
                about = f"asked {(told.turn.time or '')[:10]}".strip()
                yield Proposal(text, "asked", about, frozenset({key}))


def as_question(sentence: str) -> str:
    """A sentence as a question that can be asked by itself; empty where it is none.

    >>> as_question("And where were we with the NAS?"), as_question("Can you ring the vet for me?")
    ('Where were we with the NAS?', '')
    >>> as_question("And who wrote that?"), as_question("Thanks, how are you?")
    ('', '')
    """
    text = _OPENING.sub("", to_plain(sentence)).strip()
    is_whole = (
        text.endswith("?")
        and SHORTEST <= len(text.split()) <= LONGEST
        and not _REQUEST.match(text)
        and not route.points_back(text)
        and len(set(stems(text))) + len(_NAME.findall(text)) >= 2
        and route.choose_route(text, has_current=False).route != "none"
    )
    return f"{text[0].upper()}{text[1:]}" if is_whole else ""


def _changed(contents: StoreContents) -> Iterator[Proposal]:
    for row in contents.statements.values():
        if not row.supersedes or not row.subject:
            continue
        record = contents.records.get(row.subject)
        label = "" if re.search(r"-[0-9a-f]{8}\Z", row.subject) else row.subject.replace("-", " ")
        if isinstance(record, Node):
            label = record.label or record.id
        if label:
            about = f"changed {(row.valid_from or row.recorded_at or '')[:10]}".strip()
            yield Proposal(f"What has changed about {label}?", "changed", about)


def save_labels(store: Store, rows: Sequence[Label]) -> list[str]:
    """Add some labels, or write those with the same ids anew; what the user should hear.

    The file is read again under the lock, so what a person or another command changed meanwhile
    stays; one that an editor saves at this very moment is not overwritten but refused.
    """
    path = labels.path_of(store.root)
    with locked(store.root, store.settings.store.lock_wait):
        warnings = end_begun_run(store)
        data, text, found = labels.load(store.root)
        known = {row.id for row in found.rows}
        change: dict[str, Label | None] = {row.id: row for row in rows if row.id in known}
        made = labels.edit(text, change, [row for row in rows if row.id not in known]).encode()
        if len(made) > labels.MAX_LABELS:
            reason = f"would be larger than {labels.MAX_LABELS >> 20} MiB"
            raise DamagedStoreError(str(path), None, reason)
        if made != data:
            atomic.put(path, made, read_as=None if data is None else atomic.sha256(data))
    return warnings


_PART = re.compile(r"(?<=\A[0-9a-f]{12})-[0-9]+\Z")  # a part of a turn stands for all of it
DEPTH = 10  # items of each system
Pool = Callable[[Proposal], list[Item]]


def open_pools(store: Store, factory: StoreFactory, engine: Engine) -> Pool:
    """What gives the items to be judged for a proposal: those that clsm, BM25 and MiniLM find."""
    assert factory.now is not None
    store = store._replace(settings=with_changes(store.settings, {"recall.floor": 0.0}))
    case, made = Case("own", Existing(store.root), ()), MadeStore(store, factory.now)
    bench = unlabelled_bench(case, made, factory, engine)
    said = {each.id: each.text for each in systems.pool_of(bench).passages}

    def pool(proposal: Proposal) -> list[Item]:
        found: dict[str, Item] = {}
        for retrieved in systems.ask_main(bench, [Query(id="", text=proposal.text)]).values():
            for item in retrieved[0].items[:DEPTH]:
                shown = " ".join(said.get(item.id, item.text).split())  # of a window its own block
                found.setdefault(shown, item._replace(id=_PART.sub("", item.id), text=shown))
        kept = (each for each in found.values() if each.id not in proposal.hidden)
        return sorted(kept, key=lambda each: digest(proposal.text, each.id))

    return pool


_HOW = """\
# Put an x between the brackets of every item that answers its query, or before "none of these".
# A query without an x is passed over. You may write other words behind "query:". Then save and close.
"""
_NONE = "none of these"


def todo_list(proposals: Iterable[Proposal], pool: Pool) -> str:
    """Queries with their items as a list to mark in; ``read_todo`` reads it back."""
    parts = [_HOW]
    for each in proposals:
        items = (f"[ ] {i.id}  {i.day}  {i.text[:300]}" for i in pool(each))
        head = (f"# {each.about}", f"kind: {each.kind}", f"query: {each.text}")
        parts.append("\n".join(map(safe, (*head, *items, f"[ ] {_NONE}", ""))))
    return "\n".join(parts)


def read_todo(text: str, known: NameLookup) -> tuple[list[Label], int]:
    """The labels that a marked list makes, and how many of its queries have no mark.

    What has no mark beside another that has one is not relevant.

    Raises:
        BadInputError: A line is neither a query nor an item, or what is marked cannot be.
    """
    found: dict[str, tuple[str, list[str]]] = {}
    kind, marks = "", None
    for number, line in enumerate(text.split("\n"), 1):
        head, _, rest = line.partition(":")
        words = line[3:].split()
        if head == "kind":
            kind = rest.strip().removeprefix("negative")
        elif head == "query" and rest.strip():
            marks = found.setdefault(" ".join(rest.split()), (kind, []))[1]
            kind = ""
        elif marks is not None and words and line[:3].lower() == "[x]":
            marks.append(_NONE if " ".join(words) == _NONE else words[0])
        elif line.strip() and line[0] != "#" and not (marks is not None and line[:3] == "[ ]"):
            raise BadInputError("the list", f"line {number} is no query and no item", "mend it")
    rows = []
    for query, (kind, marked) in found.items():
        relevant = tuple(mark for mark in marked if mark != _NONE)
        what = f"the list, {query[:60]!r}"
        if lost := next((name for name in relevant if known.piece(name) is None), ""):
            raise BadInputError(what, f"the store has no memory or turn {lost[:60]!r}", "mend it")
        if relevant and _NONE in marked:
            raise BadInputError(what, f"has an x at {_NONE!r} and at another", "take one away")
        if marked:
            rows.append(Label(labels.id_of(query), query, memories=relevant, category=kind))
    return rows, len(found) - len(rows)


class NameLookup:
    """What a store holds, by every name that a label may use."""

    def __init__(self, store: Store) -> None:
        self._contents = contents = whole_memory(store)
        named = {turn: told.turn.foreign_id for turn, told in contents.turns.items()}
        count = Counter(named.values())
        self._foreign = {turn: name for turn, name in named.items() if name and count[name] == 1}
        self._turns = {name: turn for turn, name in self._foreign.items()}
        nodes = (record for record in contents.records.values() if isinstance(record, Node))
        self._names = [label_keys((node.id, node.label, *node.aliases)) for node in nodes]

    def piece(self, name: str) -> str | None:
        r"""The piece of evidence that the id of a memory or a turn stands for; None: unknown.

        A turn goes by its key and, where no other has it, by the id it came with. A statement is
        shown by what it rests on as well: its words came from there. For the form see ``dataset.Unit``.
        """
        bare = _PART.sub("", name)
        statement = self._contents.statements.get(bare)
        ids, sources = ([bare], statement.sources) if statement else ([], (bare,))
        for each in sources:
            turn = each if each in self._contents.turns else self._turns.get(each)
            if turn is not None:
                ids += filter(None, (turn, self._foreign.get(turn)))
        return "".join(f"{each}\n" for each in dict.fromkeys(ids)) or None

    def concept(self, name: str) -> frozenset[str] | None:
        """The keys of all names of the node that a name stands for; None: there is no such node."""
        wanted = label_key(name)
        return next((names for names in self._names if wanted in names), None)


def whole_memory(store: Store) -> StoreContents:
    """The whole contents of a store; hand edits count as settled, nothing is written."""
    return selection.read_store(store, "9999-12-31T23:59:59Z")


def distinct_pieces(pieces: Iterable[str]) -> tuple[str, ...]:
    r"""Pieces of ids without those that another one makes needless.

    Whoever shows a turn shows a statement that rests on it, so a label that names both names one.

    >>> distinct_pieces(["s\nt\n", "t\n", "u\n"])
    ('t\n', 'u\n')
    """
    sets: dict[frozenset[str], str] = {}
    for piece in pieces:
        sets.setdefault(frozenset(piece.split()), piece)
    return tuple(piece for ids, piece in sets.items() if not any(other < ids for other in sets))
