"""``clsm forget``: what it asks, what it prints, and what it says of what it cannot reach."""

import os
import shlex
import subprocess
from datetime import datetime
from pathlib import Path

import pytest
from ingesting import new_store
from processes import Cli
from pseudo_terminal import at_a_terminal
from tables import table
from using_git import WHO, git_says

from clsm_cli.forgetting.receipt import Receipt
from clsm_cli.ingestion.capture import write_note
from clsm_cli.text import secrets

NOW = ("--now", "2026-03-02T09:00:00+01:00")
GIT = {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull, **WHO}


@pytest.fixture(scope="module")
def kept_store(shared: Cli) -> Path:
    """Three notes by a person."""
    for text in ("The gate code is quagga.", "The stove needs a grate.", "Ines has the boat key."):
        shared.ok("note", text, *NOW)
    shared.ok("consolidate", *NOW)
    return shared.store


@pytest.fixture
def kept(bare: Cli, kept_store: Path) -> Cli:
    """A copy of them."""
    return bare.holding(kept_store)


def key_of(cli: Cli, text: str) -> str:
    found = cli.ok("recall", text, "--no-touch", "--json", *NOW).json["memories"]
    return next(str(each["id"]) for each in found if text in each["text"])


def test_a_person_is_asked_and_nobody_to_ask_is_a_refusal(kept: Cli) -> None:
    key = key_of(kept, "gate code")
    done = kept("forget", key, *NOW)
    said = "clsm: clsm forget: cannot be undone and asks first; say so with --yes\n"
    assert (done.code, done.err) == (17, said)
    code, shown = at_a_terminal(kept, "forget", key, *NOW, answer="n\n")
    assert code == 17
    assert "Forget all this for good?" in shown
    code, shown = at_a_terminal(kept, "forget", key, *NOW, answer="y\n")
    assert code == 0
    assert "it cannot be undone" in shown
    assert "gate code" not in kept.ok("recall", "gate code quagga", *NOW).out


def test_the_receipt_as_data_and_the_search_that_finds_nothing(kept: Cli) -> None:
    key = key_of(kept, "gate code")
    receipt = kept.ok("forget", key, "--yes", "--json", *NOW).json
    assert receipt["schema"] == "clsm.forget/1"
    assert [g["id"] for g in receipt["gone"] if g["kind"] == "turn"] == [key]
    assert receipt["run"].startswith("run-")
    assert "gate code" not in kept.ok("recall", "gate code quagga", *NOW).out
    assert kept("show", key).code == 12
    for name in (key, f"{key}-1"):  # the second as recall names a part of it
        assert kept.ok("forget", name, "--yes", *NOW).out == "it was forgotten already\n"
    assert kept.ok("undo", "--help").out
    assert kept("undo", receipt["run"], *NOW).code == 17


def test_much_at_once_is_asked_for_as_such(cli: Cli) -> None:
    lines = "".join(f"- Line {number} of the long list.\n" for number in range(30))
    (cli.folder / "list.md").write_text(lines, "utf-8")
    cli.ok("ingest", "list.md", *NOW)
    everything = ("forget", "--until", "2030-01-01", *NOW)
    done = cli(*everything, "--yes")
    assert done.code == 17
    assert "would remove 30 turns of 30; add --force" in done.err
    code, _ = at_a_terminal(cli, *everything, answer="y\n")
    assert code == 17
    code, _ = at_a_terminal(cli, *everything, answer="30\n")
    assert code == 0
    assert cli.ok("recall", "the long list", *NOW).out == ""


@pytest.mark.parametrize(("turns", "gone", "is_much"), table(__file__, "much"))
def test_much_is_over_a_fifth_and_over_twenty(turns: str, gone: str, is_much: str) -> None:
    told = Receipt((), (), {}, int(gone), int(turns), files=(), beyond=(), warnings=())
    assert told.is_mass_loss == (is_much == "yes")


@pytest.mark.parametrize(("words", "code"), table(__file__, "bad input"))
def test_bad_input(kept: Cli, words: str, code: str) -> None:
    assert kept("forget", *shlex.split(words), *NOW, "--yes").code == int(code)


def test_what_git_still_holds_and_the_commands_that_drop_it(kept: Cli) -> None:
    store = kept.store
    bare = store.parent / "bare.git"
    git_says(store.parent, "init", "-q", "--bare", str(bare))
    for words in (("init", "-q", "-b", "main"), ("add", "-A"), ("commit", "-q", "-m", "one")):
        git_says(store, *words)
    git_says(store, "remote", "add", "origin", str(bare))
    git_says(store, "push", "-q", "origin", "main")
    receipt = kept.ok("forget", key_of(kept, "gate code"), "--yes", "--json", *NOW).json
    (git,) = (each for each in receipt["beyond"] if each["what"].endswith("/.git"))
    (origin,) = (each for each in receipt["beyond"] if each["what"].startswith("origin ("))
    assert _objects_with(store, "quagga")
    for line in (*git["commands"], *origin["commands"]):
        program, *rest = shlex.split(line)
        if program == "clsm":
            kept.ok(*rest)
        else:
            environment = {**os.environ, **GIT}
            subprocess.run([program, *rest], env=environment, capture_output=True, check=True)
    assert not _objects_with(store, "quagga")
    git_says(bare, "reflog", "expire", "--expire=now", "--all")
    git_says(bare, "gc", "--quiet", "--prune=now")
    assert not _objects_with(bare, "quagga")
    assert "The stove needs a grate." in kept.ok("recall", "stove grate", *NOW).out


@pytest.fixture(scope="module")
def let_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tenant who is named once."""
    store = new_store(tmp_path_factory.mktemp("let") / "memory", device="test")
    for text in LET:
        write_note(store, text, datetime.fromisoformat(NOW[1]), by="user")
    return store.root


@pytest.fixture
def let(bare: Cli, let_store: Path) -> Cli:
    return bare.holding(let_store)


LET = (
    *("Piet is our tenant.", "He pays 900 euros, half in advance.", "His dog is called Wolf."),
    "The stove needs a grate.",
)
PIET = ("forget", "--person", "Piet", *NOW)


def test_without_a_question_what_refers_stays_and_the_command_is_named(let: Cli) -> None:
    planned = let.ok(*PIET, "--dry-run").out
    assert "He pays 900 euros, half in advance.  (“He” may be them)" in planned
    assert "nor can 4 earlier runs since 2026-03-02 08:00 UTC (note" in planned
    done = let.ok(*PIET, "--yes", "--json")
    refers = done.json["refers"]
    assert [each["text"][:12] for each in refers] == ["user: He pay", "user: His do"]
    assert [run["command"] for run in done.json["undoable"]] == ["note"] * 4
    command = f"clsm forget {refers[0]['id']} {refers[1]['id']}"
    assert done.err == f"clsm: 2 more turns may be about them; to remove that too: {command}\n"
    let.ok(*shlex.split(command)[1:], "--yes", *NOW)
    assert _holding(let, b"900 euros") == _holding(let, b"Wolf") == []
    assert _holding(let, b"grate")


def test_a_person_is_asked_what_else_goes(let: Cli) -> None:
    code, shown = at_a_terminal(let, *PIET, answer="one\ny\nn\ny\n")
    assert code == 0, shown
    assert shown.index("Forget that too?") < shown.index("nor can 4 earlier runs")
    assert shown.index("nor can 4 earlier runs") < shown.index("Forget all this for good?")
    assert "2 turns of 4 forgotten" in shown
    assert _holding(let, b"900 euros") == []
    assert _holding(let, b"Wolf")


@pytest.mark.parametrize(("answer", "left"), [("perhaps\nall\ny\n", False), ("none\ny\n", True)])
def test_all_or_none_of_it(let: Cli, answer: str, left: bool) -> None:
    code, shown = at_a_terminal(let, *PIET, answer=answer)
    assert code == 0, shown
    assert bool(_holding(let, b"900 euros")) == bool(_holding(let, b"Wolf")) == left
    assert ("seems to be about them, and stays" in shown) == left


def _holding(cli: Cli, text: bytes) -> list[Path]:
    return [path for path in cli.store.rglob("*") if path.is_file() and text in path.read_bytes()]


def _objects_with(folder: Path, text: str) -> list[str]:
    listed = git_says(folder, "cat-file", "--batch-all-objects", "--batch-check=%(objectname)")
    return [
        name for name in listed.split() if text in git_says(folder, "cat-file", "-p", name).lower()
    ]


def test_a_machine_without_the_model(kept: Cli) -> None:
    key = key_of(kept, "gate code")
    empty = kept.folder / "empty"
    empty.mkdir()
    done = kept.ok("forget", key, "--yes", *NOW, CLSM_MODEL_DIR=empty, HF_HUB_OFFLINE="1")
    assert done.out.splitlines()[0].startswith("1 turn of 3 forgotten")
    assert not _holding(kept, b"quagga")
    assert "no embedding model" in done.err


def test_secrets_are_masked_after_a_question(bare: Cli) -> None:
    key = "glpat-" + "x9Y8z7W6v5" * 2
    cli = bare.holding(_older(bare.folder, key))
    shown = cli.ok("doctor", *NOW).out
    assert "secret-in-clear" in shown
    assert "clsm forget --secrets" in shown
    assert cli("forget", "--secrets", "--person", "Mara", *NOW).code == 2
    refused = cli("forget", "--secrets", *NOW)
    assert (refused.code, "--yes" in refused.err) == (17, True)
    planned = cli.ok("forget", "--secrets", "--dry-run", "--json", *NOW)
    assert planned.json["found"]["gitlab-token"] >= 1
    code, said = at_a_terminal(cli, "forget", "--secrets", *NOW, answer="y\n")
    assert (code, "Mask all this for good?" in said) == (0, True)
    assert key not in shown + refused.err + planned.out + said
    assert "[masked:gitlab-token]" in cli.ok("recall", "cellar", *NOW).out
    assert cli.ok("forget", "--secrets", *NOW).out == "no secret lies here in clear\n"


def _older(folder: Path, key: str) -> Path:
    """A store to which a version that knew no secrets wrote."""
    with pytest.MonkeyPatch.context() as older:
        older.setattr(secrets, "mask", lambda text: secrets.MaskedText(text, {}))
        store = new_store(folder / "older", device="vm")
        write_note(store, f"The cellar is opened by {key} alone.", datetime.fromisoformat(NOW[1]))
    return store.root
