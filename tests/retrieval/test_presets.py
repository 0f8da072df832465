"""The files of presets, and what is refused in one."""

from __future__ import annotations

import pytest

from clsm_cli.retrieval import presets
from clsm_cli.scoring.activation import Spreading

LEAST = "units: [{kinds: [turn], k: 5}]\nchannels: {meaning: {}}\n"


@pytest.mark.parametrize("name", presets.PRESETS)
def test_a_shipped_preset_says_where_each_setting_comes_from(name: str) -> None:
    assert presets.load(name).name == name
    for line in presets.text(name).splitlines():
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


def test_an_unknown_name_is_told_with_the_known_ones() -> None:
    with pytest.raises(ValueError, match="'hippo' is no preset; there are: cls-m, nemori"):
        presets.load("hippo")


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("- 1", "must name its units and channels"),
        ("channels: {meaning: {}}", "must name its units and channels"),
        (LEAST + "seedz: {}", "unknown group 'seedz'"),
        (LEAST + "pack: {letters: 3}", "unknown setting pack.letters"),
        (LEAST + "pack: {characters: many}", "pack.characters must be of type int, not 'many'"),
        (LEAST + "pack: {characters: true}", "pack.characters must be of type int"),
        (LEAST + "pack: 3", "pack must hold settings"),
        (LEAST + "controller: 1", "controller must be of type bool"),
        (LEAST + "filter: {least: 0.3}", "filter: .*missing"),
        (LEAST + "fusion: {rule: votes}", "'votes' is none of"),
        (LEAST + "fusion: {agreed: [x]}", "fusion.agreed must be of type float"),
        (LEAST.replace("turn", "letter"), "'letter' is none of"),
        (LEAST.replace("meaning", "smell"), "unknown channel 'smell'"),
        (LEAST.replace("meaning", "activation"), "channel activation needs seeds"),
        (LEAST.replace("meaning: {}", "meaning: {}, words: {}"), "several channels need a rule"),
        ("units: [", "is not YAML"),
    ],
)
def test_what_is_no_preset_is_refused(content: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        presets.parse("mine", content)
