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


@pytest.mark.parametrize(
    "text",
    [
        "{",
        "\udcff",
        "[]",
        changed(lambda value: value.update(schema="clsm.eval/9")),
        changed(lambda value: value.pop("seed")),
    ],
    ids=["JSON", "UTF-8", "a list", "schema", "a field"],
)
def test_what_is_no_report_is_refused_in_one_sentence(tmp_path: Path, text: str) -> None:
    file = tmp_path / "report.json"
    file.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(BadInputError, match="is no report of schema") as caught:
        load(file)
    assert str(caught.value).startswith(f"{file}: ")
    assert "\n" not in str(caught.value)


def test_what_a_report_has_besides_is_passed_over(tmp_path: Path) -> None:
    file = tmp_path / "report.json"
    file.write_text(changed(lambda value: value["sets"][0].update(more=1)), encoding="utf-8")
    assert load(file) == report_sample.full()
