"""P11: the clock may be wrong; nothing vanishes, nothing fades, and what lies ahead is said.

A store of ten weeks is used on a wrong day: 1970 (a machine without a battery), 2021, 2068, hours
before and after the clocks change in Europe/Amsterdam, another time zone. libfaketime gives the
process that forks the commands that clock, so every command sees it by itself, none is told
``--now``: note, hook, ingest of a changed document, consolidate, decay, recall that is logged, pin,
correct, feedback, context, status. Then the clock is right again, and night and decay run once more.

Wrong is a command that ends otherwise than by day; a memory that was there and is not current any
more, or is archived, at the wrong time or after; a memory of the wrong time that is archived when the
clock is right; a time in a record that is not in UTC with a ``Z``; a day ahead of today of which
``decay`` says nothing. What stays of a wrong clock is bounded: the times that it wrote down
itself, one day of use for what was recalled, and that what it wrote down counts as old as what came
before (``forgetting.fading``).

Not shown: a clock that is wrong before the store has any right day; ``decay`` then asks. Leap seconds
are text to clsm: 23:59:60 is no time that it can read, and it says so.
"""

import json
import re
from datetime import date
from pathlib import Path
from typing import NamedTuple

from aging import later, say, state
from faults.rig import Outcome, Rig
from faults.running.laying import environment, turns_of
from faults.running.warm import Warm
from forking import CLSM, Ended
from ingesting import new_store, opened, scratch

from clsm_cli.store import atomic, logs, runs
from clsm_cli.store.layout import Store

LIBRARY = next(Path("/usr/lib").glob("*/faketime/libfaketime.so.1"), Path("/missing"))
RIGHT = "2026-03-12 12:00:00"
NO_CHECK = "faults.broken:believing"
"""What the control runs instead of clsm."""
_TIMES = re.compile(r'"?(?:recorded_at|superseded_at|at)"?: "([^"]+)"')
_UTC = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ\Z")


class Wrong(NamedTuple):
    """A clock.

    Attributes:
        at: What it says when the commands begin, in ``zone``.
        is_far: Whether ``decay`` must not believe it.
    """

    at: str
    is_far: bool
    zone: str = "Europe/Amsterdam"


CLOCKS = {
    "1970, no battery": Wrong("1970-01-01 00:00:30", is_far=True),
    "2068": Wrong("2068-01-01 00:00:00", is_far=True),
    "2021": Wrong("2021-06-15 12:00:00", is_far=True),
    "days back": Wrong("2026-03-01 12:00:00", is_far=True),
    "the hour that summer time skips": Wrong("2026-03-29 01:59:58", is_far=False),
    "the hour that comes twice": Wrong("2026-10-25 02:59:58", is_far=True),
    "another zone": Wrong("2026-03-12 23:30:00", is_far=False, zone="Pacific/Kiritimati"),
}


def _clock(folder: Path, wrong: Wrong) -> dict[str, str]:
    """An environment in which it is another time; times of files stay as they are."""
    return environment(folder, model=False) | {
        "LD_PRELOAD": str(LIBRARY),
        "FAKETIME": f"@{wrong.at}",
        "NO_FAKE_STAT": "1",
        "TZ": wrong.zone,
    }


class Life:
    """A store, used on a wrong day and then on the right one.

    Attributes:
        planned: Commands that were run on the wrong day.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.store = _made(folder / "memory")
        self.planned = 0
        self.found: list[str] = []
        self.texts = {turn.text for turn in turns_of(self.store)}

    def day(self, warm: Warm) -> None:
        """Every command once; its answer has to be that of any other day."""
        (self.folder / "MEMORY.md").write_text("# Boat\n\nThe boat needs tar.\n\nTea is at four.\n")
        row = {"role": "user", "content": "Did she call?", "session": "main"}
        leap = {"timestamp": "2026-06-30T23:59:60Z"}
        lines = [{**row, **leap, "content": "A leap second."}, row]
        told = b"".join(json.dumps(line).encode() + b"\n" for line in lines)
        self.do(warm, "note", "The spare key hangs in the shed.")
        self.do(warm, "ingest", "-", "--capture", stdin=told)
        self.do(warm, "ingest", str(self.folder / "MEMORY.md"))
        recall = json.loads(self.do(warm, "recall", "heron", "--json", "--touch").out)
        best = recall["memories"][0]["id"]
        self.do(warm, "feedback", recall["recall_id"], "--good", best)
        self.do(warm, "consolidate")
        decayed = self.do(warm, "decay", "--json")
        self.do(warm, "pin", self._id("tar"))
        self.do(warm, "unpin", self._id("tar"))
        self.do(warm, "correct", self._id("gate"), "The gate number is 4712.")
        for words in (("context",), ("status",), ("decay", "--dry-run"), ("recall", "key")):
            self.do(warm, *words)
        self._faded(json.loads(decayed.out))

    def do(self, warm: Warm, *words: str, stdin: bytes = b"") -> Ended:
        ended = warm(*words, "--store", str(self.store.root), stdin=stdin, seconds=300.0)
        self.planned += 1
        if ended.code != 0 or ended.has_traceback:
            self.found.append(f"{words[0]} ended with {ended.code}: {ended.err[-200:]!r}")
        return ended

    def _id(self, word: str) -> str:
        lines = (self.store.root / "projects/facts.md").read_text().splitlines()
        return next(line for line in lines if word in line).rsplit("^", 1)[-1]

    def _faded(self, decayed: dict[str, object]) -> None:
        """Nothing may be archived or moved."""
        self.found += [f"decay: {name}" for name in ("archive", "compact") if decayed[name]]
        if gone := logs.read_archived(self.store.flow).since:
            self.found.append(f"{len(gone)} memories are archived")

    def judge(self, decayed: dict[str, object], wrong: Wrong) -> None:
        """After the clock is right again."""
        self._faded(decayed)
        new = {"The spare key hangs in the shed.", "Did she call?", "A leap second."}
        lost = (self.texts | new) - {turn.text for turn in turns_of(self.store)}
        self.found += [f"{text!r} is lost" for text in sorted(lost)]
        lines = (self.store.root / "projects/facts.md").read_text()
        self.found += [f"no statement of {w}" for w in ("tar", "4712", "nine") if w not in lines]
        for path in sorted(self.store.root.rglob("*")):
            if path.suffix in (".yaml", ".jsonl") and ".clsm" not in path.parts:
                times = _TIMES.findall(path.read_text(errors="replace"))
                local = (at for at in times if not _UTC.match(at))
                self.found += [f"{path.name}: {at!r} is not UTC" for at in local]
        if wrong.at > RIGHT and wrong.is_far and "lie ahead" not in str(decayed["warnings"]):
            self.found.append("nobody says that there are entries ahead of today")


def _made(root: Path) -> Store:
    """A store of ten weeks, with a first night, and a ledger that tells of it."""
    store = new_store(root)
    for number in range(12):
        say(store, f"The heron came on day {number}.", day=later(6 * number), session=f"s-{number}")
    for text in ("The boat needs tar.", "The gate number is 4711.", "The ferry leaves at nine."):
        state(store, text, later(64), stream="projects")
    for number in range(0, 70, 10):
        put = runs.Put(store.root / "tasks" / "list.md", f"- [ ] Day {number}.\n".encode())
        runs.apply(store, "ingest", f"{later(number)}T12:00:00Z", [put])
    path, data = store.flow / "archived.jsonl", logs.render_archived(date(2026, 3, 1), {})
    atomic.put(path, data)
    return opened(root)


def _tried(what: str, program: str = CLSM) -> Outcome:
    wrong, right = CLOCKS[what], Wrong(RIGHT, is_far=False)
    outcome = Outcome(what, f"clock at {wrong.at}")
    with scratch() as folder:
        life = Life(folder)
        with Warm(_clock(folder, wrong), program=program) as warm:
            life.day(warm)
        with Warm(_clock(folder, right), program=program) as warm:
            for name in ("ingest", "consolidate"):
                life.do(warm, name)
            life.judge(json.loads(life.do(warm, "decay", "--json").out), wrong)
        outcome.planned = outcome.fired = life.planned
        outcome.violations = life.found
    return outcome


RIG = Rig(
    "clocks",
    promises=(11,),
    short=lambda: [_tried("1970, no battery")],
    long=lambda: map(_tried, CLOCKS),
    control=lambda: [_tried("2068", NO_CHECK)],
    needs=("faketime",),
)
