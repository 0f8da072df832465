"""Names stand where they stand, whatever other names are known."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tables import table

from clsm_cli.text.known_names import Matcher, NameForm

NAMES = [
    *(NameForm(name, name, is_exact=True) for name in ("Will", "C", "C++")),
    *(NameForm(name, name, is_exact=False) for name in ("clock key", ".env", "index")),
    *(
        NameForm(name, name, is_exact=False)
        for name in ("delegation defect", "Gödel, Escher, Bach")
    ),
]


@pytest.mark.parametrize(("why", "text", "found"), table(__file__, "names"))
def test_where_a_name_stands(why: str, text: str, found: str) -> None:
    nodes = found.split(" | ") if found else []
    assert [named.node for named in Matcher(NAMES).find(text)] == nodes, why


words = st.sampled_from(["red", "fox", "Fox", "den", "red fox", "fox den"])


@given(st.lists(words, max_size=12), st.sets(words, min_size=1), words)
def test_a_new_name_changes_no_other(text: list[str], names: set[str], more: str) -> None:
    joined = " ".join(text)
    forms = [NameForm(name, name.casefold().replace(" ", "-"), is_exact=False) for name in names]
    new = NameForm(more, "new", is_exact=False)
    with_new = [each for each in Matcher([*forms, new]).find(joined) if each.node != "new"]
    assert with_new == Matcher(forms).find(joined)
