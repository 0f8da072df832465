"""``clsm show``: one item by its id; ``clsm history``: every version of what is known."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import tzinfo
from json import dumps
from typing import Any

from clsm_cli.commands.command_line import AS_OF, KNOWN_AT, Common, UsageError, option
from clsm_cli.commands.options import command
from clsm_cli.commands.output import (
    LinkedLine,
    dotted,
    fields,
    flat,
    location_text,
    plain,
    shorten,
    span_text,
)
from clsm_cli.commands.recall_command import view_of
from clsm_cli.inspection import fact_history
from clsm_cli.inspection.fact_history import History, View
from clsm_cli.inspection.item_lookup import FoundItem, ResolvedTime, look_up
from clsm_cli.model.clocks import local_time

MAX_TURN = 100  # characters shown of a source turn


@command(
    "clsm show e-3a9c12d08e41          # an episode",
    "clsm show 3a9c                    # how an id begins is enough",
    "clsm show delegation-defect --json",
    no_effect=("now",),
)
def show(
    wanted: str = option("ID", "An id from recall or how it begins, or a name."), *, common: Common
) -> None:
    """Show one thing by its id.

    A turn, a block, an episode, a statement, a concept or an edge: what it says, since when, and
    where it was said. --verbose adds every field.
    """
    opened = common.opened()
    found = look_up(opened, wanted)
    common.printer().show(*item_output(found, opened.zone, verbose=common.verbose))


def item_output(
    found: FoundItem, zone: tzinfo, *, verbose: bool = False
) -> tuple[dict[str, Any], list[str]]:
    """Schema ``clsm.show/1``, and as text: content, kind, validity, days, sources, with ``verbose`` all fields."""
    lines = list(_found_lines(found, zone, verbose=verbose))
    return {"schema": "clsm.show/1", **plain(found)}, lines


def _found_lines(found: FoundItem, zone: tzinfo, *, verbose: bool) -> Iterator[str]:
    facts = found.facts
    if found.text:
        yield from (*found.text.split("\n"), "")
    words = (facts.get(name) for name in ("title", "heading", "state", "stream", "trust"))
    yield dotted(f"{facts.get('kind', found.kind)} {found.id}", *words)
    yield from _spans(facts, zone)
    named = [f"{e.text}: {_days(e)}" for e in found.times if e.first[:4] not in e.text]
    if named:
        yield "; ".join(named)
    for turn in found.told:
        said = ""
        if turn.text not in ("", found.text):
            said = shorten(f"{turn.speaker}: {turn.text}".removeprefix(": "), MAX_TURN)
        place = location_text(turn.file, turn.line)
        line = dotted(place, local_time(turn.time, zone), said)
        yield LinkedLine(line, turn.file, turn.line)
    if verbose:
        for name, value in facts.items():
            yield f"{name}: {value if isinstance(value, str) else dumps(value, ensure_ascii=False)}"


def _spans(facts: Mapping[str, Any], zone: tzinfo) -> Iterator[str]:
    """Since when and until when something was true, and was believed, as far as known."""
    for name, start, end in (
        ("true", "valid_from", "valid_until"),
        ("believed", "recorded_at", "superseded_at"),
    ):
        if times := span_text(facts.get(start), facts.get(end), zone):
            yield f"{name} {times}"


def _days(each: ResolvedTime) -> str:
    return each.first if each.first == each.last else f"{each.first} to {each.last}"


@command(
    "clsm history heartbeat                       # what was held of it, and when",
    "clsm history f-3a9c12d08e41                  # one fact: what it was before and after",
    "clsm history heartbeat --as-of 2026-02-15    # what was true on that day",
    "clsm history heartbeat --known-at 2026-02-15 # what memory believed at its end",
)
def history(
    wanted: tuple[str, ...] = option(
        "ID|SUBJECT...", "Ids of statements or edges; concepts by id, label or alias."
    ),
    *,
    as_of: str | None = AS_OF,
    known_at: str | None = KNOWN_AT,
    common: Common,
) -> None:
    """Show every version of what is known about something.

    When it was true, when memory believed it, and where it was said.
    """
    if not all(map(str.strip, wanted)):
        raise UsageError("ID|SUBJECT", "is empty; name what you want to know of")
    printer, opened, now = common.start()
    view = view_of(opened, now, as_of, known_at)
    found = fact_history.history(opened, wanted, view)
    printer.show(*history_output(found, view, opened.zone))
    for each in found:
        if not each.threads:
            is_past = view.at is not None
            printer.warn(f"{each.wanted}: nothing is held of it{' for that time' * is_past}")


def history_output(
    found: Sequence[History], view: View, zone: tzinfo
) -> tuple[dict[str, Any], list[str]]:
    """Schema ``clsm.history/1``, and the versions of each thread, each with its whole text."""
    lines: list[str] = []
    for thread in (thread for each in found for thread in each.threads):
        title = dotted(thread.label, thread.type) or "about nothing named"
        lines += ["", title] if lines else [title]
        for row in thread.versions:
            state = f"{row.state}, by hand" if row.by_hand else row.state
            place = location_text(row.file, row.line)
            facts = dotted(state, *_spans(row._asdict(), zone), place, row.id)
            lines += [f"- {flat(row.value)}", f"  {facts}"]
    mapping = {"schema": "clsm.history/1", **fields(view, "now as_of known_at")}
    mapping["found"] = [fields(each, "wanted threads") for each in found]
    return mapping, lines
