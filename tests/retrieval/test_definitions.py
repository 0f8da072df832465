"""What a question about one thing alone finds first: what that thing is."""

from pathlib import Path

import pytest
from ingesting import new_store
from sleeping import nodes, sleep
from small_store import found, note
from tables import table

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


def made(root: Path, days: range) -> Store:
    """A list of people, a section of a project, and days that mention both."""
    store = new_store(root / "memory")
    (root / "notes" / "memory").mkdir(parents=True)
    note(store, root / "notes/MEMORY.md", PEOPLE)
    for day in days:
        path = root / f"notes/memory/2026-02-{day}.md"
        note(store, path, DAYS.format(day=f"2026-02-{day}"))
    sleep(store)
    return store


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    return made(tmp_path_factory.mktemp("definitions"), range(10, 16))


@pytest.mark.parametrize(("question", "first"), table(__file__, "what it is"))
def test_what_it_is_comes_first(store: Store, question: str, first: str) -> None:
    assert first in found(store, question)[0].text.partition("\n")[0]


def test_a_section_that_changes_describes_its_node_anew(tmp_path: Path) -> None:
    def summary() -> str:
        return next(node.summary for node in nodes(lived).values() if node.label == "Wayfinder")

    lived = made(tmp_path, range(10, 12))
    assert summary().startswith("Wayfinder: A map of the quays")
    note(lived, tmp_path / "notes/MEMORY.md", PEOPLE.replace("A map", "The map"))
    sleep(lived)
    changed = summary()
    assert changed.startswith("Wayfinder: The map of the quays")
    sleep(lived, rebuild=True)
    assert summary() == changed


def test_a_question_with_another_word_is_not_about_the_name_alone(store: Store) -> None:
    assert "tired" in found(store, "is Noor tired?")[0].text
