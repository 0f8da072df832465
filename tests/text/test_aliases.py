import pytest
from hypothesis import given
from hypothesis import strategies as st

from clsm_cli.text.aliases import short_names, stated_aliases


@pytest.mark.parametrize(
    ("text", "name", "alias"),
    [
        ("We read Gödel, Escher, Bach (GEB) together.", "Gödel, Escher, Bach", "GEB"),
        ("It uses retrieval augmented generation (RAG).", "retrieval augmented generation", "RAG"),
        ("The Bank of the North (BN) called.", "Bank of the North", "BN"),
        ("Met Magnus Berg, known as Bear, today.", "Magnus Berg", "Bear"),
        ("Magnus, whom everyone calls Bear, left.", "Magnus", "Bear"),
        ("Magnus Berg: we call him Bear.", "Magnus Berg", "Bear"),
        ('Edda Lund (nicknamed "Flint") won.', "Edda Lund", "Flint"),
        ("Edda Lund, also called Flint, won.", "Edda Lund", "Flint"),
        ("It was John Doe alias Jack Flint.", "John Doe", "Jack Flint"),
        ("The CLI (command line interface) works.", "command line interface", "CLI"),
        ("Alex is short for Alexandra.", "Alexandra", "Alex"),
        ("See [[people/Alice Hart|Alice]].", "people/Alice Hart", "Alice"),
        ("The [[forgetting curve|decay function]] is steep.", "forgetting curve", "decay function"),
    ],
)
def test_two_names(text: str, name: str, alias: str) -> None:
    found = stated_aliases(text)
    assert [(each.name, each.alias) for each in found] == [(name, alias)]
    told = text[found[0].start : found[0].end]
    assert alias.split(maxsplit=1)[0].rstrip("'s") in told
    assert name.split(maxsplit=1)[0] in told


def test_no_second_name() -> None:
    none = [
        "Priya, the editor, wrote.",
        "I met Ilse, called Brian, and went home.",
        "Ilse calls Brian daily. We call him when it rains.",
        "The backup goes to a [[shed box]] called Margaret.",
        "It is an RPG called Xeno, or Zelda, for a short time.",
        "[[Juno|the cat]] sleeps, [[Ilse|my human]] reads, [[Ilse|she]] smiles.",
        "[[Ilse]] and [[ilse|Ilse]] are spelled alike.",
        "The result (OK) was fine, as was the other one (NAP).",
        "The NAP (Amsterdam level) and the SD (a small card).",
        "Port 22, the old one and so on.",
        "Brian's book lies on *The Table*.",
        "",
    ]
    assert [each for each in none if stated_aliases(each)] == []


@pytest.mark.parametrize(
    ("full", "short"),
    [
        ("Mei-Lin Zhao", ["Mei-Lin", "Zhao"]), ("Dr. Bakker", ["Bakker"]),
        ("Simone de Beauvoir", ["Simone", "Beauvoir"]), ("SL Hart", []), ("Brian", []), ("", []),
        ("Noor \N{BICYCLE}", ["Noor"]), ("Jan & Marie", []), ("\N{BICYCLE}", []),
    ],
)  # fmt: skip
def test_short_names(full: str, short: list[str]) -> None:
    assert short_names(full) == short


@given(st.text(alphabet="AbC, ()[]|*'\"known as or for short\n", max_size=200))
def test_statements_lie_in_the_text(text: str) -> None:
    for each in stated_aliases(text):
        assert 0 <= each.start < each.end <= len(text)
        assert each.name
        assert each.alias
