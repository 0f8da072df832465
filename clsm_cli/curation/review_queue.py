"""The review queue: list open items, and apply a person's decisions."""

import difflib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Literal

from clsm_cli.consolidation.active_learning import STILL_WORTH, WORTH, load_offer
from clsm_cli.consolidation.store_state import NEAR_NAMES
from clsm_cli.curation.correction import apply_correction, with_new_text
from clsm_cli.curation.edit_session import EditSession, Warn, check_line, open_for_edit
from clsm_cli.errors import BadInputError
from clsm_cli.model.clocks import instant
from clsm_cli.model.codec import RecordError, decode
from clsm_cli.model.graph import Statement
from clsm_cli.model.ids import normalise_text, resolve_id
from clsm_cli.startup.records import NamedTuple
from clsm_cli.store import logs, record_files, runs, shards, topics
from clsm_cli.store.jsonlines import LineError, load
from clsm_cli.store.layout import Store

State = Literal["accepted", "rejected"]

LOST = "a value you set lost against a newer one"
TWO_TEXTS = "two texts under one id"
CONTRADICTION = logs.CONTRADICTION
STATEMENT = "a statement"
"""Reason of an item that was not asked: a decision about a statement by its id."""
REASONS = (LOST, TWO_TEXTS, CONTRADICTION, WORTH, STILL_WORTH, NEAR_NAMES)
"""Reasons by importance: first values set by a person, then doubts, then training questions, then names."""
_STATEMENT_REASONS = frozenset({LOST, TWO_TEXTS, CONTRADICTION})


class Decision(NamedTuple):
    """A decision and its effect; ``is_new``: False if it was made before."""

    item: logs.ReviewItem
    state: str
    effect: str
    is_new: bool = True


@dataclass
class Outcome:
    """The results of decisions; items whose decision failed stay open."""

    decisions: list[Decision] = field(default_factory=list)
    problems: list[BadInputError] = field(default_factory=list)
    run: str | None = None


def list_items(store: Store, now: datetime, *, everything: bool = False) -> list[logs.ReviewItem]:
    """Open items by importance, then the newest first; of one run, the most probable first.

    Offered sentences come in order of information, those that are not statements before those that are.
    A question about statements expires as soon as one of them is closed in another way; one about a lost
    value only if that happens after it was asked, since the newer value may be that it is closed.

    Args:
        now: Items open since ``consolidation.review_days`` before it are "expired".
        everything: Include items that are not open.
    """
    limit = store.settings.consolidation.review_days
    items = logs.review_items(store)
    offer = [item for item in load_offer(store) if item.id not in items]
    rows = _statements_asked_about(store, [*items.values(), *offer])
    chosen = []
    for item in items.values():
        since = instant(item.at)
        is_old = since is not None and (now - since).days >= limit
        if item.state == "open" and not (is_old or _is_settled(item, rows)):
            chosen.append(item)
        elif everything:
            chosen.append(item._replace(state="expired") if item.state == "open" else item)
    chosen.sort(key=lambda item: item.at, reverse=True)
    stated = {normalise_text(row.text) for row in rows.values() if row.is_current}
    for item in offer:
        is_stated = normalise_text(item.kept) in stated
        chosen.append(item._replace(reason=STILL_WORTH) if is_stated else item)
    return sorted(chosen, key=lambda item: (item.state != "open", _rank(item.reason)))


def _statements_asked_about(
    store: Store, items: Iterable[logs.ReviewItem]
) -> Mapping[str, Statement]:
    """All statements by id; empty unless an open item needs them."""
    reasons = {*_STATEMENT_REASONS, WORTH}
    if not any(item.state == "open" and item.reason in reasons for item in items):
        return {}
    records = shards.load_graph(store.graphs(), logs.load_tombstones(store)).records
    return record_files.load_statements(store, records, "")


def _is_settled(item: logs.ReviewItem, rows: Mapping[str, Statement]) -> bool:
    """Whether the statement that an item asks about was closed in another way."""
    if item.reason not in _STATEMENT_REASONS or not item.about:
        return False
    row = rows.get(item.about[0])
    is_lost = item.reason == LOST and row is not None and (row.superseded_at or "") <= item.at
    return row is None or not (row.is_current or is_lost)


def _rank(reason: str) -> int:
    return REASONS.index(reason) if reason in REASONS else len(REASONS)


def decide(
    store: Store,
    wanted: Iterable[tuple[str, State]],
    now: datetime,
    warn: Warn,
    *,
    dry_run: bool = False,
) -> Outcome:
    """Apply decisions, in one run.

    Args:
        wanted: Ids of items or statements, or prefixes of ids, and the decisions. An accepted statement
            is pinned, a rejected one withdrawn.

    Raises:
        BadInputError: An id is unknown or ambiguous; nothing is written.
    """
    with open_for_edit(store, "review", now, warn, dry_run=dry_run) as edits:
        items = {item.id: item for item in load_offer(store)} | logs.review_items(store)
        chosen: dict[str, State] = {}
        for name, state in wanted:
            item = _item(items, name, edits)
            items.setdefault(item.id, item)
            if chosen.setdefault(item.id, state) != state:
                raise BadInputError(name, "is to be accepted and rejected", "choose one")
        outcome = Outcome()
        for item_id, state in sorted(chosen.items(), key=lambda pair: _rank(items[pair[0]].reason)):
            try:
                outcome.decisions.append(_apply(edits, items[item_id], state))
            except BadInputError as error:
                outcome.problems.append(error)
        outcome.run = edits.save()
    return outcome


def _apply(edits: EditSession, item: logs.ReviewItem, state: State) -> Decision:
    """Apply one decision, unless the item was decided before."""
    if item.state != "open":
        return Decision(item, item.state, "decided before", is_new=False)
    act = _EFFECTS.get(item.reason)  # None for a reason of another version
    effect = act(edits, item, state == "accepted") if act else "noted"
    decided = item._replace(state=state, at=max(edits.run.now, item.at))
    if item.reason != STATEMENT:  # the record itself has the decision
        edits.extra.append(runs.Append(edits.store.flow / "review.jsonl", logs.render(decided)))
    return Decision(decided, state, effect)


def _item(items: Mapping[str, logs.ReviewItem], wanted: str, edits: EditSession) -> logs.ReviewItem:
    """The item, or a statement as an item, with an id or a prefix of one."""
    found = resolve_id(wanted, {*items, *edits.statements})
    if found is None:
        near = difflib.get_close_matches(wanted, sorted(items), 3)
        reason = "no statement and no item of the review list has that id"
        reason += f" (near it: {', '.join(near)})" if near else ""
        raise BadInputError(wanted, reason, "list them with: clsm review --all --json")
    if found in items:
        return items[found]
    row = edits.statements[found]
    return logs.ReviewItem(found, edits.run.now, row.sources, STATEMENT, row.text, "")


_NOTHING_TO_DO = "nothing to do: what it is about is no longer held"


def _names(_edits: EditSession, _item: logs.ReviewItem, accepted: bool) -> str:
    return "one thing from the next consolidation on" if accepted else "kept apart for ever"


def _contradiction(edits: EditSession, item: logs.ReviewItem, accepted: bool) -> str:
    """Correct the statement by the claim, or keep both."""
    if not accepted:
        return "both stay"
    kept, other = _pair(edits, item)
    if kept is None:
        return _NOTHING_TO_DO
    done = apply_correction(edits, kept, item.other, other.valid_from if other else None)
    return f"{done.now.id} takes the place of {kept.id}"


def _two_texts(edits: EditSession, item: logs.ReviewItem, accepted: bool) -> str:
    """One of two texts keeps the id; the other is withdrawn."""
    kept, other = _pair(edits, item)
    if kept is None:
        return _NOTHING_TO_DO
    if accepted:
        new = replace(with_new_text(kept, item.other), trust="user", pinned=True)
        check_line(new)
        edits.put(new)
    if other is not None:
        _give_own_line(edits, kept.id, other)
        _withdraw(edits, other)
    return f"{kept.id} says: {item.other if accepted else kept.text}"


def _give_own_line(edits: EditSession, shared: str, other: Statement) -> None:
    """Give the line of a text its own id, where it shares the id of another."""
    for topic in topics.read_topics(edits.store.root / other.stream):
        items = tuple(i for i in topic.items if i.id == shared and i.text == other.text)
        if items and not edits.dry_run:
            data = topics.apply_edits(replace(topic, items=items), change={shared: other})
            edits.run.apply([runs.Put(topic.path, data, read_as=topic.sha256)])


def _lost_value(edits: EditSession, item: logs.ReviewItem, accepted: bool) -> str:
    """Restore the values that a person once set; the text stays."""
    now = edits.statements.get(item.about[0])
    if now is None:
        return _NOTHING_TO_DO
    if not accepted:
        return "the newer values stay"
    try:
        lost = decode(load(item.other))
    except (LineError, RecordError) as error:
        raise BadInputError(item.id, str(error), f"set them with: clsm edit {now.id}") from None
    if not isinstance(lost, Statement):
        return _NOTHING_TO_DO
    again = replace(lost, id=now.id, text=now.text, stream=now.stream, topic=now.topic)
    sources = tuple(sorted({*again.sources, *now.sources}))
    edits.put(replace(again, sources=sources, pinned=True))
    return f"{now.id} has the values that you set"


def _pair(edits: EditSession, item: logs.ReviewItem) -> tuple[Statement | None, Statement | None]:
    """The current statement of an item, and the other one if it is current too."""
    kept = edits.statements.get(item.about[0]) if item.about else None
    if kept is None or not kept.is_current:
        return None, None
    named = [edits.statements.get(record) for record in item.about[1:]]
    other = next((row for row in named if row is not None and row.is_current), None)
    return kept, other or edits.find_text(item.other, but=kept.id)


def _withdraw(edits: EditSession, row: Statement) -> str:
    """Withdraw a statement, so that consolidation does not write it again."""
    edits.put(replace(row, superseded_at=edits.run.now, withdrawn=True))
    return f"{row.id} is withdrawn"


def _worth(edits: EditSession, item: logs.ReviewItem, accepted: bool) -> str:
    """Pin a sentence as a statement, or withdraw it; the owner model learns from it."""
    row = edits.find_text(item.kept)
    if not accepted:
        return _withdraw(edits, row) if row else "stays in its episode alone"
    if row is None:
        row = edits.sourced(item.kept, item.about)
        check_line(row)
    edits.put(replace(row, pinned=True))
    return f"{row.id} is kept"


def _statement(edits: EditSession, item: logs.ReviewItem, accepted: bool) -> str:
    """Pin or withdraw a statement."""
    row = edits.statements[item.id]
    if row.kind == "gist":
        reason = "is a summary that clsm works out anew"
        raise BadInputError(row.id, reason, "decide about the statements that it rests on")
    if not row.is_current:
        return _NOTHING_TO_DO
    if not accepted:
        return _withdraw(edits, row)
    edits.put(replace(row, pinned=True))
    return f"{row.id} is kept"


_EFFECTS: dict[str, Callable[[EditSession, logs.ReviewItem, bool], str]] = {
    LOST: _lost_value,
    TWO_TEXTS: _two_texts,
    CONTRADICTION: _contradiction,
    NEAR_NAMES: _names,
    WORTH: _worth,
    STATEMENT: _statement,
}
"""The function that applies a decision, by the item's reason."""
