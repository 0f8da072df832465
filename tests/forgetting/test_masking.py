"""Secrets that an older version stored in clear: found, masked in place, and gone for good.

The older version is this one with a mask that knows nothing; keys are put together at run time.
"""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from faults.stores.worn import AROUND
from forgetting.planting import NOW, holding
from ingesting import embedder, new_store, scratch, take
from sample_store import ask
from sleeping import bytes_of, chat, current, sleep

from clsm_cli.forgetting import clean_writing, masking
from clsm_cli.forgetting.masking import MaskingReport
from clsm_cli.health import diagnosis
from clsm_cli.ingestion.capture import write_note
from clsm_cli.model.graph import Node
from clsm_cli.store import atomic, cleanup, episode_files, logs, shards
from clsm_cli.store.layout import Store
from clsm_cli.text import secrets
from clsm_cli.text.secrets import MaskedText

KEY = "ghp_" + "a1B2c3" * 6
OTHER = "glpat-" + "x9Y8z7W6v5" * 2
CHAT = [
    ("Mara", "2026-02-10T09:00:00+01:00", "I live in Leeds."),
    ("Mara", "2026-02-10T09:01:00+01:00", f"Always use {KEY} for the harbour deploy."),
    ("Brian", "2026-02-10T09:02:00+01:00", "We decided that the harbour opens in May."),
]
NOTE = f"# Harbour\n\n- The crane is green.\n- The crane talks to the server with {OTHER} now.\n"


def _tell(store: Store, folder: Path) -> int:
    """All sources once; how many turns and blocks are new."""
    added = take(store, chat(folder, "harbour", CHAT))
    (folder / f"{KEY}.md").write_text(NOTE)
    report = take(store, folder / f"{KEY}.md")
    return sum(each.added for each in (*added.sources, *report.sources))


def _look(store: Store) -> list[tuple[str, str, str]]:
    found = diagnosis.diagnose(store, AROUND._replace(now=NOW))
    return [(f.code, f.path, f.reason) for f in found]


def test_the_title_of_an_episode_shows_no_secret_that_its_words_do_not(tmp_path: Path) -> None:
    """It lists names and numbers of the text: "Lisbet Noren, reference 88-1204"; a summary is without marks."""
    store = new_store(tmp_path / "memory")
    note = tmp_path / "school.md"
    note.write_text(
        "Four uprights, invoiced to the city (reference 88-1204). Teacher: Lisbet Noren.\n"
    )
    take(store, note)
    sleep(store)
    told = "Spreadsheet: 1m7LzrYoYTrCHYr3vBiaeK62ZOw-4GQVCbXse6d5FE6E"
    assert secrets.mask(told).counts
    sheet = Node(id="sheet", rev=(1, "pi"), label="Sheet", kind="tool", summary=told)
    atomic.put(store.graph("projects") / "5.yaml", shards.render([sheet]))
    assert [each for each in _look(store) if each[0] == "secret-in-clear"] == []
    assert masking.plan(store, NOW).receipt.found == {}


Masked = tuple[Store, MaskingReport, list[tuple[str, str, str]], Path]


@pytest.fixture(scope="module")
def masked() -> Iterator[Masked]:
    with scratch() as folder, pytest.MonkeyPatch.context() as older:
        store = new_store(folder / "memory")
        for name in ("mask", "mask_name"):
            older.setattr(secrets, name, lambda text: MaskedText(text, {}))
        assert _tell(store, folder) == 5
        write_note(store, f"The cellar is opened by {OTHER} alone.", NOW)
        sleep(store)
        assert current(store, KEY)
        assert ask(store, "harbour deploy").memories
        older.undo()
        shutil.copytree(store.root, folder / "clone")
        found = _look(store)
        planned = masking.plan(store, NOW)
        yield store, clean_writing.apply(store, planned, NOW, embedder()), found, folder


def test_no_file_holds_a_secret(masked: Masked) -> None:
    store, _, _, folder = masked
    assert holding(folder / "clone", KEY.lower())
    assert holding(folder / "clone", OTHER.lower())
    assert holding(store.root, KEY.lower()) + holding(store.root, OTHER.lower()) == []


def test_what_was_said_around_it_stays(masked: Masked) -> None:
    store, receipt, _, _ = masked
    answer = ask(store, "What does the deploy of the harbour use?")
    texts = [memory.text for memory in answer.memories]
    assert "Always use [masked:github-token] for the harbour deploy." in texts
    assert current(store, "masked:github-token")
    assert current(store, "Leeds")
    assert receipt.turns == 4  # the name of the file stands with each of its blocks
    assert receipt.found["github-token"] >= 2


def test_the_receipt_and_doctor_name_kinds_and_places_and_no_secret(masked: Masked) -> None:
    store, receipt, found, _ = masked
    told_of = [each for each in found if each[0] == "secret-in-clear"]
    assert any("github-token" in reason for _, _, reason in told_of)
    assert any(path.startswith("flow/pi/episodes/") for _, path, _ in told_of)
    assert any(path.startswith("flow/pi/inbox/") for _, path, _ in told_of)
    shown = repr((receipt, found))
    assert KEY not in shown
    assert OTHER not in shown
    assert [each for each in _look(store) if each[0] == "secret-in-clear"] == []


def test_the_store_is_well_afterwards(masked: Masked) -> None:
    store, _, found, _ = masked
    codes = {code for code, _, _ in found} - {"secret-in-clear"}
    assert {code for code, _, _ in _look(store)} - codes <= {"index-stale"}


def test_an_old_clone_does_not_bring_it_back(masked: Masked) -> None:
    store, _, _, folder = masked
    for path in (folder / "clone").rglob("*"):
        target = store.root / path.relative_to(folder / "clone")
        if path.is_file() and ".clsm" not in path.parts and not target.exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, target)
    assert holding(store.root, KEY.lower())
    assert not any(KEY in m.text for m in ask(store, "harbour deploy crane").memories)
    cleanup.sweep(store, "2026-03-02T10:00:00Z")
    assert logs.load_tombstones(store)
    assert [name for name in holding(store.root, KEY.lower()) if ".clsm" not in name] == []


PIN = "47" + "11"
CHOSEN = "Otter" + "771"


@pytest.fixture(scope="module")
def odd() -> Iterator[Store]:
    """What names a conversation, a short secret, a row by hand, a question to a person; masked."""
    with scratch() as folder, pytest.MonkeyPatch.context() as older:
        store = new_store(folder / "memory")
        older.setattr(secrets, "mask", lambda text: MaskedText(text, {}))
        told_at = "2026-02-10T09:00:00+01:00"
        turns = [("Mara", told_at, f"The PIN of the cellar is {PIN}. My room is {PIN}.")]
        turns.append(("Mara", told_at, f"Mara's harbour pw: {CHOSEN}! The harbour is in Leeds."))
        take(store, chat(folder, KEY, turns))
        take(store, chat(folder, "other", [("Brian", told_at, f"The archive has {PIN} boxes.")]))
        sleep(store)
        facts = store.root / "projects" / "facts.md"
        with facts.open("a") as file:
            file.write(f"- The boat talks to the mooring by {OTHER} now.\n")
        sleep(store, "2026-03-01T23:00:00+01:00")
        question = {"id": "q-1", "at": "2026-03-01T22:00:00Z", "about": [], "reason": "two"}
        line = json.dumps({**question, "kept": f"by {OTHER}", "other": "by hand"})
        atomic.append(store.flow / "review.jsonl", line.encode())
        older.undo()
        before = bytes_of(store)
        planned = masking.plan(store, NOW)
        assert bytes_of(store) == before, "a dry run writes nothing"
        assert KEY not in repr(planned.receipt)
        done = clean_writing.apply(store, planned, NOW, embedder())
        assert done._replace(run=None) == planned.receipt, "what is applied is what it said"
        assert done.run is not None
        yield store


def test_names_of_conversations_and_files_are_masked_too(odd: Store) -> None:
    assert holding(odd.root, KEY.lower()[:20]) == []
    assert ask(odd, "What is the room of Mara?", min_score=0.0).memories


def test_a_short_secret_goes_where_it_was_one_and_stays_where_it_is_a_number(odd: Store) -> None:
    assert current(odd, "cellar", PIN) == []
    assert any(f"{PIN} boxes" in m.text for m in ask(odd, "How many boxes?").memories)


def test_a_title_keeps_no_word_of_a_password(odd: Store) -> None:
    assert holding(odd.root, CHOSEN.lower()) == []


def test_what_a_person_wrote_by_hand_stays_without_it(odd: Store) -> None:
    assert holding(odd.root, OTHER.lower()) == []
    assert current(odd, "The boat talks to the mooring by [masked:gitlab-token] now.")
    assert "by [masked:gitlab-token]" in (odd.flow / "review.jsonl").read_text()


def test_an_episode_that_cannot_be_read_is_masked_too(tmp_path: Path) -> None:
    store = new_store(tmp_path / "memory")
    take(store, chat(tmp_path, "harbour", CHAT[:1]))
    sleep(store)
    (path,) = episode_files.all_files(store)
    path.write_text(f"torn\n{KEY}\n")
    clean_writing.apply(store, masking.plan(store, NOW), NOW, embedder())
    assert path.read_text() == "torn\n[masked:github-token]\n"
