import pytest
from hypothesis import given
from hypothesis import strategies as st
from tables import column, table

from clsm_cli.text.aliases import short_names, stated_aliases


@pytest.mark.parametrize(("text", "name", "alias"), table(__file__, "two names"))
def test_two_names(text: str, name: str, alias: str) -> None:
    found = stated_aliases(text)
    assert [(each.name, each.alias) for each in found] == [(name, alias)]
    told = text[found[0].start : found[0].end]
    assert alias.split(maxsplit=1)[0].rstrip("'s") in told
    assert name.split(maxsplit=1)[0] in told


def test_no_second_name() -> None:
    none = ["", *column(__file__, "none")]
    assert [each for each in none if stated_aliases(each)] == []


@pytest.mark.parametrize(("full", "short"), [("", ""), *table(__file__, "short names")])
def test_short_names(full: str, short: str) -> None:
    assert ", ".join(short_names(full)) == short


@given(st.text(alphabet="AbC, ()[]|*'\"known as or for short\n", max_size=200))
def test_statements_lie_in_the_text(text: str) -> None:
    for each in stated_aliases(text):
        assert 0 <= each.start < each.end <= len(text)
        assert each.name
        assert each.alias
