"""Labels with days: what is read, which days are asked, what is expected on them."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest
from evaluation.small_sets import write_memory

from clsm_cli.errors import BadInputError
from clsm_cli.evaluation.studies import intervals, labelled
from clsm_cli.evaluation.studies.intervals import Wording
from clsm_cli.evaluation.studies.labelled import Fact, Value

SAMPLE = Path(__file__).parents[2] / "fixtures" / "sample"
FACT = Fact(
    "tea",
    "Ilse",
    "drink",
    (
        Value("coffee", "2026-02-10", "2026-02-14", ""),
        Value("tea", "2026-02-14", "2026-02-15", ""),
        Value("water", "2026-02-15", None, ""),
    ),
)


def test_the_probes_of_the_sample_know_what_else_their_slot_was() -> None:
    found = intervals.load_probes(SAMPLE, labelled.load(SAMPLE).facts)
    assert len(found) == 15
    others = {probe.id: [value.text for value in probe.others] for probe in found if probe.others}
    assert others == {
        "p01": ["5 minutes", "10 minutes"],
        "p02": ["signal shed"],
        "p03": ["2 %", "paused", "0.5 %"],
        "p04": ["2026-02-20", "2026-03-02"],
        "p05": ["none", "shed box Margaret"],
        "p06": ["memory_v2", "daily notes with grep"],
        "p07": ["Spaarne quay"],
        "p08": ["2.5 mg twice a day"],
        "p09": ["SD card"],
    }
    assert [probe.id for probe in found if probe.answer is None] == ["p13", "p14", "p15"]


def test_claims_inside_outside_and_before() -> None:
    found = [
        (value.text, day, verdict)
        for value, day, verdict in intervals.claims(FACT, date(2026, 2, 12), date(2026, 2, 18))
    ]
    assert found == [
        ("coffee", "2026-02-09", "not known"),
        ("coffee", "2026-02-11", "yes"),
        ("coffee", "2026-02-14", "no"),
        ("coffee", "2026-02-16", "no"),
        ("tea", "2026-02-09", "not known"),
        ("tea", "2026-02-11", "no"),
        ("tea", "2026-02-14", "yes"),
        ("tea", "2026-02-16", "no"),
        ("water", "2026-02-09", "not known"),
        ("water", "2026-02-11", "no"),
        ("water", "2026-02-14", "no"),
        ("water", "2026-02-16", "yes"),
    ]


def test_questions_are_made_of_subject_and_slot_unless_the_labels_have_better(
    tmp_path: Path,
) -> None:
    root = write_memory(tmp_path / "set")
    facts = (FACT, *labelled.load(root).facts)
    made = intervals.load_wordings(root, facts)
    assert made["tea"] == Wording("What was the drink of Ilse?", "Is Ilse's drink {value}?")
    (root / "labels" / "questions.yaml").write_text(
        '- {fact: pump, asks: "How often does it run?", claims: "Every {value}?"}\n',
        encoding="utf-8",
    )
    better = intervals.load_wordings(root, facts)
    assert better == made | {"pump": Wording("How often does it run?", "Every {value}?")}


PROBE = """
- id: p
  kind: as-of
  query: "how often"
  as_of: "2026-03-02"
  answer: "every 20 minutes"
  evidence: [{file: a.md, quote: "every  20 minutes"}]
"""


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (PROBE, ""),
        (PROBE, "3"),
        (PROBE, "["),
        ("2026-03-02", "2026-13-02"),
        ("kind: as-of", "kind: unanswerable"),
        ('"every 20 minutes"', "null"),
        ("query", "question"),
    ],
)
def test_probes_that_cannot_be_read(tmp_path: Path, old: str, new: str) -> None:
    root = write_memory(tmp_path / "set")
    file = root / "labels" / "probes.yaml"
    file.write_text(PROBE, encoding="utf-8")
    (probe,) = intervals.load_probes(root, labelled.load(root).facts)
    assert probe.quotes == ("every 20 minutes",)
    file.write_text(PROBE.replace(old, new), encoding="utf-8")
    with pytest.raises(BadInputError):
        intervals.load_probes(root, ())
