"""The short form of the rig in ``faults.kill``: a sample of points, and writers that it must catch."""

from __future__ import annotations

import shutil
import sys

import pytest
from faults.kill import KILL, run
from faults.scenarios import CONTROL, SCENARIOS, Scenario

from clsm_cli.embedding import weights

pytestmark = pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed")
EVERY = {
    "decay": 12,
    "forget": 150,
    "undo": 10,
    "init": 6,
    "note": 1,
    "capture": 1,
    "words": 16,
    "segment": 36,
    "whole": 60,
    "consolidate": 40,
}
"""One point in so many; ``cd tests && python -m faults.kill`` tries them all."""


@pytest.fixture(autouse=True)
def _installed() -> None:
    weights.install(weights.default_folder())


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.name)
def test_a_kill_anywhere_loses_nothing_and_the_next_run_completes(
    scenario: Scenario, capsys: pytest.CaptureFixture[str]
) -> None:
    outcome = run(scenario, KILL, EVERY[scenario.name])
    with capsys.disabled():
        sys.stdout.write(f"\n{outcome.row()} every {EVERY[scenario.name]}\n")
    assert outcome.violations == []
    assert outcome.missed == []
    assert outcome.fired > 0


@pytest.mark.parametrize("fault", ["error=EIO", "error=ENOSPC"])
@pytest.mark.parametrize("name", ["note", "capture"])
def test_an_error_of_the_disk_is_told_and_nothing_is_lost(name: str, fault: str) -> None:
    (scenario,) = (each for each in SCENARIOS if each.name == name)
    outcome = run(scenario, fault)
    assert outcome.violations == []
    assert outcome.fired == outcome.planned > 0


def test_a_writer_with_bad_habits_is_caught() -> None:
    """Positive control: in place, without temp files, the inbox first. Points of its files only."""
    outcome = run(CONTROL, KILL, 5, only="flow/pi/")
    assert outcome.fired > 0
    assert any("was promised before" in text for text in outcome.violations)
