"""The whole of an ingest: with and without the model, good and bad sources, at once or later."""

from datetime import datetime
from pathlib import Path

import pytest
from ingesting import NOW, embedder, passages, take, tree
from sample_store import SAMPLE

from clsm_cli.errors import ModelMissingError
from clsm_cli.ingestion import ingest_run, markdown, segment
from clsm_cli.ingestion.capture import Capture
from clsm_cli.store import logs
from clsm_cli.store.index.opening import Embedder
from clsm_cli.store.layout import Store

CHAT = SAMPLE / "sessions" / "a41f09c7.jsonl"


def no_model() -> Embedder:
    def missing() -> None:
        raise ModelMissingError(Path("/nowhere"))

    return Embedder(embedder().engine, missing)  # type: ignore[arg-type]


def test_without_the_model_turns_are_captured_and_found_by_words(store: Store) -> None:
    request = ingest_run.IngestRequest(paths=(str(CHAT),), now=datetime.fromisoformat(NOW))
    report = ingest_run.ingest(store, request, no_model(), lambda *_: None)
    assert report.open_turns == report.sources[0].added > 10
    assert any("clsm model install" in warning for warning in report.warnings)
    assert passages(store, "memory")


def test_openclaw_rows_without_a_header_belong_to_the_file(store: Store, tmp_path: Path) -> None:
    """However the path is spelled, so that it is one conversation."""
    path = tmp_path / "chat.jsonl"
    path.write_bytes(b"".join(CHAT.read_bytes().splitlines(keepends=True)[1:]))
    take(store, path, model=False)
    report = take(store, tmp_path / "." / ".." / tmp_path.name / "chat.jsonl", model=False)
    assert report.sources[0].added == 0


def test_every_step_is_in_the_ledger_under_one_id(store: Store) -> None:
    take(store, SAMPLE / "workspace" / "USER.md", CHAT)
    rows = [row for _, row in logs.rows(store.flow / "runs.jsonl")[0]]
    assert len({row["id"] for row in rows}) == 1
    assert {row["command"] for row in rows} == {"ingest"}
    written = {change["path"] for row in rows for change in row["changes"]}
    held = {name for name in tree(store.root) if name.startswith("flow/pi/") and "runs" not in name}
    assert held <= written


def test_documents_are_written_in_one_step(store: Store, tmp_path: Path) -> None:
    """Each step rewrites the shards that it changes, so one for each file costs their square."""
    for number in range(65):
        (tmp_path / f"ferry-{number}.md").write_text(f"The ferry left at {number}.\n")
    take(store, tmp_path, model=False)
    steps = [row["changes"] for _, row in logs.rows(store.flow / "runs.jsonl")[0]]
    assert [sum("episodes" in each["path"] for each in changes) for changes in steps] == [65]


def test_a_source_that_clsm_fails_on_is_reported_and_the_others_are_taken_in(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a.md", "b.md", "d.md"):
        (tmp_path / name).write_text(f"# Log\n\nThe ferry left at {name}.\n")
    (tmp_path / "c.jsonl").write_bytes(CHAT.read_bytes())
    read = markdown.read
    monkeypatch.setattr(
        markdown,
        "read",
        lambda data, **rest: 1 / ("b.md" not in rest["path"]) and read(data, **rest),
    )
    monkeypatch.setattr(Capture, "batches", lambda *_: 1 / 0)
    report = take(store, tmp_path, model=False)
    assert {Path(each.path).name for each in report.problems} == {"b.md", "c.jsonl"}
    assert all("clsm itself failed" in each.reason for each in report.problems)
    assert len(passages(store)) == 2


@pytest.mark.parametrize("step", ["_describe", "_cut"])
def test_a_text_that_cannot_be_described_stops_nothing(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    for name in "ab":
        (tmp_path / f"{name}.md").write_text(f"# Log\n\nThe ferry left at {name}.\n")
    whole = getattr(segment, step)
    failing = iter([True])
    monkeypatch.setattr(
        segment, step, lambda *given: 1 / 0 if next(failing, False) else whole(*given)
    )
    report = take(store, tmp_path, CHAT, SAMPLE / "sessions")
    assert sum("clsm itself failed" in warning for warning in report.warnings) == 1
    assert report.episodes
