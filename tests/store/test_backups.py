"""A backup holds a memory whole, and what is not whole is refused: every byte of it is tried."""

import gzip
import os
import re
import shutil
import subprocess
import tarfile
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

import pytest
from forgetting.undoing import copied, noted
from ingesting import new_store, tree, unchanged

from clsm_cli import errors
from clsm_cli.forgetting import run_reversal
from clsm_cli.store import atomic, backups, layout, restoring
from clsm_cli.store.backups import BackupFile, Manifest, member_header, padding
from clsm_cli.store.layout import Store
from clsm_cli.store.lock import locked, try_locked

AT = "2026-03-01T11:00:00Z"
LATER = datetime.fromisoformat("2026-03-02T12:00:00+01:00")
PI = {"CLSM_DEVICE": "pi"}

Told = Callable[[str, int, int], None]


def make(
    store: Store, path: Path, told: Told = lambda *_: None, *, force: bool = False
) -> backups.BackupResult:
    return backups.make_backup(store, path, AT, told, force=force)


def restore(
    path: Path, root: Path, environment: dict[str, str] = PI, *, dry_run: bool = False
) -> restoring.Restored:
    return restoring.restore(path, root, environment, lambda *_: None, dry_run=dry_run)


def kept(root: Path) -> dict[str, bytes]:
    """What of a store may not be lost, as the format has it."""
    derived = re.compile(r"\.clsm/(?!runs/|edit|device)|(.*/)?\.tmp-|\.git/")
    return {n: d for n, d in tree(root, derived=True).items() if not derived.match(n)}


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """A backup of a store with one note."""
    store = new_store(tmp_path / "small")
    noted(store)
    make(store, tmp_path / "small.tar.gz")
    return tmp_path / "small.tar.gz"


def test_everything_comes_back_but_what_is_derived(tmp_path: Path) -> None:
    store = copied(tmp_path / "memory")
    noted(store)
    for name in ("quarantine/x.txt", "tombstones/pi.jsonl", "Zoë/ä\u2028.md"):
        atomic.put(store.root / name, name.encode() * 500)
    for name in ("edit", "context.json", "index/sentences.q4"):
        atomic.put(store.derived / name, b"x")
    atomic.put(store.root / ".git" / "config", b"x")
    atomic.put(store.root / "projects" / ".git" / "hooks" / "pre-commit", b"x")
    atomic.put(store.root / "identity" / ".tmp-me.md", b"x")
    made = make(store, tmp_path / "b.tar.gz")
    new = tmp_path / "new"
    done = restore(tmp_path / "b.tar.gz", new)
    wanted = kept(store.root)
    del wanted["projects/.git/hooks/pre-commit"]
    assert {".clsm/edit", "Zoë/ä\u2028.md"} < wanted.keys()
    assert tree(new, derived=True) == wanted
    assert done.keeps_device
    assert made.manifest == done.manifest
    assert (made.packed, made.left_out) == ((tmp_path / "b.tar.gz").stat().st_size, ())
    modes = {(path.is_dir(), path.stat().st_mode & 0o777) for path in (new, *new.rglob("*"))}
    assert modes == {(True, 0o700), (False, 0o600)}
    restored = layout.open_store(new, {})
    assert restored.device == "pi"
    assert run_reversal.undo(restored, None, LATER, print).command == "note"


def test_the_same_memory_and_time_give_the_same_bytes(tmp_path: Path) -> None:
    store = copied(tmp_path / "memory")
    make(store, tmp_path / "one.tar.gz")
    for path in store.root.rglob("*"):
        os.utime(path, (1, 1))
        path.chmod(0o755)
    shutil.copytree(store.root, tmp_path / "again")
    again = layout.open_store(tmp_path / "again", PI)
    make(again, tmp_path / "two.tar.gz")
    assert (tmp_path / "one.tar.gz").read_bytes() == (tmp_path / "two.tar.gz").read_bytes()


@pytest.mark.skipif(shutil.which("tar") is None, reason="tar is not installed")
def test_any_tar_unpacks_it(store: Store, tmp_path: Path) -> None:
    names = ("x" * 200 + ".md", "ü" * 60 + ".md", "/".join(["deep" * 10] * 8) + "/a.md", "b" * 95)
    for number, name in enumerate(names):
        atomic.put(store.root / "tasks" / name, b"y" * (number * 511))
    make(store, tmp_path / "b.tar.gz")
    with tarfile.open(tmp_path / "b.tar.gz") as archive:
        members = {member.name: member for member in archive}
        assert {m.mtime for m in members.values()} == {1772362800}
        assert {m.mode for m in members.values()} == {0o600}
        found = {n: archive.extractfile(m) for n, m in members.items()}
        data = {n: f.read() for n, f in found.items() if f is not None}
    del data[backups.MANIFEST]
    assert data == {f"memory/{name}": content for name, content in kept(store.root).items()}
    subprocess.run(["tar", "xzf", "b.tar.gz"], cwd=tmp_path, check=True, capture_output=True)
    (tmp_path / "new").mkdir()
    restore(tmp_path / "b.tar.gz", tmp_path / "new")
    new = kept(tmp_path / "new")
    assert new.pop(".clsm/device") == b"pi\n"
    assert kept(tmp_path / "memory") == new


def test_every_flipped_byte_is_found_or_changes_nothing(small: Path, tmp_path: Path) -> None:
    whole = small.read_bytes()
    restore(small, tmp_path / "whole")
    content = tree(tmp_path / "whole", derived=True)
    bad = tmp_path / "bad.tar.gz"
    before = sorted(os.listdir(tmp_path))
    accepted = []
    for place in range(len(whole)):
        changed = bytearray(whole)
        changed[place] ^= (0x01, 0x80, 0xFF)[place % 3]
        bad.write_bytes(changed)
        try:
            restore(bad, tmp_path / "new", dry_run=place % 10 > 0)
        except errors.DamagedBackupError as error:
            assert "nothing was restored" in str(error)  # noqa: PT017
        else:
            accepted.append(place)
            if place % 10:
                restore(bad, tmp_path / "new")
            assert tree(tmp_path / "new", derived=True) == content
            shutil.rmtree(tmp_path / "new")
        bad.unlink()
    assert sorted(os.listdir(tmp_path)) == before
    # The header of gzip, and bits that unpack to the same: another copy of the same bytes.
    assert len(accepted) < 20


def forged(path: Path, members: list[tuple[str, bytes]], **fields: object) -> Path:
    """A backup in which everything fits, by somebody who has no good in mind."""
    entries = tuple(map(_entry, members))
    manifest = Manifest(1, "abc", "pi", AT, entries)._replace(**fields)  # type: ignore[arg-type]
    data = manifest.render()
    parts = [member_header(backups.MANIFEST, len(data), AT), data, padding(len(data))]
    for name, content in members:
        parts += [member_header(f"memory/{name}", len(content), AT), content]
        parts.append(padding(len(content)))
    path.write_bytes(gzip.compress(b"".join([*parts, bytes(1024)])))
    return path


def _entry(member: tuple[str, bytes]) -> BackupFile:
    return BackupFile(member[0], len(member[1]), atomic.sha256(member[1]))


CONFIG = ("clsm.yaml", b'format: 1\nstore: "abc"\ntime_zone: "UTC"\n')


@pytest.mark.parametrize(
    "name",
    [
        *("../x", "/etc/x", "a/../../x", "a//b", "./a", "a/", "", "a/./b", "clsm.yaml/.."),
        *(".git/config", ".GIT/hooks/pre-commit", "projects/.git/config", ".clsm", ".clsm/device"),
        *(".clsm/index/index.sqlite", ".clsm/redo", ".clsm/purge", ".tmp-x", "a/.tmp-restore-b/c"),
        *("a\0b", "a\nb", "a\x1b[31m", "a\x9b", "\udcff", "x" * 256, "/".join(["x" * 200] * 21)),
    ],
)
def test_odd_names_are_refused(tmp_path: Path, name: str) -> None:
    files = sorted([CONFIG, (name, b"x")])
    path = forged(
        tmp_path / "b.tar.gz",
        [CONFIG],
        files=tuple(BackupFile(each, len(data), atomic.sha256(data)) for each, data in files),
    )
    with pytest.raises(errors.DamagedBackupError, match="names a file that no store has"):
        restore(path, tmp_path / "in" / "new")
    assert os.listdir(tmp_path) == ["b.tar.gz"]


def test_what_a_clsm_would_not_have_written_is_refused(tmp_path: Path) -> None:
    def refused(reason: str, members: list[tuple[str, bytes]], **fields: object) -> None:
        with pytest.raises(errors.DamagedBackupError, match=reason):
            restore(forged(tmp_path / "b.tar.gz", members, **fields), tmp_path / "new")
        assert os.listdir(tmp_path) == ["b.tar.gz"]

    entry = BackupFile("clsm.yaml", 3, atomic.sha256(b"abc"))
    refused("a file twice", [CONFIG, CONFIG])
    refused("it has no clsm.yaml", [("a", b"")])
    refused("another id", [(CONFIG[0], CONFIG[1].replace(b"abc", b"abd"))])
    refused("no device", [CONFIG], device="../pi")
    refused("not as it was written", [CONFIG], at=7)
    refused("not as it was written", [CONFIG], format="1")
    refused("before clsm.yaml is not", [CONFIG], files=(entry._replace(size=-1),))
    refused("not what was stored", [CONFIG], files=(entry._replace(size=len(CONFIG[1])),))
    refused("more than its manifest", [CONFIG, CONFIG], files=(_entry(CONFIG),))
    with pytest.raises(errors.NewerFormatError):
        restore(forged(tmp_path / "b.tar.gz", [CONFIG], format=2), tmp_path / "new")


def test_a_bomb_costs_no_more_than_its_manifest_says(tmp_path: Path) -> None:
    path = tmp_path / "b.tar.gz"
    head = member_header(backups.MANIFEST, backups.MAX_MANIFEST + 1, AT)
    path.write_bytes(gzip.compress(head + bytes(1 << 20)))
    with pytest.raises(errors.DamagedBackupError, match="too large"):
        restore(path, tmp_path / "new")
    huge = BackupFile("a", 1 << 59, "0" * 64)
    own = BackupFile("clsm.yaml", 3, atomic.sha256(b"abc"))
    with pytest.raises(errors.DiskError, match="no room for"):
        restore(forged(path, [("a", b"")], files=(huge, own)), tmp_path / "new")
    assert os.listdir(tmp_path) == ["b.tar.gz"]


@pytest.mark.parametrize("kind", ["file", "full folder", "store", "link to a full folder"])
def test_nothing_is_restored_over_something(small: Path, tmp_path: Path, kind: str) -> None:
    target = tmp_path / "new"
    if kind == "file":
        target.write_bytes(b"x")
    elif kind == "store":
        new_store(target)
    else:
        (tmp_path / "full").mkdir()
        (tmp_path / "full" / "x").write_bytes(b"x")
        target.symlink_to(tmp_path / "full")
        target = tmp_path / "full" if kind == "full folder" else target
    with unchanged(tmp_path), pytest.raises(errors.RefusedError, match="never mixes"):
        restore(small, target)


def test_a_killed_restore_is_no_obstacle(small: Path, tmp_path: Path) -> None:
    left = tmp_path / ".tmp-restore-new"
    atomic.put(left / "tasks" / "half.md", b"x")
    (left / "link").symlink_to(small)
    with locked(left, 1), pytest.raises(errors.LockedError):
        restore(small, tmp_path / "new")
    restore(small, tmp_path / "new")
    assert not left.exists()
    assert not (tmp_path / "new" / "tasks").exists()
    left = tmp_path / ".tmp-restore-other"
    left.symlink_to(tmp_path / "small")
    with pytest.raises(errors.RefusedError, match="is not yours"):
        restore(small, tmp_path / "other")
    left.unlink()


def test_where_it_may_be_written(store: Store, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(store.root)
    for inside in (store.root / "b", store.root / "tasks" / "b", tmp_path / "link" / "b"):
        with pytest.raises(errors.RefusedError, match="inside the store"):
            make(store, inside)
    with pytest.raises(errors.RefusedError, match="inside the store"):
        make(store, store.root)
    with pytest.raises(errors.BadInputError, match="is not there"):
        make(store, tmp_path / "no" / "b")
    os.mkfifo(tmp_path / "fifo")
    for odd in ("fifo", "link"):
        with pytest.raises((errors.BadInputError, errors.RefusedError)):
            make(store, tmp_path / odd, force=True)
    (tmp_path / "b").write_bytes(b"old")
    with pytest.raises(errors.RefusedError, match="is there already"):
        make(store, tmp_path / "b")
    assert (tmp_path / "b").read_bytes() == b"old"
    make(store, tmp_path / "b", force=True)
    restore(tmp_path / "b", tmp_path / "new", dry_run=True)
    assert not (tmp_path / "new").exists()


def test_it_is_one_moment(tmp_path: Path) -> None:
    store = copied(tmp_path / "memory")
    before = kept(store.root)
    page = next((store.root / "identity").glob("*.md"))
    seen: list[str] = []

    def meanwhile(what: str, _done: int, _total: int) -> None:
        if what == "writing" and not seen:
            seen.append(what)
            atomic.append(store.flow / "activation.jsonl", b'{"recall": "r-2"}')
            with try_locked(store.root) as is_held:
                assert not is_held

    make(store, tmp_path / "b.tar.gz", meanwhile)
    assert seen
    restore(tmp_path / "b.tar.gz", tmp_path / "new")
    assert kept(tmp_path / "new") | {".clsm/device": b""} == before | {".clsm/device": b""}

    def by_hand(what: str, _done: int, _total: int) -> None:
        if what == "writing":
            page.write_bytes(b"- changed\n")

    with pytest.raises(errors.RefusedError, match="was changed while clsm worked"):
        make(store, tmp_path / "c.tar.gz", by_hand)
    assert not {name for name in os.listdir(tmp_path) if "c.tar.gz" in name}


def test_another_place_is_another_device_unless_it_is_said(small: Path, tmp_path: Path) -> None:
    done = restore(small, tmp_path / "new", {})
    assert not done.keeps_device
    assert not (tmp_path / "new" / ".clsm").exists()
    opened = layout.open_store(tmp_path / "new", {})
    assert opened.device == done.device != "pi"
    noted(opened, "A note of the new machine's.")
    assert sorted(os.listdir(tmp_path / "new" / "flow")) == sorted(["pi", done.device])
    restore(small, tmp_path / "heir")
    assert layout.open_store(tmp_path / "heir", {}).device == "pi"
    assert (tmp_path / "heir" / ".clsm" / "runs").is_dir()
