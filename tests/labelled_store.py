"""A store of plain facts, and labels of it, for tests of a person's own labelled set."""

from __future__ import annotations

from pathlib import Path

from ingesting import made_once, new_store
from sleeping import sleep, told

from clsm_cli.store import labels
from clsm_cli.store.layout import Store

NOW = "2026-03-02T09:00:00+01:00"
FACTS = (
    ("Who mends the crane?", "The crane of the Harbour Project is mended by Brian."),
    ("Where is the archive kept?", "The archive of the Harbour Project is kept in Leeds."),
    ("What colour is the boathouse?", "The boathouse was painted green in spring."),
    ("Who waters the orchids?", "Sami waters the orchids on Mondays."),
    ("What did the new anchor cost?", "The new anchor cost ninety pounds."),
    ("Which ferry goes to Texel?", "The Marsdiep ferry goes to Texel every half hour."),
    ("Where is the spare key of the shed?", "The spare key of the shed hangs behind the clock."),
    ("What does the dog eat?", "The dog eats herring and boiled rice."),
    ("Who wrote the tide tables?", "The tide tables were written by Mrs Dekker."),
    ("When is the lighthouse open?", "The lighthouse is open on Sundays from ten."),
    ("What is wrong with the barometer?", "The barometer sticks whenever it freezes."),
    ("Where did the old compass go?", "The old compass went to the museum in Delft."),
    ("Who bought the telescope?", "The telescope was bought by Yusuf in Haarlem."),
    ("What is the kayak made of?", "The kayak is made of cedar and glass."),
    ("What did the vet say about the goat?", "The vet said that the goat needs more salt."),
    ("Who lost the bet about the eel?", "Tomas lost the bet about the eel."),
)
"""Questions, and what answers each; one turn a fact."""


@made_once
def make(folder: Path) -> Store:
    store = new_store(folder / "memory")
    days = [f"2026-02-{1 + n // 4:02}T09:{n:02}:00+01:00" for n in range(len(FACTS))]
    said = [("Mara", day, text) for day, (_, text) in zip(days, FACTS, strict=True)]
    told(store, folder, "facts", *said)
    friday = "Ok. And where did the Marsdiep ferry go on Friday?"
    yard = "It went to the yard. We decided to hire the Texel."
    asked = (
        ("Mara", "2026-02-20T09:00:00+01:00", friday),
        ("Brian", "2026-02-20T09:01:00+01:00", yard),
        ("Mara", "2026-02-21T09:00:00+01:00", "Can you book it for me?"),
    )
    told(store, folder, "asked", *asked)
    sleep(store)
    return store


def write(store: Store, content: str) -> Path:
    path = labels.path_of(store.root)
    path.parent.mkdir(exist_ok=True)
    path.write_text(content, encoding="utf-8")
    return path
