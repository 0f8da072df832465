"""Shadow mode: start it, catch up after each night, report; its log.

What was used is worked out when it is logged and not when it is reported: the static files change,
memories fade and are forgotten, and a figure that was true stays so.

Which files it stands beside is this machine's own word (``shadow/`` in the user's state folder), so
no store that comes from elsewhere names a file to be read. The log, ``.clsm/shadow/<device>.jsonl``,
has a line for each sitting: counts, and turns by the hash that a tombstone keeps of an id. So nothing
in it has to go when something is forgotten. It is not derived: whoever deletes ``.clsm`` deletes it.
"""

import os
from collections.abc import Iterable, Sequence
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import TypedDict, cast

from clsm_cli.errors import BadInputError, DamagedStoreError
from clsm_cli.evaluation.shadow import sittings
from clsm_cli.ingestion.ingest_report import Progress
from clsm_cli.model.clocks import utc_text
from clsm_cli.model.ids import tombstone_hash
from clsm_cli.retrieval.dense_search import Engine
from clsm_cli.startup.records import NamedTuple
from clsm_cli.store import atomic, logs
from clsm_cli.store.index.opening import Embedder, open_index
from clsm_cli.store.jsonlines import LineError, dump, load
from clsm_cli.store.layout import Store
from clsm_cli.store.lock import locked

_MOST = 1 << 20  # bytes of the settings
_SHOWN = 16  # hex digits of a hash: 64 bits


class Mode(NamedTuple):
    """Shadow mode, while it is on: since when (UTC) sittings are looked at, and beside which paths."""

    since: str
    static: tuple[str, ...]


class SideFigures(TypedDict):
    """What one way to remember loaded in a sitting, each item once, in tokens."""

    tokens: int
    prompt: float  # in front of the model at a prompt, the mean
    used: int  # sentences that the conversation used
    replies: int  # prompts whose reply used something that was loaded


class SittingRow(TypedDict):
    """A line of the log."""

    at: str  # when it began, UTC
    turns: list[str]  # their hashes
    prompts: int
    asked: int
    clsm: SideFigures
    static: SideFigures | None  # None: no file was named, or none could be read


def _marks(sitting: sittings.Sitting) -> list[str]:
    return [tombstone_hash(turn.key)[:_SHOWN] for turn in sitting.turns]


def current_mode(store: Store) -> Mode | None:
    """Shadow mode of this machine; None while it is off.

    Raises:
        DamagedStoreError: Its file is none; stopping and starting again mends that.
    """
    path = _mode_file(store)
    data = atomic.read(path, _MOST)
    if data is None:
        return None
    try:
        value = load(data.decode("utf-8", "replace"))
        return Mode(str(value["since"]), tuple(map(str, value["static"])))
    except (LineError, LookupError, TypeError):
        raise DamagedStoreError(path, 1, "does not say what shadow mode looks at") from None


def turn_off(store: Store, *, delete: bool) -> bool:
    """Turn it off, and delete the log if that is wanted; whether there was anything to do."""
    paths = [_mode_file(store), *([_log_file(store)] if delete else [])]
    with locked(store.root, store.settings.store.lock_wait):
        found = [path for path in paths if path.exists()]
        for path in found:
            atomic.remove(path)
    return bool(found)


def logged_rows(store: Store) -> tuple[list[SittingRow], int]:
    """The sittings of the log by time, each once, and how many lines cannot be read."""
    found, problems = logs.rows(_log_file(store))
    known = SittingRow.__annotations__
    whole = [row for _, row in found if known.keys() <= row.keys()]
    read = [cast("SittingRow", {name: row[name] for name in known}) for row in whole]
    rows = {str(row["turns"]): row for row in reversed(read)}
    bad = len(problems) + len(found) - len(read)
    return sorted(rows.values(), key=lambda row: (row["at"], row["turns"])), bad


def append_rows(store: Store, new: Iterable[SittingRow]) -> None:
    """Log sittings, durably, one line each."""
    with locked(store.root, store.settings.store.lock_wait):
        atomic.append(_log_file(store), b"\n".join(dump(row).encode() for row in new))


def _mode_file(store: Store) -> Path:
    import platformdirs

    place = atomic.sha256(os.fsencode(store.root.resolve()))[:_SHOWN]
    return platformdirs.user_state_path("clsm") / "shadow" / f"{place}.json"


def _log_file(store: Store) -> Path:
    return store.derived / "shadow" / f"{store.device}.jsonl"


FEW = 5  # sessions below which nothing should be decided


class Figures(NamedTuple):
    """One way to remember, over all sessions."""

    tokens: float  # means of ``SideFigures``
    prompt: float
    relevance: float  # tokens of the sentences used / tokens loaded
    # Prompts whose reply used something that was loaded / prompts. It stands for CLS-M's correct
    # recalls / recall prompts, as nobody marks which prompts those were.
    retention: float


class Report(NamedTuple):
    """Shadow mode so far; figures are over the sessions beside which files were loaded, else all."""

    is_on: bool
    rows: tuple[SittingRow, ...]  # the sessions by time
    compared: int  # of them, those beside which files were loaded
    clsm: Figures | None
    static: Figures | None
    # 1 - tokens of clsm / tokens of the files in front of the model at a prompt; CLS-M:
    # 1 - memory tokens / budget, the budget being what is loaded today.
    efficiency: float | None
    verdict: str
    notes: tuple[str, ...]


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
    wins = (clsm.prompt < static.prompt) + (clsm.relevance > static.relevance)
    wins += clsm.retention > static.retention
    better = f"clsm would have been better in {wins} of 3: tokens, use and replies"
    return f"over {sessions} sessions {better}"


def _figures(sides: Sequence[tuple[SittingRow, SideFigures]]) -> Figures | None:
    if not sides:
        return None
    asked = max(1, sum(row["asked"] for row, _ in sides))
    loaded = sum(side["tokens"] for _, side in sides)
    return Figures(
        tokens=loaded / len(sides),
        prompt=sum(side["prompt"] * row["asked"] for row, side in sides) / asked,
        relevance=sum(side["used"] for _, side in sides) / max(1, loaded),
        retention=sum(side["replies"] for _, side in sides) / asked,
    )


def start(store: Store, named: Sequence[str], now: datetime) -> tuple[Mode, bool]:
    """Turn shadow mode on, or change its files; the mode, and whether it was off before.

    Raises:
        BadInputError: A file is missing, or too large; nothing is changed.
    """
    files = tuple(dict.fromkeys(os.path.realpath(os.path.expanduser(name)) for name in named))
    missing = sittings.load_static(files, now, store).missing
    if missing:
        raise BadInputError("--static", missing[0], "name the files that your agent loads")
    before = current_mode(store)
    known = before or Mode(utc_text(now), ())
    wanted = known._replace(static=files or known.static)
    if wanted != before:
        with locked(store.root, store.settings.store.lock_wait):
            atomic.put(_mode_file(store), dump(wanted._asdict()).encode() + b"\n")
    return wanted, before is None


def report(store: Store) -> Report:
    """What the log says; BadInputError if shadow mode is off and nothing is logged."""
    mode = current_mode(store)
    rows, bad = logged_rows(store)
    if mode is None and not rows and not bad:
        reason = "is off on this machine and has logged nothing"
        raise BadInputError("shadow mode", reason, "turn it on with: clsm eval shadow start")
    beside = [(row, side) for row in rows if (side := row["static"])]
    counted = [row for row, _ in beside] or rows
    clsm, static = _figures([(row, row["clsm"]) for row in counted]), _figures(beside)
    lines = "1 line of the log is" if bad == 1 else f"{bad} lines of the log are"
    return Report(
        is_on=mode is not None,
        rows=tuple(rows),
        compared=len(beside),
        clsm=clsm,
        static=static,
        efficiency=1 - clsm.prompt / static.prompt if clsm and static and static.prompt else None,
        verdict=verdict(clsm, static, len(counted)),
        notes=(f"{lines} not readable and left out",) if bad else (),
    )


def catch_up(
    store: Store, engine: Engine, embedder: Embedder, now: datetime, progress: Progress
) -> list[str]:
    """Log what is new, while shadow mode is on; the files that could not be read."""
    mode = current_mode(store)
    if mode is None:
        return []
    found, undated = sittings.read_sittings(store, mode.since, now)
    known = {turn for row in logged_rows(store)[0] for turn in row["turns"]}
    over = [each for each in found if each.is_over and known.isdisjoint(_marks(each))]
    if not over:
        return []
    rows = []
    missing: dict[str, None] = {}
    with open_index(store, None) as opened:
        rarity = sittings.word_rarity(opened.index)
        for done, sitting in enumerate(over, 1):
            given = sittings.replay(store, undated, sitting, engine, embedder)
            beside = sittings.load_static(mode.static, sitting.start, store)
            rows.append(_measured(sitting, given, beside, rarity))
            missing |= dict.fromkeys(beside.missing)
            progress("shadow mode", done, len(over))
    append_rows(store, rows)
    return [f"not loaded beside memory: {each}" for each in missing]


def _measured(
    sitting: sittings.Sitting,
    given: sittings.Given,
    beside: sittings.StaticFiles,
    rarity: sittings.Rarity,
) -> SittingRow:
    """What was loaded and used; used is what turns after a prompt (−1: after the start) take up."""
    said = [sittings.distinct_stems(turn.text) for turn in sitting.turns]
    prompts = [at for at, turn in enumerate(sitting.turns) if turn.role == "user"]
    asked = [at for at in given if at >= 0]
    split = cache(sittings.split_claims)

    def used(load: sittings.LoadedItem, at: int, until: int | None = None) -> list[sittings.Claim]:
        prompt, later = said[at] if at >= 0 else frozenset(), said[at + 1 : until]
        claims = split(load.text)
        return [each for each in claims if sittings.is_used(each.words - prompt, later, rarity)]

    def reply_uses(at: int, loads: Iterable[sittings.LoadedItem]) -> bool:
        until = next((place for place in prompts if place > at), None)
        return any(used(each, at, until) for each in loads)

    def tokens(found: Iterable[sittings.LoadedItem | sittings.Claim]) -> int:
        return sum(each.tokens for each in found)

    came = [(at, each) for at, found in given.items() for each in found]
    claims = {(each.id, each.text, claim): claim for at, each in came for claim in used(each, at)}
    answers = tokens(each for at, each in came if at >= 0)
    ours = SideFigures(
        tokens=tokens({(each.id, each.text): each for _, each in came}.values()),
        prompt=tokens(given[-1]) + answers / max(1, len(asked)),
        used=tokens(claims.values()),
        replies=sum(reply_uses(at, (*given[-1], *given[at])) for at in asked),
    )
    theirs = SideFigures(
        tokens=beside.tokens,
        prompt=float(beside.tokens),
        used=tokens(claim for block in beside.blocks for claim in used(block, -1)),
        replies=sum(reply_uses(at, beside.blocks) for at in asked),
    )
    return SittingRow(
        at=utc_text(sitting.start),
        turns=_marks(sitting),
        prompts=len(prompts),
        asked=len(asked),
        clsm=ours,
        static=theirs if beside.tokens else None,
    )
