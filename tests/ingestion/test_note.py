"""``clsm note``: one sentence by a person, safe before its id is told."""

from datetime import datetime

from ingesting import state_of
from processes import Cli

from clsm_cli.ingestion.capture import NOTES_SESSION, write_note
from clsm_cli.store import inbox
from clsm_cli.store.layout import Store
from clsm_cli.store.lock import locked

NOW = datetime.fromisoformat("2026-02-24T08:15:00+01:00")


def test_a_note_is_a_turn_by_the_user(store: Store) -> None:
    noted = write_note(store, "  Brian takes his coffee black.\n", NOW)
    (item,) = inbox.read(inbox.path_of(store.inbox, NOTES_SESSION)).turns
    assert item.turn.key == noted.id
    assert (item.turn.text, item.turn.trust) == ("  Brian takes his coffee black.", "user")
    assert item.turn.time == "2026-02-24T08:15:00+01:00"
    assert item.recorded_at == "2026-02-24T07:15:00Z"


def test_what_an_agent_notes_is_its_own_word(cli: Cli) -> None:
    cli.ok("note", "--by", "agent", "Brian takes his coffee black.")
    [found] = cli.ok("recall", "coffee", "--json").json["memories"]
    assert found["trust"] == "agent"
    done = cli("note", "--by", "web", "Brian takes his coffee black.")
    assert (done.code, "--by" in done.err) == (2, True)


def test_a_note_waits_for_nobody_and_the_same_at_the_same_second_is_known(store: Store) -> None:
    with locked(store.root, 0):
        first, second = (write_note(store, "Tea.", NOW) for _ in range(2))
    assert (first.id, first.is_new, second.is_new) == (second.id, True, False)
    assert not write_note(store, "Tea.", NOW).is_new
    assert state_of(store).keys() == [first.id]
    assert write_note(store, "Cake.", NOW).is_new
