"""Consolidation with a language model: its words count where they are grounded, and no further."""

import sys
from pathlib import Path
from typing import Any

import pytest
from advising import answer, parts_of, statement
from integrations.endpoint import KEY, TIMEOUT, Endpoint
from sleeping import current, rows, sleep, told

from clsm_cli.config import LlmSettings
from clsm_cli.consolidation.consolidation_report import Report
from clsm_cli.model.ids import digest
from clsm_cli.store.layout import Store

TURNS = (
    ("Mara", "2026-02-02T10:00:00+01:00", "I rowed to Lund with Ada in 3 hours, what a day."),
    ("Ada", "2026-02-02T10:01:00+01:00", "My brother Tomas lives in Deventer with his dog."),
)


def answers(said: dict[str, Any] | None = None) -> dict[str, Any]:
    return {"by_schema": {"answer": said or {"parts": []}}}


def asked(store: Store, endpoint: Endpoint, script: str) -> Report:
    """A night with a model of some kind."""
    address = "http://127.0.0.1:9" if script == "down" else endpoint.address
    settings = LlmSettings(f"{address}/v1", script, timeout=TIMEOUT)
    return sleep(store, llm=settings, llm_key=KEY)


@pytest.fixture
def store(store: Store, tmp_path: Path) -> Store:
    told(store, tmp_path, "one", *TURNS)
    return store


def test_a_good_model_adds_what_the_turns_hold(endpoint: Endpoint, store: Store) -> None:
    (part,) = parts_of(store)
    first = part.turns[0].key
    draft = f"d-{digest(first, f'Mara: {TURNS[0][2]}')}"
    said = answer(
        part,
        statement("Mara can row to Lund with Ada in 3 hours.", first, replaces=draft),
        statement("Mara can row to Lund in 4 hours.", first),
        statement("Mara knows Yusuf.", first),
        statement("Mara owns a boat."),
        relations=[{"source": "Ada", "type": "rowed_to", "target": "Lund", "turns": [first]}],
    )
    endpoint.answers(answers(said))
    report = asked(store, endpoint, "good")
    assert current(store, "row") == ["Mara can row to Lund with Ada in 3 hours."]
    assert current(store, "Yusuf") == current(store, "boat") == []
    (row,) = [each for each in rows(store).values() if "3 hours" in each.text]
    assert row.sources == (first,)
    assert (report.advised, len(report.refused)) == (1, 4)
    assert report.usage["calls"] == endpoint.count >= 1
    assert report.warnings == []
    assert draft in str(endpoint.requests[0]["body"])


@pytest.mark.parametrize("script", ["malformed", "refusing", "500", "401", "down"])
def test_a_bad_one_leaves_it_to_rules_loudly(endpoint: Endpoint, store: Store, script: str) -> None:
    endpoint.answers(answers())
    report = asked(store, endpoint, script)
    assert len(current(store, "Tomas", "Deventer")) == 1
    assert report.consolidated == 1
    assert any("the rules decided instead" in warning for warning in report.warnings)
    assert not any(KEY in warning or "Lund" in warning for warning in report.warnings)


def test_without_settings_no_client_is_loaded(store: Store) -> None:
    loaded = {"openai", "httpx2"} & sys.modules.keys()
    report = sleep(store)
    assert {"openai", "httpx2"} & sys.modules.keys() == loaded
    assert report.usage == {}
