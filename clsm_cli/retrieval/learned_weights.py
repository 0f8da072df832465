"""Users' judgements of recalled items, and the signal weights learnt from them.

The credit for an item goes to the signal that led to it (Smriti, systems.md 4.7). A recall logs
this signal with the returned ids; a line of ``feedback.jsonl`` repeats it, since activations are
folded later.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from clsm_cli.errors import BadInputError, ClsmError, DiskError
from clsm_cli.model.ids import resolve_id
from clsm_cli.retrieval.answer import Signals
from clsm_cli.startup.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime
    from pathlib import Path
    from typing import Any

    from clsm_cli.config import RecallSettings
    from clsm_cli.retrieval.answer import Memory
    from clsm_cli.store.layout import Store
    from clsm_cli.store.logs import Activation

FILE = "feedback.jsonl"
READ_BYTES = 32 << 10
"""Bytes that a recall reads from the end of each machine's log: about 170 lines. Older judgements
have mostly decayed, as a judgement counts half after seven days.
"""
PRIORS = {"bm25": (1.2, 1.0), "maxsim": (2.0, 1.0), "context": (2.0, 1.0)}
"""Prior good and bad judgements of a signal (Smriti's for text and cosine)."""
DEFAULT_PRIOR = (1.5, 1.0)
"""The same for every other signal (Smriti's for its third)."""


def leading_signal(memory: Memory) -> str:
    """The signal that led to an item: the largest of those with a positive share; "" if there is none.

    Signals are compared unweighted, or heavy ones would get all the credit and grow heavier; ties
    go to the larger share.
    """
    named = zip(memory.why._fields, memory.why, memory.shares, strict=True)
    signals = [(value, share, name) for name, value, share in named if share > 0]
    return max(signals, key=lambda signal: signal[:2], default=(0.0, 0.0, ""))[2]


def learned_settings(store: Store, now: str, seed: str | None) -> RecallSettings:
    """The settings of recall, with the weights learnt so far; with a seed, drawn from what was learnt."""
    from datetime import datetime

    settings = store.settings.recall
    learnt = learn_multipliers(store, datetime.fromisoformat(now), seed) or {}
    weights = {f"weight_{n}": getattr(settings, f"weight_{n}") * f for n, f in learnt.items()}
    return settings._replace(**weights)


def learn_multipliers(
    store: Store, now: datetime, seed: str | int | None = None
) -> dict[str, float] | None:
    """The factor for the weight of each signal; None if nothing has been learnt yet.

    With a seed, it is drawn from the posterior instead of being its mean (Thompson sampling).
    """
    paths = [path for flow in store.flows() if (path := flow / FILE).exists()]
    if not paths:
        return None
    from clsm_cli.scoring import thompson_sampling

    judgements = [
        (judgement.led, judgement.is_good, (now - judgement.at).total_seconds() / 86400)
        for judgement in latest_judgements(paths).values()
    ]
    priors = {
        name: thompson_sampling.Beta(*PRIORS.get(name, DEFAULT_PRIOR)) for name in Signals._fields
    }
    multipliers = thompson_sampling.multipliers(priors, judgements, seed)
    return multipliers if any(value != 1.0 for value in multipliers.values()) else None


class Judgement(NamedTuple):
    """A judgement of an item, and the signal that led to the item."""

    at: datetime
    is_good: bool
    led: str


def latest_judgements(paths: Iterable[Path]) -> dict[tuple[str, str], Judgement]:
    """The latest judgement of each item of each recall, over all machines."""
    from datetime import UTC, datetime

    from clsm_cli.store import logs

    latest: dict[tuple[str, str], Judgement] = {}
    for path in paths:
        for row in log_rows(path, at_most=READ_BYTES):
            try:
                line = logs.parse(logs.Feedback, row)
                at = datetime.fromisoformat(line.at)
            except (KeyError, TypeError, ValueError):
                continue
            at = at if at.tzinfo else at.replace(tzinfo=UTC)
            sides = ((True, line.good, line.good_led), (False, line.bad, line.bad_led))
            for is_good, ids, led in sides:
                for place, item in enumerate(ids):
                    judgement = Judgement(at, is_good, led[place] if place < len(led) else "")
                    key = (str(line.recall), str(item))
                    if key not in latest or latest[key].at <= at:
                        latest[key] = judgement
    return latest


def log_rows(path: Path, *, holding: str = "", at_most: int = 0) -> list[dict[str, Any]]:
    """The mappings of a log, or of its last bytes; unreadable lines are skipped.

    Args:
        holding: Only lines that contain this text. The caller needs them, so a disk error is
            raised; without it, an unreadable log counts as empty.
        at_most: Bytes to read from the end; 0 for all.

    Raises:
        DiskError: The log cannot be read, with ``holding``.
    """
    from clsm_cli.store import atomic, logs
    from clsm_cli.store.jsonlines import LineError, load

    try:
        data = atomic.read(path, logs.MAX_LOG) or b""
    except ClsmError as error:
        if holding and isinstance(error, DiskError):
            raise
        return []
    rows: list[dict[str, Any]] = []
    for line in data[-at_most:].decode("utf-8", "replace").split("\n"):
        if line.startswith("{") and holding in line:
            with suppress(LineError):
                value = load(line)
                rows += [value] if isinstance(value, dict) else []
    return rows


class JudgedItem(NamedTuple):
    """An item of a recall, and the signal that led to it ("" if unknown)."""

    id: str
    led: str


class FeedbackResult(NamedTuple):
    """What was recorded, and the resulting factors of the signal weights (None: nothing learnt)."""

    recall: str
    good: tuple[JudgedItem, ...]
    bad: tuple[JudgedItem, ...]
    is_new: bool
    run: str | None
    weights: dict[str, float] | None


def record_feedback(
    store: Store,
    recall: str,
    good: Sequence[str],
    bad: Sequence[str],
    now: datetime,
    *,
    dry_run: bool = False,
) -> FeedbackResult:
    """Record good and bad items of a recall; a repeated judgement counts once.

    Raises:
        BadInputError: The recall is unknown, did not return an id, or an id is given as good and
            bad.
    """
    from clsm_cli.model.clocks import utc_text
    from clsm_cli.store import logs, runs
    from clsm_cli.store.lock import locked

    with locked(store.root, store.settings.store.lock_wait):
        activation = _find_recall(store, recall)
        liked, disliked = _judged(good, activation), _judged(bad, activation)
        for item in sorted({*liked} & {*disliked}):
            raise BadInputError(item.id, "is named as good and as bad", "give it once")
        before = latest_judgements(flow / FILE for flow in store.flows())
        judged = {item.id: True for item in liked} | {item.id: False for item in disliked}
        old = {
            item: judgement.is_good
            for (recall_id, item), judgement in before.items()
            if recall_id == activation.recall
        }
        is_new = not judged.items() <= old.items()
        run = None
        if is_new and not dry_run:
            line = logs.Feedback(
                recall=activation.recall,
                at=utc_text(now),
                good=tuple(item.id for item in liked),
                bad=tuple(item.id for item in disliked),
                good_led=tuple(item.led for item in liked),
                bad_led=tuple(item.led for item in disliked),
            )
            append = runs.Append(store.flow / FILE, logs.render(line))
            run = runs.apply(store, "feedback", line.at, [append])
    weights = learn_multipliers(store, now)
    return FeedbackResult(
        activation.recall, liked, disliked, is_new, run.id if run else None, weights
    )


def _find_recall(store: Store, wanted: str) -> Activation:
    """Find the log line of a recall, by its id or a prefix."""
    from clsm_cli.store import logs

    activations: dict[str, Activation] = {}
    paths = [flow / name for flow in store.flows() for name in logs.ACTIVATIONS]
    for row in (row for path in paths for row in log_rows(path, holding=wanted)):
        try:
            line = logs.parse(logs.Activation, row)
        except (KeyError, TypeError):
            continue
        name = str(line.recall)
        if name.startswith(wanted):
            activations[name] = line._replace(recall=name, ids=tuple(map(str, line.ids)))
    chosen = resolve_id(wanted, activations)
    if chosen is None:
        next_step = (
            "use the recall_id that clsm recall --json gives; --no-touch keeps none, and recalls"
            " older than about 30 days cannot be judged any more"
        )
        raise BadInputError(wanted, "no recall with that id is known", next_step)
    return activations[chosen]


def _judged(wanted: Iterable[str], activation: Activation) -> tuple[JudgedItem, ...]:
    """The wanted items of a recall with their signals, in the order of the recall."""
    chosen = set()
    for wanted_id in wanted:
        item = resolve_id(wanted_id, activation.ids)
        if item is None:
            reason = f"was not returned by {activation.recall}"
            raise BadInputError(wanted_id, reason, f"give one of: {', '.join(activation.ids)}")
        chosen.add(item)
    led = (*activation.led, *[""] * len(activation.ids))
    return tuple(
        JudgedItem(item, signal)
        for item, signal in zip(activation.ids, led, strict=False)
        if item in chosen
    )
