"""The head of relations: which pairs it looks at, and that it tells a stated one from a mere list."""

import re
from pathlib import Path

import pytest
from tables import table

from clsm_cli.embedding.wordpiece import StaticVectors
from clsm_cli.heads import classifier
from clsm_cli.heads.relation_head import (
    INPUTS,
    MIN_RELATED_P,
    pairs,
    relation_probabilities,
)
from clsm_cli.text.known_names import NameSpan


def _chances(text: str, *names: str, kind: str = "tool") -> list[float]:
    found = [match for name in names for match in re.finditer(re.escape(name), text)]
    named = [NameSpan(match.start(), match.end(), match.group(), kind) for match in found]
    return relation_probabilities(list(pairs(text, named)), None)


def test_the_weights_fit_the_features() -> None:
    assert classifier.load("relation").inputs == INPUTS


@pytest.mark.parametrize(
    "text", ["- **Maren** (Keeper) - locks up at nine", "- **Maren** — Keeper, and treasurer"]
)
def test_what_is_said_of_a_name_is_likelier_than_what_is_listed_beside_it(text: str) -> None:
    (said,) = _chances(text, "Maren", "Keeper", kind="person")
    (listed,) = _chances("We met Olle, Maren/Keeper, Tove and many more", "Maren", "Keeper")
    assert said > 0.5 > listed


def test_of_a_long_list_no_names_are_paired() -> None:
    names = [f"N{number:02}" for number in range(13)]
    assert not _chances(", ".join(names), *names)
    assert _chances(", ".join(names[:12]), *names[:12])


@pytest.mark.parametrize(("holds", "ended"), table(__file__, "ended"))
def test_what_has_ended_is_no_relation(model_folder: Path, holds: str, ended: str) -> None:
    words = StaticVectors.open(model_folder).mean_vectors

    def chance(text: str) -> float:
        at = text.index("Kestrel")
        names = [NameSpan(0, 5, "petra", "person"), NameSpan(at, at + 12, "labs", "organisation")]
        return relation_probabilities(list(pairs(text, names)), words)[0]

    assert chance(holds) > MIN_RELATED_P > chance(ended)


def test_a_sentence_that_denies_relates_nothing_but_the_next_may() -> None:
    text = "Ada does not work for Acme. Rex works for Bolt."
    at = {name: text.index(name) for name in ("Ada", "Acme", "Rex", "Bolt")}
    names = [NameSpan(start, start + len(name), name) for name, start in at.items()]
    assert [(each.left.node, each.right.node) for each in pairs(text, names)] == [("Rex", "Bolt")]
