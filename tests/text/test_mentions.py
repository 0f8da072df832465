from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import examples
from tables import table

from clsm_cli.text.mentions import find_mentions
from clsm_cli.text.node_ids import node_id

NOTE = Path(__file__).with_suffix(".md").read_text("utf-8")


def test_a_note() -> None:
    assert [(each.label, each.kind) for each in find_mentions(NOTE)] == [
        ("Delegation Defect", "name"), ("Hart", "name"), ("J. R. Smith", "name"), ("SL-12", "name"),
        ("people/Alice Hart", "link"), ("C++", "link"), ("valve-chatter", "tag"),
        ("The Left Hand of Darkness", "title"), ("Solaris", "title"), ("Valve Log", "title"),
        ("memory_v2", "code"), ("mask", "code"), ("Hardin", "name"), ("ONNX", "name"),
        ("Hardin", "name"), ("Mara", "name"), ("Mara", "name"), ("New York City", "name"),
        ("GitHub", "name"),
    ]  # fmt: skip


@pytest.mark.parametrize(("text", "labels"), table(__file__, "names"))
def test_names(text: str, labels: str) -> None:
    assert ", ".join(each.label for each in find_mentions(text)) == labels


def test_ids_tell_names_apart_but_not_their_case() -> None:
    assert node_id("Delegation Defect") == node_id("delegation defect") == "delegation-defect"
    assert len({node_id("C"), node_id("C++"), node_id("C#"), node_id("C--x"), node_id("東京")}) == 5
    assert node_id("Café") == node_id("cafe\u0301")
    assert node_id("Café").startswith("cafe-")
    assert node_id("x" * 81) != node_id("x" * 82)


PARTS = ["Mara", "Hart", "the", "of", " ", "\n", ". ", *"[]|#*_`x-7", "[[", "]]", "```", "'s"]
MARKED = st.lists(st.sampled_from(PARTS)).map("".join)


@given(MARKED | st.text(max_size=60))
@examples(300)
def test_mentions_are_ordered_apart_and_named(text: str) -> None:
    end = 0
    for each in find_mentions(text):
        assert end <= each.start < each.end <= len(text)
        assert each.label == each.label.strip() != ""
        end = each.end
