"""A report is read back as it was written, and nothing else is taken for one."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from evaluation.report_sample import full as sample

from clsm_cli.errors import BadInputError
from clsm_cli.evaluation.result import dump, load


def changed(change: Callable[[dict[str, Any]], object]) -> str:
    """The sample report with something else in it."""
    value = dump(sample())
    change(value)
    return json.dumps(value)


HOSTILE = {
    "is longer": " " * 10,
    "is not JSON": "{",
    "is not UTF-8": "\udcff",
    "is of schema None": "[]",
    "is of schema 'clsm.eval/2'": changed(lambda value: value.update(schema="clsm.eval/2")),
    "has no seed in the report": changed(lambda value: value.pop("seed")),
    "holds as seed what is none of": changed(lambda value: value.update(seed=True)),
    "holds as sets what is none of": changed(lambda value: value.update(sets={})),
    "holds as silenced": changed(lambda value: value["sets"][0].update(silenced="0.5")),
    "too large": changed(lambda value: value["sets"][0].update(silenced=10**400)),
    "holds as interval": changed(lambda value: value["sets"][0]["pairs"][0].update(interval=[1])),
    "holds NaN": changed(lambda value: value["sets"][0].update(stored=float("nan"))),
    "too large a number": '{"schema": 1e999}',
    "nested deeper": "[" * 100_000,
    "twice": '{"schema": 1, "schema": 2}',
}


@pytest.mark.parametrize("reason", HOSTILE)
def test_what_is_no_report_is_refused_in_one_sentence(
    tmp_path: Path, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "report.json"
    file.write_bytes(HOSTILE[reason].encode("utf-8", "surrogateescape"))
    if reason == "is longer":
        monkeypatch.setattr("clsm_cli.evaluation.result.MAX_REPORT", 5)
    with pytest.raises(BadInputError, match=reason) as caught:
        load(file)
    assert str(caught.value).startswith(f"{file}: ")
    assert "\n" not in str(caught.value)


def test_a_report_is_read_back_and_what_it_has_besides_is_passed_over(tmp_path: Path) -> None:
    file = tmp_path / "report.json"
    file.write_text(changed(lambda value: value["sets"][0].update(more=1)), encoding="utf-8")
    assert load(file) == sample()
