"""Each check finds what it is for, on a store that has a file of every kind."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

import pytest
from faults.stores import worn

from clsm_cli.health import diagnosis, surroundings
from clsm_cli.health.diagnosis import CheckContext
from clsm_cli.health.findings import Finding
from clsm_cli.store.index import prepared_briefing
from clsm_cli.store.layout import Store

NOW = datetime.fromisoformat(worn.NOW)
AROUND = CheckContext(NOW, {"CLSM_DEVICE": "pi"}, has_model=False)


def look(store: Store, around: CheckContext = AROUND) -> list[Finding]:
    return diagnosis.diagnose(store, around)


def told(store: Store, code: str) -> Finding:
    findings = [each for each in look(store) if each.code == code]
    assert findings, f"no {code} among {[each.code for each in look(store)]}"
    return findings[0]


def largest(store: Store, pattern: str) -> Path:
    return max(store.root.glob(pattern), key=lambda path: path.stat().st_size)


def test_a_used_store_is_well(worn_store: Store) -> None:
    assert [each for each in look(worn_store) if each.severity != "note"] == []
    assert {each.code for each in look(worn_store)} <= {"consolidated", "index-stale"}


def _link(store: Store) -> None:
    path = largest(store, "identity/*.md")
    path.rename(store.root.parent / "people.md")
    path.symlink_to(store.root.parent / "people.md")


def _pipe(store: Store) -> None:
    os.mkfifo(store.inbox / "pipe.jsonl")


def _sparse(store: Store) -> None:
    os.truncate(largest(store, "identity/*.md"), 9 << 20)


def _temp(store: Store) -> None:
    (store.flow / ".tmp-runs.jsonl").write_text("half")


def _twice(store: Store) -> None:
    path = largest(store, "identity/graph/*.yaml")
    path.write_text(path.read_text() + path.read_text().splitlines()[-1] + "\n")


def _typed(store: Store) -> None:
    path = largest(store, "identity/graph/*.yaml")
    path.write_text(path.read_text().replace('"sources": [', '"sources": ["x", 7, ', 1))


def _torn(store: Store) -> None:
    path = store.flow / "review.jsonl"
    path.write_bytes(path.read_bytes() + b'\n{"id": "v-1", "at')


def _no_run(store: Store) -> None:
    path = store.flow / "runs.jsonl"
    path.write_bytes(b'{"command": "note"}\n' + path.read_bytes())


def _no_time(store: Store) -> None:
    path = store.flow / "uses.jsonl"
    path.write_bytes(path.read_bytes().replace(b'"day": "2026', b'"day": "2O26', 1))


def _cut_log(store: Store) -> None:
    path = largest(store, "flow/*/inbox/*.jsonl")
    path.write_bytes(path.read_bytes().rpartition(b'\n{"key"')[0] + b"\n")


def _edited(store: Store) -> None:
    path = largest(store, "flow/*/episodes/*/*/*.md")
    path.write_text(path.read_text().replace("boathouse green", "boathouse blue"))


def _headless(store: Store) -> None:
    path = largest(store, "flow/*/episodes/*/*/*.md")
    text = path.read_text()
    place = text.rindex("\n### ")
    path.write_text(text[: place + 1] + text[text.index("\n", place + 1) + 1 :])


def _copied(store: Store) -> None:
    path = largest(store, "flow/*/episodes/*/*/*.md")
    other = store.root / "flow" / "attic" / path.relative_to(store.flow)
    other.parent.mkdir(parents=True)
    other.write_bytes(path.read_bytes())


def _renamed(store: Store) -> None:
    path = largest(store, "flow/*/episodes/*/*/*.md")
    path.rename(path.with_name("20260101T000000Z-e-000000000000.md"))


def _cut_topic(store: Store) -> None:
    path = largest(store, "identity/*.md")
    path.write_bytes(path.read_bytes()[:-8])


def _open_head(store: Store) -> None:
    path = largest(store, "identity/*.md")
    path.write_text(path.read_text().replace('title: "', 'title: ["', 1))


def _same_item(store: Store) -> None:
    path = largest(store, "identity/*.md")
    path.write_text(path.read_text() + path.read_text().splitlines()[-1] + "\n")


def _written(store: Store) -> None:
    path = largest(store, "identity/*.md")
    path.write_text(path.read_text() + "- Mara sings in a choir.\n")


def _edge(store: Store) -> None:
    _add(store, {"id": "g-7d2f1f32a0d6", "record": "edge", "rev": [1, "pi"], "target": "gone"})


def _source(store: Store) -> None:
    row = {"id": "f-0000000000aa", "record": "statement", "rev": [1, "pi"], "text": "So."}
    _add(store, {**row, "stream": "flow", "sources": ["0123456789ab"], "supersedes": "f-none"})


def _document(store: Store) -> None:
    row = {"id": "d-0000000000aa", "record": "document", "rev": [1, "pi"], "origin": "~/x.md"}
    _add(store, {**row, "blocks": [{"key": "0123456789ab", "lines": [1, 1]}]})


def _mention(store: Store) -> None:
    path = next(p for p in store.graph("flow").iterdir() if b'"mentions"' in p.read_bytes())
    path.write_text(
        path.read_text().replace('"mentions": {', '"mentions": {"aa": ["0123456789ab"], ')
    )


def _add(store: Store, row: dict[str, object]) -> None:
    path = largest(store, "flow/*/graph/*.yaml")
    path.write_text(path.read_text() + f"- {json.dumps(row)}\n")


def _gone_topic(store: Store) -> None:
    largest(store, "identity/*.md").unlink()


def _changed_shard(store: Store) -> None:
    for path in store.root.glob("*/graph/*.yaml"):
        text = path.read_text()
        changed = text.replace('"rev": [', '"rev": [1', 1)
        assert changed != text
        path.write_text(changed)


def _preimage(store: Store) -> None:
    path = largest(store, ".clsm/runs/*/*/0000")
    path.write_bytes(path.read_bytes() + b"x")


def _redo(store: Store) -> None:
    (store.derived / "redo").write_text("{")


def _old_index(store: Store) -> None:
    path = store.derived / "index" / "index.sqlite"
    path.write_bytes(b"SQLite format 4" + path.read_bytes()[15:])


def _short_vectors(store: Store) -> None:
    os.truncate(store.derived / "index" / "sentences.q4", 10)


def _turned(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


def _turned_sentence(store: Store) -> None:
    _turned(store.derived / "index" / "sentences.q4")


def _turned_token(store: Store) -> None:
    _turned(store.derived / "index" / "tokens.q2")


def _silent(store: Store) -> None:
    path = largest(store, "flow/*/episodes/*/*/*.md")
    stat = path.stat()
    path.write_text(path.read_text().replace("Haarlem", "Hearlem"))
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))


def _no_zone(store: Store) -> None:
    path = store.root / "clsm.yaml"
    path.write_text("".join(x for x in path.open() if not x.startswith("time_zone")))


def _ontology(store: Store) -> None:
    (store.root / "ontology.yaml").write_text("people: 7\n")


def _labels(store: Store) -> None:
    (store.root / "eval").mkdir(mode=0o700)
    (store.root / "eval" / "queries.yaml").write_text("queries: 7\n")


def _device(store: Store) -> None:
    (store.derived / "device").write_text("\0")


def _briefing(store: Store) -> None:
    (store.derived / "context.json").write_text('{"signature": ')


def _changed_briefing(store: Store) -> None:
    path = prepared_briefing.path_of(store)
    path.write_bytes(path.read_bytes().replace(b"York", b"Cork", 1))
    assert prepared_briefing.load_contents(store, prepared_briefing.signature(store)) is None


def _unbegun(store: Store) -> None:
    """Killed while it kept what it was going to replace."""
    step = store.derived / "runs" / "run-0123456789ab" / "0123456789ab"
    step.mkdir(parents=True, mode=0o700)
    (step / "0000").write_bytes(largest(store, "identity/*.md").read_bytes())


DAMAGE: tuple[tuple[str, str, Callable[[Store], None]], ...] = (
    ("not-a-file", "damage", _link),
    ("not-a-file", "damage", _pipe),
    ("too-large", "damage", _sparse),
    ("left-over", "note", _temp),
    ("left-over", "note", _unbegun),
    ("not-normal", "note", _twice),
    ("unreadable-line", "damage", _typed),
    ("torn-line", "note", _torn),
    ("unreadable-line", "damage", _no_run),
    ("unreadable-line", "damage", _no_time),
    ("shorter", "damage", _cut_log),
    ("edited-turn", "note", _edited),
    ("turn-mismatch", "damage", _headless),
    ("turn-twice", "note", _copied),
    ("misplaced", "warning", _renamed),
    ("cut-short", "damage", _cut_topic),
    ("unreadable-head", "damage", _open_head),
    ("item-twice", "note", _same_item),
    ("hand-edits", "note", _written),
    ("dangling-edge", "warning", _edge),
    ("dangling-source", "warning", _source),
    ("dangling-row", "warning", _source),
    ("dangling-block", "warning", _document),
    ("dangling-mention", "warning", _mention),
    ("wrong-id", "warning", _document),
    ("missing-file", "damage", _gone_topic),
    ("changed-outside", "note", _changed_shard),
    ("preimage", "warning", _preimage),
    ("begun-run", "warning", _redo),
    ("index-damaged", "damage", _old_index),
    ("vectors-damaged", "damage", _short_vectors),
    ("vectors-damaged", "damage", _turned_sentence),
    ("vectors-damaged", "damage", _turned_token),
    ("index-differs", "damage", _silent),
    ("settings-unusable", "damage", _no_zone),
    ("ontology-unusable", "warning", _ontology),
    ("labels-unusable", "warning", _labels),
    ("device-unknown", "warning", _device),
    ("briefing-damaged", "damage", _briefing),
    ("briefing-damaged", "damage", _changed_briefing),
)


@pytest.mark.parametrize(
    ("code", "severity", "damage"), DAMAGE, ids=[each[2].__name__[1:] for each in DAMAGE]
)
def test_it_is_found(
    code: str, severity: str, damage: Callable[[Store], None], worn_store: Store
) -> None:
    damage(worn_store)
    assert told(worn_store, code).severity == severity


def test_what_is_cut_off_is_named(worn_store: Store) -> None:
    _cut_topic(worn_store)
    finding = told(worn_store, "cut-short")
    assert "f-" in finding.reason
    assert not told(worn_store, "hand-edits").mends, "a person did not take it out"


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


@pytest.mark.parametrize(
    ("mounts", "kind"),
    [
        ("box:/x /srv nfs4 rw 0 0\n", "nfs4"),
        ("/dev/a / ext4 rw 0 0\nuser@box: /srv/my\\040memory fuse.sshfs rw 0 0\n", "fuse.sshfs"),
        ("/dev/a / ext4 rw 0 0\nbox:/x /srv/my nfs rw 0 0\n", "ext4"),
    ],
)
def test_the_longest_mount_counts(mounts: str, kind: str) -> None:
    assert surroundings.file_system_type("/srv/my memory", mounts) == kind


def test_one_check_that_fails_hides_no_other(worn_store: Store) -> None:
    def broken(*_: object) -> list[Finding]:
        raise OSError(5, "Input/output error")

    checks = {**diagnosis.CHECKS, "modes": broken}
    codes = {each.code for each in diagnosis.diagnose(worn_store, AROUND, checks)}
    assert {"check-failed", "consolidated"} <= codes
