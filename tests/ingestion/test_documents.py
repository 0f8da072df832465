"""A living document through its versions: one current copy of each fact, old ones closed."""

import time
from pathlib import Path

from ingesting import new_store, passages, state_of, take, unchanged
from tables import mapping

from clsm_cli.ingestion import documents
from clsm_cli.model.episodes import Document, Turn
from clsm_cli.store import layout
from clsm_cli.store.layout import Store

FACTS = mapping(__file__, "facts")


def page(*sections: tuple[str, list[str]]) -> str:
    parts = ["# Memory\n"]
    parts += [f"## {title}\n\n" + "\n".join(lines) + "\n" for title, lines in sections]
    return "\n".join(parts)


def f(*names: str) -> list[str]:
    return [FACTS[name] for name in names]


TEN = "- The ferry to Texel leaves at ten o'clock now."
COLD = "- Ilse drinks cold green tea in the morning."
VERSIONS = [
    page(("People", f("tea", "brian")), ("Places", f("ferry", "stove"))),
    page(("Places", f("stove", "ferry")), ("People", f("brian", "tea"))),  # reordered
    page(("People", f("tea", "brian")), ("Places", [TEN, FACTS["stove"]])),  # reworded
    page(("People", f("tea", "brian")), ("Places", [TEN])),  # deleted
    page(("People", f("tea", "brian")), ("Places", [TEN, FACTS["stove"]])),  # added back
    page(("People", f("tea")), ("Places", [TEN, *f("stove", "brian")])),  # moved
    page(("Rules", f("rule")), ("People", f("tea")), ("Places", [TEN, *f("stove", "brian")])),
    page(("Rules", f("rule")), ("People", [COLD]), ("Places", [TEN, *f("stove", "brian")])),
    page(("Rules", f("rule")), ("People", f("tea")), ("Places", f("ferry", "stove", "brian"))),
    page(("All", f("piano", "rule", "tea", "ferry", "stove", "brian"))),
    page(("All", f("piano", "rule", "ferry", "stove"))),
]
"""The first, and ten rewrites."""


def write(folder: Path, text: str, name: str = "MEMORY.md") -> Path:
    path = folder / name
    path.write_text(text)
    return path


def texts(store: Store, words: str = "") -> list[str]:
    """Of what recall may return, or of what some words of it reach."""
    return sorted(each.text for each in passages(store, words))


def test_ten_rewrites_leave_one_current_copy_of_each_fact(store: Store, tmp_path: Path) -> None:
    for number, text in enumerate(VERSIONS):
        take(store, write(tmp_path, text), now=f"2026-03-{number + 1:02}T12:00:00+01:00")
        lines = text.splitlines()
        items = {line for line in lines if line.startswith("- ")}
        held = [text for text in texts(store) if text.startswith("- ")]
        assert sorted("\n".join(held).splitlines()) == sorted(items), f"version {number}"
        for passage in passages(store):  # where it stands now, under its heading of now
            end = passage.line_end
            assert lines[passage.line_start - 1 : end] == passage.text.splitlines()
            titles = [line[3:] for line in lines[: passage.line_start] if line.startswith("## ")]
            assert passage.heading.split(" › ")[-1] in (titles[-1] if titles else "", "Memory")


def test_of_a_closed_block_only_the_successor_is_found(store: Store, tmp_path: Path) -> None:
    take(store, write(tmp_path, VERSIONS[0]))
    assert any("half past nine" in text for text in texts(store, "ferry"))
    report = take(store, write(tmp_path, VERSIONS[2]), now="2026-03-02T12:00:00+01:00")
    assert report.sources[0].changed == 1
    assert not any("half past nine" in text for text in texts(store, "ferry"))
    assert any("ten o'clock" in text for text in texts(store, "ferry"))
    (record,) = (r for r in state_of(store).records.values() if isinstance(r, Document))
    successors = [after for at, after in record.closed.values() if at == "2026-03-02T11:00:00Z"]
    assert successors
    assert set(successors) <= {block.key for block in record.blocks}


def test_a_block_that_comes_back_is_current_again(store: Store, tmp_path: Path) -> None:
    one, two = "# A\n\nThe stove burns beech.\n\nTea.\n", "# A\n\nTea.\n"
    for text in (one, two, one, two, one):
        take(store, write(tmp_path, text))
    assert texts(store) == ["Tea.", "The stove burns beech."]
    assert len(state_of(store).episodes) == 1


def test_a_renamed_file_continues_its_document(store: Store, tmp_path: Path) -> None:
    """Also if it changed meanwhile; where the old file comes back, both are there."""
    old = write(tmp_path, VERSIONS[0])
    take(store, old, write(tmp_path, "# Tools\n\nA saw.\n", "gone.md"))
    (tmp_path / "gone.md").unlink()
    new = old.rename(tmp_path / "Places.md")
    new.write_text(VERSIONS[2])
    report = take(store, tmp_path, now="2026-03-02T12:00:00+01:00")
    (tally,) = report.sources
    assert tally.moved_from == str(old)
    assert tally.added + tally.changed + tally.known == len(texts(store)) - 1
    assert tally.known > 0
    assert texts(store) == sorted([*f("tea", "brian"), TEN, FACTS["stove"], "A saw."])
    lines = {each.path for each in passages(store)}
    assert lines == {str(new), str(tmp_path / "gone.md")}
    write(tmp_path, VERSIONS[0])
    take(store, tmp_path, now="2026-03-03T12:00:00+01:00")
    assert texts(store).count(FACTS["tea"]) == 2


def test_an_emptied_file_is_refused(store: Store, tmp_path: Path) -> None:
    take(store, write(tmp_path, VERSIONS[0]))
    with unchanged(store.root):
        for text in ("", "\n \n", "---\ntitle: x\n---\n"):
            (problem,) = take(store, write(tmp_path, text)).problems
            assert "is empty now; its" in problem.reason


def test_a_file_that_lost_much_at_once_is_said_and_heals(store: Store, tmp_path: Path) -> None:
    """Cut short by accident: the blocks are closed, not deleted, and come back with the file."""
    lines = [
        f"- Room {n} has the bell number {n * n}.\n\nIt was counted {n} times.\n" for n in range(12)
    ]
    whole = "# A\n\n" + "\n".join(lines)
    assert take(store, write(tmp_path, whole)).warnings == []
    before = texts(store)
    (warning,) = take(store, write(tmp_path, whole[:80])).warnings
    assert f"of its {len(before)} blocks are gone at once; they are closed, not deleted" in warning
    assert take(store, write(tmp_path, whole)).warnings == []
    assert texts(store) == before


def test_documents_of_two_machines_stay_apart_in_flow_and_are_read_together(tmp_path: Path) -> None:
    root = tmp_path / "memory"
    pi = new_store(root, "pi")
    take(pi, write(tmp_path, VERSIONS[0]))
    desk = layout.open_store(root, {"CLSM_DEVICE": "desk"})
    report = take(desk, write(tmp_path, VERSIONS[0]))
    assert report.sources[0].added == 0
    take(desk, write(tmp_path, VERSIONS[2]), now="2026-03-02T12:00:00+01:00")
    take(pi, write(tmp_path, VERSIONS[4]), now="2026-03-03T12:00:00+01:00")
    assert sorted(flow.name for flow in pi.flows()) == ["desk", "pi"]
    items = [line for text in texts(pi) for line in text.splitlines() if line.startswith("- ")]
    assert sorted(items) == sorted(line for line in VERSIONS[4].splitlines() if line[:2] == "- ")


def test_a_version_that_a_crash_left_unrecorded_costs_nothing(store: Store, tmp_path: Path) -> None:
    """The episode of version 1 is there, its record is not; version 2 still has every block."""
    take(store, write(tmp_path, "# A\n\nTea.\n\nThe ferry.\n"), model=False)
    for shard in store.graph("flow").iterdir():
        shard.unlink()
    take(store, write(tmp_path, "# A\n\nTea.\n\nThe gauge reads seven.\n"))
    assert texts(store) == ["Tea.", "The gauge reads seven."]
    held = [turn.text for e in state_of(store).episodes.values() for turn in e.turns]
    assert sorted(held) == ["Tea.", "The ferry.", "The gauge reads seven."]


def test_a_long_document_that_changed_all_over_is_compared_in_linear_time() -> None:
    """Each of 9,000 items is changed; all against all would be 81 million pairs."""
    count = 9000
    assert count**2 > 10 * documents.MAX_PAIRS
    texts = [
        f"{n * 7919 % 100_003} came by on day {n}, and the oak had {n * 31 % 977} leaves"
        for n in range(count)
    ]
    gone = {f"{n:012x}": text for n, text in enumerate(texts)}
    fresh = [
        Turn(key=f"f{n:011x}", speaker="", role="user", text=f"{text}, they say")
        for n, text in enumerate(texts)
    ]
    began = time.process_time()
    found = documents._successors(fresh, gone)
    assert time.process_time() - began < 15
    assert found == {f"{n:012x}": f"f{n:011x}" for n in range(count)}


def test_the_day_below_the_title_is_that_of_the_first_version(store: Store, tmp_path: Path) -> None:
    """What a later version adds was written between two captures; a later reading changes nothing."""
    first = "# ADR\n\nDate: 2026-02-18\n\nLock timeout is 3 s.\n"
    for day, more in (("20", ""), ("22", "\nStatus: over.\n"), ("23", "\nStatus: over.\n\nEnd.\n")):
        report = take(store, write(tmp_path, first + more), now=f"2026-02-{day}T12:00:00+01:00")
    assert report.sources[0].known == 3
    times = {each.text: each.time for each in passages(store)}
    first_day = "2026-02-18"
    assert times == {
        "Date: 2026-02-18": first_day,
        "Lock timeout is 3 s.": first_day,
        "Status: over.": None,
        "End.": None,
    }
