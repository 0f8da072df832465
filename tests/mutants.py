"""Forty small sabotages of clsm, each with the tests that must notice: ``cd tests && python -m mutants``.

A suite that became faster or shorter may have lost what it protected. Here a line is broken in a
copy of the program, and the nearest tests are run on it: they must fail. Names choose some of them,
``--list`` shows them all. Ends with 1 when one survives, or its line is not there any more.

Each test that is named runs clsm in its own process or in forks of one: a program that is found by
its name would be the installed one.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
_COPIED = ("clsm_cli", "tests", "fixtures", "docs", "man", "scripts", "README.md", "pyproject.toml")
_FAILED = 1
"""What pytest ends with when tests failed; any other code tells nothing of the mutant."""


class Mutant(NamedTuple):
    """A sabotage.

    Attributes:
        file: Below ``clsm_cli``.
        old: A text that stands there once, and ``new``: what takes its place.
        tests: What is given to pytest, below ``tests``; quick ones that shrink no example.
    """

    name: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...]


MUTANTS = (
    # What was acknowledged survives.
    Mutant(
        "a new name is not synced",
        "store/atomic.py",
        "            raise\n        if durable:\n            sync_folder(path.parent)",
        "            raise",
        ("store/test_atomic.py",),
    ),
    Mutant(
        "a file is not synced",
        "store/atomic.py",
        "os.fsync(file.fileno())",
        "pass",
        ("store/test_atomic.py",),
    ),
    Mutant(
        "a line is not synced",
        "store/atomic.py",
        "                os.fsync(fd)\n            elif",
        "                pass\n            elif",
        ("store/test_atomic.py",),
    ),
    Mutant(
        "a line goes on behind a torn one",
        "store/atomic.py",
        'line = b"\\n" + record + b"\\n"',
        'line = record + b"\\n"',
        ("store/test_atomic.py",),
    ),
    Mutant(
        "half a line counts as written",
        "store/atomic.py",
        "if os.write(fd, line) != len(line):",
        "if os.write(fd, line) < 0:",
        ("store/test_atomic.py",),
    ),
    Mutant(
        "a failed write leaves its temporary file",
        "store/atomic.py",
        "                os.unlink(temp)\n            raise",
        "                pass\n            raise",
        ("store/test_atomic.py",),
    ),
    Mutant(
        "a file that changed meanwhile is overwritten",
        "store/atomic.py",
        'if read_as != "" and digest_of(path) != read_as:',
        "if False:",
        ("store/test_atomic.py",),
    ),
    Mutant(
        "links are followed",
        "store/atomic.py",
        "flags |= os.O_NOFOLLOW | ",
        "flags |= ",
        ("store/test_links.py", "store/test_atomic.py"),
    ),
    # One writer, runs that are whole, and undo.
    Mutant(
        "the lock of a replaced folder counts",
        "store/lock.py",
        "                if _is_there(root, fd):",
        "                if True:",
        ("store/test_lock.py",),
    ),
    Mutant(
        "a replaced folder is written to",
        "store/lock.py",
        "is_there = fd is None or _is_there(root, fd)",
        "is_there = True",
        ("store/test_lock.py",),
    ),
    Mutant(
        "nothing is kept for an undo",
        "store/runs.py",
        "            ledger.save(store, line, [_content(write) for write in writes])",
        "            pass",
        ("store/test_runs.py",),
    ),
    Mutant(
        "a run that was begun is not ended",
        "store/runs.py",
        "            atomic.put(_redo(store), _begun(line, changes, writes))",
        "            pass",
        ("store/test_runs.py",),
    ),
    Mutant(
        "a stale file is found out in the middle of a run",
        "store/runs.py",
        "    _refuse_stale(writes, changes)\n    line",
        "    line",
        ("store/test_runs.py",),
    ),
    Mutant(
        "a run writes through links",
        "store/runs.py",
        "return not any((root / parent).is_symlink() for parent in path.parents[:-1])",
        "return True",
        ("store/test_runs.py",),
    ),
    Mutant(
        "a file changed by hand is overwritten by the rest of a run",
        "store/runs.py",
        "    if found not in (change.before, change.after):\n        return False\n",
        "",
        ("store/test_runs.py",),
    ),
    Mutant(
        "a forget can be undone",
        "forgetting/run_reversal.py",
        "    if entry.is_final:\n        reason",
        "    if False:\n        reason",
        ("forgetting/test_run_reversal.py",),
    ),
    # Two machines.
    Mutant(
        "the last line wins",
        "model/join.py",
        "winner = a if _order(a) >= _order(b) else b",
        "winner = b",
        ("model/test_join.py::test_the_higher_revision_decides_and_devices_break_ties",),
    ),
    Mutant(
        "sets of two machines are not united",
        "model/join.py",
        "return tuple(sorted({*a, *b}))",
        "return tuple(sorted(a))",
        ("../clsm_cli/model/join.py",),
    ),
    Mutant(
        "what a person pinned is lost in silence",
        "model/join.py",
        "if v.pinned and not _is_known(v, top)",
        "if False and not _is_known(v, top)",
        ("model/test_join.py::test_a_pinned_version_that_lost_is_reported",),
    ),
    # Forgotten is forgotten.
    Mutant(
        "tombstones of records do not count",
        "model/tombstones.py",
        "    if tombstone_hash(record.id) in forgotten:\n        return None\n",
        "",
        ("store/test_tombstones_read.py",),
    ),
    Mutant(
        "a forgotten turn is captured again",
        "ingestion/capture.py",
        "        if is_forgotten(turn.key, self.sessions.forgotten):",
        "        if False:",
        ("ingestion/test_forgotten.py",),
    ),
    Mutant(
        "free pages keep what was forgotten",
        "store/index/maintenance.py",
        "        database.discard(store.derived)\n",
        "",
        ("store/index/test_compacted.py",),
    ),
    # Much at once is asked for.
    Mutant(
        "a night may take every statement",
        "consolidation/write_plan.py",
        "            if count > min(max(FEW, share * total), most.get(what, count)):",
        '            if what != "statements" and count > max(FEW, share * total):',
        ("consolidation/test_consolidation_run.py::test_much_is_not_withdrawn_at_once",),
    ),
    Mutant(
        "a night may take every node and edge",
        "consolidation/write_plan.py",
        "            if count > min(max(FEW, share * total), most.get(what, count)):",
        '            if what == "statements" and count > max(FEW, share * total):',
        ("consolidation/test_consolidation_run.py::test_nor_are_nodes_and_edges",),
    ),
    Mutant(
        "a forget may take half",
        "forgetting/receipt.py",
        "MASS_LOSS = 0.2\n",
        "MASS_LOSS = 0.5\n",
        ("commands/test_forget_command.py",),
    ),
    Mutant(
        "a folder that is not mounted withdraws its statements",
        "store/settle.py",
        "        if len(edits.withdrawn) > min(MOST, max(FEW, MASS_LOSS * current)):",
        "        if False:",
        ("store/test_settle.py",),
    ),
    # What fades.
    Mutant(
        "what was pinned fades",
        "forgetting/fading.py",
        "if not trace.kept and trace.since <= today]",
        "if trace.since <= today]",
        ("forgetting/test_fading.py", "forgetting/test_archiving.py"),
    ),
    Mutant(
        "a stream may lose all that it held",
        "forgetting/fading.py",
        "    chosen = sum(tokens <= most * total for tokens in sums)",
        "    chosen = len(sums)",
        ("forgetting/test_fading.py", "forgetting/test_archiving.py"),
    ),
    Mutant(
        "the limit of archiving moves",
        "scoring/retention.py",
        "ARCHIVE = 0.10\n",
        "ARCHIVE = 0.12\n",
        ("scoring/test_retention.py", "forgetting/test_fading.py"),
    ),
    # Answers.
    Mutant(
        "few items are packed exactly",
        "scoring/packing.py",
        "MOST_EXACT = 200\n",
        "MOST_EXACT = 12\n",
        ("scoring/test_packing.py",),
    ),
    Mutant(
        "the end of an interval belongs to it",
        "model/clocks.py",
        "theirs[0] >= ours[0]",
        "theirs[0] > ours[0]",
        ("model/test_clocks.py",),
    ),
    Mutant(
        "a turn that is known is taken in again",
        "ingestion/capture.py",
        "        if turn.key in known.keys:\n            self.tally",
        "        if False:\n            self.tally",
        ("ingestion/test_capture.py",),
    ),
    Mutant(
        "a recall is not written down",
        "commands/recall_command.py",
        "    if options.touch and found.answered:",
        "    if False:",
        ("commands/test_feedback_command.py",),
    ),
    # Strangers.
    Mutant(
        "a forged block counts as clsm's own",
        "text/fence_lines.py",
        "return fence is not None and compare_digest(",
        "return fence is not None or compare_digest(",
        ("text/test_fence_lines.py",),
    ),
    Mutant(
        "text that runs backwards reaches a terminal",
        "text/terminal.py",
        "(0x2028, 0x202E)",
        "(0x2028, 0x2029)",
        ("text/test_terminal.py",),
    ),
    Mutant(
        "a store names an endpoint",
        "store/layout.py",
        "misplaced = of_machine(changes)",
        "misplaced = ()",
        ("commands/test_machine_settings.py",),
    ),
    Mutant(
        "others may write the machine's settings",
        "commands/machine_settings.py",
        "    if device.others_write(found):",
        "    if False:",
        ("commands/test_machine_settings.py",),
    ),
    Mutant(
        "a repository names a program",
        "store/git.py",
        '    "core.fsmonitor=false",\n',
        "",
        ("store/test_git.py", "store/test_git_planted.py"),
    ),
    # Backups.
    Mutant(
        "a file of a backup may be another",
        "store/backups.py",
        "        if digest.hexdigest() != entry.sha256:\n            raise self._damaged",
        "        if False:\n            raise self._damaged",
        ("store/test_backups.py",),
    ),
    Mutant(
        "a restore writes over a memory",
        "store/restoring.py",
        "        if os.path.lexists(root) and (not root.is_dir() or os.listdir(root)):",
        "        if False:",
        ("store/test_backups.py",),
    ),
)


def _fate(mutant: Mutant, folder: Path) -> str:
    """What became of a mutant in a copy of the program: "killed", or what is wrong."""
    path = folder / "clsm_cli" / mutant.file
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    if text.count(mutant.old) != 1:
        return f"its line stands {text.count(mutant.old)} times in {mutant.file}"
    path.write_text(text.replace(mutant.old, mutant.new), encoding="utf-8")
    try:
        code = _tested(folder, mutant.tests)
    finally:
        path.write_text(text, encoding="utf-8")
    if code == _FAILED:
        return "killed"
    return "SURVIVED" if not code else f"pytest ended with {code}"


def _tested(folder: Path, tests: Iterable[str]) -> int:
    """How pytest ends in a copy of the program."""
    words = ("-q", "-x", "-p", "no:cacheprovider", *(f"tests/{each}" for each in tests))
    return subprocess.run(
        [sys.executable, "-m", "pytest", *words],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        check=False,
    ).returncode


def main() -> int:
    """Try the mutants that were asked for; 1 when one of them was not killed."""
    parser = argparse.ArgumentParser(prog="python -m mutants", description=__doc__)
    parser.add_argument("name", nargs="*", help="part of the names of those to try; else all")
    parser.add_argument("--list", action="store_true", help="only show them")
    given = parser.parse_args()
    chosen = [m for m in MUTANTS if not given.name or any(part in m.name for part in given.name)]
    alive = 0
    with tempfile.TemporaryDirectory(prefix="mutants-") as scratch:
        for name in _COPIED if not given.list else ():
            copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
            copy(ROOT / name, Path(scratch) / name)
        tests = dict.fromkeys(each for mutant in chosen for each in mutant.tests)
        if not given.list and _tested(Path(scratch), tests):
            sys.stderr.write("without a mutant the tests must pass, and they do not\n")
            return 1
        for mutant in chosen:
            began = time.monotonic()
            fate = mutant.file if given.list else _fate(mutant, Path(scratch))
            alive += fate != "killed" and not given.list
            sys.stdout.write(f"{mutant.name}: {fate} ({time.monotonic() - began:.0f} s)\n")
            sys.stdout.flush()
    return int(alive > 0)


if __name__ == "__main__":
    raise SystemExit(main())
