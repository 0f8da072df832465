"""``clsm show``: print one thing by its id: its text first, then its fields."""

from __future__ import annotations

from json import dumps
from typing import TYPE_CHECKING, Any

from clsm_cli.commands.command_line import Common, Option
from clsm_cli.commands.environment import decode_words
from clsm_cli.commands.options import command
from clsm_cli.commands.output import LinkedLine, local_time, location_text, plain, shorten

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import tzinfo

    from clsm_cli.inspection.item_lookup import FoundItem


LONGEST = 100
"""Characters of a turn that are shown beside where it was said."""


@command(
    "clsm show e-3a9c12d08e41          # an episode",
    "clsm show 3a9c                    # how an id begins is enough",
    "clsm show delegation-defect --json",
    no_effect=("now",),
    wanted=Option("", "ID", "An id from recall or how it begins, or a name."),
)
def show(wanted: str, *, common: Common) -> None:
    """Show one thing by its id.

    A turn, a block, an episode, a statement, a concept or an edge: what it says, since when, and
    where it was said. --verbose adds every field.
    """
    from clsm_cli.inspection.item_lookup import look_up

    printer = common.printer()
    opened = common.opened()
    found = look_up(opened, decode_words([wanted]))
    printer.show(found_mapping(found), found_lines(found, opened.zone, verbose=common.verbose))


def found_mapping(found: FoundItem) -> dict[str, Any]:
    """Schema ``clsm.show/1``."""
    return {"schema": "clsm.show/1", **plain(found)}


def found_lines(found: FoundItem, zone: tzinfo, *, verbose: bool = False) -> Iterator[str]:
    """What it says, what it is, since when it is true, and its source; then all fields."""
    facts = found.facts
    if found.text:
        yield from (*found.text.split("\n"), "")
    words = (facts.get(name) for name in ("title", "heading", "state", "stream", "trust"))
    kind = facts.get("kind", found.kind)
    yield " · ".join([f"{kind} {found.id}", *(str(word) for word in words if word)])
    for name, start, end in (
        ("true", "valid_from", "valid_until"),
        ("believed", "recorded_at", "superseded_at"),
    ):
        times = [f"from {local_time(facts[start], zone)}"] if facts.get(start) else []
        times += [f"until {local_time(facts[end], zone)}"] if facts.get(end) else []
        if times:
            yield f"{name} {' '.join(times)}"
    for turn in found.told:
        said = ""
        if turn.text not in ("", found.text):
            said = shorten(f"{turn.speaker}: {turn.text}".removeprefix(": "), LONGEST)
        parts = (location_text(turn.file, turn.line), local_time(turn.time, zone), said)
        yield LinkedLine(" · ".join(part for part in parts if part), turn.file, turn.line)
    if verbose:
        for name, value in facts.items():
            yield f"{name}: {value if isinstance(value, str) else dumps(value, ensure_ascii=False)}"
