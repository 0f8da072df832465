"""Edges between nodes: what occurs together, and what sentences say of two things.

Co-occurrence is weighed anew from all counts at every run (``scoring/association``); a typed edge
exists as long as a sentence says it. Both are functions of the turns and what they mention.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from clsm_cli.model.graph import Edge
from clsm_cli.model.ids import edge_id
from clsm_cli.scoring.association import associate
from clsm_cli.text.relations import relations

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from clsm_cli.config import GraphSettings
    from clsm_cli.consolidation.matching import Matcher
    from clsm_cli.consolidation.vocabulary import Vocabulary
    from clsm_cli.store.index.evidence import EpisodeFile, Said
    from clsm_cli.text.relations import Named

FULL = 3
"""Sentences after which a typed edge has its full weight, 1."""


def co_occurrences(
    order: Iterable[tuple[str, str, str]],
    mentioned: Mapping[str, Collection[str]],
    settings: GraphSettings,
    rev: tuple[int, str],
) -> dict[str, Edge]:
    """Weighted edges between nodes that occur together, by id.

    Args:
        order: Episode, section and key of all turns, as they stand.
        mentioned: Turn → the nodes it mentions.
        settings: Of the association.
        rev: Revision of new records.
    """
    nodes = sorted({node for found in mentioned.values() for node in found})
    number = {node: place for place, node in enumerate(nodes)}
    turns: list[list[int]] = []
    scenes: list[int] = []
    sections: dict[tuple[str, str], int] = {}
    for episode, section, key in order:
        turns.append(sorted(number[node] for node in mentioned.get(key, ())))
        scenes.append(sections.setdefault((episode, section), len(sections)))
    pairs = associate(
        turns,
        scenes,
        reach=settings.reach,
        alpha=settings.alpha,
        shrink=settings.shrink,
        min_count=settings.min_count,
        min_npmi=settings.min_npmi,
        top=settings.top,
    )
    found: dict[str, Edge] = {}
    for pair in pairs:
        a, b = nodes[pair.a], nodes[pair.b]
        record = edge_id(a, "co_occurs", b)
        found[record] = Edge(
            id=record, rev=rev, source=a, target=b, n=pair.n, weight=round(pair.weight, 4)
        )
    return found


Told = tuple[str, str, str, bool]
"""Source, type, target of a relation, and whether it is directed."""


def told_in(
    turns: Iterable[Said], vocabulary: Vocabulary, kinds: Mapping[str, str], matcher: Matcher
) -> dict[Told, set[str]]:
    """The relations that some turns state → keys of the turns."""
    people = {node for node, kind in kinds.items() if kind == "person"} | vocabulary.people
    found: dict[Told, set[str]] = {}
    for turn in turns:
        if turn.role == "tool" or turn.trust in ("tool", "web"):
            continue
        named: list[Named] = [
            each._replace(kind=kinds.get(each.node, "")) for each in matcher.find(turn.text)
        ]
        speaker = vocabulary.node_of(turn.speaker) if turn.speaker else ""
        known = speaker if speaker in vocabulary.people else None
        for relation in relations(turn.text, named, speaker=known, people=people):
            told = (relation.source, relation.type, relation.target, relation.directed)
            found.setdefault(told, set()).add(turn.key)
    return found


def typed(told: Mapping[Told, Collection[str]], rev: tuple[int, str]) -> dict[str, Edge]:
    """The edges of relations, by id.

    weight = min(1, (1 + sentences) / (1 + FULL)): one sentence is worth half of what three are.
    """
    found: dict[str, Edge] = {}
    for (source, name, target, directed), keys in sorted(told.items()):
        if source == target:
            continue
        record = edge_id(source, name, target)
        found[record] = Edge(
            id=record,
            rev=rev,
            source=source,
            target=target,
            type=name,
            directed=directed,
            n=len(keys),
            weight=round(min(1.0, (1 + len(keys)) / (1 + FULL)), 4),
            sources=tuple(sorted(keys)),
        )
    return found


def chain(
    files: Sequence[EpisodeFile], continued: Mapping[str, str], rev: tuple[int, str]
) -> dict[str, Edge]:
    """Episodes in the order of time: ``next`` from each to the one after, and ``continues``.

    Args:
        files: Consolidated episodes.
        continued: Episode → the one that it continues.
        rev: Revision of new records.
    """
    dated = sorted((file.start, file.id) for file in files if file.start)
    pairs = [(a, "next", b) for (_, a), (_, b) in itertools.pairwise(dated)]
    known = {file.id for file in files}
    pairs += [
        (later, "continues", before)
        for later, before in sorted(continued.items())
        if later in known and before in known
    ]
    return {
        edge_id(a, name, b): Edge(
            id=edge_id(a, name, b),
            rev=rev,
            source=a,
            target=b,
            type=name,
            directed=True,
            n=1,
            weight=1.0,
        )
        for a, name, b in pairs
    }
