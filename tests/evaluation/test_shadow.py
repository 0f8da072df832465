"""Shadow mode over a small real store: what is measured, and that nothing sees itself."""

import os
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import pytest
from ingesting import embedder, new_store
from sample_store import query_engine
from small_store import note, row, talk, tell

from clsm_cli.evaluation import shadow_mode
from clsm_cli.evaluation.shadow_mode import Given, Rarity, Report
from clsm_cli.store.index.opening import open_index
from clsm_cli.store.layout import Store

BEGUN = datetime.fromisoformat("2026-02-20T08:00:00+01:00")
NOW = datetime.fromisoformat("2026-03-02T03:00:00+01:00")
MEMORY = "# Memory\n\n- The spare key hangs behind the barometer.\n- The cat is called Juno.\n"


def said(session: str, day: str, *texts: str) -> list[str]:
    """A talk of Mara with her agent, who answers every second time, a minute apart."""
    return [
        row(
            text,
            session=session,
            role="assistant" if minute % 2 else "user",
            speaker="Sedge" if minute % 2 else "Mara",
            timestamp=f"{day}T08:{minute:02}:00+01:00",
        )
        for minute, text in enumerate(texts)
    ]


FIRST = said(
    "one",
    "2026-02-24",
    "I lent the brass sextant to Ottoline for the regatta in Enkhuizen.",
    "Noted, the brass sextant is with Ottoline until the regatta in Enkhuizen is over.",
)
SECOND = said(
    "two",
    "2026-02-25",
    "Where did my sextant go?",
    "You lent it to Ottoline for the regatta in Enkhuizen, and the spare key hangs behind the barometer.",
)


def report(store: Store, *static: Path, now: datetime = NOW) -> Report:
    names = [str(path) for path in static]
    engines = query_engine(), embedder()
    return shadow_mode.report(store, names, BEGUN, now, *engines, lambda *_: None)


def replayed(store: Store) -> list[Given]:
    engine = query_engine()
    found, undated = shadow_mode.read_sittings(store, BEGUN, NOW)
    return [shadow_mode.replay(store, undated, each, engine, embedder()) for each in found]


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "workspace"
    (folder / "memory").mkdir(parents=True)
    for name, text in {
        "MEMORY.md": MEMORY,
        "memory/2026-02-22.md": "Rain.\n",
        "memory/2026-02-23.md": "Wind.\n",
        "memory/2026-02-24.md": "Fog.\n",
        "memory/2026-02-25.md": "Frost.\n",
    }.items():
        (folder / name).write_text(text, encoding="utf-8")
        os.utime(folder / name, (BEGUN.timestamp(), BEGUN.timestamp()))
    return folder


@pytest.fixture
def store(store: Store) -> Store:
    tell(store, *FIRST)
    tell(store, *SECOND)
    return store


def test_a_session_finds_the_one_before_and_never_itself(store: Store) -> None:
    (first, second), _ = shadow_mode.read_sittings(store, BEGUN, NOW)
    of_first, of_second = replayed(store)
    assert {load.id for load in of_second[0]} == {turn.key for turn in first.turns}
    assert not {load.id for found in of_second.values() for load in found} & second.keys
    assert of_first == {-1: [], 0: []}


def test_what_goes_on_is_left_out(store: Store) -> None:
    during = datetime.fromisoformat("2026-02-25T10:00:00+01:00")
    assert len(report(store, now=during).rows) == 1


def test_a_long_silence_parts_one_conversation(tmp_path: Path) -> None:
    store = new_store(tmp_path / "memory")
    tell(store, *said("main", "2026-02-24", "Good morning."), *said("main", "2026-02-26", "Hello."))
    assert len(report(store).rows) == 2


def test_a_note_that_came_later_was_not_there(store: Store, tmp_path: Path) -> None:
    note(store, tmp_path / "undated.md", "The sextant is with Ottoline, says the harbour master.\n")
    note(store, tmp_path / "2026-02-25.md", "The sextant came back from Ottoline tonight.\n")
    note(store, tmp_path / "2026-02-23.md", "Ottoline asked for the sextant.\n")
    _, second = replayed(store)
    texts = " ".join(load.text for found in second.values() for load in found)
    assert "asked for the sextant" in texts
    assert "harbour master" not in texts
    assert "came back" not in texts


def test_files_that_went_are_told(store: Store, workspace: Path) -> None:
    (workspace / "MEMORY.md").unlink()
    found = report(store, workspace / "MEMORY.md")
    assert "MEMORY.md: No such file" in found.missing[0]
    assert found.rows[0]["static"] is None


def test_a_report_over_a_week(store: Store, workspace: Path) -> None:
    found = report(store, workspace)
    first, second = found.rows
    assert (first["at"], second["at"]) == ("2026-02-24T07:00:00Z", "2026-02-25T07:00:00Z")
    assert first["clsm"] == {"tokens": 0, "prompt": 0, "used": 0, "replies": 0}
    assert second["clsm"]["used"] > 0
    assert second["clsm"]["replies"] == 1
    assert second["static"] is not None
    assert second["static"]["replies"] == 1  # the key behind the barometer
    assert 0 < second["static"]["used"] < second["static"]["tokens"]
    assert found.clsm is not None
    assert found.static is not None
    assert found.clsm.relevance == second["clsm"]["used"] / second["clsm"]["tokens"]
    assert found.clsm.retention == 1 / 2
    assert found.efficiency == 1 - found.clsm.prompt / found.static.prompt
    assert found.verdict.endswith("fewer than 5 sessions decide nothing")


COMMON = [f"Ilse wants tea, says number {n}." for n in range(30)]
KEPT = "The password was on a biscuit tin in Deventer."


@pytest.fixture(scope="module")
def rarity(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rarity]:
    folder: Path = tmp_path_factory.mktemp("shadow")
    store = new_store(folder / "memory")
    tell(store, *talk("main", *COMMON, KEPT, "The level is minus 61.4 cm NAP."))
    with open_index(store, None) as opened:
        yield shadow_mode.word_rarity(opened.index)


def is_used(rarity: Rarity, text: str, *turns: str, asked: str = "") -> bool:
    later = [shadow_mode.distinct_stems(turn) for turn in turns]
    words = shadow_mode.distinct_stems(asked)
    claims = shadow_mode.split_claims(text)
    return any(shadow_mode.is_used(each.words - words, later, rarity) for each in claims)


def test_words_of_the_prompt_do_not_count(rarity: Rarity) -> None:
    reply = "No biscuit tin is known to me."
    assert is_used(rarity, KEPT, reply)
    assert not is_used(rarity, KEPT, reply, asked="What about the biscuit tin?")


def test_another_figure_is_another_fact(rarity: Rarity) -> None:
    text = "The level is minus 61.4 cm NAP."
    assert is_used(rarity, text, "Minus 61.4 cm NAP, the level said.")
    assert not is_used(rarity, text, "Minus 58 cm NAP, the level said.")
