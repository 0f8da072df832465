"""The files of presets."""

from __future__ import annotations

import pytest

from clsm_cli.evaluation.presets import preset as presets
from clsm_cli.scoring.spreading import Spreading


@pytest.mark.parametrize("name", presets.PRESETS)
def test_a_preset_says_where_each_setting_comes_from(name: str) -> None:
    assert presets.load(name).name == name
    for line in presets.preset_text(name).splitlines():
        assert "#" in line or line.endswith(":"), line


def test_the_published_numbers() -> None:
    clsm, nemori = presets.load("cls-m"), presets.load("nemori")
    assert clsm.spreading == Spreading(3, 0.5, 0.15, 0.2, 1.5)
    assert clsm.seeds is not None
    assert (clsm.seeds.exact, clsm.pack.characters, clsm.units[0].k) == (1.2, 8192, 10)
    assert [(units.kinds, units.k) for units in nemori.units] == [
        (("episode",), 10),
        (("statement",), 20),
    ]
    assert nemori.episodes.raw == 2
    smriti, cma = presets.load("smriti"), presets.load("cma")
    assert (smriti.fusion.constant, smriti.fusion.first) == (60, 0)
    assert smriti.fusion.agreed == (1.0, 1.05, 1.15)
    assert smriti.diversity is not None
    assert smriti.diversity.lambda_ == 0.7
    assert (cma.fusion.first, cma.pack.knapsack) == (1, True)
    assert presets.load("caim").controller
