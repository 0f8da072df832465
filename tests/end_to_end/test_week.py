"""The short form of the week: two days of a few heartbeats, three agents at once."""

from pathlib import Path

from clsm_cli.text.fence_lines import OPENING
from end_to_end.week import simulate


def test_nothing_is_lost_or_comes_twice_or_from_clsm(tmp_path: Path, model_folder: Path) -> None:
    week = simulate(tmp_path, model_folder, days=2, heartbeats=8, turns=4)
    assert week.wrong() == []
    assert week.heartbeats == 16
    texts = "".join(
        p.read_text() for p in week.cli.store.rglob("*") if p.suffix in {".md", ".jsonl"}
    )
    assert OPENING not in texts
