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

import contextlib
import shutil
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from pathlib import Path

from faults.rig import Outcome, Rig
from faults.running.laying import SAMPLE
from ingesting import new_store, scratch, take
from sleeping import current, sleep, told

from clsm_cli.errors import RefusedError
from clsm_cli.forgetting import run_reversal
from clsm_cli.forgetting.archiving import decay
from clsm_cli.store import ledger, logs, settle

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
            self.notes.mkdir()
            shutil.copy(SAMPLE / "workspace" / "MEMORY.md", self.path)
            take(self.store, self.notes)
            days = [(f"2026-02-2{n}T09:00:00+01:00", f"The cat {n} is grey.") for n in range(9)]
            told(self.store, folder, "main", *(("user", *each) for each in days))
            sleep(self.store)
        self.before = current(self.store)
        assert len(self.before) > _FACTS

    def night(self, now: str) -> str:
        """A consolidation; "refused", "warned" or "done"."""
        try:
            said = "\n".join(sleep(self.store, now).warnings)
        except RefusedError:
            return "refused"
        is_told = any(
            each in said for each in ("at once", "none of its files", "left their documents")
        )
        return "warned" if is_told else "done"

    def mended(self, found: list[str], when: str = "put back") -> list[str]:
        """After one more night: what was believed and is not any more."""
        self.night(AFTER)
        gone = {*self.before} - {*current(self.store)}
        lost = f"{when}: {len(gone)} of {len(self.before)} statements are gone"
        return [*found, *([lost] if gone else [])]


def _said(is_said: object) -> list[str]:
    return [] if is_said else ["nothing is said"]


def _away(house: House, folder: Path) -> list[str]:
    """A folder is away for a night, and put back."""
    hidden = house.store.root.parent / "hidden"
    folder.rename(hidden)
    folder.mkdir()
    answer = house.night(NEXT)
    shutil.rmtree(folder)
    hidden.rename(folder)
    return house.mended(_said(answer != "done"))


def _fullest(house: House) -> Path:
    """The folder of the stream with most topic files."""

    def size(folder: Path) -> int:
        return sum(path.stat().st_size for path in folder.glob("*.md"))

    return max((house.store.root / name for name in ("identity", "projects", "tasks")), key=size)


def _merged(house: House) -> list[str]:
    """A merge took the Markdown of a stream and left its records."""
    files = {path: path.read_bytes() for path in _fullest(house).glob("*.md")}
    for path in files:
        path.unlink()
    answer = house.night(NEXT)
    for path, data in files.items():
        path.write_bytes(data)
    return house.mended(_said(answer != "done"))


def _emptied(house: House) -> list[str]:
    """A document that is empty is read again: its blocks stay."""
    house.path.write_text("")
    report = take(house.store, house.path, now=NEXT)
    said = any("stay in memory" in p.reason for p in report.problems)
    return house.mended(_said(said), "after the night")


def _cut_short(house: House) -> list[str]:
    """A document that was cut short is read: it is said, the night keeps what it held, and all heals."""
    whole = house.path.read_text()
    house.path.write_text(whole[: len(whole) // 10])
    report = take(house.store, house.path, now=NEXT)
    found = _said(any("gone at once" in text for text in report.warnings))
    answer = house.night(NEXT)
    found += [f"the night was {answer}"] if answer != "warned" else []
    house.path.write_text(whole)
    take(house.store, house.path, now=AFTER)
    return house.mended(found)


def _vanished(house: House) -> list[str]:
    """The folder of sources is not mounted: empty, then gone."""
    house.path.unlink()
    take(house.store, house.notes, now=NEXT)
    house.notes.rmdir()
    report = take(house.store, house.notes, now=NEXT)
    return house.mended(_said(report.fatal), "after the night")


def _ahead(house: House) -> list[str]:
    """``decay`` by a clock of 2068."""
    wrong = datetime.fromisoformat("2068-01-01T12:00:00+01:00")
    found = _said(decay(house.store, wrong, explicit=False).warnings)
    if logs.read_archived(house.store.flow).since:
        found.append("memories are archived")
    return house.mended(found, "after the decay")


def _undone(house: House) -> list[str]:
    """The greatest run is taken back and brought again: no byte differs."""
    run = max(ledger.entries(house.store.flow), key=lambda run: len(run.paths))
    now = datetime.fromisoformat(NEXT)
    with contextlib.suppress(RefusedError):  # what it wrote was changed since: nothing was done
        run_reversal.undo(house.store, run.id, now, lambda _: None)
        run_reversal.undo(house.store, None, now, lambda _: None, redo=True)
    return house.mended([], "undone and redone")


_ACCIDENTS: dict[str, Callable[[House], list[str]]] = {
    "a topic folder is empty": lambda house: _away(house, _fullest(house)),
    "a merge took a stream's files": _merged,
    "all episodes are gone": lambda house: _away(house, house.store.flow / "episodes"),
    "a document is empty": _emptied,
    "a document is cut short": _cut_short,
    "the sources are gone": _vanished,
    "decay in 2068": _ahead,
    "undo and redo of the greatest run": _undone,
}


def _outcomes(names: Iterable[str] = tuple(_ACCIDENTS)) -> Iterator[Outcome]:
    with scratch() as folder:
        House(folder / "house")  # documents are known by their path: it must stay the same
        shutil.copytree(folder / "house", folder / "first")
        for name in names:
            shutil.rmtree(folder / "house")
            shutil.copytree(folder / "first", folder / "house")
            yield Outcome(name, "mass loss", 1, 1, _ACCIDENTS[name](House(folder / "house")))


def _control() -> Iterator[Outcome]:
    """Nothing is too much."""
    kept = settle.MAX_LOST_SHARE, settle.MAX_LOST, settle.FREE_LOSS
    settle.MAX_LOST_SHARE, settle.MAX_LOST, settle.FREE_LOSS = 1.0, 1_000_000, 1_000_000
    try:
        yield from _outcomes(("a merge took a stream's files", "a document is cut short"))
    finally:
        settle.MAX_LOST_SHARE, settle.MAX_LOST, settle.FREE_LOSS = kept


RIG = Rig("massloss", promises=(18,), short=_outcomes, long=_outcomes, control=_control)
