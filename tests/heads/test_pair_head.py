"""What the shipped head says of two sentences."""

import pytest
from tables import table

from clsm_cli.heads import pair_head
from clsm_cli.heads.pair_head import RELATIONS


@pytest.mark.parametrize(("relation", "old", "new", "asked"), table(__file__, "relations"))
def test_the_likeliest_is_right(relation: str, old: str, new: str, asked: str) -> None:
    found = pair_head.relation(old, new, asked)
    assert RELATIONS[found.index(max(found))] == relation
    assert sum(found) == pytest.approx(1, abs=1e-3)
    if not asked:
        at_night = pair_head.relations([(new, old), (old, new)])[1]  # in whole numbers
        assert tuple(at_night) == pytest.approx(tuple(found), abs=0.1)


@pytest.mark.parametrize(
    ("old", "is_over"), [("We go to Larch House.", True), ("Been to Larch House.", False)]
)
def test_a_few_words_end_a_plan_and_no_event(old: str, is_over: bool) -> None:
    one, two = map(pair_head.sentence, (old, "Larch House is dropped."))
    likely = pair_head.Relation(0.0, 0.9, 0.05, 0.05)
    chance = pair_head.update_of(one, two, likely, lambda pairs: [likely] * len(pairs))
    assert (chance >= pair_head.SUPERSEDED_P) == is_over
