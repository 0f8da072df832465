"""Correct and forget in plain words: what they may mean is found, listed and asked for."""

import json
import shlex
from datetime import datetime
from pathlib import Path

import pytest
from in_process import InProcess
from ingesting import unchanged
from sleeping import current, sleep
from tables import column, table
from typer.testing import Result

from clsm_cli.commands import disambiguation, forget
from clsm_cli.errors import RefusedError
from clsm_cli.ingestion.capture import write_note
from clsm_cli.store.layout import Store

TOLD = "2026-02-26T09:00:00+01:00"
NOW = "2026-02-27T09:00:00+01:00"
NOTES = tuple(column(__file__, "notes"))


@pytest.fixture
def store(store: Store) -> Store:
    """What a person noted a day ago; no night came since."""
    for text in NOTES:
        write_note(store, text, datetime.fromisoformat(TOLD), by="user")
    return store


def run(store: Store, command: str, *words: str, **given: str) -> Result:
    return InProcess(command, NOW).run(store, *words, **given)


@pytest.mark.parametrize(("words", "old", "new"), table(__file__, "looked up"))
def test_what_was_true_is_looked_up(store: Store, words: str, old: str, new: str) -> None:
    done = run(store, "correct", *shlex.split(words), "--yes", "--json")
    assert done.exit_code == 0, (done.output, done.exception)
    told = json.loads(done.stdout)
    assert (told["was"]["text"], told["was"]["valid_until"]) == (old, NOW)
    assert told["is"]["text"] == new
    assert current(store) == [new]
    for night in ("2026-02-28T03:00:00+01:00", "2026-03-01T03:00:00+01:00"):
        sleep(store, night)
        assert old not in current(store)
        assert new in current(store)


def test_what_is_over_already_is_not_meant(store: Store) -> None:
    for day, text in (
        (1, "My office is on the third floor."),
        (6, "My office is on the first floor."),
    ):
        write_note(store, text, datetime.fromisoformat(TOLD).replace(day=day), by="user")
    done = run(
        store, "correct", "the office", "My office is on the second floor.", "--yes", "--json"
    )
    assert json.loads(done.stdout)["was"]["text"] == "My office is on the first floor."


@pytest.mark.parametrize(("words", "old"), table(__file__, "unknown language"))
def test_a_language_unknown_to_the_model(store: Store, words: str, old: str) -> None:
    for text in ("Lukas wohnt in Graz.", "Lange mit Oma am Kanal spazieren gewesen."):
        write_note(store, text, datetime.fromisoformat(TOLD), by="user")
    sleep(store, "2026-02-27T03:00:00+01:00")
    done = run(store, "correct", *shlex.split(words), "--yes", "--json")
    if old:
        assert json.loads(done.stdout)["was"]["text"] == old
    else:
        assert isinstance(done.exception, RefusedError)
        assert "clsm note" in str(done.exception)


def test_nobody_to_ask_gets_the_list_and_the_next_step(store: Store) -> None:
    with unchanged(store.root):
        done = run(store, "correct", "Nina's birthday", "3 June")
        assert isinstance(done.exception, RefusedError)
        assert str(done.exception).endswith("say --yes, or name one by its id")
        first, where = done.stdout.splitlines()
        assert first == "1. Nina's birthday is on 4 May."
        assert where.strip().startswith("2026-02-26 · ")
        file, _, line = where.split(" · ")[1].rpartition(":")
        assert NOTES[0] in Path(file).read_text(encoding="utf-8").splitlines()[int(line) - 1]
        several = run(store, "forget", "the Berlin trip", "--yes", "--json")
        assert isinstance(several.exception, RefusedError)
        assert str(several.exception).endswith("name one by its id")
        texts = {each["text"] for each in json.loads(several.stdout)["found"]}
        assert texts >= set(NOTES[3:])


@pytest.mark.parametrize(
    ("answer", "left"),
    [("1\n", NOTES[1:]), ("none\n", NOTES), ("\n", NOTES), ("7\n\u00b2\n1\n", NOTES[1:])],
)
def test_a_person_says_which(
    store: Store, monkeypatch: pytest.MonkeyPatch, answer: str, left: tuple[str, ...]
) -> None:
    for module in (disambiguation, forget):
        monkeypatch.setattr(module, "has_person", lambda: True)
    done = run(store, "forget", "Nina's birthday on 4 May", input=f"{answer}y\n")
    assert "1. Nina's birthday is on 4 May." in done.stderr
    kept = "".join(p.read_text(encoding="utf-8") for p in store.flow.rglob("*") if p.is_file())
    assert [text for text in NOTES if text in kept] == list(left)
    assert isinstance(done.exception, RefusedError) == (left == NOTES)


def test_a_sentence_ends_only_what_it_says_otherwise(store: Store) -> None:
    for text in ("We walked past the old mill in Hull.", "Hull is where Mara was born."):
        write_note(store, text, datetime.fromisoformat(TOLD), by="user")
    refused = run(store, "correct", "Nina", "Ann Lee is my boss", "--yes").exception
    assert isinstance(refused, RefusedError)
    assert str(refused).endswith("or end nothing: clsm note SENTENCE")
    done = run(store, "correct", "Mara lives in Hull, past the mill", "--yes", "--json")
    assert json.loads(done.stdout)["was"]["text"] == NOTES[2]


@pytest.mark.parametrize("words", [["Leeds"], ["Mara"], ["where", "Mara", "lives"]])
def test_a_name_that_only_stands_in_a_note_is_searched_for(store: Store, words: list[str]) -> None:
    done = run(store, "forget", *words, "--dry-run")
    assert done.exit_code == 0, (done.output, done.exception)
    assert NOTES[2] in done.stdout


def test_words_pin_what_stands_out(store: Store) -> None:
    sleep(store, "2026-02-26T21:00:00+01:00")
    for command in ("pin", "unpin"):
        done = run(store, command, "the birthday of Nina", "--json")
        assert done.exit_code == 0, (done.output, done.exception)
        assert [each["text"] for each in json.loads(done.stdout)["records"]] == [NOTES[0]]


def test_what_nothing_fits_changes_nothing_and_is_named_with_what_is_nearest(store: Store) -> None:
    with unchanged(store.root):
        for words in (
            ["forget", "quantum chromodynamics", "--yes"],
            ["correct", "quantum glue", "42", "--yes"],
            ["pin", "quantum glue"],
        ):
            done = run(store, *words)
            assert isinstance(done.exception, RefusedError)
            assert "nothing here fits" in str(done.exception)
            assert done.stdout.startswith("nearest\n1. ")
