"""Only a report is read as one."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from evaluation import report_sample

from clsm_cli.errors import BadInputError
from clsm_cli.evaluation.result import dump, load


def changed(change: Callable[[dict[str, Any]], object]) -> str:
    """The sample report with something else in it."""
    value = dump(report_sample.full())
    change(value)
    return json.dumps(value)


HOSTILE = {
    "is longer": " " * 10,
    "is not JSON": "{",
    "is not UTF-8": "\udcff",
    "is of schema 'clsm.eval/9'": changed(lambda value: value.update(schema="clsm.eval/9")),
    "is no report of a run": changed(lambda value: value.pop("seed")),
    "holds NaN": changed(lambda value: value["sets"][0].update(stored=float("nan"))),
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


def test_what_a_report_has_besides_is_passed_over(tmp_path: Path) -> None:
    file = tmp_path / "report.json"
    file.write_text(changed(lambda value: value["sets"][0].update(more=1)), encoding="utf-8")
    assert load(file) == report_sample.full()
