"""The receipt of a forget: what was removed, what stayed and why, what clsm cannot reach."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from shlex import quote

from clsm_cli.forgetting.references import Reference
from clsm_cli.forgetting.run_reversal import UndoableRun
from clsm_cli.forgetting.selection import Selection, StoreContents
from clsm_cli.model.codec import Record
from clsm_cli.model.graph import Edge, Node, Statement
from clsm_cli.startup.records import NamedTuple
from clsm_cli.store import git
from clsm_cli.store.index.derived import EPISODE_EDGES
from clsm_cli.store.layout import Store

MASS_LOSS = 0.2  # share of all turns above which a removal needs confirmation
MASS_LOSS_TURNS = 20  # number of turns that never needs confirmation


class Purged(NamedTuple):
    """What a purge removed, by id."""

    episodes: set[str]
    statements: set[str]
    again: frozenset[str]  # episodes to consolidate again
    forgotten: frozenset[str]  # all ids with a new tombstone
    remade: dict[str, str]  # episode that lost turns → its replacement
    texts: tuple[str, ...]
    names: frozenset[str]  # of inbox files of fully removed conversations


class RemovedItem(NamedTuple):
    """A removed turn, block, statement, gist, concept, connection or episode."""

    id: str
    kind: str
    text: str
    time: str | None = None


class KeptItem(NamedTuple):
    """A related item that stays."""

    id: str
    kind: str
    text: str
    why: str


class Receipt(NamedTuple):
    """What a forget did or would do."""

    gone: tuple[RemovedItem, ...]  # turns first, then what depended on them alone
    stays: tuple[KeptItem, ...]
    remade: dict[str, str]  # episodes that lost some turns: old id → new id
    turns: int  # removed turns, of ``all_turns``
    all_turns: int
    files: tuple[str, ...]  # changed or removed files of the store
    beyond: tuple[ExternalCopy, ...]
    refers: tuple[Reference, ...] = ()
    undoable: tuple[UndoableRun, ...] = ()  # runs of this machine that become final
    warnings: tuple[str, ...] = ()
    run: str | None = None

    @property
    def is_mass_loss(self) -> bool:
        """Whether so many turns are removed that the user should confirm."""
        return self.turns > max(MASS_LOSS_TURNS, MASS_LOSS * self.all_turns)


def list_removed(
    before: StoreContents, after: dict[str, Record], chosen: Selection, purged: Purged
) -> tuple[RemovedItem, ...]:
    """Removed items: turns, episodes, statements, nodes, edges."""
    stored = sorted(
        (before.turns[key] for key in chosen.turns),
        key=lambda each: (each.turn.time or each.recorded_at, each.turn.key),
    )
    turns = [RemovedItem(t.turn.key, t.kind, t.one_line, t.turn.time) for t in stored]
    found = sorted(turns, key=lambda each: each.kind, reverse=True)
    for i in sorted(purged.episodes - purged.remade.keys()):
        title = str(getattr(before.records.get(i), "title", ""))
        found.append(RemovedItem(i, "episode", title))
    records = [before.records[i] for i in sorted(before.records.keys() - after.keys())]
    known = [before.statements.get(r.id, r) for r in records if isinstance(r, Statement)]
    rows = [
        RemovedItem(r.id, "gist" if r.kind == "gist" else "statement", r.text, r.valid_from)
        for r in known
    ]
    by_hand = purged.statements - before.records.keys()
    rows += [RemovedItem(i, "statement", before.statements[i].text) for i in sorted(by_hand)]
    found += sorted(rows, key=lambda each: each.kind, reverse=True)
    found += [RemovedItem(r.id, "concept", r.label or r.id) for r in records if isinstance(r, Node)]
    found += [
        RemovedItem(r.id, "connection", f"{r.source} – {r.target} ({r.type})")
        for r in records
        if isinstance(r, Edge) and r.type not in EPISODE_EDGES
    ]
    return tuple(found)


def list_kept(
    before: StoreContents, after: dict[str, Record], chosen: Selection, purged: Purged
) -> tuple[KeptItem, ...]:
    """Items related to removed turns that stay, each with the reason."""
    found: list[KeptItem] = []
    for row in before.statements.values():
        shared = chosen.turns.intersection(row.sources)
        if shared and row.id in after and row.kind != "gist":
            others = len(row.sources) - len(shared)
            found.append(KeptItem(row.id, "statement", row.text, f"rests on {_other(others)} too"))
        elif row.supersedes in purged.statements and row.id in after and not row.sources:
            found.append(KeptItem(row.id, "statement", row.text, "a person wrote it"))
    for node, keys in sorted(before.mentions.items()):
        record = after.get(node)
        if keys & chosen.turns and isinstance(record, Node):
            others = len(keys - chosen.turns)
            why = f"{_other(others)} mention{'s' if others == 1 else ''} it"
            found.append(KeptItem(node, "concept", record.label or node, why))
    return tuple(found)


def _other(count: int) -> str:
    return f"{count} other turn{'' if count == 1 else 's'}"


MAX_SOURCE_BYTES = 64 << 20  # maximum size of a source to search, in bytes
MIN_LINE = 8  # minimum length of a line that identifies its text


class ExternalCopy(NamedTuple):
    """A place that still has the content, and the exact commands to remove it, if any."""

    what: str
    why: str
    commands: tuple[str, ...] = ()


_OTHER_COPIES = ExternalCopy(
    "backups and other clones",
    "clsm does not know them; a clone that is merged forgets too, a backup has to be deleted;"
    " a flash card may keep deleted blocks until they are overwritten",
)


def copies_of(store: Store, files: Sequence[str]) -> Iterator[ExternalCopy]:
    """Copies of some files of the store that have, or may have, what was removed from them."""
    yield from _history(store, files)
    yield _OTHER_COPIES


def sources_with(memory: StoreContents, chosen: Selection) -> Iterator[ExternalCopy]:
    """Ingested files on this machine that still contain the text."""
    texts: dict[str, set[str]] = {}
    for key in chosen.turns:
        stored = memory.turns[key]
        origin = stored.session if stored.document is not None else stored.turn.path
        texts.setdefault(os.path.expanduser(origin), set()).add(stored.turn.text)
    for origin in sorted(texts):
        lines = _lines_with(Path(origin), texts[origin])
        if lines:
            where = f"{origin}, line {lines[0]}"
            more = f" and {len(lines) - 1} more" if len(lines) > 1 else ""
            why = f"the source still says it{more}; clsm never changes a source, and will not take it in again"
            yield ExternalCopy(where, why)


def _lines_with(path: Path, texts: set[str]) -> list[int]:
    """Numbers of the lines that contain the first line of one of the texts."""
    try:
        if not path.is_file() or path.stat().st_size > MAX_SOURCE_BYTES:
            return []
        lines = path.read_text("utf-8", "replace").split("\n")
    except OSError:
        return []
    firsts = {text.split("\n", 1)[0].strip() for text in texts}
    firsts = {first for first in firsts if len(first) >= MIN_LINE}
    return [n for n, line in enumerate(lines, 1) if any(first in line for first in firsts)]


def _history(store: Store, files: Sequence[str]) -> Iterator[ExternalCopy]:
    """The store's git history and its remotes, if a commit has one of the files.

    The commands begin a new history; not where the repository is larger than the store.
    """
    tree = git.work_tree(store.root)
    count = 0 if tree is None else len(git.commits(tree, files))
    if tree is None or not count:
        return
    top = quote(str(tree.top))
    begin = (f"rm -rf {top}/.git", f"clsm init --git {top}")
    anew = (*begin, f"git -C {top} add -A", f"git -C {top} commit -m Memory")
    commits = "1 commit holds" if count == 1 else f"{count} commits hold"
    why = f"{commits} these files as they were; only a new history is without that"
    yield ExternalCopy(f"{tree.top}/.git", why, () if tree.prefix else anew)
    for name, url in git.remotes(tree).items():
        why = "what was pushed there is still there; replace it before the next fetch, once the"
        why += " history here is clean. A server keeps what nothing names until it collects garbage"
        scheme, mark, rest = url.partition("://")
        plain = f"{scheme}{mark}{rest.rpartition('@')[2]}" if mark else url  # no password
        push = f"git -C {top} push --force {quote(plain)} HEAD:{quote(git.head(tree) or 'main')}"
        yield ExternalCopy(f"{name} ({plain})", why, (push,))
