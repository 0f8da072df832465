"""Names stand where they stand, whatever other names are known."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clsm_cli.text.known_names import Matcher, NameForm

NAMES = [
    *(NameForm(name, name, is_exact=True) for name in ("Will", "C", "C++")),
    *(NameForm(name, name, is_exact=False) for name in ("clock key", ".env", "index")),
    *(
        NameForm(name, name, is_exact=False)
        for name in ("delegation defect", "Gödel, Escher, Bach")
    ),
]
CASES = {
    "whole words whatever the case": (
        "The Clock Key, the clock-key; clockkey, clock keys.",
        ["clock key", "clock key"],
    ),
    "exact names need their capitals": ("It will be Will's. WILL?", ["Will"]),
    "C is not C++": ("C, C++ and C#.", ["C", "C++"]),
    "the ending of a file": ("Keep .env, no prod.env; env alone is none. `.env`", [".env", ".env"]),
    "a part of a file": ("index.html", []),
    "a part of an address": ("ada@index.org or mail to index@ada.org", []),
    "a folder": ("The index. It was index/a.", ["index", "index"]),
    "over one line end": ("the delegation\ndefect", ["delegation defect"]),
    "over no paragraph": ("the delegation\n\ndefect", []),
    "over no item": ("delegation\n- defect", []),
    "punctuation of a title": ("read gödel, Escher, Bach twice", ["Gödel, Escher, Bach"]),
}


@pytest.mark.parametrize(("text", "found"), CASES.values(), ids=CASES)
def test_where_a_name_stands(text: str, found: list[str]) -> None:
    assert [named.node for named in Matcher(NAMES).find(text)] == found


words = st.sampled_from(["red", "fox", "Fox", "den", "red fox", "fox den"])


@given(st.lists(words, max_size=12), st.sets(words, min_size=1), words)
def test_a_new_name_changes_no_other(text: list[str], names: set[str], more: str) -> None:
    joined = " ".join(text)
    forms = [NameForm(name, name.casefold().replace(" ", "-"), is_exact=False) for name in names]
    new = NameForm(more, "new", is_exact=False)
    with_new = [each for each in Matcher([*forms, new]).find(joined) if each.node != "new"]
    assert with_new == Matcher(forms).find(joined)
