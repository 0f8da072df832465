import pytest
from tables import column, table

from clsm_cli.ingestion.messages import is_clsm_tool, machine_reason, runs_clsm


@pytest.mark.parametrize("command", column(__file__, "runs clsm"))
def test_runs_clsm(command: str) -> None:
    assert runs_clsm(command)


@pytest.mark.parametrize("command", column(__file__, "does not run clsm"))
def test_does_not_run_clsm(command: str) -> None:
    assert not runs_clsm(command)


def test_clsm_tools() -> None:
    assert is_clsm_tool("clsm")
    assert is_clsm_tool("mcp__clsm__recall")
    assert not is_clsm_tool("exec")
    assert not is_clsm_tool("clsmith")
    for name in ("</clsm-recall>", '<clsm-recall id="r-1f">', "the clsm"):  # of a text, not a tool
        assert not is_clsm_tool(name)


@pytest.mark.parametrize(("reason", "role", "text"), table(__file__, "machine talk"))
def test_machine_talk(reason: str, role: str, text: str) -> None:
    assert machine_reason(role, text) == (reason or None)
