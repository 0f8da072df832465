"""What only refers to somebody who is forgotten is offered, and what has their name goes."""

from pathlib import Path

import pytest
from forgetting.planting import holding, lose, plan
from forgetting.stories import Line, Story, count, held, judge
from ingesting import made_once, new_store
from sleeping import rows, sleep, talked

from clsm_cli.store.layout import Store


@pytest.mark.parametrize(
    ("half", "recall", "precision"),
    [("tune", 0.96, 0.65), ("report", 0.97, 0.8), ("later", 0.93, 0.67)],
)
def test_most_is_found_and_little_else(half: str, recall: float, precision: float) -> None:
    found = count(half)
    assert found[0] >= recall
    assert found[1] >= precision


CALLS = (
    "= Mara: Marek Dvorak rents the attic.",
    "#",
    "+ Mara: Marek called again.",
    "+ Assistant: Shall I remind him of the rent?",
    "+ Mara: Yes, he owes us 450 euros.",
)


@pytest.mark.parametrize("lines", [CALLS, (*CALLS[:3], "#", *CALLS[2:])])
def test_a_pronoun_refers_to_the_last_name(tmp_path: Path, lines: tuple[str, ...]) -> None:
    """A first name counts."""
    story = Story("", "chat", "Marek Dvorak", tuple(Line(line[0], line[2:]) for line in lines))
    result = judge(story, held(story, tmp_path))
    assert (result.missed, result.needless) == ([], [])


@made_once
def told(folder: Path) -> Store:
    """Somebody is named once, and is the subject twice."""
    made = new_store(folder / "memory")
    rent = (
        "Mara: Piet Bakker is our tenant now.",
        "Mara: He pays 900 euros, half in advance.",
        "Mara: The stove needs a new grate.",
    )
    talked(made, folder, "rent", "2026-02-10", *rent)
    later = ("Mara: Our tenant has two dogs.", "Mara: Bakker wants a second key.")
    talked(made, folder, "later", "2026-02-20", *later)
    sleep(made)
    return made


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return told(tmp_path)


OFFERED = [
    "Mara: He pays 900 euros, half in advance.",
    "Mara: Our tenant has two dogs.",
    "Mara: Bakker wants a second key.",
]


def test_a_pronoun_a_role_and_a_part_of_the_name_are_offered(store: Store) -> None:
    found = plan(store, person="Piet Bakker").receipt.refers
    assert [each.text for each in found] == OFFERED
    assert [each.place for each in found] == ["rent", "later", "later"]


def test_what_was_agreed_to_goes_too(store: Store) -> None:
    found = plan(store, person="Piet Bakker").receipt.refers
    receipt = lose(store, person="Piet Bakker", also=tuple(each.id for each in found[:2]))
    assert [each.text for each in receipt.refers] == OFFERED[2:]
    assert holding(store.root, "900 euros") == []
    assert holding(store.root, "two dogs") == []
    assert holding(store.root, "second key")


def test_a_statement_with_the_name_goes_whatever_it_rests_on(store: Store) -> None:
    """A person wrote it into the Markdown: no turn names whom it is about."""
    path = store.root / "identity" / "people.md"
    old = path.read_text("utf-8") if path.exists() else "# People\n"
    path.write_text(f"{old.rstrip()}\n- Piet Bakker snores like a walrus.\n", "utf-8")
    sleep(store, "2026-03-01T23:00:00+01:00")
    assert any("walrus" in row.text for row in rows(store).values())
    receipt = lose(store, person="Piet Bakker")
    assert "Piet Bakker snores like a walrus." in {each.text for each in receipt.gone}
    assert holding(store.root, "walrus") == []
