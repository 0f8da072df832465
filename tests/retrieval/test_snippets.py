from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from clsm_cli.config import RecallSettings
from clsm_cli.retrieval import result_items

LENGTH = RecallSettings().window


@given(st.lists(st.integers(1, 600), min_size=1, max_size=30), st.data())
def test_a_window_holds_its_block_and_is_no_longer_than_it_may_be(
    lengths: list[int], data: st.DataObject
) -> None:
    place = data.draw(st.integers(0, len(lengths) - 1))
    blocked = data.draw(st.sets(st.integers(0, len(lengths) - 1)))
    start, end = result_items.grow_window(lengths, place, blocked - {place}, LENGTH)
    assert start <= place < end
    assert not (blocked - {place}) & set(range(start, end))
    assert end - start == 1 or sum(lengths[start:end]) <= LENGTH
