"""The tags of a store: its ``ontology.yaml``, edited by hand, else the shipped one."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from clsm_cli.errors import DamagedStoreError
from clsm_cli.store import atomic, yaml_text
from clsm_cli.store.jsonlines import LineError, LineProblem
from clsm_cli.text.tagging import OntologyError, parse

if TYPE_CHECKING:
    from collections.abc import Sequence

    from clsm_cli.store.layout import Store
    from clsm_cli.text.tagging import Ontology

ONTOLOGY_NAME = "ontology.yaml"
MAX_ONTOLOGY = 128 << 10
"""Bytes: nine times the shipped one, a second to parse."""


def load(store: Store) -> tuple[Ontology, list[LineProblem]]:
    """The store's ontology, else the shipped one; and what is wrong with the file, by line from 1."""
    path = store.root / ONTOLOGY_NAME
    try:
        data = atomic.read(path, MAX_ONTOLOGY)
    except DamagedStoreError as error:
        return shipped(), [LineProblem(path, None, error.reason)]
    if data is None or data == shipped_text():
        return shipped(), []
    text = data.decode("utf-8", "replace").removeprefix("\ufeff").replace("\r\n", "\n")
    try:
        return parse(yaml_text.load(text, MAX_ONTOLOGY)), []
    except LineError as error:
        place = _YAML_LINE.search(str(error))
        reason = str(error)[: place.start()] if place else str(error)
        return shipped(), [LineProblem(path, int(place.group(1)) if place else None, reason)]
    except OntologyError as error:
        return shipped(), [LineProblem(path, _line_of(text, error.place), str(error))]


@cache
def shipped() -> Ontology:
    """The ontology that comes with clsm."""
    return parse(yaml_text.load(shipped_text().decode(), MAX_ONTOLOGY))


@cache
def shipped_text() -> bytes:
    """Its file, to put into a store for people to edit."""
    from importlib.resources import files

    return files("clsm_cli.text").joinpath(ONTOLOGY_NAME).read_bytes()


_YAML_LINE = re.compile(r" \(line (\d+)\)\Z")


def _line_of(text: str, place: Sequence[str]) -> int | None:
    """The line that the keys of ``place`` lead to, one inside the other; its last may be a value."""
    position, found = 0, None
    for depth, name in enumerate(place):
        word = rf"(?<!\w)[\"']?{re.escape(name)}[\"']?(?!\w)"
        key = (
            re.compile(rf"^ *{word} *:", re.MULTILINE).search(text, position) if depth < 3 else None
        )
        match = key or re.compile(word).search(text, position)
        if match is None:
            break
        position, found = match.end(), match.end()
    return None if found is None else text.count("\n", 0, found) + 1
