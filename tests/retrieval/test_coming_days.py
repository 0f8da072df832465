"""A question for nothing but days to come is answered by what names them."""

from pathlib import Path

import pytest
from sample_store import ask
from sleeping import sleep
from small_store import note

from clsm_cli.store.layout import Store


@pytest.mark.parametrize(
    ("question", "found"),
    [
        ("what do I have on Friday?", "- The roofer looks at the damp on Friday 27 February."),
        ("what's on next week", "- Dentist on 4 March, 8:50."),
        ("what is due next week?", "- Dentist on 4 March, 8:50."),
        ("what happens tomorrow?", None),
    ],
)
def test_what_is_due(store: Store, tmp_path: Path, question: str, found: str | None) -> None:
    lines = (
        "The roofer looks at the damp on Friday 27 February.",
        "Dentist on 4 March, 8:50.",
        "Ada painted the boat on Friday.",
    )
    note(store, tmp_path / "2026-02-24.md", "# Home\n\n" + "".join(f"- {each}\n" for each in lines))
    memories = ask(store, question).memories
    assert (memories[0].text if memories else None) == found


def test_a_box_of_a_living_list_is_due_on_the_day_that_it_names(
    store: Store, tmp_path: Path
) -> None:
    lines = "# Todo\n\n- [ ] order gloves for the whole team\n"
    for day in (20, 24):
        note(store, tmp_path / "todo.md", lines, now=f"2026-02-{day}T20:00:00+01:00")
        sleep(store, f"2026-02-{day}T23:00:00+01:00")
        lines += "- [ ] send the receipts of the stolen tools to Ada before 4 March\n"
    (first, *_) = ask(store, "what is due next week?").memories
    assert "receipts" in first.text
