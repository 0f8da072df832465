"""Log the sittings that are over and not logged yet; run before a consolidation, and by a report.

What was used is worked out now and not when it is reported: the static files change, memories fade
and are forgotten, and a figure that was true stays so.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from clsm_cli.evaluation.shadow import log, replay, sittings, static, used
from clsm_cli.evaluation.shadow.log import Row, Side
from clsm_cli.ingestion.report import utc
from clsm_cli.records import NamedTuple
from clsm_cli.store.index.opening import open_index

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from datetime import datetime

    from clsm_cli.evaluation.shadow.log import Mode
    from clsm_cli.evaluation.shadow.replay import Load, Replayed
    from clsm_cli.evaluation.shadow.sittings import Sitting, Told
    from clsm_cli.evaluation.shadow.static import Static
    from clsm_cli.evaluation.shadow.used import Claim, Rarity
    from clsm_cli.ingestion.report import Progress
    from clsm_cli.retrieval.meaning import Engine
    from clsm_cli.store.index.opening import Embedder
    from clsm_cli.store.layout import Store

NIGHT = 200
"""Prompts that are asked in one run; what is left is asked in the next."""


class Caught(NamedTuple):
    """What a run logged.

    Attributes:
        logged: Sittings.
        left: Sittings that are over and wait for the next run.
        open: Sittings that are not over.
        warnings: A sentence for each thing that went wrong; nothing else did.
    """

    logged: int = 0
    left: int = 0
    open: int = 0
    warnings: tuple[str, ...] = ()


def catch_up(
    store: Store, engine: Engine, embedder: Embedder, now: datetime, progress: Progress
) -> Caught:
    """Log what is new; while shadow mode is off, nothing. It never fails: it says what went wrong.

    Args:
        store: Whose conversations.
        engine: Makes the vectors of prompts.
        embedder: Makes the vectors of passages that have none yet.
        now: The newest sitting is over if nobody spoke for long.
        progress: Told how many sittings are measured.
    """
    try:
        mode = log.mode(store)
        if mode is None:
            return Caught()
        return _caught_up(store, mode, engine, embedder, now, progress)
    except Exception as error:  # noqa: BLE001  # a measurement must not stop a consolidation
        return Caught(warnings=(f"shadow mode logged nothing: {error}",))


def _caught_up(
    store: Store,
    mode: Mode,
    engine: Engine,
    embedder: Embedder,
    now: datetime,
    progress: Progress,
) -> Caught:
    told = sittings.read(store, mode.since, now)
    known = {turn for row in log.rows(store)[0] for turn in row.turns}
    new = [
        each
        for each in told.sittings
        if known.isdisjoint(log.mark(turn.key) for turn in each.turns)
    ]
    over = [each for each in new if each.is_over]
    chosen = _affordable(over)
    warnings = []
    if utc(now) < mode.since:
        warnings.append(f"the clock is behind {mode.since}, when shadow mode was started")
    if len(chosen) < len(over):
        left = len(over) - len(chosen)
        wait = "1 session waits" if left == 1 else f"{left} sessions wait"
        warnings.append(f"shadow mode asks {NIGHT} prompts a run; {wait} for the next")
    missing: dict[str, None] = {}
    rows = []
    for row, unread in _rows(store, mode, chosen, told, engine, embedder, progress):
        rows.append(row)
        missing.update(dict.fromkeys(unread))
    log.append(store, rows)
    warnings += [f"not loaded beside memory: {each}" for each in missing]
    return Caught(len(chosen), len(over) - len(chosen), len(new) - len(over), tuple(warnings))


def _affordable(over: Sequence[Sitting]) -> list[Sitting]:
    """The newest sittings that one run can ask, at least one."""
    chosen: list[Sitting] = []
    asked = 0
    for sitting in over:
        asked += len(replay.prompts(sitting))
        if chosen and asked > NIGHT:
            break
        chosen.append(sitting)
    return chosen


def _rows(
    store: Store,
    mode: Mode,
    chosen: Sequence[Sitting],
    told: Told,
    engine: Engine,
    embedder: Embedder,
    progress: Progress,
) -> Iterator[tuple[Row, tuple[str, ...]]]:
    if not chosen:
        return
    replayed = replay.replay(store, told, chosen, mode.budget, engine, embedder)
    with open_index(store, None) as opened:
        rarity = used.Rarity(opened.index.connection, opened.index.size()[0])
        for done, (sitting, given) in enumerate(zip(chosen, replayed, strict=True), 1):
            beside = static.load(mode.static, sitting.start, store)
            yield _measured(sitting, given, beside, mode.budget, rarity), beside.missing
            progress("shadow mode", done, len(chosen))


def _measured(
    sitting: Sitting, given: Replayed, beside: Static, budget: int, rarity: Rarity
) -> Row:
    look = _Look(sitting, rarity)
    came = [*given.briefing, *(each for _, found in given.answers for each in found)]
    loads = {(each.id, each.text): each for each in came}
    taken = look.taken(given)
    of_files = [claim for block in beside.blocks for claim in look.of(block, -1)]
    of_clsm = [claim for found in taken.values() for claim in found]
    said = [used.words(text) for _, text in loads]
    written = [used.words(block.text) for block in beside.blocks]
    asked = len(given.answers)
    briefing, again = _tokens(given.briefing), _tokens(came)
    return Row(
        sitting=log.mark(sitting.first),
        at=utc(sitting.start),
        turns=tuple(log.mark(turn.key) for turn in sitting.turns),
        prompts=sum(turn.role == "user" for turn in sitting.turns),
        asked=asked,
        budget=budget,
        clsm=Side(
            tokens=_tokens(loads.values()),
            prompt=briefing + (again - briefing) / max(1, asked),
            used=_tokens(of_clsm),
            replies=sum(look.replies(at, (*given.briefing, *found)) for at, found in given.answers),
        ),
        again=again,
        static=None
        if not beside.tokens
        else Side(
            tokens=beside.tokens,
            prompt=float(beside.tokens),
            used=_tokens(of_files),
            replies=sum(look.replies(at, beside.blocks) for at, _ in given.answers),
        ),
        both=_tokens(claim for claim in of_files if used.held(claim, said, rarity)),
        beyond=_tokens(claim for claim in of_clsm if not used.held(claim, written, rarity)),
        changed=beside.is_changed,
        items=tuple(sorted({log.mark(each.id) for each in loads.values()})),
        taken=tuple(sorted({log.mark(name) for name, _ in taken})),
    )


def _tokens(found: Iterable[Load | Claim]) -> int:
    return sum(each.tokens for each in found)


class _Look:
    """What a sitting took up of what was loaded."""

    def __init__(self, sitting: Sitting, rarity: Rarity) -> None:
        self._rarity = rarity
        self._turns = [used.words(turn.text) for turn in sitting.turns]
        self._prompts = [at for at, turn in enumerate(sitting.turns) if turn.role == "user"]
        self._claims: dict[str, tuple[Claim, ...]] = {}

    def of(self, load: Load, at: int, until: int | None = None) -> tuple[Claim, ...]:
        """The sentences that turns after a prompt take up; at -1 it was there from the start."""
        if load.text not in self._claims:
            self._claims[load.text] = used.claims(load.text)
        asked = self._turns[at] if at >= 0 else frozenset()
        return used.used(self._claims[load.text], self._turns[at + 1 : until], asked, self._rarity)

    def taken(self, given: Replayed) -> dict[tuple[str, str], tuple[Claim, ...]]:
        """Of all that was loaded what was used, by id and text, with the sentences."""
        found: dict[tuple[str, str], dict[Claim, None]] = {}
        for at, loads in ((-1, given.briefing), *given.answers):
            for each in loads:
                if sentences := self.of(each, at):
                    found.setdefault((each.id, each.text), {}).update(dict.fromkeys(sentences))
        return {name: tuple(sentences) for name, sentences in found.items()}

    def replies(self, at: int, loads: Sequence[Load]) -> bool:
        """Whether the turns up to the next prompt take up something that stood before them."""
        until = next((place for place in self._prompts if place > at), None)
        return any(self.of(each, at, until) for each in loads)
