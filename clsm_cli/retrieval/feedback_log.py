"""Users' judgements of recalled items: one line per feedback, in ``feedback.jsonl``.

A line carries the signal that led to each item, since the activations that tell it are folded later.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from clsm_cli.errors import BadInputError
from clsm_cli.model.ids import resolve_id
from clsm_cli.retrieval.learned_weights import FILE, latest_judgements, learn_multipliers, log_rows
from clsm_cli.startup.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime

    from clsm_cli.store.layout import Store
    from clsm_cli.store.logs import Activation


class JudgedItem(NamedTuple):
    """An item of a recall, and the signal that led to it ("" where it is not known)."""

    id: str
    led: str


class FeedbackResult(NamedTuple):
    """What was recorded, and what the weight of each signal is now multiplied by (None: nothing learnt)."""

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
    """Record the good and bad items of a recall; twice the same counts once.

    Raises:
        BadInputError: No such recall is known, or it did not return an id.
    """
    from datetime import UTC

    from clsm_cli.store import logs, runs
    from clsm_cli.store.lock import locked

    with locked(store.root, store.settings.store.lock_wait):
        known = _recalled(store, recall)
        liked, disliked = _judged(good, known), _judged(bad, known)
        for each in sorted({*liked} & {*disliked}):
            raise BadInputError(each.id, "is named as good and as bad", "give it once")
        before = latest_judgements(flow / FILE for flow in store.flows())
        said = {each.id: True for each in liked} | {each.id: False for each in disliked}
        old = {item: told.is_good for (of, item), told in before.items() if of == known.recall}
        is_new = not said.items() <= old.items()
        run = None
        if is_new and not dry_run:
            line = logs.Feedback(
                known.recall,
                now.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
                tuple(each.id for each in liked),
                tuple(each.id for each in disliked),
                tuple(each.led for each in liked),
                tuple(each.led for each in disliked),
            )
            append = runs.Append(store.flow / FILE, logs.render(line))
            run = runs.apply(store, "feedback", line.at, [append])
    weights = learn_multipliers(store, now)
    return FeedbackResult(known.recall, liked, disliked, is_new, run.id if run else None, weights)


def _recalled(store: Store, wanted: str) -> Activation:
    """What a recall returned, by its id or how that begins."""
    from clsm_cli.store import logs

    found: dict[str, Activation] = {}
    paths = [flow / name for flow in store.flows() for name in logs.ACTIVATIONS]
    for row in (row for path in paths for row in log_rows(path, holding=wanted)):
        try:
            line = logs.parse(logs.Activation, row)
        except (KeyError, TypeError):
            continue
        name = str(line.recall)
        if name.startswith(wanted):
            found[name] = line._replace(recall=name, ids=tuple(map(str, line.ids)))
    chosen = resolve_id(wanted, found)
    if chosen is None:
        next_step = (
            "use the recall_id that clsm recall --json gives; --no-touch keeps none, and recalls"
            " older than about 30 days cannot be judged any more"
        )
        raise BadInputError(wanted, "no recall with that id is known", next_step)
    return found[chosen]


def _judged(wanted: Iterable[str], known: Activation) -> tuple[JudgedItem, ...]:
    """Some items of a recall with their signals, each once, in the order of the recall."""
    chosen = set()
    for each in wanted:
        item = resolve_id(each, known.ids)
        if item is None:
            reason = f"was not returned by {known.recall}"
            raise BadInputError(each, reason, f"give one of: {', '.join(known.ids)}")
        chosen.add(item)
    led = (*known.led, *[""] * len(known.ids))
    return tuple(
        JudgedItem(item, signal)
        for item, signal in zip(known.ids, led, strict=False)
        if item in chosen
    )
