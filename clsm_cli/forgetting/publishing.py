"""Whether another clone may have what a run wrote: then it cannot be made as if it had never been.

What a remote has comes back with the next merge, and a record with a lower revision loses there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from clsm_cli.forgetting.restoring import new_lines
from clsm_cli.store import git, ledger

if TYPE_CHECKING:
    from clsm_cli.forgetting.restoring import Restored
    from clsm_cli.store.layout import Store


def ref_with(store: Store, entry: ledger.Entry, files: Restored) -> str | None:
    """A remote-tracking branch that has something of what a run wrote; None where none is known.

    Args:
        store: Where.
        entry: The run.
        files: Its files as they are, which is as it left them, and as they were before.
    """
    tree = git.work_tree(store.root)
    refs = git.remote_branches(tree) if tree is not None else ()
    if tree is None or not refs or _is_back(store, entry):
        return None
    wrote = {path: frozenset(_telling(path, files)) for path in files.now}
    found = git.blobs(tree, [path for path in sorted(wrote) if wrote[path]], refs)
    held = {oid: set(data.split(b"\n")) for oid, data in git.contents(tree, (b.oid for b in found))}
    for blob in found:
        if not wrote[blob.path].isdisjoint(held.get(blob.oid, ())):
            return blob.ref
    return None


def _telling(path: str, files: Restored) -> list[bytes]:
    """Lines that the run added, of those that no other run would write."""
    lines = new_lines(files.now[path], files.before[path])
    if path.endswith(".yaml"):
        return [line for line in lines if not line.startswith(b"#")]
    if path.endswith(".md") and not path.startswith("flow/"):
        return [line for line in lines if b" ^" in line]
    return list(lines)


def _is_back(store: Store, entry: ledger.Entry) -> bool:
    """Whether a run only brought back bytes from before another: what it wrote is nothing new.

    A redo then goes on from where everybody is, and its records have the higher revisions.
    """
    known = {each.id: each for each in ledger.entries(store.flow)}
    return entry.of in known and is_exact_undo(entry, known[entry.of])


def is_exact_undo(undo: ledger.Entry, of: ledger.Entry) -> bool:
    """Whether an undo made every file, logs aside, what it was before the run.

    What it left alone was as before already.
    """
    first = {c.path: c.before for step in reversed(of.steps) for c in reversed(step.changes)}
    after = {c.path: c.after for step in undo.steps for c in step.changes}
    return all(first.get(path) == sha for path, sha in after.items() if not path.endswith(".jsonl"))
