"""``clsm decay`` as a user meets it: the plan, the run, wrong clocks, odd stores."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest
from aging import BORN, later, recall, say, state, tree

from clsm_cli.errors import BadInputError
from clsm_cli.model.graph import Statement
from clsm_cli.store import atomic, layout, shards, topics

if TYPE_CHECKING:
    from processes import Cli

    from clsm_cli.store.layout import Store

NOW = ("--now", "2026-05-01T12:00")
NEW = tuple(f"The water stood high at lock {number}, and nobody knew why." for number in range(9))


@pytest.fixture
def store(cli: Cli) -> Store:
    """What the command sees, opened in this process: two old turns, and new ones."""
    opened = layout.open_store(cli.store, {"CLSM_DEVICE": "test"})
    say(opened, "The heron came at eight.", "The \x1b[31mcat\x1b[0m slept.")
    say(opened, *NEW[:3], day=later(50), session="between")
    say(opened, *NEW[3:], day=later(100), session="new")
    return opened


def test_a_dry_run_says_what_why_and_since_when(cli: Cli, store: Store) -> None:
    recall(store, later(2), "a" * 12)
    before = tree(store)
    done = cli.ok("decay", "--dry-run", *NOW)
    assert tree(store) == before
    lines = done.out.splitlines()
    assert lines[0] == "fold 1 recall of 1 day"
    assert lines[1].startswith("archive · flow · 2 items · then ")
    assert sorted(line.split("  ", 3)[3] for line in lines[2:4]) == [
        'since 2026-04-10  not used for 120 days, retention 0.09  "The \\u{1b}[31mcat\\u{1b}[0m slept."',
        'since 2026-04-10  not used for 120 days, retention 0.09  "The heron came at eight."',
    ]
    assert lines[-1] == "would archive 2 items (2 in all) · folded 1 recall"
    assert "\x1b" not in done.out


def test_a_run_and_the_next(cli: Cli, store: Store) -> None:
    done = cli.ok("decay", *NOW)
    assert done.out.startswith("archived 2 items (2 in all) · folded 0 recalls · run-")
    assert done.err == ""
    before = tree(store)
    assert cli.ok("decay", *NOW).out == "archived 0 items (2 in all) · folded 0 recalls\n"
    assert cli.ok("decay", "--dry-run", *NOW).out == "nothing would change\n"
    assert tree(store) == before


def test_json_has_everything(cli: Cli, store: Store) -> None:
    say(store, *(f"{NEW[0]} {number}" for number in range(25)), session="old")
    text = cli.ok("decay", "--dry-run", *NOW).out
    assert "more (all of them: --verbose)" in text
    told = cli.ok("decay", "--dry-run", "--json", *NOW).json
    assert told["schema"] == "clsm.decay/1"
    assert len(told["archive"]) > 20
    assert text.count("  archive  ") == 20
    listed = cli.ok("decay", "--dry-run", "--verbose", *NOW).out
    assert listed.count("  archive  ") == len(told["archive"])
    flow = told["streams"]["flow"]
    assert flow["archived"] == len(told["archive"])
    assert flow["archived_tokens"] <= flow["most"] * flow["tokens"]
    assert told["clock"] == {
        "today": "2026-05-01",
        "newest": "2026-04-11",
        "is_believed": True,
        "future": [],
    }


def test_hand_edits_are_settled_first(cli: Cli, store: Store) -> None:
    name = state(store, "The pump hums.", later(100))
    path = store.root / "projects" / "facts.md"
    path.write_text(path.read_text(encoding="utf-8").replace("hums", "sings"), encoding="utf-8")
    cli.ok("decay", *NOW)
    record = shards.load_graph(store.graphs()).records[name]
    assert isinstance(record, Statement)
    assert (record.text_sha, record.pinned) == (topics.text_sha("The pump sings."), True)
    before = tree(store)
    cli.ok("decay", *NOW)
    assert tree(store) == before


def test_an_archived_turn_can_still_be_judged_and_old_recalls_not(cli: Cli, store: Store) -> None:
    asked = cli.ok("recall", "--json", "--min-score", "0", "heron", "--now", "2026-01-02").json
    name, item = asked["recall_id"], asked["memories"][0]["id"]
    cli.ok("decay", "--now", "2026-02-10")
    assert (store.flow / "activation-old.jsonl").exists()
    assert "noted of" in cli.ok("feedback", name, "--good", item, "--now", "2026-02-10").out
    cli.ok("decay", "--now", "2026-03-20")
    assert not (store.flow / "activation-old.jsonl").exists()
    lost = cli("feedback", name, "--bad", item, "--now", "2026-03-20")
    assert lost.code == BadInputError.exit_code
    assert "older than about 30 days cannot be judged any more" in lost.err


@pytest.mark.parametrize("now", ["2021-01-01 12:00:00", "2068-01-01 12:00:00"])
def test_a_wrong_clock_fades_nothing(cli: Cli, store: Store, now: str) -> None:
    faketime = shutil.which("faketime")
    if faketime is None:
        pytest.skip("faketime is not installed")
    cli.ok("decay", *NOW)
    before = (store.flow / "archived.jsonl").read_bytes()
    wrong = type(cli)(cli.folder, cli.environment, (faketime, now))
    done = wrong.ok("decay")
    assert f"clsm decay --now {now[:10]}" in done.err
    assert done.out == "nothing fades by a clock that may be wrong · folded 0 recalls\n"
    told = wrong.ok("decay", "--json", "--dry-run").json
    assert told["clock"]["is_believed"] is False
    assert not any(told[name] for name in ("archive", "revive", "withdraw", "compact"))
    assert (store.flow / "archived.jsonl").read_bytes() == before


def test_the_right_clock_is_believed_without_a_word(cli: Cli, store: Store) -> None:
    faketime = shutil.which("faketime")
    if faketime is None:
        pytest.skip("faketime is not installed")
    right = type(cli)(cli.folder, cli.environment, (faketime, "2026-05-01 12:00:00"))
    assert right.ok("decay").err == ""
    before = tree(store)
    right.ok("decay")
    assert tree(store) == before


def test_an_empty_store_and_a_torn_log(cli: Cli) -> None:
    assert cli.ok("decay", "--dry-run").out == "nothing would change\n"
    assert cli.ok("decay").out == "archived 0 items (0 in all) · folded 0 recalls\n"
    opened = layout.open_store(cli.store, {"CLSM_DEVICE": "test"})
    recall(opened, BORN, "a" * 12)
    atomic.append(opened.flow / "activation.jsonl", b'{"recall": "r-')
    done = cli.ok("decay", *NOW)
    assert "activation.jsonl, line 4: is not JSON" in done.err
    assert "folded 1 recall" in done.out


def test_bad_times_are_refused(cli: Cli) -> None:
    assert cli("decay", "--now", "soon").code == 2


@pytest.mark.parametrize("name", ["fading.svg", "fading.html"])
@pytest.mark.usefixtures("store")
def test_a_picture_of_what_fades(cli: Cli, name: str) -> None:
    before = tree(layout.open_store(cli.store, {}))
    cli.ok("decay", "--dry-run", "--plot", name, *NOW)
    page = (cli.folder / name).read_text(encoding="utf-8")
    assert "<svg" in page
    assert "<script" not in page
    assert all(word in page for word in ("identity", "projects", "tasks", "flow"))
    assert tree(layout.open_store(cli.store, {})) == before


def test_a_picture_in_no_known_form(cli: Cli) -> None:
    done = cli("decay", "--plot", "fading.png", *NOW)
    assert done.code == 2
    assert ".svg" in done.err
    assert not (cli.folder / "fading.png").exists()
