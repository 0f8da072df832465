"""``clsm hook openclaw``: what is put into an OpenClaw, shown before it is done, and taken out.

The ``openclaw`` here is a stand-in that keeps settings and plugins in files as the real one does;
``end_to_end`` tries the real one.
"""

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest
from processes import Cli

HOOK = ("hook", "openclaw")
SETTINGS: dict[str, Any] = {
    "gateway": {"port": 18789},
    "memory": {"search": {"provider": "none", "extraPaths": ["/srv/notes"]}},
    "plugins": {"entries": {"other": {"enabled": True}}},
}
STAND_IN = f"#!{sys.executable} -IS\n{Path(__file__).with_name('openclaw').read_text()}"


@pytest.fixture
def desk(cli: Cli) -> Cli:
    """A command line with an OpenClaw along its PATH."""
    program = cli.folder / "bin" / "openclaw"
    program.parent.mkdir()
    program.write_text(STAND_IN)
    program.chmod(0o700)
    path = f"{program.parent}{os.pathsep}{cli.environment['PATH']}"
    found = type(cli)(cli.folder, {**cli.environment, "PATH": path})
    state(found).mkdir()
    (state(found) / "version").write_text("OpenClaw 2026.9.6 (eb377ac)")
    (state(found) / "openclaw.json").write_text(json.dumps(SETTINGS))
    return found


def state(cli: Cli) -> Path:
    return Path(cli.environment["HOME"]) / ".openclaw"


def settings(cli: Cli) -> Any:
    return json.loads((state(cli) / "openclaw.json").read_text())


def files(cli: Cli) -> dict[str, bytes]:
    paths = [path for path in state(cli).rglob("*") if path.is_file() and path.name != "asked"]
    return {str(path.relative_to(state(cli))): path.read_bytes() for path in paths}


def test_installed_as_was_shown_with_all_else_kept_and_only_once(desk: Cli) -> None:
    before = files(desk)
    shown = desk.ok(*HOOK, "install", "--dry-run", "--json").json
    assert files(desk) == before
    told = desk.ok(*HOOK, "install", "--json").json
    assert (shown["files"], shown["settings"]) == (told["files"], told["settings"])
    new = {name for name in files(desk) if name.startswith("extensions/clsm/")}
    assert new == {f"extensions/clsm/{name}" for name in told["files"]}
    assert Path(told["backup"]).read_text() == json.dumps(SETTINGS)
    entry = settings(desk)["plugins"]["entries"]
    assert entry["other"] == {"enabled": True}
    assert entry["clsm"]["hooks"] == {"allowConversationAccess": True}
    assert entry["clsm"]["config"]["store"] == str(desk.store)
    folders = settings(desk)["memory"]["search"]["extraPaths"]
    assert folders[0] == "/srv/notes"
    assert folders[1:] == [f"{desk.store}/{name}" for name in ("identity", "projects", "tasks")]
    before = files(desk)
    assert desk.ok(*HOOK, "install").out == "nothing to change\n"
    assert files(desk) == before
    assert desk.ok(*HOOK, "status", "--json").json["current"]


def test_taken_out_without_a_trace(desk: Cli) -> None:
    desk.ok(*HOOK, "install")
    assert "plugins.entries.clsm" in desk.ok(*HOOK, "uninstall", "--dry-run").out
    assert settings(desk)["plugins"]["entries"]["clsm"]
    desk.ok(*HOOK, "uninstall")
    assert settings(desk) == SETTINGS
    assert not (state(desk) / "extensions" / "clsm").exists()
    assert "not installed" in desk.ok(*HOOK, "status").out
    assert desk.ok(*HOOK, "uninstall").out == "nothing to change\n"


def test_an_older_openclaw_has_its_search_elsewhere_and_asks_for_no_consent(desk: Cli) -> None:
    (state(desk) / "version").write_text("OpenClaw 2026.7.35 (aa94808)")
    desk.ok(*HOOK, "install")
    assert settings(desk)["agents"]["defaults"]["memorySearch"]["extraPaths"]
    assert "--accept-capabilities" not in (state(desk) / "asked").read_text()
    desk.ok(*HOOK, "uninstall")
    assert "extraPaths" not in json.dumps(settings(desk).get("agents", {}))


@pytest.mark.parametrize(
    ("file", "text", "told"),
    [("version", "OpenClaw 2026.2.1", "too old"), ("broken", "", "the settings are locked")],
)
def test_an_openclaw_that_is_too_old_or_refuses(desk: Cli, file: str, text: str, told: str) -> None:
    (state(desk) / file).write_text(text)
    done = desk(*HOOK, "install")
    assert done.code == 12
    assert told in done.err
    assert settings(desk) == SETTINGS


def test_a_plugin_that_is_switched_off_is_told(desk: Cli) -> None:
    desk.ok(*HOOK, "install")
    for name, value, told in (
        ("plugins.enabled", False, "plugins.enabled is false"),
        ("plugins.deny", ["clsm"], "plugins.deny names clsm"),
        ("plugins.entries.clsm.enabled", False, "clsm.enabled is false"),
    ):
        before = json.dumps(settings(desk))
        found = place = json.loads(before)
        *folders, last = name.split(".")
        for folder in folders:
            place = place[folder]
        place[last] = value
        (state(desk) / "openclaw.json").write_text(json.dumps(found))
        assert told in desk.ok(*HOOK, "status").out
        assert told in desk.ok(*HOOK, "status", "--json").json["off"]
        (state(desk) / "openclaw.json").write_text(before)
