"""``clsm status --check``: a broken night is told by an exit code, with the reason of the night itself."""

from pathlib import Path

from processes import Cli

from clsm_cli.errors import LockedError, StaleError
from clsm_cli.store.lock import locked


def at(day: int, hour: int) -> tuple[str, str]:
    return "--now", f"2026-03-{day:02}T{hour:02}:00:00Z"


def test_a_night_that_fails_is_told_with_its_reason(cli: Cli, tmp_path: Path) -> None:
    config = cli.store / "clsm.yaml"
    config.write_text(config.read_text() + 'settings: {"store.lock_wait": 0.2}\n')
    assert cli.ok("status", "--check", *at(1, 0)).out.splitlines()[3] == "never consolidated"
    cli.ok("note", "The gate code changes in May.", *at(1, 1))
    cli.ok("consolidate", *at(1, 3))
    cli.ok("consolidate", *at(2, 3))  # there is nothing to do
    assert cli.ok("status", "--check", *at(3, 15)).err == ""
    with locked(cli.store, 5):
        assert cli("consolidate", *at(3, 3)).code == LockedError.exit_code
        assert cli("consolidate", "--dry-run", *at(3, 4)).code == LockedError.exit_code
    cli.ok("note", "The ferry leaves at nine.", *at(3, 5))
    cli("consolidate", *at(3, 6), CLSM_MODEL_DIR=tmp_path / "none")
    done = cli("status", "--check", *at(3, 18))
    assert done.code == StaleError.exit_code == 18
    assert done.out.startswith("store ")
    assert len(done.err.splitlines()) == 1
    assert done.err.startswith(
        "clsm: last consolidated 2026-03-02 04:00, 39 h ago (at most 36 h); waiting: 1, the"
        " oldest since 2026-03-03 06:00; since then 2 runs failed, the last"
        " 2026-03-03 07:00: no embedding model in "
    )
    assert done.err.endswith("; run it by hand and see: clsm consolidate\n")
    assert cli.ok("status", *at(3, 18)).err == ""
    told = cli("status", "--check", "--json", "--quiet", *at(3, 18))
    assert told.code == 18
    night = told.json["automation"]
    assert (night["is_stale"], night["failed"], night["hours"]) == (True, 2, 39.0)
    assert night["failed_at"] == "2026-03-03T06:00:00Z"
    cli.ok("consolidate", "--if-idle", "600", *at(3, 7))  # somebody spoke: it did nothing
    assert cli("status", "--check", *at(3, 18)).code == 18
    cli.ok("consolidate", *at(3, 17))
    assert cli.ok("status", "--check", *at(3, 18)).err == ""
    line = cli.ok("status", *at(3, 18)).out.splitlines()[3]
    assert line.startswith("last consolidated 2026-03-03 18:00, 1 h ago")
