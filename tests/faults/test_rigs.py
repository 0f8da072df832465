"""The short form of every fault rig, and what is broken on purpose, which it must find."""

import sys

import pytest
from faults.rig import Rig, rigs

from clsm_cli.embedding import download, weights


@pytest.fixture(autouse=True)
def _installed() -> None:
    download.install(weights.default_folder())


@pytest.fixture(params=rigs(), ids=lambda rig: rig.name)
def rig(request: pytest.FixtureRequest) -> Rig:
    found: Rig = request.param
    if found.lacking:
        pytest.skip(found.lacking)
    return found


def test_nothing_is_wrong(rig: Rig, capsys: pytest.CaptureFixture[str]) -> None:
    outcomes = list(rig.short())
    with capsys.disabled():
        sys.stdout.write("".join(f"\n{rig.name}: {outcome.row()}" for outcome in outcomes))
    assert [f"{o.what}: {text}" for o in outcomes for text in o.told] == []
    assert outcomes
    assert all(outcome.fired for outcome in outcomes)


def test_what_is_broken_on_purpose_is_found(rig: Rig) -> None:
    outcomes = list(rig.control())
    assert outcomes
    assert [o.what for o in outcomes if not o.violations] == []
