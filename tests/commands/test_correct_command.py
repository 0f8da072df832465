"""``clsm correct``, ``pin``, ``unpin`` and ``edit``: what they print, odd arguments, and the editor."""

import os
import stat
from pathlib import Path

import pytest
from curation.test_correction import BELL, HOME, NOW, QUARTER, bell, hold, home, statement
from in_process import InProcess
from ingesting import take, tree, unchanged
from sleeping import current, rows
from tables import table
from typer.testing import Result

from clsm_cli.errors import BadInputError, RefusedError
from clsm_cli.store.index.opening import open_index
from clsm_cli.store.layout import Store

CORRECT, PIN, UNPIN, EDIT = (InProcess(n, NOW) for n in ("correct", "pin", "unpin", "edit"))


@pytest.fixture
def store(store: Store) -> Store:
    hold(store, bell())
    return store


def test_what_was_and_what_is(store: Store) -> None:
    planned = CORRECT.ok(store, "bell", "15", "minutes", "--dry-run").splitlines()
    lines = CORRECT.ok(store, "bell", "15", "minutes").splitlines()
    assert planned == [*lines, "nothing was written"]
    assert [line.split()[0] for line in lines] == ["was", "is"]
    assert CORRECT.ok(store, "bell", "15 minutes").split()[0] == "known"


def test_a_correction_as_data(store: Store) -> None:
    data = CORRECT.data(store, bell().id, QUARTER, "--since", "2026-02-25")
    assert list(data) == ["schema", "dry_run", "run", "is_new", "was", "also", "is"]
    assert (data["schema"], data["is_new"], data["also"]) == ("clsm.correct/1", True, [])
    assert (data["was"]["id"], data["was"]["valid_until"]) == (bell().id, "2026-02-25")
    assert (data["is"]["text"], data["is"]["valid_from"]) == (QUARTER, "2026-02-25")


@pytest.mark.parametrize(("since", "canonical"), table(__file__, "since"))
def test_since_is_written_as_times_of_the_store(store: Store, since: str, canonical: str) -> None:
    data = CORRECT.data(store, "bell", "15 minutes", "--since", since)
    assert data["is"]["valid_from"] == canonical


def test_what_cannot_be_corrected(store: Store) -> None:
    with unchanged(store.root, derived=True):
        assert CORRECT.run(store, "bell", QUARTER, "--since", "soon").exit_code == 2
        assert CORRECT.run(store, "bell").exit_code == 2
        assert CORRECT.run(store, bell().id, "").exit_code == 2
        assert (
            CORRECT.run(store, "bell", QUARTER, "--since", "2026-02-25", "--never").exit_code == 2
        )
        for words in (
            ["f-abcdefabcdef", "15 minutes"],
            [bell().id, "often"],
            [bell().id, "\udcff"],
        ):
            done = CORRECT.run(store, *words)
            assert isinstance(done.exception, BadInputError), (words, done.exception)


INVOICES = "Invoices go to pay@corvid.example, 30 days, they always pay late"


@pytest.fixture
def client(store: Store, tmp_path: Path) -> Store:
    """A list of which only one item became a statement."""
    items = ["Day rate £400, two days a week", INVOICES, "Notice period four weeks"]
    note = tmp_path / "corvid.md"
    note.write_text("# Corvid\n\n## Contract\n" + "".join(f"- {item}\n" for item in items))
    take(store, note)
    with open_index(store, None) as opened:
        (key,) = [p.key for p in opened.index.current_passages().values() if INVOICES in p.text]
    hold(store, statement(f"Corvid › Contract: {INVOICES}", subject="corvid", sources=(key,)))
    return store


@pytest.mark.parametrize(
    ("words", "value", "now"),
    [
        ("Corvid's day rate", "£470", "Day rate £470, two days a week"),
        ("the Corvid notice period", "six weeks", "Notice period six weeks"),
        ("the Corvid notice period", "45 days", None),  # a place of its kind is no sign by itself
        ("Corvid's office", "the quay", None),
    ],
)
def test_what_stands_beside_it_in_a_list_is_not_meant(
    client: Store, words: str, value: str, now: str | None
) -> None:
    done = CORRECT.run(client, words, value, "--yes")
    assert f"Corvid › Contract: {INVOICES}" in current(client)
    if now is None:
        assert isinstance(done.exception, RefusedError), done.output
    else:
        assert now in current(client)


def test_the_only_thing_below_a_heading_is_its_value(store: Store, tmp_path: Path) -> None:
    note = tmp_path / "office.md"
    note.write_text("# Tidal\n\n## Office\nthe quay\n\n## Team\n- Ann\n- Bo\n", "utf-8")
    take(store, note)
    with open_index(store, None) as opened:
        keys = {p.text: p.key for p in opened.index.current_passages().values()}
    office = statement("Tidal › Office: the quay", sources=(keys["the quay"],))
    ann = statement("Tidal › Team: Ann", sources=(keys["- Ann"],))
    hold(store, office, ann)
    lines = CORRECT.ok(store, office.id, "the old harbour").splitlines()
    assert "Tidal › Office: the old harbour" in lines[-1]
    assert isinstance(CORRECT.run(store, ann.id, "the old team").exception, BadInputError)


def test_what_is_said_of_pins(store: Store) -> None:
    hold(store, home())
    with unchanged(store.root, derived=True):
        planned = PIN.ok(store, "bell", home().id, "--dry-run").splitlines()
    lines = PIN.ok(store, "bell", home().id).splitlines()
    assert planned == [*lines, "nothing was written"]
    assert lines == [
        f"pinned    statement {bell().id}  {BELL}",
        f"pinned    statement {home().id}  {HOME}",
    ]
    pinned = tree(store.root, derived=True)
    assert PIN.ok(store, "bell") == f"known     statement {bell().id}  {BELL}\n"
    assert tree(store.root, derived=True) == pinned
    assert UNPIN.ok(store, "bell") == f"unpinned  statement {bell().id}  {BELL}\n"
    assert UNPIN.ok(store, "bell") == f"known     statement {bell().id}  {BELL}\n"
    assert [row.pinned for row in rows(store).values()] == [
        row == home().id for row in sorted([bell().id, home().id])
    ]


def test_what_cannot_be_pinned(store: Store) -> None:
    with unchanged(store.root, derived=True):
        for command in (PIN, UNPIN):
            assert command.run(store).exit_code == 2
            for words in (["bell", "f-00ff"], [""], ["\udcff"], ["00ff00ff00ff"]):
                done = command.run(store, *words)
                assert isinstance(done.exception, BadInputError), (words, done.exception)
                assert done.exception.exit_code == 12


def editor(folder: Path, script: str) -> str:
    """A program that edits the file it is given as a shell script does, ``$1``."""
    path = folder / "my editor"
    path.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    path.chmod(0o700)
    return f"'{path}' --wait"


def edit(store: Store, script: str, *words: str, variable: str = "VISUAL") -> Result:
    script = script.replace("$1", "$2")  # behind --wait
    values = {"VISUAL": "", "EDITOR": "false", variable: editor(store.root.parent, script)}
    return EDIT.run(store, *(words or (bell().id,)), env=values)


def left(store: Store) -> list[Path]:
    return sorted((store.derived / "edit").glob("*"))


@pytest.mark.parametrize("variable", ["VISUAL", "EDITOR"])
def test_a_line_is_changed(store: Store, variable: str) -> None:
    done = edit(store, 'sed -i "s/10 minutes/15 minutes/" "$1"', variable=variable)
    assert done.exit_code == 0, (done.output, done.exception)
    assert done.stdout.startswith(f"statement {bell().id} changed and pinned · run-")
    assert current(store) == [QUARTER]
    assert rows(store)[bell().id].pinned
    assert left(store) == []


def test_the_file_is_private(store: Store) -> None:
    seen = store.root.parent / "seen"
    done = edit(store, f'stat -c "%a %n" "$1" "$(dirname "$1")" > {seen}; cat "$1" >> {seen}')
    assert done.exit_code == 0
    first, second, *text = seen.read_text(encoding="utf-8").splitlines()
    assert first == f"600 {store.derived}/edit/{bell().id}.yaml"
    assert second.startswith("700 ")
    assert f"text: {BELL}" in text


def test_a_bad_file_is_kept_and_named(store: Store) -> None:
    with unchanged(store.root):
        kept = []
        for number, name in enumerate((f"{bell().id}.yaml", f"2-{bell().id}.yaml"), 1):
            done = edit(store, f'echo "subject: [{number}" > "$1"')
            assert isinstance(done.exception, BadInputError)
            path = store.derived / "edit" / name
            kept.append(path)
            assert str(path) in str(done.exception)
            assert "is not YAML" in str(done.exception)
            assert path.read_text(encoding="utf-8") == f"subject: [{number}\n"
            assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
        assert left(store) == sorted(kept)


@pytest.mark.parametrize(
    ("script", "reason"), [("exit 3", "ended with code 3"), ("kill -9 $$", "ended with code")]
)
def test_an_editor_that_fails(store: Store, script: str, reason: str) -> None:
    done = edit(store, script)
    assert isinstance(done.exception, BadInputError)
    assert reason in str(done.exception)
    assert left(store) == []


@pytest.mark.parametrize("named", ["/nowhere/vi", "'unbalanced", ""])
def test_an_editor_that_is_none(store: Store, named: str) -> None:
    done = EDIT.run(store, bell().id, env={"VISUAL": named, "EDITOR": ""})
    assert isinstance(done.exception, BadInputError)
    assert "$EDITOR" in str(done.exception)
    assert left(store) == []


def test_a_file_that_became_a_link(store: Store, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("subject: stolen\n", encoding="utf-8")
    done = edit(store, f'ln -sf {secret} "$1"')
    assert done.exit_code != 0
    assert "stolen" not in str(done.exception)
    assert rows(store)[bell().id].subject == "bell"
