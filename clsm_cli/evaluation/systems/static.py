"""What an agent without a memory has before it: the files it loads at every start, or the talk."""

from __future__ import annotations

import re
from itertools import groupby
from typing import TYPE_CHECKING

from clsm_cli.config import MAX_FILE
from clsm_cli.evaluation.dataset import Chat, Folders
from clsm_cli.evaluation.stores import files_in
from clsm_cli.evaluation.systems.baseline import Ranked
from clsm_cli.store import atomic
from clsm_cli.store.index.opening import open_index
from clsm_cli.text.tokens import count_tokens

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from clsm_cli.evaluation.dataset import Case
    from clsm_cli.evaluation.systems.baseline import Rank
    from clsm_cli.evaluation.systems.pool import Pool
    from clsm_cli.store.index.passages import Passage
    from clsm_cli.store.layout import Store

ALWAYS = ("SOUL.md", "USER.md", "MEMORY.md")
"""Files that an OpenClaw agent loads at every start, in this order."""
DAYS = 2
"""Daily notes that it loads besides, the last ones."""
_DAILY = re.compile(r"(?:.*/)?(\d{4}-\d\d-\d\d)\.md\Z", re.DOTALL)


def loaded(paths: Iterable[str]) -> list[str]:
    """Those of some files that an agent loads at every start, in the order in which it does.

    >>> loaded(["m/2026-02-01.md", "USER.md", "m/2026-02-03.md", "m/2026-02-02.md", "x/SOUL.md"])
    ['x/SOUL.md', 'USER.md', 'm/2026-02-02.md', 'm/2026-02-03.md']
    """
    known = sorted(set(paths))
    always = [path for name in ALWAYS for path in known if path.split("/")[-1] == name]
    daily = sorted((match[1], path) for path in known if (match := _DAILY.match(path)))
    return [*always, *(path for _, path in daily[-DAYS:])]


def files(root: Path, folders: Sequence[str]) -> list[Path]:
    """The files of a labelled memory that an agent loads at every start; see ``loaded``."""
    found = {each.relative_to(root).as_posix(): each for each in files_in(root, folders)}
    return [found[path] for path in loaded(found)]


def whole(case: Case, store: Store) -> int:
    """Tokens of what an agent without a memory would load.

    Of a workspace its static files, or everything where there are none; of a conversation all of
    it; of a store that was there already all that was said or written in it.

    Args:
        case: What was ingested.
        store: As it was ingested.

    Raises:
        DiskError: A file cannot be read.
    """
    if isinstance(case.source, Chat):
        return sum(count_tokens(turn.text) for turn in case.source.turns)
    if isinstance(case.source, Folders):
        found = files(case.source.root, case.source.names)
        if found:
            contents = (atomic.read(file, MAX_FILE) or b"" for file in found)
            return sum(count_tokens(data.decode("utf-8", "replace")) for data in contents)
    with open_index(store, None) as opened:
        passages = opened.index.passages(opened.index.current_rows()).values()
        return sum(count_tokens(each.text) for each in passages if each.kind == "passage")


def static(pool: Pool) -> Rank:
    """The files that are loaded at every start, whatever is asked, from their beginning.

    Without any, as in a conversation: the last session from its beginning, then the one before.
    """
    listed: dict[str, list[int]] = {}
    for place, passage in enumerate(pool.passages):
        listed.setdefault(passage.path, []).append(place)
    places = [place for path in loaded(listed) for place in listed[path]]
    order = Ranked(places or _sessions(pool.passages))
    return lambda _text, _at: order


def recency(pool: Pool) -> Rank:
    """The newest passages first, whatever is asked; of one time the last, undated ones at the end."""
    times = [(passage.time or "", place) for place, passage in enumerate(pool.passages)]
    order = Ranked([place for _, place in sorted(times, reverse=True)])
    return lambda _text, _at: order


def _sessions(passages: Sequence[Passage]) -> list[int]:
    """Places by session, the last first, each in the order in which it was said."""
    times = [(passage.time or "", place) for place, passage in enumerate(passages)]
    said = [place for _, place in sorted(times)]
    runs = [list(run) for _, run in groupby(said, key=lambda place: passages[place].session)]
    return [place for run in reversed(runs) for place in run]
