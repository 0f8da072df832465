"""Fold the activation log into one line per id and day, which is all that retention needs.

Recalls append to ``activation.jsonl`` without a lock, so it is never rewritten. The first run of a month
renames it once its first line is old; the previous file of that name is deleted once it is old and
folded. Until then, each run folds both: the count of an id and day is the larger of the log's and the
folded one, so folding again changes nothing.
"""

from collections import Counter
from datetime import UTC, date, timedelta
from pathlib import Path

from clsm_cli.model.clocks import day_of
from clsm_cli.model.ids import whole_id
from clsm_cli.startup.records import NamedTuple
from clsm_cli.store import atomic, logs, runs
from clsm_cli.store.jsonlines import LineProblem
from clsm_cli.store.layout import Store

OLD_LOG, LOG = logs.ACTIVATIONS
FEEDBACK_PERIOD = timedelta(30)
"""How long a recall accepts feedback; its log line is kept at least as long."""

Uses = dict[tuple[str, date], int]  # (Id, day) → number of recalls


class FoldedLog(NamedTuple):
    """The activation log of this machine, folded."""

    uses: Uses  # those folded before and those of the log
    fresh: list[date]  # days of log lines with uses not folded before
    logged: dict[str, list[date]]  # log file name → days of its lines
    problems: tuple[LineProblem, ...]
    is_covered: bool  # whether earlier runs folded the whole older log
    is_readable: bool  # whether the folded uses could be read; if not, never replace them


def fold_log(store: Store, forgotten: frozenset[str]) -> FoldedLog:
    """Fold both log files into the uses of this machine."""
    before, problems, is_readable = read_folded(store.flow, forgotten)
    counted: Counter[tuple[str, date]] = Counter()
    read: dict[str, list[_Recall]] = {}
    for name in logs.ACTIVATIONS:
        read[name], torn = _recalls(store.flow / name, forgotten)
        problems += torn
    fresh: list[date] = []
    for day, ids in (line for lines in read.values() for line in lines):
        counted.update((each, day) for each in ids)
        if any(counted[each, day] > before.get((each, day), 0) for each in ids):
            fresh.append(day)
    new = {use for use, n in counted.items() if n > before.get(use, 0)}
    return FoldedLog(
        uses=before | {use: counted[use] for use in new},
        fresh=fresh,
        logged={name: [day for day, _ in lines] for name, lines in read.items()},
        problems=tuple(problems),
        is_covered=new.isdisjoint((each, day) for day, ids in read[OLD_LOG] for each in ids),
        is_readable=is_readable,
    )


def read_folded(flow: Path, forgotten: frozenset[str]) -> tuple[Uses, list[LineProblem], bool]:
    """The folded uses of a machine, invalid lines, and whether the file is readable."""
    found, problems = logs.read_uses(flow / logs.USES)
    is_readable = all(problem.line is not None for problem in problems)
    uses: Uses = {}
    for name, day, n in found:
        key = (whole_id(name), day)
        if not logs.is_forgotten(key[0], forgotten):
            uses[key] = max(n, uses.get(key, 0))
    return uses, problems, is_readable


def render(uses: Uses) -> bytes:
    r"""Serialise folded uses.

    >>> render({("mara", date(2026, 2, 24)): 2})
    b'{"id": "mara", "day": "2026-02-24", "n": 2}\n'
    """
    lines = [logs.render(logs.Use(name, str(day), n)) for (name, day), n in sorted(uses.items())]
    return b"".join(line + b"\n" for line in lines)


def plan(store: Store, folded: FoldedLog) -> list[runs.Write]:
    """Writes that save the uses; none if nothing is new."""
    if not folded.uses or not folded.is_readable:
        return []
    path = store.flow / logs.USES
    return runs.put_changed(path, render(folded.uses), atomic.digest_of(path))


def rotate(store: Store, folded: FoldedLog, today: date) -> None:
    """Delete the older log if folded and old, and rename the current one; the caller holds the lock.

    The activation log is not part of a run: recalls cannot be undone.
    """
    first, old = today - FEEDBACK_PERIOD, store.flow / OLD_LOG
    if old.exists() and folded.is_covered and all(day < first for day in folded.logged[OLD_LOG]):
        atomic.remove(old)
    if any(day < first for day in folded.logged[LOG]) and not old.exists():
        atomic.move(store.flow / LOG, OLD_LOG)


_Recall = tuple[date, tuple[str, ...]]


def _recalls(path: Path, forgotten: frozenset[str]) -> tuple[list[_Recall], list[LineProblem]]:
    """UTC day and returned ids, nodes included, of each recall; and invalid lines."""
    found, problems = logs.rows(path)
    recalls = []
    for number, row in found:
        try:
            line = logs.parse(logs.Activation, row)
            day = day_of(line.at, UTC)
        except (KeyError, TypeError):
            day = None
        if day is None:
            problems.append(LineProblem(path, number, "tells of no recall"))
            continue
        ids = dict.fromkeys(whole_id(str(each)) for each in (*line.ids, *line.concepts))
        recalls.append((day, tuple(i for i in ids if not logs.is_forgotten(i, forgotten))))
    return recalls, problems
