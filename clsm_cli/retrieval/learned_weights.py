"""What the weights of the signals learn from feedback; loaded by every recall, so it is small.

The credit of an item goes to the signal that led to it (Smriti, systems.md 4.7). A recall notes that
signal with the ids it returned; ``feedback_log`` keeps it with what a user said of them.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from clsm_cli.errors import ClsmError, DiskError
from clsm_cli.retrieval.answer import Signals
from clsm_cli.startup.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime
    from pathlib import Path
    from typing import Any

    from clsm_cli.retrieval.answer import Memory
    from clsm_cli.store.layout import Store

FILE = "feedback.jsonl"
READ = 32 << 10
"""Bytes of the end of each machine's log that a recall reads: about 170 lines. What is older has
mostly faded, as a judgement counts half after seven days."""
PRIORS = {"bm25": (1.2, 1.0), "maxsim": (2.0, 1.0), "context": (2.0, 1.0)}
"""Good and bad judgements that are assumed of a signal before the first (Smriti's for text and
cosine)."""
OTHER = (1.5, 1.0)
"""The same of every other signal (Smriti's for its third)."""


def leading_signal(memory: Memory) -> str:
    """The signal that led to an item: the largest positive one; "" where nothing spoke for it.

    Weights do not count, or what is heavy would earn all the credit and grow heavier; of equal ones
    the one with the larger share leads.
    """
    named = zip(memory.why._fields, memory.why, memory.shares, strict=True)
    found = [(value, share, name) for name, value, share in named if share > 0]
    return max(found, key=lambda each: each[:2], default=(0.0, 0.0, ""))[2]


def learn_multipliers(
    store: Store, now: datetime, seed: str | int | None = None
) -> dict[str, float] | None:
    """The factor for the weight of each signal; None while too few items were judged.

    With a seed it is drawn from what is believed instead of being its mean (Thompson sampling).
    """
    paths = [path for flow in store.flows() if (path := flow / FILE).exists()]
    if not paths:
        return None
    from clsm_cli.scoring import thompson_sampling

    told = [
        (said.led, said.is_good, (now - said.at).total_seconds() / 86400)
        for said in latest_judgements(paths).values()
    ]
    priors = {name: thompson_sampling.Beta(*PRIORS.get(name, OTHER)) for name in Signals._fields}
    found = thompson_sampling.multipliers(priors, told, seed)
    return found if any(value != 1.0 for value in found.values()) else None


class Judgement(NamedTuple):
    """What was said of an item, and the signal that led to it."""

    at: datetime
    is_good: bool
    led: str


def latest_judgements(paths: Iterable[Path]) -> dict[tuple[str, str], Judgement]:
    """The last judgement of each item of each recall, on whatever machine it was given."""
    from datetime import UTC, datetime

    from clsm_cli.store import logs

    found: dict[tuple[str, str], Judgement] = {}
    for path in paths:
        for row in log_rows(path, at_most=READ):
            try:
                line = logs.parse(logs.Feedback, row)
                at = datetime.fromisoformat(line.at)
            except (KeyError, TypeError, ValueError):
                continue
            at = at if at.tzinfo else at.replace(tzinfo=UTC)
            sides = ((True, line.good, line.good_led), (False, line.bad, line.bad_led))
            for is_good, ids, led in sides:
                for place, item in enumerate(ids):
                    said = Judgement(at, is_good, led[place] if place < len(led) else "")
                    key = (str(line.recall), str(item))
                    if key not in found or found[key].at <= at:
                        found[key] = said
    return found


def log_rows(path: Path, *, holding: str = "", at_most: int = 0) -> list[dict[str, Any]]:
    """The mappings of a log, or of its last bytes; unreadable lines are left out.

    Args:
        holding: Only lines with these characters; they are asked for, so that a disk which fails is
            told, and not taken for a log without them.
        at_most: Bytes of its end that are looked at; 0 for all.
    """
    from clsm_cli.store import atomic, logs
    from clsm_cli.store.jsonlines import LineError, load

    try:
        data = atomic.read(path, logs.MAX_LOG) or b""
    except ClsmError as error:
        if holding and isinstance(error, DiskError):
            raise
        return []
    found: list[dict[str, Any]] = []
    for line in data[-at_most:].decode("utf-8", "replace").split("\n"):
        if line.startswith("{") and holding in line:
            with suppress(LineError):
                value = load(line)
                found += [value] if isinstance(value, dict) else []
    return found
