"""What a question about one thing alone finds first: what that thing is."""


import pytest
from ingesting import new_store
from sleeping import sleep
from small_store import found, note

from clsm_cli.config import Settings, with_changes
from clsm_cli.store.layout import Store

PEOPLE = """# MEMORY

## People

- **Noor**: Ada's niece, ten years old.
- **Tomas**: Noor's father, a roofer in Deventer.

## Wayfinder

- A map of the quays for people who push a pram.
- The second edition goes to the printer in May.
"""
DAYS = """# {day}

- Noor has hung the Wayfinder over her bath, says Tomas.
- Noor, ten points. Wayfinder first, then Noor's quiz.
- Tomas rang twice about the Wayfinder and Noor.
- Wayfinder is late. Noor is tired.
"""


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """A list of people, a section of a project, and days that mention both."""
    made = new_store(tmp_path_factory.mktemp("definitions") / "memory")
    notes = tmp_path_factory.mktemp("notes")
    (notes / "memory").mkdir()
    note(made, notes / "MEMORY.md", PEOPLE)
    for day in range(10, 16):
        note(made, notes / f"memory/2026-02-{day}.md", DAYS.format(day=f"2026-02-{day}"))
    sleep(made)
    return made


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("who is Noor?", "Ada's niece"),
        ("Noor", "Ada's niece"),
        ("what is the Wayfinder", "A map of the quays"),
        ("Who is Tomas", "Noor's father"),
    ],
)
def test_what_it_is_comes_first(store: Store, question: str, first: str) -> None:
    best = found(store, question)[0]
    assert first in best.text
    assert best.why.graph > 0


def test_a_question_with_another_word_is_not_about_the_name_alone(store: Store) -> None:
    assert "tired" in found(store, "is Noor tired?")[0].text


def test_without_the_graph_nothing_decides(store: Store) -> None:
    off = store._replace(settings=with_changes(Settings(), {"recall.weight_graph": 0.0}))
    assert "Ada's niece" not in found(off, "who is Noor?")[0].text
