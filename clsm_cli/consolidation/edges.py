"""Edges that sentences state, and the chain of episodes.

A typed edge exists as long as ``heads.relation_head`` finds it in a unit of some turn, so it depends
only on the turns and their mentions. Co-occurrence is ``scoring.association``.
"""

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import tzinfo

from clsm_cli.heads import relation_head
from clsm_cli.heads.judge import Meanings
from clsm_cli.heads.relation_head import Pair
from clsm_cli.heads.units import spans_of
from clsm_cli.model.clocks import seconds
from clsm_cli.model.codec import Record
from clsm_cli.model.episodes import Document
from clsm_cli.model.graph import Edge, Node, Statement
from clsm_cli.model.ids import edge_id
from clsm_cli.model.streams import Stream
from clsm_cli.model.trust import UNTRUSTED
from clsm_cli.store.index.evidence_queries import EpisodeFile, SourceTurn
from clsm_cli.text.known_names import Matcher

FULL_WEIGHT_TURNS = 3
"""Turns from which a typed edge has its full weight."""
RelationKey = tuple[str, str, str, bool]
"""Source, type, target of a relation, and whether it is directed."""
StatedRelations = dict[RelationKey, set[str]]
"""Relation → keys of the turns that state it."""


def stated_relations(
    turns: Iterable[SourceTurn],
    kinds: Mapping[str, str],
    matcher: Matcher,
    meanings: Meanings | None,
) -> StatedRelations:
    """The relations that turns state, tool output and untrusted text left out."""
    keys: list[str] = []
    pairs: list[Pair] = []
    for turn in turns:
        if turn.role == "tool" or turn.trust in UNTRUSTED:
            continue
        for start, end in spans_of(turn.text):
            text = turn.text[start:end]
            named = [e._replace(kind=kinds.get(e.node, "")) for e in matcher.find(text)]
            pairs += relation_head.pairs(text, named)
            keys += [turn.key] * (len(pairs) - len(keys))
    found: StatedRelations = {}
    chances = relation_head.relation_probabilities(pairs, meanings)
    for pair, key, chance in zip(pairs, keys, chances, strict=True):
        if chance >= relation_head.MIN_RELATED_P:
            source, target = sorted((pair.left.node, pair.right.node))
            found.setdefault((source, relation_head.EDGE_TYPE, target, False), set()).add(key)
    return found


def relation_edges(stated: StatedRelations) -> dict[str, Edge]:
    """The edges of relations, by id; weight = min(1, (1 + turns) / (1 + ``FULL_WEIGHT_TURNS``))."""
    found: dict[str, Edge] = {}
    for (source, name, target, directed), keys in sorted(stated.items()):
        if source != target and keys:
            weight = min(1.0, (1 + len(keys)) / (1 + FULL_WEIGHT_TURNS))
            edge = unweighted_edge(source, name, target, directed=directed)
            made = replace(edge, n=len(keys), weight=weight, sources=tuple(sorted(keys)))
            found[edge.id] = made
    return found


def ended_turns(statements: Iterable[Statement], zone: tzinfo) -> dict[str, str]:
    """Turns whose statements have all ended or been withdrawn: key → end of the last one.

    A withdrawn statement, which was never true, ends when it was said.
    """
    found: dict[str, str] = {}
    current: set[str] = set()
    for row in statements:
        until = None if row.superseded_at else row.valid_until
        if row.withdrawn:
            until = row.valid_from or row.superseded_at
        if row.is_current:
            current.update(row.sources)
        elif until:
            for key in row.sources:
                found[key] = max(until, found.get(key, ""), key=_time_order(zone))
    return {key: until for key, until in found.items() if key not in current}


def closed_blocks(records: Iterable[Record]) -> dict[str, str]:
    """Key of a block that no document has any more → when it was removed."""
    documents = [each for each in records if isinstance(each, Document)]
    current = {block.key for document in documents for block in document.blocks}
    return {
        key: went
        for document in documents
        for key, (went, _) in document.closed.items()
        if key not in current
    }


def with_validity(
    edge: Edge, times: Mapping[str, str], closed: Mapping[str, str], zone: tzinfo
) -> Edge:
    """An edge that is valid from its first turn until all of its turns have ended.

    Args:
        closed: Ended turns and removed blocks: key → since when.
    """
    starts = (times[key] for key in edge.sources if key in times)
    since = min(starts, key=_time_order(zone), default=None)
    return replace(edge, valid_from=since, valid_until=end_of_validity(edge, closed, zone))


def end_of_validity(edge: Edge, closed: Mapping[str, str], zone: tzinfo) -> str | None:
    """When the last turn that states an edge ended; None if one has not. See ``with_validity``."""
    ends = [closed.get(key) for key in edge.sources]
    return None if None in ends else max(filter(None, ends), key=_time_order(zone), default=None)


def _time_order(zone: tzinfo) -> Callable[[str], tuple[float, str]]:
    """Sort key of times; one instant may be written with two offsets."""
    return lambda time: (seconds(time, zone), time)


def episode_chain(files: Sequence[EpisodeFile], continued: Mapping[str, str]) -> dict[str, Edge]:
    """``next`` edges between consecutive episodes, and ``continues`` edges."""
    dated = sorted((file.start, file.id) for file in files if file.start)
    pairs = [(a, "next", b) for (_, a), (_, b) in itertools.pairwise(dated)]
    known = {file.id for file in files}
    pairs += [
        (later, "continues", before)
        for later, before in sorted(continued.items())
        if later in known and before in known
    ]
    found = [unweighted_edge(a, name, b) for a, name, b in pairs]
    return {edge.id: edge for edge in found}


def unweighted_edge(source: str, name: str, target: str, *, directed: bool = True) -> Edge:
    """An edge of weight 1 that rests on no turn."""
    return Edge(
        id=edge_id(source, name, target),
        rev=(0, ""),
        source=source,
        target=target,
        type=name,
        directed=directed,
        n=1,
        weight=1.0,
    )


def stream_of_record(record: Record, nodes: Mapping[str, Node]) -> Stream:
    """The stream of a record: an edge's is that of its source node, an episode's is flow."""
    kept = nodes.get(record.source) if isinstance(record, Edge) else record
    return kept.stream if isinstance(kept, (Statement, Node)) else "flow"
