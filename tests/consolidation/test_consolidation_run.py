"""What a night makes of what was said: kept, corrected, refused, and never lost."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from ingesting import new_store, place, take, unchanged
from sample_store import SAMPLE
from sleeping import believed, bytes_of, current, edges, heard, nodes, rows, sleep, told
from small_store import found, note, row, state, tell

from clsm_cli.consolidation import entity_mentions
from clsm_cli.consolidation.consolidation_report import Report
from clsm_cli.consolidation.learning import Learner
from clsm_cli.consolidation.rehearsal import dry_run
from clsm_cli.errors import RefusedError
from clsm_cli.model.codec import Record
from clsm_cli.model.graph import Edge, Node
from clsm_cli.store import atomic, shards
from clsm_cli.store.layout import Store
from clsm_cli.text.name_matching import sentence_openers

REV = (1, "pi")
HOLM = "Our reading club meets at Holm on Fridays."
BESGATE = "Our reading club no longer meets at Holm, it has moved to Besgate."


def test_an_older_value_that_comes_late_replaces_no_newer_one(store: Store, tmp_path: Path) -> None:
    heard(store, tmp_path, "two", "2026-02-09", BESGATE)
    sleep(store)
    heard(store, tmp_path, "one", "2026-02-02", HOLM)
    sleep(store)
    assert current(store, "club") == [f"Mara: {BESGATE}"]
    (closed,) = [row for row in rows(store).values() if row.valid_until]
    assert HOLM in closed.text
    assert (closed.valid_until or "")[:10] == "2026-02-09"
    with unchanged(store.root):
        sleep(store, "2026-03-02T12:00:00+01:00", rebuild=True)


def test_a_line_that_was_rewritten_is_succeeded(store: Store, tmp_path: Path) -> None:
    lines = (
        "# Home\n\n- **Landlord:** Brian Okafor, rent {} euros a month\n"
        "- **Dentist:** Carla Vos, Kerkstraat 4, Haarlem\n"
    )
    note(store, tmp_path / "MEMORY.md", lines.format(900))
    sleep(store)
    note(store, tmp_path / "MEMORY.md", lines.format(950))
    sleep(store, "2026-03-02T12:30:00+01:00", allow_loss=True)
    (new,) = [row for row in rows(store).values() if row.is_current and "950" in row.text]
    assert rows(store)[new.supersedes or ""].text == new.text.replace("950", "900")
    assert len(current(store, "Dentist")) == 1
    assert current(store, "900") == []


def test_a_night_splits_no_text_again_to_find_names(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    split_texts: list[str] = []

    def openers(text: str, *others: Any) -> Iterator[str]:
        split_texts.append(text)
        return sentence_openers(text, *others)

    monkeypatch.setattr(entity_mentions, "sentence_openers", openers)
    for name in ("one", "two"):
        note(store, tmp_path / f"{name}.md", f"Holm met Bea at the {name} gate. Bea went home.\n")
        split_texts.clear()
        sleep(store)
    assert split_texts == ["Holm met Bea at the two gate. Bea went home."]


def test_one_line_takes_the_place_of_one(store: Store, tmp_path: Path) -> None:
    """Not every line that is like one that is gone, as in a log that grows."""
    fine = [f"{at} backup of Leeds ok" for at in ("06:30", "07:00", "07:30", "08:30")]
    first = [*fine[:3], "08:00 WARN pihole latency 340ms", fine[3]]
    second = [*fine[:3], "21:30 WARN dns timeout 192.168.20.2 (expected, moved)"]
    lines = [f"2026-11-02 {each}\n" for each in first] + [f"2026-11-03 {each}\n" for each in second]
    for count, day in ((5, 2), (9, 3)):
        note(store, tmp_path / "heartbeat.md", "# heartbeat\n\n" + "".join(lines[:count]))
        sleep(store, f"2026-03-0{day}T12:30:00+01:00", allow_loss=True)
    assert len(current(store, "2026")) == 1


@pytest.mark.parametrize("between", [None, 15])
def test_what_takes_the_place_of_a_rule_is_kept_as_that_was(
    store: Store, tmp_path: Path, between: int | None
) -> None:
    rules = (
        "# AGENTS.md\n\nThis folder is home. Read SOUL.md and USER.md before anything else.\n\n## Rules\n\n"
        "- Never push to main without Ruben's OK.\n- Don't send mail in Ruben's name. Drafts only.\n- {}\n"
    )
    rule = "Ask before you spend more than {} € on API calls a day."
    note(store, tmp_path / "AGENTS.md", rules.format(rule.format(20)))
    sleep(store)
    assert current(store, "20 €")
    for euros in filter(None, (between, 10)):
        note(store, tmp_path / "AGENTS.md", rules.format(rule.format(euros)))
    sleep(store, "2026-03-02T12:30:00+01:00", allow_loss=True)
    (new,) = [row for row in rows(store).values() if row.is_current and "Ask before" in row.text]
    assert rule.format(10) in new.text
    assert (new.supersedes is None) == (between is not None)  # the line of a day was never held


def test_a_changed_row_takes_the_place_of_no_row_that_stayed(store: Store, tmp_path: Path) -> None:
    rows_of = (
        "# Mill\n\n## Budget\n\n| Item | Planned | Spent | Owner |\n|---|---:|---:|---|\n"
        "| Structural survey | €12,500 | €11,900 | Rosa Lind |\n| Market analysis | €8,000 | {} | Mara |\n"
        "| Travel | €1,500 | €640 | Mara |\n"
    )
    note(store, tmp_path / "Mill.md", rows_of.format("€3,200"))
    (table,) = found(store, "travel", k=1)
    travel = "Mill › Budget: Travel · €1,500 · €640 · Mara"
    state(store, "projects", "facts", travel, (table.id,))
    note(store, tmp_path / "Mill.md", rows_of.format("€7,900"))
    sleep(store, allow_loss=True)
    assert current(store, "€1,500") == [travel]
    assert current(store, "Structural") == []


def test_a_repeated_session_teaches_nothing_new(store: Store, tmp_path: Path) -> None:
    turns = [
        ("Mara", "2026-02-02T10:00:00+01:00", "My brother Tomas lives in Deventer with his dog."),
        ("Mara", "2026-02-02T10:01:00+01:00", "I am allergic to hazelnuts."),
    ]
    told(store, tmp_path, "one", *turns)
    sleep(store)
    before = {i for i, row in rows(store).items() if row.kind != "gist"}
    assert before
    later = [(who, time.replace("02-02", "02-12"), text) for who, time, text in turns]
    told(store, tmp_path, "two", *later)
    report = sleep(store)
    assert {i for i, row in rows(store).items() if row.kind != "gist"} == before
    assert report.statements["new"] == 0
    assert report.statements["predicted"] == len(before)
    assert all(len(row.sources) == 2 for row in rows(store).values() if row.kind != "gist")


def test_a_second_run_changes_no_byte(slept: Store) -> None:
    sleep(slept)
    with unchanged(slept.root):
        report = sleep(slept, "2026-03-02T12:00:00+01:00")
    assert report.run is None


def test_a_preference_stands_among_the_preferences(store: Store, tmp_path: Path) -> None:
    rule = "# Preferences\n\n- Never send an e-mail without asking Mara first.\n"
    note(store, tmp_path / "USER.md", rule)
    sleep(store)
    (found,) = [each for each in rows(store).values() if "e-mail" in each.text]
    assert (found.kind, found.stream, found.topic) == ("preference", "identity", "preferences")


def test_a_statement_removed_by_hand_does_not_come_back(store: Store, tmp_path: Path) -> None:
    fact = "My brother Tomas lives in Deventer with his dog."
    heard(store, tmp_path, "a", "2026-02-02", fact)
    sleep(store)
    (text,) = current(store, "Deventer")
    (row,) = [each for each in rows(store).values() if each.text == text]
    path = store.root / row.stream / f"{row.topic}.md"
    lines = path.read_text(encoding="utf-8").split("\n")
    path.write_text("\n".join(line for line in lines if row.id not in line), encoding="utf-8")
    heard(store, tmp_path, "b", "2026-02-12", fact)
    sleep(store)
    assert current(store, "Deventer") == []
    assert rows(store)[row.id].withdrawn


def test_a_text_mended_by_hand_stays(store: Store, tmp_path: Path) -> None:
    heard(store, tmp_path, "a", "2026-02-02", "I am a nurse in Lund.")
    sleep(store)
    (text,) = current(store, "Lund")
    (row,) = [each for each in rows(store).values() if each.text == text]
    path = store.root / row.stream / f"{row.topic}.md"
    path.write_text(path.read_text("utf-8").replace(text, "Mara is a midwife in Lund."), "utf-8")
    heard(store, tmp_path, "b", "2026-02-09", "I am a nurse in Lund.")
    sleep(store)
    assert "Mara is a midwife in Lund." in current(store, "Lund")
    assert rows(store)[row.id].pinned


def test_a_node_that_a_person_pinned_keeps_its_name(store: Store, tmp_path: Path) -> None:
    for day in ("2026-02-01", "2026-02-02", "2026-02-03"):
        heard(store, tmp_path, day, day, "The [[Lantern]] burned with Yusuf there.")
    sleep(store)
    node = nodes(store)["lantern"]
    (path,) = [p for p in store.graph(node.stream).iterdir() if '"id": "lantern"' in p.read_text()]
    mine = '"label": "Guard\'s lamp", "pinned": true'
    path.write_text(path.read_text("utf-8").replace('"label": "Lantern"', mine), "utf-8")
    heard(store, tmp_path, "s9", "2026-02-09", "The [[Lantern]] again.")
    sleep(store)
    assert nodes(store)["lantern"].label == "Guard's lamp"


def test_one_broken_line_of_a_shard_stops_nothing(store: Store, tmp_path: Path) -> None:
    heard(store, tmp_path, "a", "2026-02-02", "My sister Ada lives in Ghent.")
    sleep(store)
    path = min(store.graph("flow").iterdir())
    with path.open("a", encoding="utf-8") as file:
        file.write('- {"id": "torn", "record"\n')
    heard(store, tmp_path, "b", "2026-02-05", "I am allergic to nuts.")
    sleep(store)
    assert current(store, "allergic")


def test_a_name_that_mostly_begins_sentences_is_a_node(store: Store, tmp_path: Path) -> None:
    said = (
        "Noor called. Later it rained.",
        "Noor's cat is ill.",
        "I called Noor. Later she slept.",
    )
    for day, text in enumerate(said, 2):
        heard(store, tmp_path, f"{day}", f"2026-02-0{day}", text)
    sleep(store)
    assert [node.label for node in nodes(store).values()] == ["Noor"]


def test_a_pair_said_once_has_no_edge(store: Store, tmp_path: Path) -> None:
    heard(store, tmp_path, "a", "2026-02-02", "[[Kiln]] and [[Loom]].")
    heard(store, tmp_path, "b", "2026-02-03", "[[Kiln]], [[Anvil]].")
    heard(store, tmp_path, "c", "2026-02-04", "[[Kiln]], [[Anvil]] again.")
    sleep(store)
    pairs = [{e.source, e.target} for e in edges(store).values() if e.type == "co_occurs"]
    assert {"kiln", "anvil"} in pairs
    assert {"kiln", "loom"} not in pairs


def test_a_note_that_moved_counts_once(store: Store, tmp_path: Path) -> None:
    place(
        tmp_path,
        **{"Shed.md": b"# Shed\n\nThe [[Loom]] stands by Kiln Hill.\n\n[[Loom]]s creak.\n"},
    )
    take(store, tmp_path)
    sleep(store)
    before = {i: (node.n, node.first) for i, node in nodes(store).items()}, {*edges(store)}
    (tmp_path / "Attic").mkdir()
    (tmp_path / "Shed.md").rename(tmp_path / "Attic" / "Shed.md")
    take(store, tmp_path)
    sleep(store)
    assert ({i: (n.n, n.first) for i, n in nodes(store).items()}, {*edges(store)}) == before


def test_nights_one_by_one_are_one_long_night_and_a_rebuilt_one(tmp_path: Path) -> None:
    memory = sorted((SAMPLE / "workspace" / "memory").glob("*.md"))[:6]
    nightly, once = new_store(tmp_path / "nightly"), new_store(tmp_path / "once")
    for path in memory:
        night = f"{path.stem}T23:30:00+01:00"
        take(nightly, path, now=night)
        sleep(nightly, night)
    one = believed(nightly)
    take(once, *memory)
    sleep(once)
    sleep(nightly, rebuild=True)
    for other in (believed(once), believed(nightly)):
        assert {
            i: (one.get(i), other.get(i)) for i in {*one, *other} if one.get(i) != other.get(i)
        } == {}


def test_a_limited_run_takes_the_salient_and_the_rest_later(store: Store, tmp_path: Path) -> None:
    for number in range(1, 6):
        day = f"2026-02-0{number}"
        heard(store, tmp_path, day, day, f"My cousin number {number} lives in Ghent.")
    first = sleep(store, limit=2)
    assert (first.consolidated, first.pending) == (2, 5)
    second = sleep(store)
    assert (second.consolidated, second.pending) == (3, 3)
    assert sleep(store).consolidated == 0


def test_nothing_happens_while_somebody_speaks(store: Store) -> None:
    tell(store, row("Hello there.", timestamp="2026-03-01T11:55:00+01:00"))
    assert sleep(store, if_idle=30.0).is_busy
    assert not sleep(store, "2026-03-01T13:00:00+01:00", if_idle=30.0).is_busy


def test_a_dry_run_tells_and_changes_nothing(store: Store, tmp_path: Path) -> None:
    heard(store, tmp_path, "a", "2026-02-02", "My sister Ada lives in Ghent.")
    with unchanged(store.root):
        report = sleep(store, dry_run=True)
    assert any("Ghent" in line for change in report.files for line in change.added)
    sleep(store)
    assert {change.path for change in report.files if change.added} <= set(bytes_of(store))


def test_a_dry_run_does_not_tell_what_others_write_meanwhile(store: Store) -> None:
    place(store.root, **{"notes.md": b"- mine\n"})

    def run(copy: Store) -> Report:
        place(store.root, **{"notes.md": b"- mine\n- written meanwhile\n"})
        place(copy.root, **{"notes.md": b"- mine\n- by the run\n"})
        return Report()

    [change] = dry_run(store, run).files
    assert (change.added, change.removed) == (("- by the run",), ())


@pytest.mark.parametrize("kind", ["nodes", "typed edges"])
@pytest.mark.parametrize("count", [20, 21])
def test_nor_are_nodes_and_edges(store: Store, kind: str, count: int) -> None:
    """Records that no text bears out, as after files were lost: the graph made anew has none of them."""
    people = [Node(id=f"p{n}", rev=REV, label=f"Person {n}", kind="person") for n in range(count)]
    one = Edge(id="e", rev=REV, source="p0", target="p0", type="caused", n=1)
    works = [replace(one, id=f"e-{n}", target=f"p{n}") for n in range(count)]
    planted: list[Record] = [*people] if kind == "nodes" else [*people[:20], *works]
    atomic.put(store.graph("projects") / "0.yaml", shards.render(planted))
    if count > 20:  # as few as 20 may go
        with unchanged(store.root), pytest.raises(RefusedError, match=f"21 of 21 {kind}"):
            sleep(store, rebuild=True)
    sleep(store, rebuild=True, allow_loss=count > 20)
    assert {**nodes(store), **edges(store)} == {}


def test_without_the_model_shape_decides(store: Store) -> None:
    take(store, SAMPLE / "workspace" / "MEMORY.md")
    report = sleep(store, model=False)
    assert report.consolidated == 1
    assert current(store)


def test_half_of_a_long_backlog_is_safe_when_the_rest_fails(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    relatives = ("cousin Ada", "uncle Bruno", "dentist Carla", "old teacher Dirk")
    for number, name in enumerate(relatives, 1):
        day = f"2026-02-0{number}"
        heard(store, tmp_path, day, day, f"My {name} lives in Ghent with two dogs.")
    two = store.settings.consolidation._replace(step=2)
    small = store._replace(settings=store.settings._replace(consolidation=two))
    with monkeypatch.context() as patch:
        patch.setattr(Learner, "finish", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            sleep(small)
    assert len(current(store, "Ghent")) == 2
    whole = sleep(small)
    assert whole.consolidated == 2
    assert len(current(store, "Ghent")) == 4
