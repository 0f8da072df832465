"""Misspelt names of a question, set right before anything is looked for.

A word is a slip where no passage has it, the model has no piece for it, so that it is no word of its
language and no name as common as one ("Maria" is none for "Marit"), and a name of the store is like it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from clsm_cli.retrieval import concepts
from clsm_cli.store.index import graph_queries

if TYPE_CHECKING:
    from clsm_cli.retrieval.concepts import LikelyName
    from clsm_cli.retrieval.dense_search import Engine
    from clsm_cli.store.index.index_queries import Index


def set_right(index: Index, text: str, engine: Engine | None) -> tuple[str, str]:
    """A question with the right names, and what to say of that; "" where nothing was misspelt.

    Args:
        engine: Open; without one every word that is like a name is taken for it.
    """
    said: list[str] = []
    for word, likely in concepts.likely_names(index, text).items():
        if any(map(str.isdigit, word)):
            continue  # of a code each character counts
        if engine is not None and len(engine.encode(word).pieces) < 2:
            continue
        name = _as_written(index, likely)
        text = re.sub(rf"(?<!\w){re.escape(word)}(?!\w)", name.replace("\\", r"\\"), text)
        said.append(f'nothing has "{word}"; read as "{name}"')
    return text, "; ".join(said)


def _as_written(index: Index, likely: LikelyName) -> str:
    """A word of a name as the label of its node has it."""
    for node in graph_queries.nodes(index.connection, likely.numbers).values():
        for word in node.label.replace("-", " ").split():
            if word.casefold() == likely.part:
                return word
    return likely.part
