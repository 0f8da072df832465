"""Forget means forget: labels of one's own that tell of it go, others stay to the byte."""

from __future__ import annotations

from pathlib import Path

import labelled_store
import pytest
from forgetting.planting import holding, lose

from clsm_cli.evaluation import own_labels
from clsm_cli.forgetting.receipt import Receipt
from clsm_cli.store import labels
from clsm_cli.store.layout import Store

CANARY = "Marsdiep"
KEPT = """# mine
queries:
- query: what did the anchor cost  # in pounds
  evidence: ["The new anchor cost ninety pounds."]

# no answer to this
- query: how many moons does Jupiter have
  evidence: []
"""
TOLD = """- query: when does it sail
  memories: ["{key}"]
- query: which boats are there
  evidence: ["every half hour", "The kayak is made of cedar"]
  memories: [{key}-2]
  concepts: [marsdiep]
# The Marsdiep ferry goes to Texel every half hour.
- query: The Marsdiep ferry goes to Texel every half hour.
  evidence: []
- query: where did the Marsdiep ferry go on Friday
  evidence: ["The kayak is made of cedar"]
- query: what is made of cedar
  evidence: ["The kayak is made of cedar"]  # not the Marsdiep ferry goes to Texel every half hour.
"""
LEFT = """- id: "{id}"
  query: "which boats are there"
  evidence: ["The kayak is made of cedar"]
- id: "{other}"
  query: "what is made of cedar"
  evidence: ["The kayak is made of cedar"]
"""


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return labelled_store.make(tmp_path)


def lose_ferry(store: Store) -> Receipt:
    told = own_labels.whole_memory(store).turns
    return lose(store, ids=tuple(key for key, each in told.items() if CANARY in each.turn.text))


def test_labels_that_tell_of_it_go_and_others_stay_to_the_byte(store: Store) -> None:
    held = own_labels.whole_memory(store).turns
    key = next(key for key, told in held.items() if "half hour" in told.turn.text)
    path = labelled_store.write(store, KEPT + TOLD.format(key=key))
    receipt = lose_ferry(store)
    text = path.read_text()
    ids = [labels.id_of(query) for query in ("which boats are there", "what is made of cedar")]
    assert text == KEPT + LEFT.format(id=ids[0], other=ids[1])
    assert labels.NAME in receipt.files
    assert [each.text for each in receipt.gone if each.kind == "label"] == [
        "when does it sail",
        "The Marsdiep ferry goes to Texel every half hour.",
        "where did the Marsdiep ferry go on Friday",
    ]
    assert holding(store.root, CANARY.lower()) == []


def test_a_file_that_is_no_yaml_loses_the_lines_that_tell(store: Store) -> None:
    path = labelled_store.write(
        store, 'queries: [\n- "The Marsdiep ferry goes to Texel every half hour."\n# kept: anchor\n'
    )
    lose_ferry(store)
    assert path.read_text() == "queries: [\n# kept: anchor\n"
