"""The whole of an ingest: with and without the model, good and bad sources, at once or later."""

from __future__ import annotations

import json
from pathlib import Path

from ingesting import embedder, take, tree

from clsm_cli.errors import ModelMissingError
from clsm_cli.ingestion import ingest_run
from clsm_cli.store.index.opening import Embedder, open_index
from clsm_cli.store.layout import Store
from clsm_cli.text.tokens import stems

SAMPLE = Path(__file__).parents[2] / "fixtures" / "sample"
CHAT = SAMPLE / "sessions" / "a41f09c7.jsonl"


def no_model() -> Embedder:
    def missing() -> None:
        raise ModelMissingError(Path("/nowhere"))

    return Embedder(embedder().engine, missing)  # type: ignore[arg-type]


def words(store: Store, text: str) -> list[str]:
    with open_index(store, None) as opened:
        rows = {row for term in stems(text) for row, _, _ in opened.index.postings(term)}
        return [p.text for p in opened.index.passages(sorted(rows)).values()]


def test_without_the_model_turns_are_captured_and_found_by_words(store: Store) -> None:
    from datetime import UTC, datetime

    request = ingest_run.Request(paths=(str(CHAT),), now=datetime(2026, 3, 1, tzinfo=UTC))
    report = ingest_run.ingest(store, request, no_model(), lambda *_: None)
    assert report.open_turns == report.sources[0].added > 10
    assert any("clsm model install" in warning for warning in report.warnings)
    assert words(store, "memory")


def test_openclaw_rows_without_a_header_belong_to_the_file(store: Store, tmp_path: Path) -> None:
    """However the path is spelled, so that it is one conversation."""
    path = tmp_path / "chat.jsonl"
    path.write_bytes(b"".join(CHAT.read_bytes().splitlines(keepends=True)[1:]))
    take(store, path, model=False)
    report = take(store, tmp_path / "." / ".." / tmp_path.name / "chat.jsonl", model=False)
    assert report.sources[0].added == 0


def test_every_step_is_in_the_ledger_under_one_id(store: Store) -> None:
    take(store, SAMPLE / "workspace" / "USER.md", CHAT)
    rows = [
        json.loads(line)
        for line in (store.flow / "runs.jsonl").read_bytes().split(b"\n")
        if line.strip()
    ]
    assert len({row["id"] for row in rows}) == 1
    assert {row["command"] for row in rows} == {"ingest"}
    written = {change["path"] for row in rows for change in row["changes"]}
    held = {name for name in tree(store.root) if name.startswith("flow/pi/") and "runs" not in name}
    assert held <= written
