"""Who may write to a store is looked at before it is opened, and only then."""

import grp
import os
import pwd
import shlex
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from processes import Cli

from clsm_cli.errors import RefusedError
from clsm_cli.store import device


def test_others_may_look_and_not_write(tmp_path: Path) -> None:
    for mode in (0o700, 0o750, 0o755, 0o711, 0o1755):
        tmp_path.chmod(mode)
        device.check(tmp_path)
    for mode in (0o777, 0o757, 0o702, 0o722, 0o1777):
        tmp_path.chmod(mode)
        with pytest.raises(RefusedError, match=rf"mode {mode:04o}.* chmod -R go-w {tmp_path}$"):
            device.check(tmp_path)
    assert os.listdir(tmp_path) == []


def test_a_group_may_write_if_it_is_the_owners_alone(tmp_path: Path) -> None:
    owner = pwd.getpwuid(tmp_path.stat().st_uid)
    group = grp.getgrgid(owner.pw_gid)
    tmp_path.chmod(0o770)
    if group.gr_name == owner.pw_name and set(group.gr_mem) <= {owner.pw_name}:
        device.check(tmp_path)
    if os.geteuid() != 0:
        pytest.skip("needs root to give a folder to another group")
    others = [g for g in grp.getgrall() if g.gr_gid != owner.pw_gid]
    for gid in (others[0].gr_gid, 4_000_000):
        os.chown(tmp_path, -1, gid)
        with pytest.raises(RefusedError, match="mode 0770"):
            device.check(tmp_path)


def test_a_disk_that_is_read_only_is_nobodys_to_write(mount: Callable[[str], Path]) -> None:
    device.check(mount("size=64k,mode=0777,ro"))


def test_a_disk_without_modes_is_accepted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No such disk can be mounted everywhere; what it does to a new file is done by hand here."""
    tmp_path.chmod(0o777)
    fchmod = os.fchmod
    monkeypatch.setattr(os, "fchmod", lambda fd, _: fchmod(fd, 0o777))
    device.check(tmp_path)

    def denied(_fd: int, _mode: int) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "fchmod", denied)
    device.check(tmp_path)
    assert os.listdir(tmp_path) == []


def test_readers_and_writers_refuse_it_alike_until_the_command_was_run(cli: Cli) -> None:
    cli.ok("note", "The gate code changes in May.")
    cli.store.chmod(0o777)
    said = set()
    for words in (
        *(("recall", "gate"), ("recall", "-k1", "gate"), ("context",), ("note", "x"), ("status",)),
        *(("decay",), ("backup", "b.tar.gz"), ("search", "gate", "--json")),
    ):
        done = cli(*words)
        assert (done.code, done.out) == (RefusedError.exit_code, "")
        said.add(done.err)
    (sentence,) = said
    subprocess.run(shlex.split(sentence.partition("with: ")[2]), check=True)
    assert "gate code" in cli.ok("recall", "gate").out
