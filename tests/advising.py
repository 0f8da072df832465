"""Answers of an adviser, for tests: about episodes that a store holds."""

from typing import Any

from sleeping import sleep

from clsm_cli.consolidation import adviser_packet
from clsm_cli.consolidation.adviser_packet import Part
from clsm_cli.store import episode_files
from clsm_cli.store.layout import Store


def parts_of(store: Store) -> list[Part]:
    """The parts of all episodes of a store, in the order of their files; open ones are closed first."""
    sleep(store, only=frozenset())
    files = sorted(store.root.glob("flow/*/episodes/**/*.md"))
    return [part for path in files for part in adviser_packet.split_parts(episode_files.read(path))]


def statement(text: str, *turns: str, **changes: Any) -> dict[str, Any]:
    """A fact about Mara, or about what ``changes`` say."""
    told = {"kind": "fact", "subject": "Mara", "turns": list(turns), "replaces": ""}
    return {"text": text, **told, **changes}


def answer(part: Part, *statements: Any, **changes: Any) -> dict[str, Any]:
    told: dict[str, Any] = {"statements": list(statements), "drop": [], "relations": []}
    return {"parts": [{"part": part.handle, **told, **changes}]}
