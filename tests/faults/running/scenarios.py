"""Commands to interrupt, each with the store that it starts from."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from faults.crashes.trace import Command
from faults.running.laying import ITEM, NOW, RECALL, Ground, worded
from forking import CLSM as PROGRAM

BAD = "faults.broken:"


@dataclass(frozen=True, slots=True)
class Scenario:
    """A command, and the store that it is run on.

    Attributes:
        state: Of the store, see ``laying``.
        words: The command's words; names in braces are replaced (``laying.worded``).
        beside: Whether what it does in the folder that the store lies in counts too.
        model: Whether the model is there; without it a run is short.
        forgets: Whether no file may hold the texts of these when it is done.
        answers: Whether it must answer on any disk; that it was asked may go unrecorded there.
        lines: What it may say of an error besides the sentence that tells it, in lines.
        again: Exit codes of the command when it is run once more after it was done.
        least: Calls at which it must be possible to stop it; fewer mean that the rig does not see
            what the command does.
    """

    name: str
    state: str
    words: tuple[str, ...]
    stdin: str = ""
    beside: bool = False
    model: bool = False
    program: str = PROGRAM
    takes_away: bool = False
    forgets: bool = False
    answers: bool = False
    lines: int = 0
    again: tuple[int, ...] = (0,)
    least: int = 10

    def command(self, ground: Ground, store: Path) -> Command:
        """The command on a copy of the store that lies at ``store``."""
        before = ground.before(self.state)
        words = worded((*self.words, self.stdin), store, ground.sources, before)
        return Command(words[:-1], ground.environments[self.model], words[-1].encode())


_HOOK = "".join(
    json.dumps({**row, "session": "hook", "timestamp": NOW}) + "\n"
    for row in (
        {"role": "user", "content": "Did the harbour master call?"},
        {"role": "assistant", "content": "Not yet. I will ask tomorrow."},
        {"type": "end"},
    )
)
"""A label: what is asked, and the turn that answers it."""
_STORE = ("--store", "{store}")
_AT = (*_STORE, "--now", NOW)
_LATER = (*_STORE, "--now", "2026-03-03T09:00:00+01:00")
_YEARS = (*_STORE, "--now", "2036-06-10T03:00:00+02:00")
SCENARIOS: Sequence[Scenario] = (
    Scenario("init", "nothing", ("init", "{store}", "--time-zone", "UTC")),
    Scenario("init --git", "nothing", ("init", "{store}", "--time-zone", "UTC", "--git")),
    Scenario("note", "begun", ("note", "The stove needs a new grate.", *_AT)),
    Scenario("capture", "begun", ("ingest", "-", "--capture", *_AT), stdin=_HOOK.replace("{", "{{").replace("}", "}}")),
    Scenario("words", "begun", ("ingest", "{sources}", *_AT)),
    Scenario("segment", "captured", ("ingest", "{sources}", *_AT), model=True),
    Scenario("whole", "described", ("ingest", "{sources}", *_AT), model=True),
    Scenario("other engine", "other engine", ("ingest", *_LATER), model=True),
    Scenario("consolidate", "slept", ("consolidate", *_AT), model=True),
    Scenario("half slept", "half slept", ("consolidate", *_AT), model=True),
    Scenario("decay", "used", ("decay", *_YEARS)),
    Scenario("forget", "slept", ("forget", "{turn}", "--yes", *_AT), model=True, takes_away=True,
             forgets=True),
    Scenario("half forgotten", "half forgotten", ("ingest", *_LATER), model=True),
    Scenario("undo ingest", "slept", ("undo", "{run}", *_AT), takes_away=True, again=(0, 17)),
    Scenario("undo consolidate", "used", ("undo", "{night}", *_LATER), again=(0, 17)),
    Scenario("correct", "used", ("correct", "{drink}", "Ilse drinks only tea.", *_LATER)),
    Scenario("edit", "used", ("edit", "{drink}", *_LATER), lines=1),
    Scenario("pin", "used", ("pin", "noor", "{drink}", *_LATER)),
    Scenario("unpin", "used", ("unpin", "juno", "{fact}", *_LATER)),
    Scenario("feedback", "used", ("feedback", RECALL, "--good", "{turn}", *_LATER), least=4),
    Scenario("review", "used", ("review", "--accept", ITEM.id, *_LATER)),
    Scenario("recall", "used", ("recall", "who takes coffee", *_LATER), model=True, answers=True),
    Scenario("context", "used", ("context", *_LATER), answers=True),
    Scenario("backup", "used", ("backup", "{place}/memory.tar.gz", *_LATER), beside=True,
             again=(0, 17)),
    Scenario("restore", "backed up", ("restore", "{place}/memory.tar.gz", "{store}"), beside=True,
             again=(0, 17)),
    Scenario("doctor", "damaged", ("doctor", "--fix", *_LATER)),
)  # fmt: skip
_INGEST = ("ingest", "{sources}", *_AT)
CONTROL = Scenario("careless writer", "captured", _INGEST, model=True, program=f"{BAD}careless")
"""A writer with the habits that the rig must catch, see ``broken``."""
DISK_CONTROLS: Sequence[Scenario] = (
    Scenario("careless pin", "used", ("pin", "noor", "{drink}", *_LATER), program=f"{BAD}careless"),
    Scenario("backwards", "captured", _INGEST, model=True, program=f"{BAD}backwards"),
    Scenario("unsynced note", "begun", SCENARIOS[2].words, program=f"{BAD}unsynced"),
)
"""The same for power cuts."""
