"""Each check finds what it is for, on a store that has a file of every kind."""

import ast
import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from faults.stores.worn import AROUND, largest
from tables import table

from clsm_cli.health import diagnosis, surroundings
from clsm_cli.health.findings import CODES, Finding
from clsm_cli.health.store_snapshot import CheckContext
from clsm_cli.model.codec import Record, encode
from clsm_cli.model.episodes import Block, Document
from clsm_cli.model.graph import Edge, Statement
from clsm_cli.store.jsonlines import dump
from clsm_cli.store.layout import Store


def look(store: Store, around: CheckContext = AROUND) -> list[Finding]:
    return diagnosis.diagnose(store, around)


def told(store: Store, code: str) -> Finding:
    found = {each.code: each for each in reversed(look(store))}
    assert code in found
    return found[code]


def test_a_used_store_is_well(worn_store: Store) -> None:
    found = look(worn_store)
    assert [each for each in found if each.severity != "note"] == []
    assert {each.code for each in found} <= {"index-stale"}


Damage = Callable[[Store], None]
EPISODE, INBOX, SHARD = "flow/*/episodes/*/*/*.md", "flow/*/inbox/*.jsonl", "flow/*/graph/*.yaml"
INDEX = ".clsm/index"
TOPIC, TOPIC_SHARD = "identity/*.md", "identity/graph/*.yaml"


def edit(pattern: str, change: Callable[[bytes], bytes]) -> Damage:
    """Damage to the content of the largest file with such a path; a new one where there is none."""

    def damage(store: Store) -> None:
        found = list(store.root.glob(pattern))
        path = largest(store, pattern) if found else store.root / pattern
        before = path.read_bytes() if found else b""
        path.parent.mkdir(mode=0o700, exist_ok=True)
        path.write_bytes(change(before))
        assert path.read_bytes() != before

    return damage


def add(record: Record) -> Damage:
    """A record that somebody wrote into a shard."""
    return edit(SHARD, lambda data: data + f"- {dump(encode(record))}\n".encode())


def swap(pattern: str, old: str, new: str) -> Damage:
    return edit(pattern, lambda data: data.replace(old.encode(), new.encode(), 1))


def twice(data: bytes) -> bytes:
    return data + data.splitlines()[-1] + b"\n"


def turned(data: bytes) -> bytes:
    middle = len(data) // 2
    return data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :]


def headless(data: bytes) -> bytes:
    place = data.rindex(b"\n### ") + 1
    return data[:place] + data[data.index(b"\n", place) + 1 :]


def _link(store: Store) -> None:
    path = largest(store, TOPIC)
    path.rename(store.root.parent / "people.md")
    path.symlink_to(store.root.parent / "people.md")


def _mention(store: Store) -> None:
    path = next(p for p in store.graph("flow").iterdir() if b'"mentions"' in p.read_bytes())
    new = '"mentions": {"aa": ["0123456789ab"], '
    path.write_text(path.read_text().replace('"mentions": {', new))


def _changed_shards(store: Store) -> None:
    for path in store.root.glob("*/graph/*.yaml"):
        path.write_text(path.read_text().replace('"rev": [', '"rev": [1', 1))


def _silent(store: Store) -> None:
    path = largest(store, EPISODE)
    stat = path.stat()
    path.write_text(path.read_text().replace("Haarlem", "Hearlem"))
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))


REV, GONE = (1, "pi"), "0123456789ab"
EDGE = Edge(id="g-7d2f1f32a0d6", rev=REV, target="gone")
SOURCE = Statement(id="f-0000000000aa", rev=REV, text="So.", stream="flow", sources=(GONE,))
BLOCK = Block(key=GONE, line_start=1, line_end=1)
DOCUMENT = Document(id="d-0000000000aa", rev=REV, origin="~/x.md", blocks=(BLOCK,))
DAMAGE: dict[str, tuple[str, Damage]] = {
    "link": ("not-a-file", _link),
    "pipe": ("not-a-file", lambda store: os.mkfifo(store.inbox / "pipe.jsonl")),
    "sparse": ("too-large", lambda store: os.truncate(largest(store, TOPIC), 9 << 20)),
    "temp": ("left-over", edit("flow/.tmp-runs.jsonl", lambda _: b"half")),
    "twice": ("not-normal", edit(TOPIC_SHARD, twice)),
    "typed": ("unreadable-line", swap(TOPIC_SHARD, '"sources": [', '"sources": ["x", 7, ')),
    "torn": ("torn-line", edit("flow/*/review.jsonl", lambda d: d + b'\n{"id": "v-1", "at')),
    "no run": (
        "unreadable-line",
        edit("flow/*/runs.jsonl", lambda data: b'{"command": "note"}\n' + data),
    ),
    "no time": ("unreadable-line", swap("flow/*/uses.jsonl", '"day": "2026', '"day": "2O26')),
    "cut log": ("shorter", edit(INBOX, lambda d: d.rpartition(b'\n{"key"')[0] + b"\n")),
    "edited": ("edited-turn", swap(EPISODE, "boathouse green", "boathouse blue")),
    "headless": ("turn-mismatch", edit(EPISODE, headless)),
    "cut topic": ("cut-short", edit(TOPIC, lambda data: data[:-8])),
    "open head": ("unreadable-head", swap(TOPIC, 'title: "', 'title: ["')),
    "edge": ("dangling", add(EDGE)),
    "source": ("dangling", add(SOURCE)),
    "block": ("dangling", add(DOCUMENT)),
    "mention": ("dangling", _mention),
    "gone topic": ("missing-file", lambda store: largest(store, TOPIC).unlink()),
    "changed shards": ("changed-outside", _changed_shards),
    "preimage": ("preimage", edit(".clsm/runs/*/*/0*", lambda data: data[:-1])),
    "redo": ("begun-run", edit(".clsm/redo", lambda _: b"{")),
    "old index": ("index-damaged", swap(f"{INDEX}/index.sqlite", "format 3", "format 4")),
    "short vectors": ("vectors-damaged", edit(f"{INDEX}/sentences.q4", lambda d: d[:10])),
    "turned sentence": ("vectors-damaged", edit(f"{INDEX}/sentences.q4", turned)),
    "turned token": ("vectors-damaged", edit(f"{INDEX}/tokens.q2", turned)),
    "silent": ("index-differs", _silent),
}


@pytest.mark.parametrize(("code", "damage"), DAMAGE.values(), ids=DAMAGE)
def test_it_is_found(code: str, damage: Damage, worn_store: Store) -> None:
    damage(worn_store)
    found = told(worn_store, code)
    assert found.severity == CODES[code].severity
    assert code != "cut-short" or "f-" in found.reason  # what is cut off is named


def test_a_file_that_an_interrupted_run_may_still_write_needs_no_backup(worn_store: Store) -> None:
    largest(worn_store, TOPIC).unlink()
    assert "backup" in told(worn_store, "missing-file").next_step
    edit(".clsm/redo", lambda _: b"{")(worn_store)
    assert told(worn_store, "missing-file").next_step.startswith("run first: clsm doctor --fix")


def test_variables_that_say_what_cannot_be_are_told(worn_store: Store) -> None:
    variables = {"CLSM_DEVICE": "pi", "CLSM_STROE": "x", "CLSM_MODEL_DIR": "/nowhere"}
    reasons = [
        each.reason
        for each in look(worn_store, AROUND._replace(variables=variables))
        if each.code == "environment"
    ]
    assert reasons == [
        "CLSM_MODEL_DIR names no folder: /nowhere",
        "CLSM_STROE is none that clsm reads",
    ]


@pytest.mark.parametrize(("mounts", "kind"), table(__file__, "mounts"))
def test_the_longest_mount_counts(mounts: str, kind: str) -> None:
    assert surroundings.file_system_type("/srv/my memory", mounts) == kind


def test_one_check_that_fails_hides_no_other(worn_store: Store) -> None:
    def broken(*_: object) -> list[Finding]:
        raise OSError(5, "Input/output error")

    (worn_store.root / "x").touch()
    checks = {**diagnosis.CHECKS, "modes": broken}
    codes = {each.code for each in diagnosis.diagnose(worn_store, AROUND, checks)}
    assert {"check-failed", "unknown-file"} <= codes


ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "doctor.md").read_text(encoding="utf-8")
ROW = re.compile(r"^\| `([a-z-]+)` \| (.*) \|$", re.MULTILINE)


def test_the_page_has_every_code_as_it_is() -> None:
    rows = dict(ROW.findall(PAGE))
    for name, code in CODES.items():
        cells = (code.severity, code.meaning, code.fix or "–", code.next_step or "–")
        assert rows[name] == " | ".join(cells)


def test_every_code_is_used_and_every_finding_has_one() -> None:
    used: set[str] = set()
    for path in sorted((ROOT / "clsm_cli" / "health").glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                used |= {node.value} & CODES.keys() if path.name != "codes.py" else set()
    assert used == set(CODES)


def test_what_only_a_person_can_mend_says_how() -> None:
    assert [name for name, code in CODES.items() if not (code.fix or code.next_step)] == []
