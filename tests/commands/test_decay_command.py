"""``clsm decay`` as a user meets it: the plan, the run, wrong clocks, odd stores."""

import shutil

import pytest
from aging import later, recall, say, tree
from processes import Cli

from clsm_cli.store import layout
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


def test_json_has_everything(cli: Cli, store: Store) -> None:
    say(store, *(f"{NEW[0]} {number}" for number in range(25)), session="old")
    text = cli.ok("decay", "--dry-run", *NOW).out
    assert "more (--verbose lists them)" in text
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
