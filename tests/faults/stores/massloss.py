"""P18: a mass loss needs consent.

A store that holds the sample MEMORY.md and a conversation meets, after its first night, what empties
it by accident: a topic folder that is not mounted, all episodes gone, a merge that took the files of
a stream, MEMORY.md emptied or cut short and read again, a source folder that vanished or is empty, a
clock in 2068 before ``decay``. The next ingest, consolidate or decay must refuse (17) or warn and
leave as it is; nothing that was believed before may be closed, withdrawn or archived. Put
back, all is as before; with ``--yes``, where it exists, it goes. An undo takes back what it is told
to, however much, and its redo brings every byte again.

Deleted by hand one by one, statements go without a question up to a fifth, and never more than a
hundred at once: that a person meant it cannot be told from files.
"""

from __future__ import annotations

import shutil
import time
from datetime import datetime
from typing import TYPE_CHECKING

from faults.rig import Outcome, Rig
from faults.running.laying import SAMPLE
from ingesting import new_store, scratch, take
from sleeping import current, sleep, told

from clsm_cli.consolidation import write_plan
from clsm_cli.errors import RefusedError
from clsm_cli.forgetting import run_reversal
from clsm_cli.forgetting.archiving import decay
from clsm_cli.store import ledger, logs, settle

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from clsm_cli.store.layout import Store

    Accident = Callable[["House"], list[str]]

NEXT = "2026-03-02T12:00:00+01:00"
AFTER = "2026-03-03T12:00:00+01:00"
_FACTS = 30
"""Facts of the small memory; more than may always go."""


class House:
    """A memory after its first night: a document that is read again, and what was said."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(exist_ok=True)
        self.store = new_store(folder / "memory")
        self.notes = folder / "notes"
        self.path = self.notes / "MEMORY.md"
        if not self.notes.exists():
            self._lay(folder)
        self.before = current(self.store)
        assert len(self.before) > _FACTS

    def _lay(self, folder: Path) -> None:
        self.notes.mkdir()
        shutil.copy(SAMPLE / "workspace" / "MEMORY.md", self.path)
        take(self.store, self.notes)
        said = [("user", f"2026-02-2{n}T09:00:00+01:00", f"The cat {n} is grey.") for n in range(9)]
        told(self.store, folder, "main", *said)
        sleep(self.store)

    def night(self, now: str, **options: bool) -> str:
        """A consolidation; "refused", "warned" or "done"."""
        try:
            report = sleep(self.store, now, **options)
        except RefusedError:
            return "refused"
        told = "\n".join(report.warnings)
        return "warned" if "at once" in told or "none of its files" in told else "done"

    def lost(self, when: str) -> list[str]:
        """What was believed and is not any more."""
        gone = sorted({*self.before} - {*current(self.store)})
        return [f"{when}: {len(gone)} of {len(self.before)} statements are gone"] if gone else []


def _stopped(house: House, away: Path) -> list[str]:
    """A folder is away for a night, and put back."""
    hidden = house.store.root.parent / "hidden"
    away.rename(hidden)
    away.mkdir()
    answer = house.night(NEXT)
    found = [f"a night with an empty {away.name} was {answer}"] if answer == "done" else []
    shutil.rmtree(away)
    hidden.rename(away)
    house.night(AFTER)
    return found + house.lost("put back")


def _topics(house: House) -> list[str]:
    """The topic files of a stream that has most."""
    return _stopped(house, _fullest(house.store))


def _fullest(store: Store) -> Path:
    def size(name: str) -> int:
        return sum(path.stat().st_size for path in (store.root / name).glob("*.md"))

    return store.root / max(("identity", "projects", "tasks"), key=size)


def _merged(house: House) -> list[str]:
    """A merge took the Markdown of a stream and left its records."""
    folder = _fullest(house.store)
    files = {path: path.read_bytes() for path in folder.glob("*.md")}
    for path in files:
        path.unlink()
    answer = house.night(NEXT)
    found = [f"a night after the merge was {answer}"] if answer == "done" else []
    for path, data in files.items():
        path.write_bytes(data)
    house.night(AFTER)
    return found + house.lost("put back")


def _episodes(house: House) -> list[str]:
    """All that was said and written."""
    return _stopped(house, house.store.flow / "episodes")


def _emptied(house: House) -> list[str]:
    """A document that is empty is read again: its blocks stay."""
    house.path.write_text("")
    report = take(house.store, house.path, now=NEXT)
    found = (
        [] if any("stay in memory" in p.reason for p in report.problems) else ["nothing is said"]
    )
    house.night(NEXT)
    return found + house.lost("after the night")


def _cut_short(house: House) -> list[str]:
    """A document that was cut short is read: it is said, the night refuses, and all heals."""
    whole = house.path.read_text()
    house.path.write_text(whole[: len(whole) // 10])
    report = take(house.store, house.path, now=NEXT)
    found = [] if any("gone at once" in text for text in report.warnings) else ["nothing is said"]
    answer = house.night(NEXT)
    found += [f"the night was {answer}"] if answer != "refused" else []
    found += house.lost("after the night")
    house.path.write_text(whole)
    take(house.store, house.path, now=AFTER)
    house.night(AFTER)
    return found + house.lost("mended")


def _vanished(house: House) -> list[str]:
    """The folder of sources is not mounted: empty, then gone."""
    house.path.unlink()
    take(house.store, house.notes, now=NEXT)
    house.notes.rmdir()
    report = take(house.store, house.notes, now=NEXT)
    found = [] if report.fatal else ["nobody says that the folder is gone"]
    house.night(NEXT)
    return found + house.lost("after the night")


def _ahead(house: House) -> list[str]:
    """``decay`` by a clock of 2068."""
    wrong = datetime.fromisoformat("2068-01-01T12:00:00+01:00")
    report = decay(house.store, wrong, explicit=False)
    found = [] if report.warnings else ["nothing is said"]
    if logs.read_archived(house.store.flow).since:
        found.append("memories are archived")
    return found + house.lost("after the decay")


def _undone(house: House) -> list[str]:
    """The greatest run is taken back and brought again: no byte differs."""
    runs = ledger.entries(house.store.flow)
    run = max(runs, key=lambda run: len(run.paths))
    now = datetime.fromisoformat(NEXT)
    try:
        run_reversal.undo(house.store, run.id, now, lambda _: None)
        run_reversal.undo(house.store, None, now, lambda _: None, redo=True)
    except RefusedError:
        pass  # what it wrote was changed since: nothing was done
    return house.lost("undone and redone")


_ACCIDENTS: dict[str, Accident] = {
    "a topic folder is empty": _topics,
    "a merge took a stream's files": _merged,
    "all episodes are gone": _episodes,
    "a document is empty": _emptied,
    "a document is cut short": _cut_short,
    "the sources are gone": _vanished,
    "decay in 2068": _ahead,
    "undo and redo of the greatest run": _undone,
}


def _outcomes(names: Iterable[str]) -> Iterator[Outcome]:
    with scratch() as folder:
        House(folder / "house")  # documents are known by their path: it must stay the same
        shutil.copytree(folder / "house", folder / "first")
        for name in names:
            began = time.monotonic()
            shutil.rmtree(folder / "house")
            shutil.copytree(folder / "first", folder / "house")
            found = _ACCIDENTS[name](House(folder / "house"))
            yield Outcome(name, "mass loss", 1, 1, found, seconds=time.monotonic() - began)


def _all() -> Iterator[Outcome]:
    yield from _outcomes(_ACCIDENTS)


def _control() -> Iterator[Outcome]:
    """Nothing is too much."""
    kept = settle.MASS_LOSS, settle.MOST, write_plan.FEW
    settle.MASS_LOSS, settle.MOST, write_plan.FEW = 1.0, 1_000_000, 1_000_000
    try:
        yield from _outcomes(("a merge took a stream's files", "a document is cut short"))
    finally:
        settle.MASS_LOSS, settle.MOST, write_plan.FEW = kept


RIG = Rig("massloss", promises=(18,), short=_all, long=_all, control=_control)
