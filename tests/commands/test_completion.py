"""What bash offers behind the tab key: its own completion function, loaded from the program."""

from __future__ import annotations

import shlex
import shutil
import subprocess
from datetime import UTC, datetime

import pytest
from processes import Cli

from clsm_cli.store import atomic, layout, logs

pytestmark = pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")


def offered(cli: Cli, *words: str, **environment: str) -> list[str]:
    """The choices for the last of the words."""
    line = " ".join(map(shlex.quote, ("clsm", *words)))
    script = (
        'eval "$(_CLSM_COMPLETE=source_bash clsm)"\n'
        f"COMP_WORDS=({line}) COMP_CWORD={len(words)}\n"
        "_clsm_completion clsm\n"
        'printf "%s\\n" "${COMPREPLY[@]}"\n'
    )
    done = subprocess.run(
        ["bash", "-c", script],
        cwd=cli.folder,
        env={**cli.environment, **environment},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert done.stderr == ""
    return done.stdout.split()


def test_what_the_store_holds(cli: Cli) -> None:
    cli.ok("note", "The stove needs a new grate.")
    cli.ok("note", "The kettle is blue.")
    runs = offered(cli, "undo", "")
    assert len(runs) == 2
    recalled = cli.ok("recall", "--json", "stove grate").json
    turn = recalled["memories"][0]["id"]
    assert offered(cli, "feedback", "") == [recalled["recall_id"]]
    assert offered(cli, "show", "")[0] == turn
    for command in ("show", "history", "edit", "correct", "forget", "pin", "unpin"):
        assert offered(cli, command, turn[:5]) == [turn]
    assert offered(cli, "feedback", recalled["recall_id"], "--good", turn[:5]) == [turn]
    assert offered(cli, "undo", runs[0][:-1]) == [runs[0]]


def test_a_damaged_store_offers_nothing_and_says_nothing(cli: Cli) -> None:
    cli.ok("note", "The stove needs a new grate.")
    (cli.store / "clsm.yaml").write_bytes(b"\xff{")
    assert offered(cli, "undo", "") == []


def test_what_waits_for_a_decision(cli: Cli) -> None:
    store = layout.open_store(cli.store, dict(cli.environment))
    item = logs.ReviewItem(
        "v-3a9c12d08e41", datetime.now(UTC).isoformat(), ("noor",), "names", "Noor", "noor"
    )
    atomic.append(store.flow / "review.jsonl", logs.render(item))
    assert offered(cli, "review", "--accept", "v-") == [item.id]
    assert offered(cli, "review", "--reject", "v-9") == []
