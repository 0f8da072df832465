"""Nodes: what a thing is called, what kind it is, and the two sentences that say most about it.

A node is a function of its names and of the turns that mention it, whenever they were read: its kind
is judged from all uses of its name (``vocabulary``), the summary taken from the newest ``LOOKED_AT``
turns. So a run looks only at nodes whose turns or kind changed, and arrives where a run over
everything would.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from clsm_cli.consolidation.matching import Matcher
from clsm_cli.consolidation.vocabulary import forms
from clsm_cli.model.graph import Node
from clsm_cli.store.index import evidence
from clsm_cli.text.ontology import tags_of
from clsm_cli.text.plain import plain
from clsm_cli.text.sentences import split
from clsm_cli.text.summaries import best_sentences

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Mapping, Sequence

    from clsm_cli.consolidation.vocabulary import Vocabulary
    from clsm_cli.model.streams import Stream
    from clsm_cli.store.index.evidence import Said
    from clsm_cli.text.ontology import Ontology

LOOKED_AT = 64
"""Turns, the newest, that the summary is taken from: bounds what a hub costs."""
STREAMS: dict[str, Stream] = {"person": "identity", "agent": "identity"}
"""Where nodes of a kind are kept; all others among the projects."""


def describe(
    connection: sqlite3.Connection,
    vocabulary: Vocabulary,
    mentions: Mapping[str, Sequence[str]],
    times: Mapping[str, str],
    ontology: Ontology,
    rev: tuple[int, str],
) -> dict[str, Node]:
    """The records of nodes, by id.

    Args:
        connection: The index.
        vocabulary: All nodes.
        mentions: The nodes to describe → keys of all turns that mention them.
        times: Turn → its time, where it has one.
        ontology: For tags.
        rev: Revision of new records.
    """
    newest = {
        node: sorted(keys, key=lambda key: (times.get(key, ""), key))[-LOOKED_AT:]
        for node, keys in mentions.items()
    }
    found: dict[str, Node] = {}
    nodes = sorted(newest)
    for start in range(0, len(nodes), _STEP):
        group = nodes[start : start + _STEP]
        keys = sorted({key for node in group for key in newest[node]})
        told = evidence.said(connection, keys)
        for node in group:
            turns = [told[key] for key in newest[node] if key in told]
            dated = sorted(times[key] for key in mentions[node] if key in times)
            kind = vocabulary.kinds[node]
            summary = _summary(vocabulary, node, turns)
            entry = vocabulary.entries[node]
            text = " ".join(sentence for sentence, _, _ in summary)
            found[node] = Node(
                id=node,
                rev=rev,
                label=entry.label,
                kind=kind,
                aliases=tuple(sorted(set(entry.aliases) - {entry.label})),
                exact=tuple(sorted(entry.exact)),
                summary=text,
                stream=STREAMS.get(kind, "projects"),
                tags=tuple(sorted(tags_of(text, ontology))),
                n=len(mentions[node]),
                first=dated[0] if dated else None,
                last=dated[-1] if dated else None,
                sources=tuple(dict.fromkeys(key for _, _, key in summary)),
            )
    return found


_STEP = 200
"""Nodes whose turns are held at once."""


def _summary(
    vocabulary: Vocabulary, node: str, turns: Sequence[Said]
) -> list[tuple[str, str, str]]:
    """The best sentences of turns that still hold, without the agent's own tools and the web."""
    entry = vocabulary.entries[node]
    matcher = Matcher(forms(entry))
    candidates: list[tuple[str, str, str]] = []
    for turn in turns:
        if not turn.is_current or turn.trust in ("tool", "web"):
            continue
        places = [named.start for named in matcher.find(turn.text)]
        for span in split(turn.text):
            if any(span.start <= place < span.end for place in places):
                sentence = plain(turn.text[span.start : span.end])
                candidates.append((sentence, turn.time or "", turn.key))
    return best_sentences(candidates, entry.label)
