"""Study of consolidation: what it makes of labelled notes, against their labels.

Labels are of concepts, of sentences worth keeping and fragments that are not, and of facts that
changed.
"""

from __future__ import annotations

import random
import re
from calendar import month_name
from collections import Counter
from typing import TYPE_CHECKING, Any

from clsm_cli.evaluation import stores
from clsm_cli.evaluation.dataset import label_key, single_blanks
from clsm_cli.evaluation.loaders.own_memory import FOLDERS
from clsm_cli.evaluation.loaders.parsing import load_yaml, malformed_error
from clsm_cli.evaluation.studies import Section
from clsm_cli.model.episodes import EpisodeRecord
from clsm_cli.model.graph import Edge, Node, Statement
from clsm_cli.startup.records import NamedTuple
from clsm_cli.store import episodes, logs, record_files, shards
from clsm_cli.text import tokens

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from clsm_cli.evaluation.stores import StoreFactory
    from clsm_cli.model.episodes import Turn
    from clsm_cli.store.layout import Store


class Concept(NamedTuple):
    """A thing that the memory should know; its names as ``normal_name`` has them."""

    label: str
    names: frozenset[str]
    kind: str | None


class Wording(NamedTuple):
    """A sentence that should stand in memory, or must not.

    Attributes:
        stream: Where it belongs; empty for what must not stand anywhere.
        groups: Of each group one word or phrase must occur.
    """

    text: str
    stream: str
    groups: tuple[tuple[str, ...], ...]


class Value(NamedTuple):
    """What a fact was, from one day up to another (None: still), and the quote that says it."""

    text: str
    valid_from: str
    valid_until: str | None
    quote: str


class Fact(NamedTuple):
    """A fact that changed; its values in order of time."""

    id: str
    subject: str
    values: tuple[Value, ...]


class Labels(NamedTuple):
    """All labels of one memory."""

    concepts: tuple[Concept, ...]
    keep: tuple[Wording, ...]
    junk: tuple[Wording, ...]
    facts: tuple[Fact, ...]


def load(path: Path) -> Labels:
    """Read ``concepts.yaml``, ``statements.yaml`` and ``facts.yaml`` of a labelled memory.

    Raises:
        BadInputError: A file is missing or not what it must be.
    """
    folder = path / "labels"
    concepts, statements, facts = (
        load_yaml(folder / f"{name}.yaml") for name in ("concepts", "statements", "facts")
    )
    try:
        return Labels(
            concepts=tuple(map(_concept, concepts)),
            keep=tuple(map(_wording, statements["keep"])),
            junk=tuple(map(_wording, statements["junk"])),
            facts=tuple(map(_fact, facts)),
        )
    except (KeyError, TypeError, AttributeError) as error:
        raise malformed_error(folder, repr(error)) from error


def _concept(row: dict[str, Any]) -> Concept:
    names = (row["label"], *row.get("aliases", ()))
    return Concept(str(row["label"]), normal_names(map(str, names)), row.get("kind"))


def _wording(row: dict[str, Any]) -> Wording:
    groups = tuple(tuple(map(str, group)) for group in row["must_contain"])
    return Wording(row["text"], row.get("stream", ""), groups)


def _fact(row: dict[str, Any]) -> Fact:
    values = (
        Value(str(each["value"]), each["valid_from"], each["valid_until"], _quote(each))
        for each in row["values"]
    )
    return Fact(str(row["id"]), row["subject"], tuple(values))


def _quote(row: dict[str, Any]) -> str:
    return single_blanks(str(row["evidence"]["quote"]))


_ARTICLE = re.compile(r"\A(?:the|an?)\s+(?=\S)", re.IGNORECASE)


def normal_name(name: str) -> str:
    """A name to compare: without case, marks, blanks, a leading article and a plural s.

    >>> normal_name("The Steward's Problems"), normal_name("a heron"), normal_name("compass")
    ('stewardsproblem', 'heron', 'compass')
    """
    found = label_key(_ARTICLE.sub("", name.strip(), count=1))
    return found[:-1] if len(found) > 3 and found.endswith("s") and found[-2] != "s" else found


def normal_names(names: Iterable[str]) -> frozenset[str]:
    """The normal forms of some names; a name of marks alone has none."""
    return frozenset(map(normal_name, names)) - {""}


NO_TIME = "2000-01-01T00:00:00Z"
"""When hand edits would be taken to have been made; there are none."""


class Contents(NamedTuple):
    """A store as its files have it, each by id."""

    nodes: dict[str, Node]
    edges: dict[str, Edge]
    rows: dict[str, Statement]
    turns: dict[str, Turn]
    consolidated: int
    review: int

    @property
    def statements(self) -> list[Statement]:
        """Statements that the store takes to be true, now or of some time that is over."""
        return [
            row
            for row in self.rows.values()
            if row.superseded_at is None and not row.withdrawn and row.kind != "gist"
        ]

    def source_texts(self, row: Statement) -> list[str]:
        """The texts of the turns that a statement rests on, with single blanks."""
        return [single_blanks(self.turns[key].text) for key in row.sources if key in self.turns]


def read_contents(store: Store) -> Contents:
    """Read the contents of a store from its files."""
    records = shards.load_graph(store.graphs(), logs.load_tombstones(store)).records
    turns = {
        turn.key: turn
        for flow in store.flows()
        for path in episodes.files(flow)
        for turn in episodes.read(path).turns
    }
    review = {
        row.get("id") for flow in store.flows() for _, row in logs.rows(flow / "review.jsonl")[0]
    }
    return Contents(
        nodes={i: r for i, r in records.items() if isinstance(r, Node)},
        edges={i: r for i, r in records.items() if isinstance(r, Edge)},
        rows=record_files.load_statements(store, records, NO_TIME),
        turns=turns,
        consolidated=sum(
            isinstance(r, EpisodeRecord) and r.stage == "consolidated" for r in records.values()
        ),
        review=len(review),
    )


def run_memory(path: Path, factory: StoreFactory, *, is_plain: bool = False) -> dict[str, Section]:
    """Consolidate a labelled memory and compare what is then in its files with the labels.

    Raises:
        BadInputError: Labels or notes cannot be read.
    """
    labels = load(path)
    contents = _consolidated(path, factory, is_plain=is_plain)
    found = {"memory": _sizes(contents), "concepts": match_concepts(labels.concepts, contents)}
    if is_plain:
        return found
    return {
        **found,
        "statements": match_statements(labels, contents),
        "facts that changed": match_facts(labels.facts, contents),
    }


def draw_sheet(path: Path, factory: StoreFactory, seed: int, count: int) -> list[str]:
    """Some statements with their sources as Markdown, with boxes for a judge to mark."""
    contents = _consolidated(path, factory, is_plain=False)
    rows = sorted(contents.statements, key=lambda row: row.id)
    drawn = random.Random(seed).sample(rows, min(count, len(rows)))  # noqa: S311  # no secret
    lines = ["# Statements to judge", ""]
    for number, row in enumerate(drawn, 1):
        lines += [
            f"## {number}. `{row.id}`",
            "",
            f"{row.kind} · {row.stream} · {row.valid_from or '?'} – {row.valid_until or 'still'}",
            "",
            f"**{row.text}**",
            "",
            *(f"> {text}\n" for text in contents.source_texts(row)),
            "- [ ] true and of use  - [ ] junk  - [ ] wrong",
            "",
        ]
    return lines


_FENCED = re.compile(r"^(?:```|~~~)[^\n]*\n", re.MULTILINE)
_LINKED = re.compile(r"\[\[(?:[^\[\]|\n]{1,200}\|)?([^\[\]|\n]{1,200})\]\]")
_TAGGED = re.compile(r"(?:(?<=\s)|^)#([^\W\d_][\w/-]*)", re.MULTILINE)
_MARKS = re.compile(r"\*+(?=\S)|(?<=\S)\*+|`+|(?<!\w)_+(?=\w)|(?<=\w)_+(?!\w)")


def without_markup(text: str) -> str:
    """Notes as somebody writes who knows no Markdown: no links, emphasis, code marks or tags.

    >>> without_markup("**Ask** [[mara|Mara]] about `a_b` and _Dune_. #work")
    'Ask Mara about a_b and Dune. work'
    """
    return _MARKS.sub("", _TAGGED.sub(r"\1", _LINKED.sub(r"\1", _FENCED.sub("", text))))


def _consolidated(path: Path, factory: StoreFactory, *, is_plain: bool) -> Contents:
    if is_plain:
        path = stores.rewritten_folders(factory, path, FOLDERS, without_markup)
    made = stores.folder_store(factory, path, FOLDERS)
    return read_contents(stores.consolidated_copy(factory, made))


def _sizes(contents: Contents) -> Section:
    edges = Counter(edge.type for edge in contents.edges.values())
    sizes = {
        "turns": len(contents.turns),
        "episodes consolidated": contents.consolidated,
        "statements": len(contents.statements),
        "current statements": sum(row.is_current for row in contents.statements),
        "gists": sum(row.kind == "gist" for row in contents.rows.values()),
        "nodes": len(contents.nodes),
        **{f"edges {name}": count for name, count in sorted(edges.items())},
        "review items": contents.review,
    }
    return Section({name: (count, 0) for name, count in sizes.items()})


def match_concepts(labels: Sequence[Concept], contents: Contents) -> Section:
    """Which labelled concepts have a node, and which nodes mix several of them."""
    nodes = contents.nodes
    names = {node.id: normal_names((node.label, *node.aliases)) for node in nodes.values()}
    of_label = {
        concept.label: [i for i, found in names.items() if found & concept.names]
        for concept in labels
    }
    owners: dict[str, set[str]] = {}
    for concept in labels:
        for name in concept.names:
            owners.setdefault(name, set()).add(concept.label)
    merges = []
    for node, mine in sorted(names.items()):
        held = [owners[name] for name in mine if name in owners]
        if held and not set.intersection(*held):
            merges.append(f"{nodes[node].label}: {', '.join(sorted(set.union(*held)))}")
    kinded = [concept for concept in labels if concept.kind and of_label[concept.label]]
    right = sum(
        any(nodes[node].kind == concept.kind for node in of_label[concept.label])
        for concept in kinded
    )
    matched = {node for found in of_label.values() for node in found}
    split = tuple(
        f"{label}: {', '.join(sorted(nodes[node].label for node in found))}"
        for label, found in of_label.items()
        if len(found) > 1
    )
    return Section(
        {
            "labels found": (sum(map(bool, of_label.values())), len(labels)),
            "nodes that no label names": (len(names) - len(matched), len(names)),
            "labels with several nodes": (len(split), len(labels)),
            "wrong merges": (len(merges), len(names)),
            "kinds right": (right, len(kinded)),
        },
        {
            "labels without a node": tuple(label for label, found in of_label.items() if not found),
            "labels with several nodes": split,
            "wrong merges": tuple(merges),
        },
    )


def match_statements(labels: Labels, contents: Contents) -> Section:
    """Which sentences worth keeping were kept, and where; which fragments were kept as well."""
    rows = contents.statements
    found = {w: [row for row in rows if contains_wording(row.text, w)] for w in labels.keep}
    present = [wording for wording in labels.keep if found[wording]]
    streams = {wording: sorted({row.stream for row in found[wording]}) for wording in present}
    misplaced = tuple(
        f"{wording.text} ({', '.join(streams[wording])}, not {wording.stream})"
        for wording in present
        if wording.stream not in streams[wording]
    )
    promoted = tuple(
        f"{wording.text} -> {row.text}"
        for wording in labels.junk
        for row in [each for each in rows if contains_wording(each.text, wording)][:1]
    )
    return Section(
        {
            "kept": (len(present), len(labels.keep)),
            "stream right": (len(present) - len(misplaced), len(present)),
            "junk promoted": (len(promoted), len(labels.junk)),
        },
        {
            "not kept": tuple(wording.text for wording in labels.keep if not found[wording]),
            "in another stream": misplaced,
            "junk promoted": promoted,
        },
    )


def contains_wording(text: str, wording: Wording) -> bool:
    """Whether a text has a word or phrase of every group, whatever its case.

    A part of a decimal number is no word.

    >>> often = Wording("", "", (("ten", "10"), ("often",)))
    >>> contains_wording("Often it is Ten.", often), contains_wording("It is often 0.10.", often)
    (True, False)
    """
    return all(
        any(
            re.search(rf"(?<!\w)(?<!\d[.,]){re.escape(phrase)}(?!\w)", text, re.IGNORECASE)
            for phrase in group
        )
        for group in wording.groups
    )


def match_facts(labels: Sequence[Fact], contents: Contents) -> Section:
    """Whether the values of facts stand in memory, each with the dates between which it held.

    The current value is right if a current row says it and none of the same subject says an older
    one.
    """
    stated: list[bool] = []
    right: list[bool] = []
    closed: list[bool] = []
    current: list[bool] = []
    failing: list[str] = []
    for label in labels:
        saying = {value: _saying(value, label, contents) for value in label.values}
        now = [row for row in saying[label.values[-1]] if row.is_current]
        stale = [
            row
            for value in label.values[:-1]
            for row in saying[value]
            if row.is_current and row not in now and _is_made_of(row.text, value.quote)
        ]
        current.append(bool(now) and not stale)
        failing += [f"{label.id}: still current: {statement_line(row)}" for row in stale]
        failing += [f"{label.id}: no current row says {label.values[-1].text}"] if not now else []
        for value in label.values:
            rows = saying[value]
            ends = [row for row in rows if _day(row.valid_until) == value.valid_until]
            stated.append(bool(rows))
            right.append(any(_day(row.valid_from) == value.valid_from for row in ends))
            closed += [bool(ends)] if value.valid_until is not None else []
            if not right[-1]:
                near = "; ".join(map(statement_line, rows[:3])) or "nothing says it"
                held = f"{value.text} ({value.valid_from} to {value.valid_until or 'still'})"
                failing.append(f"{label.id}: {held}: {near}")
    figures = {
        "values with both dates right": right,
        "values stated": stated,
        "old values closed at the right date": closed,
        "current value right": current,
    }
    counts = {name: (sum(held), len(held)) for name, held in figures.items()}
    return Section(counts, {"facts that fail": tuple(failing)})


_WORD = re.compile(r"\d+(?:[.,:]\d+)+|%|\w+")
_LITTLE = frozenset(
    ("a", "an", "and", "at", "by", "for", "from", "has", "in", "into", "is", "of", "on", "s")
) | {"the", "to", "was", "with"}
_COUNTED = "zero one two three four five six seven eight nine ten eleven twelve"
_NUMBERS = {word: str(number) for number, word in enumerate(_COUNTED.split())}
_DATE = re.compile(r"(\d{4})-(\d\d)-(\d\d)")


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
    until = f" until {_day(row.valid_until)}" if row.valid_until else ""
    return f"{row.text} [from {_day(row.valid_from) or '?'}{until}]"


def _words(text: str) -> set[str]:
    """Words and numbers of a text: without case, little words and plural s; numbers as digits."""
    found = {_NUMBERS.get(word, word) for word in _WORD.findall(text.casefold())}
    return {normal_name(word) if word.isalpha() else word for word in found - _LITTLE}


def _saying(value: Value, label: Fact, contents: Contents) -> list[Statement]:
    """The rows that say a value of the subject.

    A row says it when it has its words, and either rests on the turn of the quote or is about the
    subject; a value of one word may stand in many sentences, so its row must rest on the turn.
    Where the quote itself does not have the words, the label describes it, and a row made of the
    quote says it.
    """
    is_described = not says_value(value.text, value.quote)
    found: list[Statement] = []
    for row in contents.statements:
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


def _day(time: str | None) -> str | None:
    return time[:10] if time else None
