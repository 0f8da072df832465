"""A record in a person's hands: shown as YAML, checked, pinned, and never half written."""

from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pytest
from curation.test_correction import BELL, NOW, QUARTER, bell, done, hold, home, markdown
from hypothesis import given
from ingesting import unchanged
from sleeping import current, rows
from strategies import records
from tables import table

from clsm_cli.config import MAX_FILE
from clsm_cli.curation import record_edit
from clsm_cli.curation.record_edit import Draft, Edited
from clsm_cli.errors import BadInputError, RefusedError
from clsm_cli.model.codec import Record, encode
from clsm_cli.model.episodes import Document, EpisodeRecord
from clsm_cli.model.graph import Edge, Node
from clsm_cli.model.streams import Stream
from clsm_cli.store import atomic, layout, record_files, runs, shards, yaml_text
from clsm_cli.store.layout import Store

MARA = Node(id="mara", rev=(4, "pi"), label="Mara", kind="person", stream="identity")
TOWER = Node(id="tower", rev=(1, "pi"), label="Tower", aliases=("the tower",))
KEEPS = Edge(id="g-1a2b3c4d5e6f", rev=(1, "pi"), source="mara", target="tower", type="keeps", n=3)
WHEN = datetime.fromisoformat(NOW)


def draft(store: Store, wanted: str) -> Draft:
    return record_edit.draft(store, wanted, WHEN, print)


def save(store: Store, given_: Draft, text: str) -> Edited:
    warnings: list[str] = []
    result = record_edit.save(store, given_, text, WHEN, warnings.append)
    assert warnings == []
    return result


def changed(store: Store, wanted: str, old: str, new: str) -> Record:
    shown = draft(store, wanted)
    assert old in shown.text
    result = save(store, shown, shown.text.replace(old, new))
    assert result.run is not None
    return result.record


def keep(store: Store, stream: Stream, *kept: Record) -> None:
    runs.apply(store, "test", NOW, record_files.plan_records(store, stream, kept))


def record(store: Store, record_id: str) -> Record:
    return shards.load_graph(store.graphs()).records[record_id]


def test_a_statement_with_its_text(store: Store) -> None:
    hold(store, bell())
    shown = draft(store, bell().id)
    assert f"id: {bell().id}\nrecord: statement\ntext: {BELL}\n" in shown.text
    assert "rev:" not in shown.text
    assert "text_sha:" not in shown.text
    changed(store, bell().id[:8], BELL, QUARTER)
    after = rows(store)[bell().id]
    assert (after.text, after.rev, after.pinned) == (QUARTER, (2, "pi"), True)
    assert after.sources == bell().sources
    assert f"- {QUARTER}  ^{bell().id}\n" in markdown(store)
    assert BELL not in markdown(store)
    stored = record(store, bell().id)
    assert (encode(stored).get("text"), stored.rev) == (QUARTER, (2, "pi"))


def test_a_subject_that_the_person_set_counts(store: Store) -> None:
    hold(store, bell())
    shown = draft(store, bell().id)
    text = shown.text.replace(BELL, "Mara rings it.").replace("subject: bell", "subject: yard")
    save(store, shown, text)
    assert rows(store)[bell().id].subject == "yard"


def test_a_run_that_was_cut_short_is_ended_before_a_record_is_shown(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else half of it is shown, and saving it is refused as if somebody else had changed it."""
    hold(store, bell())
    shown = draft(store, bell().id)
    put = atomic.put

    def dies(path: Path, data: bytes, *, read_as: str | None = "", durable: bool = True) -> None:
        if path.suffix == ".md":
            raise KeyboardInterrupt
        put(path, data, read_as=read_as, durable=durable)

    with monkeypatch.context() as patched:
        patched.setattr(atomic, "put", dies)
        with pytest.raises(KeyboardInterrupt):
            save(store, shown, shown.text.replace(BELL, QUARTER))
    again = draft(store, bell().id)
    assert QUARTER in again.text
    assert save(store, again, again.text).run is None
    assert f"- {QUARTER}  ^{bell().id}\n" in markdown(store)


def test_nothing_changed_nothing_written(store: Store) -> None:
    hold(store, bell())
    with unchanged(store.root, derived=True):
        shown = draft(store, bell().id)
        for text in (shown.text, shown.text + "# seen\n", shown.text.replace("\n", "\r\n")):
            assert save(store, shown, text).run is None


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        (BELL, "'[x] done'", "cannot stand as an item"),
        (BELL, "'***'", "cannot stand as an item"),
        ("", "", "must be a mapping"),
        *table(__file__, "refused"),
    ],
)
def test_what_is_no_such_record_is_refused(store: Store, old: str, new: str, reason: str) -> None:
    hold(store, bell())
    with unchanged(store.root):
        shown = draft(store, bell().id)
        assert old in shown.text
        with pytest.raises(BadInputError, match=reason.replace("[", "\\[")):
            save(store, shown, shown.text.replace(old, new) if old else "")


def test_what_another_run_changed_is_not_overwritten(store: Store) -> None:
    hold(store, bell())
    shown = draft(store, bell().id)
    done(store, bell().id, QUARTER)
    with unchanged(store.root), pytest.raises(RefusedError, match="changed meanwhile"):
        save(store, shown, shown.text.replace("10", "20"))


def test_nodes_edges_and_episodes(store: Store) -> None:
    keep(store, "identity", MARA)
    keep(store, "projects", TOWER, KEEPS)
    keep(store, "flow", EpisodeRecord(id="e-aabbccddeeff", rev=(2, "pi"), title="A walk"))
    changed(store, "mara", "label: Mara", "label: Mara Lind\naliases: [Mara]")
    assert record(store, "mara") == replace(
        MARA, rev=(5, "pi"), label="Mara Lind", aliases=("Mara",), pinned=True
    )
    changed(store, "g-1a", "type: keeps", "type: winds")
    assert record(store, KEEPS.id) == replace(KEEPS, rev=(2, "pi"), type="winds", pinned=True)
    changed(store, "e-aabb", "title: A walk", "title: A long walk")
    assert encode(record(store, "e-aabbccddeeff"))["title"] == "A long walk"
    for folder in store.graphs():
        found = [r.id for path in shards.shard_files(folder) for r in shards.read(path).records]
        assert len(found) == len(set(found))


def test_an_edge_needs_both_ends(store: Store) -> None:
    keep(store, "projects", TOWER, KEEPS)
    keep(store, "identity", MARA)
    shown = draft(store, KEEPS.id)
    with pytest.raises(BadInputError, match="no record has the id 'towel'"):
        save(store, shown, shown.text.replace("target: tower", "target: towel"))


def test_a_record_of_another_machine(store: Store) -> None:
    other = layout.open_store(store.root, {"CLSM_DEVICE": "pc"})
    keep(other, "flow", EpisodeRecord(id="e-aabbccddeeff", rev=(7, "pc"), title="A walk"))
    with unchanged(other.flow):  # only its own machine writes there
        changed(store, "e-aabbccddeeff", "title: A walk", "title: A swim")
    after = record(store, "e-aabbccddeeff")
    assert (encode(after)["title"], after.rev) == ("A swim", (8, "pi"))


def test_ids(store: Store) -> None:
    keep(store, "projects", TOWER, replace(TOWER, id="ab12c"), replace(TOWER, id="ab12d"), KEEPS)
    keep(store, "flow", Document(id="d-aabbccddeeff", rev=(1, "pi"), origin="x"))
    assert draft(store, "tower").record.id == "tower"
    for wanted, reason in [
        ("ab12", "several ids begin so"),
        ("towe", "no record has that id"),
        ("tow", "no record has that id"),
        ("steeple", "no record has that id"),
        ("d-aabb", "kept by ingest"),
    ]:
        with pytest.raises(BadInputError, match=reason):
            draft(store, wanted)


def test_what_was_closed_can_be_opened_again(store: Store) -> None:
    hold(store, home())
    done(store, home().id, "Mara lives in York.", never=True)
    shown = draft(store, home().id)
    ended = ("superseded", "withdrawn")
    lines = [line for line in shown.text.splitlines() if not line.startswith(ended)]
    save(store, shown, "\n".join(lines))
    assert current(store, "Leeds") == [home().text]
    assert home().text in markdown(store)


@given(records())
def test_what_is_shown_reads_back(kept: Record) -> None:
    shown = record_edit._shown(kept)
    assert yaml_text.load(record_edit._block_yaml(shown), MAX_FILE) == shown
    assert record_edit._read(kept, record_edit._block_yaml(shown)) == kept
