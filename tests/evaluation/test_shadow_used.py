"""When a text counts as used: texts whose words are weighed by a real index."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from ingesting import new_store
from small_store import talk, tell

from clsm_cli.evaluation.shadow import sittings
from clsm_cli.evaluation.shadow.sittings import WordRarity
from clsm_cli.store.index.opening import open_index

COMMON = [f"Ilse wants tea, says number {n}." for n in range(30)]
KEPT = "The password was on a biscuit tin in Deventer."


@pytest.fixture(scope="module")
def rarity(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WordRarity]:
    folder: Path = tmp_path_factory.mktemp("shadow")
    store = new_store(folder / "memory")
    tell(store, *talk("main", *COMMON, KEPT, "The level is minus 61.4 cm NAP."))
    with open_index(store, None) as opened:
        yield sittings.WordRarity(opened.index.connection, opened.index.size()[0])


def is_used(rarity: WordRarity, text: str, *turns: str, asked: str = "") -> bool:
    later = [sittings.distinct_stems(turn) for turn in turns]
    words = sittings.distinct_stems(asked)
    claims = sittings.split_claims(text)
    return any(sittings.is_used(each.words - words, later, rarity) for each in claims)


def test_words_of_the_prompt_do_not_count(rarity: WordRarity) -> None:
    reply = "No biscuit tin is known to me."
    assert is_used(rarity, KEPT, reply)
    assert not is_used(rarity, KEPT, reply, asked="What about the biscuit tin?")


def test_another_figure_is_another_fact(rarity: WordRarity) -> None:
    text = "The level is minus 61.4 cm NAP."
    assert is_used(rarity, text, "Minus 61.4 cm NAP, the level said.")
    assert not is_used(rarity, text, "Minus 58 cm NAP, the level said.")
