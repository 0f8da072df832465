"""A first recall is true: it finds, it says where, and only the files decide."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from sample_store import ask
from small_store import note

from clsm_cli.model.graph import Node
from clsm_cli.retrieval.recall import touch
from clsm_cli.store import atomic, logs, shards
from clsm_cli.store.layout import Store
from clsm_cli.store.lock import locked


def test_every_source_points_at_its_lines(sample: Store) -> None:
    for query in ("delegation defect", "who is brian", "what broke the old memory"):
        for memory in ask(sample, query).memories:
            source = memory.sources[0]
            if not source.path.endswith(".md"):
                continue
            lines = Path(source.path).read_text(encoding="utf-8").split("\n")
            cited = "\n".join(filter(None, lines[source.line_start - 1 : source.line_end]))
            assert "\n".join(filter(None, memory.text.split("\n"))) in cited


def test_a_hand_written_statement_is_seen(sample: Store) -> None:
    path = sample.root / "identity" / "tastes.md"
    path.write_text("- Ilse cannot abide lukewarm zabaglione.\n", encoding="utf-8")
    first = ask(sample, "zabaglione").memories[0]
    assert (first.kind, first.stream) == ("statement", "identity")
    assert first.sources[0].path == "identity/tastes.md"
    path.write_text("- Ilse adores warm zabaglione.\n", encoding="utf-8")
    texts = [memory.text for memory in ask(sample, "zabaglione").memories]
    assert [t for t in texts if "zabaglione" in t] == ["Ilse adores warm zabaglione."]


def test_a_hand_edit_of_a_shard_is_seen(sample: Store) -> None:
    names = {"label": "Brian Okafor", "aliases": ("the neighbour",)}
    node = Node(id="brian", rev=(1, "pi"), kind="person", **names)  # type: ignore[arg-type]
    folder = sample.graph("projects")
    atomic.make_folder(folder)
    path = folder / shards.shard_name("brian", 1)
    path.write_bytes(shards.render([node]))
    by_name = ask(sample, "who is brian").concepts[0]
    assert (by_name.id, by_name.label, by_name.kind) == ("brian", "Brian Okafor", "person")
    assert ask(sample, "the neighbour").concepts[0].seed == "alias"
    path.write_bytes(shards.render([replace(node, label="Brian O.")]))
    assert ask(sample, "who is brian").concepts[0].label == "Brian O."


def test_recall_does_not_wait_for_a_writer(sample: Store) -> None:
    (sample.root / "tasks" / "new.md").write_text("- [ ] Polish the theremin.\n", encoding="utf-8")
    with locked(sample.root, 1):
        answer = ask(sample, "theremin")
    assert answer.memories[0].text == "Polish the theremin."
    assert any("could not be updated" in warning for warning in answer.warnings)
    assert not ask(sample, "theremin").warnings


def test_a_memory_of_one_note_is_silent_about_other_things(store: Store, tmp_path: Path) -> None:
    kept = "The passport expires on 30 October. I booked a ferry for 3 August. Tom is the plumber."
    note(store, tmp_path / "2026-03-09.md", f"# 2026-03-09\n\n{kept}\n")
    for question in ("when does the passport expire", "who is the plumber"):
        assert ask(store, question).memories[0].text == kept
    for question in ("what is the capital of Peru", "how do I knit a scarf", "who won the match"):
        assert not ask(store, question).memories


@pytest.mark.parametrize("question", ['"', "((((", "....", "\N{GRINNING FACE}"])
def test_a_question_without_a_word_has_no_answer(sample: Store, question: str) -> None:
    assert not ask(sample, question).memories


def test_a_recall_is_remembered_by_ids_only(sample: Store) -> None:
    answer = ask(sample, "delegation defect", k=3)
    path = sample.flow / "activation.jsonl"
    assert not path.exists()
    touch(sample, answer)
    log = path.read_text(encoding="utf-8")
    assert answer.recall_id in log
    line = logs.parse(logs.Activation, json.loads(log))
    assert line.ids == tuple(memory.id for memory in answer.memories)
    assert line.concepts == tuple(concept.id for concept in answer.concepts) != ()
    assert "delegation defect" not in log


def test_a_message_that_asks_nothing_gets_no_word_of_what_the_agent_reads_anyway(
    store: Store, tmp_path: Path
) -> None:
    note(store, tmp_path / "AGENTS.md", "The ferry to Texel takes no dogs before nine.\n")
    note(store, tmp_path / "ferry.md", "Tickets for the ferry to Texel lie in the drawer.\n")
    for said, names in (
        ("We take the ferry to Texel on Friday.", ["ferry.md"]),
        ("Which ferry to Texel?", ["AGENTS.md", "ferry.md"]),
    ):
        given = ask(store, said, is_gated=True).memories
        assert sorted(Path(each.sources[0].path).name for each in given) == names
