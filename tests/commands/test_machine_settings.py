"""What reaches outside a store is set on this machine: a store that names a server is not obeyed."""

import json
import socket
from dataclasses import replace
from pathlib import Path

import pytest
from integrations.endpoint import Endpoint
from processes import Cli
from small_store import row

from clsm_cli.commands import machine_settings
from clsm_cli.config import MachineSettings, Settings, defaults
from clsm_cli.errors import BadInputError
from clsm_cli.store import layout

NOW = ("--now", "2026-03-01T12:00:00+01:00")
SECRET = "AKIA-not-for-strangers"
CHAT = row("My brother Tomas lives in Deventer, and my PIN at home is a secret.")
NAMES = ("llm.base_url", "llm.model", "llm.api_key_env")


@pytest.fixture(scope="module")
def told_store(shared: Cli) -> Path:
    shared.ok("ingest", "-q", "-", "--session", "one", *NOW, stdin=CHAT.encode())
    return shared.store


@pytest.fixture
def told(bare: Cli, told_store: Path) -> Cli:
    """A store that waits for its night, and a variable that nobody should see."""
    cli = bare.holding(told_store)
    return replace(cli, environment={**cli.environment, "CLOUD_SECRET": SECRET})


def planted(root: Path, address: str) -> None:
    """What somebody who can push to a store would write there."""
    values = dict(zip(NAMES, (f"{address}/v1", "good", "CLOUD_SECRET"), strict=True))
    path = root / layout.CONFIG_NAME
    path.write_text(path.read_text() + f"settings: {json.dumps({**values, 'recall.k': 7})}\n")


def machine_file(cli: Cli, text: str) -> Path:
    path = Path(cli.environment["HOME"]) / ".config" / "clsm" / "config.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o600)
    return path


def test_a_store_that_names_a_server_reaches_nobody(told: Cli) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.setblocking(False)
        planted(told.store, f"http://127.0.0.1:{server.getsockname()[1]}")
        done = told.ok("consolidate", "--json", *NOW)
        with pytest.raises(BlockingIOError):  # not so much as a connection
            server.accept()
    assert done.json["episodes"]["consolidated"] == 1
    assert done.json["usage"] == {}
    (warning,) = done.json["warnings"]
    assert warning.startswith(f"clsm.yaml sets {', '.join(NAMES)}: ignored")
    assert done.err.count("ignored") == 1
    assert SECRET not in done.out + done.err
    assert layout.open_store(told.store, {}).settings.recall.k == 7, "the rest is obeyed"


@pytest.mark.parametrize("where", ["file", "variables"])
def test_the_machine_is_obeyed(told: Cli, endpoint: Endpoint, where: str) -> None:
    endpoint.answers({})
    planted(told.store, "http://127.0.0.1:9")
    url, model = f"{endpoint.address}/v1", "wrong"
    if where == "file":
        text = f'base_url = "{url}"\nmodel = "{model}"\napi_key_env = "CLOUD_SECRET"'
        machine_file(told, f"[llm]\n{text}\ntimeout = 5\n")
        done = told.ok("consolidate", "--json", *NOW)
    else:  # before the file
        machine_file(told, '[llm]\nbase_url = "http://127.0.0.1:9/v1"\nmodel = "x"\n')
        named = {"CLSM_LLM_BASE_URL": url, "CLSM_LLM_MODEL": model}
        done = told.ok("consolidate", "--json", *NOW, **named, CLSM_LLM_API_KEY_ENV="CLOUD_SECRET")
    assert done.json["usage"]["calls"] == endpoint.count > 0
    assert {each["key"] for each in endpoint.requests} == {f"Bearer {SECRET}"}
    assert any("Deventer" in str(each["body"]) for each in endpoint.requests)


BAD = (
    ("[llm]\nbase_url = \n", "is no TOML: Invalid value (at line 2"),
    ("[llm]\nbase_ulr = 'x'\n", "unknown setting 'llm.base_ulr'"),
    ("[llm]\ntimeout = 'long'\n", "must be a number like 60.0"),
    ("[recall]\nk = 5\n", "unknown setting 'recall.k'"),
    ("model = 'x'\n", "'model' stands in no group"),
    ("\x00", "is no TOML"),
)


@pytest.mark.parametrize(("text", "reason"), BAD)
def test_a_bad_file_is_refused(
    bare: Cli, monkeypatch: pytest.MonkeyPatch, text: str, reason: str
) -> None:
    path = machine_file(bare, text)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(path.parent.parent))
    with pytest.raises(BadInputError) as caught:
        machine_settings.load_settings(None, {})
    assert str(caught.value).startswith(f"{path}: ")
    assert reason in str(caught.value)


def test_it_costs_no_night_and_is_told(told: Cli) -> None:
    path = machine_file(told, BAD[0][0])
    done = told.ok("consolidate", "--json", *NOW)
    (warning,) = done.json["warnings"]
    assert warning.startswith(f"{path}: {BAD[0][1]}")
    assert warning.endswith("no language model is asked")
    assert done.json["episodes"]["consolidated"] == 1
    found = {each["code"]: each for each in told.ok("doctor", "--json", *NOW).json["findings"]}
    assert BAD[0][1] in found["machine-settings"]["reason"]


def test_one_that_others_can_write_or_that_travels_is_not_used(
    told: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = machine_file(told, "[llm]\n")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(path.parent.parent))
    assert machine_settings.load_settings(told.store, {}) == MachineSettings()
    path.chmod(0o622)
    with pytest.raises(BadInputError, match=r"others may write to it \(mode 0622\)"):
        machine_settings.load_settings(told.store, {})
    path.unlink()
    (told.store / "config.toml").write_text("[llm]\n")
    path.symlink_to(told.store / "config.toml")
    with pytest.raises(BadInputError, match="lies in the memory"):
        machine_settings.load_settings(told.store, {})
    assert machine_settings.load_settings(None, {"CLSM_LLM_TIMEOUT": "7"}).llm.timeout == 7
    with pytest.raises(BadInputError, match=r"^CLSM_LLM_TIMEOUT: .*must be a number"):
        machine_settings.load_settings(None, {"CLSM_LLM_TIMEOUT": "long"})


def test_doctor_restore_and_answers_tell(told: Cli) -> None:
    planted(told.store, "http://127.0.0.1:9")
    findings = told.ok("doctor", "--json", *NOW).json["findings"]
    (finding,) = [each for each in findings if each["code"] == "settings-ignored"]
    assert (finding["severity"], finding["path"]) == ("warning", "clsm.yaml")
    assert all(name in finding["reason"] for name in NAMES)
    assert "config.toml" in finding["next_step"]
    path = told.store / "clsm.yaml"
    path.write_text(path.read_text().replace('"recall.k"', '"recall.vibes": 3, "recall.k"'))
    warned = told.ok("consolidate", "--json", *NOW).err
    assert (
        "clsm.yaml has recall.vibes: ignored, since this version of clsm has no such setting"
        in warned
    )
    found = {f["code"]: f for f in told.ok("doctor", "--json", *NOW).json["findings"]}
    assert found["settings-unknown"]["reason"] == "has recall.vibes"
    told.ok("backup", "b.tar.gz", *NOW)
    done = told.ok("restore", "b.tar.gz", "new", "--json")
    assert done.json["warnings"][0].startswith("clsm.yaml sets llm.base_url")
    assert "clsm.yaml sets llm.base_url" in done.err


@pytest.mark.parametrize("name", list(defaults(MachineSettings())))
def test_no_setting_of_the_machine_is_taken_from_a_store(tmp_path: Path, name: str) -> None:
    layout.create(tmp_path / "m", "UTC")
    path = tmp_path / "m" / layout.CONFIG_NAME
    path.write_text(f"{path.read_text()}settings:\n  {name}: [what, ever]\n")
    store = layout.open_store(tmp_path / "m", {})
    assert (store.settings, store.misplaced) == (Settings(), (name,))
