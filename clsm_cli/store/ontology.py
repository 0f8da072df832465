"""The tags of a store: its own ``ontology.yaml``, edited by hand, or the shipped one."""

from __future__ import annotations

from functools import cache

from clsm_cli.errors import DamagedStoreError
from clsm_cli.store import atomic, yaml_text
from clsm_cli.store.jsonlines import LineError, LineProblem
from clsm_cli.store.layout import Store
from clsm_cli.text.tagging import Ontology, OntologyError, parse

ONTOLOGY_NAME = "ontology.yaml"
_MAX_ONTOLOGY = 128 << 10  # bytes: nine times the shipped file; takes a second to parse


def load(store: Store) -> tuple[Ontology, list[LineProblem]]:
    """The store's ontology, or the shipped one, and problems of the file."""
    path = store.root / ONTOLOGY_NAME
    try:
        data = atomic.read(path, _MAX_ONTOLOGY)
    except DamagedStoreError as error:
        return shipped(), [LineProblem(path, None, error.reason)]
    if data is None or data == shipped_text():
        return shipped(), []
    text = data.decode("utf-8", "replace").removeprefix("\ufeff").replace("\r\n", "\n")
    try:
        return parse(yaml_text.load(text, _MAX_ONTOLOGY)), []
    except LineError as error:
        reason, line = error.split_line()
        return shipped(), [LineProblem(path, line, reason)]
    except OntologyError as error:
        return shipped(), [LineProblem(path, None, str(error))]


@cache
def shipped() -> Ontology:
    """The ontology that comes with clsm."""
    return parse(yaml_text.load(shipped_text().decode(), _MAX_ONTOLOGY))


@cache
def shipped_text() -> bytes:
    """The shipped file, which a store gets for people to edit."""
    from importlib.resources import files

    return files("clsm_cli.text").joinpath(ONTOLOGY_NAME).read_bytes()
