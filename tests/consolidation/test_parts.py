"""Single steps of a night: short names, gists, an episode that is read again."""

from __future__ import annotations

from pathlib import Path

from sleeping import current, edges, heard, nodes, rows, sleep, talked, told

from clsm_cli.store import shards
from clsm_cli.store.layout import Store


def test_what_people_call_each_other_is_one_of_their_names(store: Store, tmp_path: Path) -> None:
    lines = (
        "Caroline: Hey Mel, how was the pottery with Mel's group?",
        "Melanie: Great! Did you see Petra, Caro?",
        "Caroline: I saw Petra. Mel, you must come.",
    )
    for day in ("2026-02-02", "2026-02-03", "2026-02-04"):
        talked(store, tmp_path, day, day, *lines)
    sleep(store)
    found = nodes(store)
    assert found["melanie"].aliases == ("Mel",)
    assert "mel" not in found
    assert "petra" in found


def test_two_topics_of_a_month_are_two_gists(store: Store, tmp_path: Path) -> None:
    garden = ("The tomatoes need water.", "The compost heap is warm.", "Slugs ate the lettuce.")
    code = ("The SQLite index is slow.", "The unit tests fail.", "The parser has a bug.")
    for number, (green, dry) in enumerate(zip(garden, code, strict=True), 1):
        told(store, tmp_path, f"g{number}", ("Mara", f"2026-02-0{number}T09:00:00+01:00", green))
        told(store, tmp_path, f"c{number}", ("Mara", f"2026-02-0{number}T15:00:00+01:00", dry))
    sleep(store)
    gists = [row for row in rows(store).values() if row.kind == "gist"]
    members = [{e.source for e in edges(store).values() if e.target == g.id} for g in gists]
    assert all(len(found) >= 2 for found in members)
    assert sum(map(len, members)) == len(set().union(*members))
    before = {gist.id: gist.text for gist in gists}
    sleep(store)
    assert {r.id: r.text for r in rows(store).values() if r.kind == "gist"} == before


def test_an_episode_mended_by_hand_is_read_again(store: Store, tmp_path: Path) -> None:
    heard(store, tmp_path, "a", "2026-02-02", "My cousin lives in Ghent.")
    sleep(store)
    (path,) = (store.flow / "episodes").rglob("*.md")
    path.write_text(path.read_text("utf-8").replace("My cousin", "My cousin Ada Holm"), "utf-8")
    report = sleep(store, "2026-03-02T12:00:00+01:00")
    assert report.consolidated == 1
    assert current(store, "Ada Holm")


def test_a_store_without_anything(store: Store) -> None:
    report = sleep(store)
    assert (report.consolidated, report.run) == (0, None)
    assert shards.load_graph(store.graphs()).records == {}
