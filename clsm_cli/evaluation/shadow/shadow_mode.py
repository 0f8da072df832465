"""Shadow mode: start it, catch up after each night, report.

What was used is worked out when it is logged and not when it is reported: the static files change,
memories fade and are forgotten, and a figure that was true stays so.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from clsm_cli.errors import BadInputError
from clsm_cli.evaluation.shadow import log, sittings
from clsm_cli.evaluation.shadow.log import Mode, SideFigures, SittingRow
from clsm_cli.ingestion.ingest_report import utc_text
from clsm_cli.store.index.opening import open_index

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime

    from clsm_cli.evaluation.shadow.sittings import (
        Claim,
        LoadedItem,
        Replayed,
        Sitting,
        WordRarity,
    )
    from clsm_cli.ingestion.ingest_report import Progress
    from clsm_cli.retrieval.dense_search import Engine
    from clsm_cli.store.index.opening import Embedder
    from clsm_cli.store.layout import Store

FEW = 5
"""Sessions below which nothing should be decided."""


@dataclass(frozen=True, slots=True)
class Figures:
    """One way to remember, over all sessions.

    Attributes:
        tokens: Loaded in a session, each item once; the mean.
        prompt: In front of the model at a prompt; the mean.
        relevance: Tokens of the sentences used / tokens loaded.
        retention: Prompts whose reply used something that was loaded / prompts. It stands for CLS-M's
            correct recalls / recall prompts, as nobody marks which prompts those were.
    """

    tokens: float
    prompt: float
    relevance: float
    retention: float


@dataclass(frozen=True, slots=True)
class Report:
    """Shadow mode so far.

    Attributes:
        rows: The sessions by time.
        compared: Of them, those beside which files were loaded; all figures are over these, or over
            all sessions where there are none.
        efficiency: 1 - tokens of clsm / tokens of the files in front of the model at a prompt; CLS-M:
            1 - memory tokens / budget, the budget being what is loaded today.
    """

    is_on: bool
    rows: tuple[SittingRow, ...]
    compared: int
    clsm: Figures | None
    static: Figures | None
    efficiency: float | None
    verdict: str
    notes: tuple[str, ...]


def build_report(rows: Sequence[SittingRow], notes: Sequence[str], *, is_on: bool) -> Report:
    """The figures of some sessions."""
    beside = [(row, row.static) for row in rows if row.static is not None]
    counted = [row for row, _ in beside] or list(rows)
    clsm = _figures([(row, row.clsm) for row in counted])
    static = _figures(beside)
    return Report(
        is_on=is_on,
        rows=tuple(rows),
        compared=len(beside),
        clsm=clsm,
        static=static,
        efficiency=1 - clsm.prompt / static.prompt if clsm and static and static.prompt else None,
        verdict=verdict(clsm, static, len(counted)),
        notes=tuple(notes),
    )


def verdict(clsm: Figures | None, static: Figures | None, sessions: int) -> str:
    """The result in one sentence.

    >>> verdict(Figures(900, 800, 0.23, 0.5), Figures(6400, 6400, 0.04, 0.5), 14)
    'over 14 sessions clsm would have been better in 2 of 3: tokens, use and replies'
    """
    if clsm is None:
        return "no session was logged yet"
    if static is None:
        return "there are no files to compare with"
    if sessions < FEW:
        return f"fewer than {FEW} sessions decide nothing"
    wins = (
        clsm.prompt < static.prompt,
        clsm.relevance > static.relevance,
        clsm.retention > static.retention,
    )
    return (
        f"over {sessions} sessions clsm would have been better in {sum(wins)} of 3: tokens, use"
        " and replies"
    )


def _figures(sides: Sequence[tuple[SittingRow, SideFigures]]) -> Figures | None:
    if not sides:
        return None
    asked = sum(row.asked for row, _ in sides)
    loaded = sum(side.tokens for _, side in sides)
    return Figures(
        tokens=loaded / len(sides),
        prompt=sum(side.prompt * row.asked for row, side in sides) / max(1, asked),
        relevance=sum(side.used for _, side in sides) / max(1, loaded),
        retention=sum(side.replies for _, side in sides) / max(1, asked),
    )


def start(store: Store, named: Sequence[str], now: datetime) -> tuple[Mode, bool]:
    """Turn shadow mode on; where it is on, only the files that are named change.

    Args:
        store: Of which memory.
        named: Files and workspaces that the agent loads; none: those that the store took in.
        now: What the store takes in from now on is logged.

    Returns:
        What it looks at, and whether it was off before.

    Raises:
        BadInputError: A file is missing, not text, or too large; nothing is changed.
        DamagedStoreError: What is on cannot be read.
        DiskError: The disk refused.
    """
    files = log.checked_files(named)
    before = log.current_mode(store)
    if before is None:
        wanted = Mode(utc_text(now), files or log.ingested_files(store))
    else:
        wanted = Mode(before.since, files or before.static)
    if wanted != before:
        log.turn_on(store, wanted)
    return wanted, before is None


def report(store: Store) -> Report:
    """What the log says.

    Raises:
        BadInputError: Shadow mode is off and nothing is logged.
        DamagedStoreError: The log is no file that can be read.
    """
    mode = log.current_mode(store)
    rows, bad = log.logged_rows(store)
    if mode is None and not rows and not bad:
        reason = "is off on this machine and has logged nothing"
        raise BadInputError("shadow mode", reason, "turn it on with: clsm eval shadow start")
    lines = "1 line of the log is" if bad == 1 else f"{bad} lines of the log are"
    notes = [f"{lines} not readable and left out"] if bad else []
    return build_report(rows, notes, is_on=mode is not None)


def catch_up(
    store: Store, engine: Engine, embedder: Embedder, now: datetime, progress: Progress
) -> list[str]:
    """Log what is new; while shadow mode is off, nothing. It never fails: it says what went wrong."""
    try:
        mode = log.current_mode(store)
        return [] if mode is None else _caught_up(store, mode, engine, embedder, now, progress)
    except Exception as error:  # noqa: BLE001  # a measurement must not stop a consolidation
        return [f"shadow mode logged nothing: {error}"]


def _caught_up(
    store: Store,
    mode: Mode,
    engine: Engine,
    embedder: Embedder,
    now: datetime,
    progress: Progress,
) -> list[str]:
    told = sittings.read_sittings(store, mode.since, now)
    known = {turn for row in log.logged_rows(store)[0] for turn in row.turns}
    over = [
        each
        for each in told.sittings
        if each.is_over and known.isdisjoint(log.id_mark(turn.key) for turn in each.turns)
    ]
    if not over:
        return []
    replayed = sittings.replay(store, told, over, engine, embedder)
    found = []
    missing: dict[str, None] = {}
    with open_index(store, None) as opened:
        rarity = sittings.WordRarity(opened.index.connection, opened.index.size()[0])
        for done, (sitting, given) in enumerate(zip(over, replayed, strict=True), 1):
            beside = log.load_static(mode.static, sitting.start, store)
            found.append(_measured(sitting, given, beside, rarity))
            missing |= dict.fromkeys(beside.missing)
            progress("shadow mode", done, len(over))
    log.append_rows(store, found)
    return [f"not loaded beside memory: {each}" for each in missing]


def _measured(
    sitting: Sitting, given: Replayed, beside: log.StaticFiles, rarity: WordRarity
) -> SittingRow:
    """What was loaded and used; used is what turns after a prompt (−1: after the start) take up."""
    said = [sittings.distinct_stems(turn.text) for turn in sitting.turns]
    prompts = [at for at, turn in enumerate(sitting.turns) if turn.role == "user"]
    split = cache(sittings.split_claims)

    def used(load: LoadedItem, at: int, until: int | None = None) -> tuple[Claim, ...]:
        asked = said[at] if at >= 0 else frozenset()
        return sittings.used_claims(split(load.text), said[at + 1 : until], asked, rarity)

    def replies(at: int, loads: Iterable[LoadedItem]) -> bool:
        until = next((place for place in prompts if place > at), None)
        return any(used(each, at, until) for each in loads)

    came = [(-1, each) for each in given.briefing]
    came += [(at, each) for at, found in given.answers for each in found]
    claims = {(each.id, each.text, claim): claim for at, each in came for claim in used(each, at)}
    of_files = [claim for block in beside.blocks for claim in used(block, -1)]
    asked, briefing = len(given.answers), _tokens(given.briefing)
    answers = _tokens(each for _, each in came) - briefing
    return SittingRow(
        at=utc_text(sitting.start),
        turns=tuple(log.id_mark(turn.key) for turn in sitting.turns),
        prompts=len(prompts),
        asked=asked,
        clsm=SideFigures(
            tokens=_tokens({(each.id, each.text): each for _, each in came}.values()),
            prompt=briefing + answers / max(1, asked),
            used=_tokens(claims.values()),
            replies=sum(replies(at, (*given.briefing, *found)) for at, found in given.answers),
        ),
        static=SideFigures(
            tokens=beside.tokens,
            prompt=float(beside.tokens),
            used=_tokens(of_files),
            replies=sum(replies(at, beside.blocks) for at, _ in given.answers),
        )
        if beside.tokens
        else None,
    )


def _tokens(found: Iterable[LoadedItem | Claim]) -> int:
    return sum(each.tokens for each in found)
