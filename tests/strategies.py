"""Hypothesis strategies for every record and turn, in canonical form (what a shard gives back).

Canonical means: sets sorted and without duplicates, floats with at most four decimals, no default
written down. ``CLSM_EXAMPLES=5000 pytest tests/model tests/store`` runs the properties longer.
"""

import os
from collections.abc import Callable
from dataclasses import fields
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from clsm_cli.model.codec import Record
from clsm_cli.model.episodes import (
    Block,
    Document,
    Episode,
    EpisodeRecord,
    OpenQuestion,
    ToolCall,
    Turn,
)
from clsm_cli.model.graph import Edge, Node, Statement
from clsm_cli.model.streams import STREAMS


def examples(most: int = 100) -> settings:
    """Settings of a property test: a third of ``most`` examples, the same each time, or CLSM_EXAMPLES."""
    return settings(
        max_examples=int(os.environ.get("CLSM_EXAMPLES", max(20, most // 3))),
        deadline=None,
        derandomize="CLSM_EXAMPLES" not in os.environ,
        suppress_health_check=list(HealthCheck),
    )


NASTY = [
    "", " ", "\n", "\r\n", "\t", "a\x00b", "\x1b[31m", "\x7f\x85\xa0", "\u2028\u2029", "\ufeff",
    "\ufffe\uffff", "---", "---\nid: x\n---\n", "- {", "# x", "### x ^0123456789ab",
    "\\### x ^0123456789ab", "turns:\n", "<<<<<<< HEAD", "'\"\\", "&a *a !!x", "null", "12:30",
    "é", "e\u0301", "😀", "\U0010ffff", "^f-1", "[x] ", "🏳️‍🌈 \u202e",
]  # fmt: skip

texts = st.one_of(
    st.text(max_size=12),
    st.sampled_from(NASTY),
    st.lists(st.sampled_from([*NASTY, "word"]), max_size=5).map("\n".join),
)
"""Any text that UTF-8 can hold (``st.text`` leaves out surrogates)."""

ids = st.from_regex(r"[a-z0-9][a-z0-9_-]{0,9}", fullmatch=True)
few_ids = st.sampled_from(["mara", "c--1a2b", "e-0", "f-1", "g-2"])
keys = st.integers(0, 2**48 - 1).map("{:012x}".format)
few_keys = st.integers(0, 9).map("{:012x}".format)
devices = st.sampled_from(["pi-ab12", "pc-0001", "laptop"])
revs = st.tuples(st.integers(0, 4), devices)
times = st.sampled_from(
    ["2026-02-10T09:30:00+01:00", "2026-02-24T23:59:60Z", "2026-02-24", "0001-01-01T00:00:00Z"]
)
weights = st.integers(-10_000, 10_000).map(lambda n: n / 10_000)


def sets(elements: st.SearchStrategy[str]) -> st.SearchStrategy[tuple[str, ...]]:
    """A set field: sorted, no duplicates."""
    return st.frozensets(elements, max_size=4).map(lambda found: tuple(sorted(found)))


json_values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-(2**53), 2**53), texts, weights),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=6,
)
extras = st.dictionaries(st.sampled_from(["mood", "x-y", "später"]), json_values, max_size=2)


def _optional(strategy: st.SearchStrategy[str]) -> st.SearchStrategy[str | None]:
    return st.one_of(st.none(), strategy)


_names = _optional(few_ids)
_day = _optional(st.just("2026-03-01"))
_blocks = st.builds(
    Block,
    key=few_keys,
    line_start=st.integers(0, 99),
    line_end=st.integers(0, 99),
    heading=st.lists(texts, max_size=2).map(tuple),
)
_questions = st.builds(OpenQuestion, texts, _optional(few_keys))
_FIELDS: dict[str, st.SearchStrategy[Any]] = {
    **dict.fromkeys(["title", "narrative", "topic", "origin", "path", "sha256", "digest"], texts),
    **dict.fromkeys(["text", "label", "summary", "type"], texts),
    **dict.fromkeys(["aliases", "exact"], sets(texts)),
    **dict.fromkeys(["sources"], sets(few_keys)),
    **dict.fromkeys(["valence", "novelty", "surprise", "weight", "confidence"], weights),
    **dict.fromkeys(["pinned", "withdrawn", "directed"], st.booleans()),
    **dict.fromkeys(
        ["valid_from", "valid_until", "superseded_at", "first", "last"], _optional(times)
    ),
    **dict.fromkeys(["due", "done_at"], _day),
    **dict.fromkeys(["subject", "supersedes"], _names),
    **dict.fromkeys(["source", "target"], few_ids),
    "rev": revs,
    "extra": extras,
    "text_sha": few_keys,
    "recorded_at": times,
    "value": _optional(texts),
    "n": st.integers(0, 999),
    "kind": st.sampled_from(["fact", "preference", "task", "gist"]),
    "stream": st.sampled_from(STREAMS),
    "state": st.sampled_from([None, "open", "done", "blocked"]),
    "stage": st.sampled_from(["pending", "consolidated"]),
    "trust": st.sampled_from(["user", "agent", "tool", "web"]),
    "decisions": st.lists(texts, max_size=2).map(tuple),
    "open_questions": st.lists(_questions, max_size=2).map(tuple),
    "mentions": st.dictionaries(few_ids, sets(few_keys), max_size=3),
    "blocks": st.lists(_blocks, max_size=3).map(tuple),
    "closed": st.dictionaries(few_keys, st.tuples(times, few_keys), max_size=3),
}
"""Values of the fields of records: a field has the same in each."""
_OWN: dict[str, dict[str, st.SearchStrategy[Any]]] = {
    "node": {"kind": texts},
    "statement": {"recorded_at": _optional(times)},
    "edge": {"recorded_at": _optional(times)},
}


def _maker(name: str, record: Any) -> Callable[[st.SearchStrategy[str]], st.SearchStrategy[Any]]:
    known = _FIELDS | _OWN.get(name, {})
    values = {each.name: known[each.name] for each in fields(record) if each.name != "id"}
    return lambda record_ids: st.builds(record, id=record_ids, **values)


_RECORDS = {
    "episode": EpisodeRecord,
    "document": Document,
    "statement": Statement,
    "node": Node,
    "edge": Edge,
}
MAKERS = {name: _maker(name, record) for name, record in _RECORDS.items()}
"""Record type → its strategy (called with a strategy of ids)."""


def records(record_ids: st.SearchStrategy[str] = ids) -> st.SearchStrategy[Record]:
    return st.one_of([make(record_ids) for make in MAKERS.values()])


tool_calls = st.builds(ToolCall, texts, _optional(texts), st.booleans())


def turns(turn_texts: st.SearchStrategy[str] = texts) -> st.SearchStrategy[Turn]:
    return st.builds(
        Turn,
        key=keys,
        speaker=texts,
        role=st.sampled_from(["user", "assistant", "tool", "system"]),
        text=turn_texts,
        time=_optional(times),
        path=texts,
        line_start=st.integers(0, 99),
        line_end=st.integers(0, 99),
        foreign_id=_optional(texts),
        trust=st.sampled_from(["user", "agent", "tool", "web"]),
        tool=st.one_of(st.none(), tool_calls),
        heading=st.lists(texts, max_size=2).map(tuple),
    )


def episodes() -> st.SearchStrategy[Episode]:
    """Episodes of one to five turns."""
    return st.builds(
        Episode,
        id=ids,
        session=texts,
        turns=st.lists(turns(), min_size=1, max_size=5, unique_by=lambda turn: turn.key).map(tuple),
        recorded_at=st.just("2026-02-24T22:00:00Z"),
        start=_optional(st.just("2026-02-10T09:30:00+01:00")),
        end=_optional(st.just("2026-02-10T09:45:00+01:00")),
        participants=st.lists(texts, max_size=2).map(tuple),
        trust=st.sampled_from(["user", "agent", "tool", "web"]),
        document=_optional(few_ids),
        continues=_optional(few_ids),
        capped=st.booleans(),
    )
