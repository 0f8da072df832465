"""The head of relations: which pairs it looks at, and that it tells a stated one from a mere list."""

import re

import pytest

from clsm_cli.heads import classifier
from clsm_cli.heads.relation_head import INPUTS, NameSpan, pairs, relation_probabilities


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
