"""The short form of every fault rig, and what is broken on purpose, which it must find."""

from __future__ import annotations

import sys

import pytest
from faults.registry import lacking, rigs
from faults.rig import Rig

from clsm_cli.embedding import weights


@pytest.fixture(autouse=True)
def _installed() -> None:
    weights.install(weights.default_folder())


@pytest.mark.parametrize("rig", rigs(), ids=lambda rig: rig.name)
def test_nothing_is_wrong(rig: Rig, capsys: pytest.CaptureFixture[str]) -> None:
    _skip_without(rig)
    outcomes = list(rig.short())
    with capsys.disabled():
        sys.stdout.write("".join(f"\n{rig.name}: {outcome.row()}" for outcome in outcomes))
    assert [f"{o.what}: {text}" for o in outcomes for text in o.told] == []
    assert outcomes
    assert all(outcome.fired for outcome in outcomes)


@pytest.mark.parametrize("rig", rigs(), ids=lambda rig: rig.name)
def test_what_is_broken_on_purpose_is_found(rig: Rig) -> None:
    _skip_without(rig)
    outcomes = list(rig.control())
    assert outcomes
    assert [o.what for o in outcomes if not o.violations] == []


def _skip_without(rig: Rig) -> None:
    reason = lacking(rig)
    if reason:
        pytest.skip(reason)
