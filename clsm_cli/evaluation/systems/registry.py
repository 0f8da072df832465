"""The systems by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clsm_cli.evaluation.presets.preset import load
from clsm_cli.evaluation.systems import meaning, static, words
from clsm_cli.evaluation.systems.baseline import Baseline
from clsm_cli.evaluation.systems.recall import Published

if TYPE_CHECKING:
    from collections.abc import Iterable

    from clsm_cli.evaluation.bench import System

CLSM = "clsm"
"""clsm as it is shipped."""
MINILM = "MiniLM"
"""The embedding alone, which others are compared with (reach)."""
STATIC = "static"
"""What an agent loads at every start."""
_ALL = (
    Baseline("grep", "passages by how many words of the query they hold", words.grep),
    Baseline(
        "BM25",
        f"bm25s, Lucene's variant, k1 {words.K1}, b {words.B}, English stems and stop words",
        words.bm25,
    ),
    Baseline(
        MINILM,
        "cosine of all-MiniLM-L6-v2 sentence vectors; a speaker whom the query names is I in it",
        meaning.minilm,
    ),
    Baseline("RRF", "reciprocal rank fusion of BM25 and MiniLM, k 60", meaning.rrf),
    Baseline(
        "fusion",
        f"{meaning.BM25_SHARE:g} BM25 + {1 - meaning.BM25_SHARE:g} cosine, each 0 to 1",
        meaning.fusion,
    ),
    Baseline("recency", "the newest passages", static.recency),
    Baseline(
        STATIC,
        "SOUL, USER, MEMORY and the last two daily notes; of a chat the last sessions",
        static.static,
    ),
)
BASELINES = tuple(each.name for each in _ALL)
"""Names of what a user has without clsm."""


def named(name: str) -> System:
    """The baseline of a name.

    Raises:
        KeyError: There is none.
    """
    return {each.name: each for each in _ALL}[name]


def baselines() -> list[System]:
    """What a user has without clsm."""
    return list(_ALL)


def presets(names: Iterable[str]) -> list[System]:
    """Published systems by the names of their presets; each once, in their order.

    Raises:
        ValueError: There is no preset of a name.
    """
    return [Published(load(name)) for name in dict.fromkeys(names)]
