"""Names stand where they stand, whatever other names are known."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clsm_cli.consolidation.edges import Matcher, NameForm


def nodes(text: str, *forms: NameForm) -> list[str]:
    return [named.node for named in Matcher(forms).find(text)]


def test_whole_words_whatever_the_case() -> None:
    form = NameForm("clock key", "clock-key", is_exact=False)
    assert nodes("The Clock Key, the clock-key; clockkey, clock keys.", form) == ["clock-key"] * 2


def test_exact_names_need_their_capitals() -> None:
    form = NameForm("Will", "will", is_exact=True)
    assert nodes("It will be Will's. WILL?", form) == ["will"]


def test_c_is_not_c_plus_plus() -> None:
    c, cpp = NameForm("C", "c", is_exact=True), NameForm("C++", "cpp", is_exact=True)
    assert nodes("C, C++ and C#.", c, cpp) == ["c", "cpp"]


def test_the_ending_of_a_file_is_none_of_its_names() -> None:
    form = NameForm(".env", "env", is_exact=False)
    assert nodes("Keep .env, no prod.env; env alone is none. `.env`", form) == ["env", "env"]


@pytest.mark.parametrize("text", ["index.html", "ada@index.org", "Mail to index@ada.org"])
def test_a_part_of_an_address_or_of_a_file_is_no_mention(text: str) -> None:
    form = NameForm("Index", "index", is_exact=False)
    assert nodes(text, form) == []
    assert nodes("The index. It was index/a.", form) == ["index", "index"]


def test_a_name_runs_over_one_line_end_but_no_paragraph() -> None:
    form = NameForm("delegation defect", "d", is_exact=False)
    assert nodes("the delegation\ndefect", form) == ["d"]
    assert nodes("the delegation\n\ndefect", form) == []
    assert nodes("delegation\n- defect", form) == []


def test_punctuation_of_a_title_does_not_count() -> None:
    form = NameForm("Gödel, Escher, Bach", "geb", is_exact=False)
    assert nodes("read gödel, Escher, Bach twice", form) == ["geb"]


words = st.sampled_from(["red", "fox", "Fox", "den", "red fox", "fox den"])


@given(st.lists(words, max_size=12), st.sets(words, min_size=1), words)
def test_a_new_name_changes_nothing_for_the_others(
    text: list[str], names: set[str], more: str
) -> None:
    joined = " ".join(text)
    forms = [NameForm(name, name.casefold().replace(" ", "-"), is_exact=False) for name in names]
    new = NameForm(more, "new", is_exact=False)
    with_new = [each for each in Matcher([*forms, new]).find(joined) if each.node != "new"]
    assert with_new == Matcher(forms).find(joined)
