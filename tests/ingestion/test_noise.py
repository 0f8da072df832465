import pytest

from clsm_cli.ingestion.messages import is_clsm_tool, machine_reason, runs_clsm


@pytest.mark.parametrize(
    "command",
    [
        "clsm recall 'who is brian'", "/home/sedge/.local/bin/clsm status",
        "cd notes && clsm recall x", "cd notes; clsm recall x | head -5",
        "env CLSM_STORE=/m clsm recall x", "CLSM_STORE='/m y' NO_COLOR=1 clsm recall x",
        "python -m clsm_cli recall x", "python3.12 -X utf8 -m clsm_cli recall x",
        "python3 /opt/bin/clsm recall x", "timeout 5 clsm recall x",
        "sudo -n nice -n 10 clsm decay", "uvx clsm recall x", "pipx run clsm recall x",
        'echo "$(clsm recall x)"', "echo `clsm recall x`", "(clsm recall x)",
        "bash -lc 'cd a && clsm recall x'", "if clsm status; then echo ok; fi",
        "for q in a b; do clsm recall $q; done", "echo hi\nclsm recall x",
        '"/opt/my tools/clsm" recall x', "ls | xargs clsm ingest", "clsm",
    ],
)  # fmt: skip
def test_runs_clsm(command: str) -> None:
    assert runs_clsm(command)


@pytest.mark.parametrize(
    "command",
    [
        "", "grep -rn clsm docs", "cat clsm.yaml", "ls ~/.clsm/memory",
        "git commit -m 'use; clsm recall here'", "echo clsm recall x", "pip install clsm",
        "python -m pip install clsm", "python script.py clsm", "vim clsm_cli/app.py",
        "bash -c 'echo clsm'", "clsm2 recall", 'echo "costs $5; clsm"',
    ],
)  # fmt: skip
def test_does_not_run_clsm(command: str) -> None:
    assert not runs_clsm(command)


def test_clsm_tools() -> None:
    assert is_clsm_tool("clsm")
    assert is_clsm_tool("mcp__clsm__recall")
    assert not is_clsm_tool("exec")
    assert not is_clsm_tool("clsmith")
    for name in ("</clsm-recall>", '<clsm-recall id="r-1f">', "the clsm"):  # of a text, not a tool
        assert not is_clsm_tool(name)


@pytest.mark.parametrize(
    ("role", "text", "reason"),
    [
        ("user", "[OpenClaw heartbeat poll]", "heartbeat poll"),
        ("assistant", "HEARTBEAT_OK", "heartbeat reply"),
        ("assistant", " **NO_REPLY**.\n", "heartbeat reply"),
        ("assistant", "HEARTBEAT_OK, but the gauge is low", None),
        ("user", "NO_REPLY", None),
        ("assistant", "[OpenClaw heartbeat poll] is what I got", None),
    ],
)
def test_machine_talk(role: str, text: str, reason: str | None) -> None:
    assert machine_reason(role, text) == reason
