"""Raw items become turns: clean, masked, with a key that any route gives."""

from dataclasses import replace

import pytest

from clsm_cli.ingestion.jsonl_rows import RawTurn
from clsm_cli.ingestion.turns import Masker, turn_from_message, with_ordinal
from clsm_cli.model.episodes import ToolCall, Turn

TIME = "2026-02-24T08:15:00+01:00"
SECRET = "ghp_" + "a1B2" * 9


def raw(text: str = "hello", time: str | None = TIME, **more: object) -> RawTurn:
    base = RawTurn("main", "user", "user", text, time, 3, 3, "m1")
    return replace(base, **more)  # type: ignore[arg-type]


def turn(said: RawTurn, path: str = "a") -> Turn:
    return turn_from_message(said, path, Masker())


def test_white_space_at_the_ends_and_nul_do_not_count() -> None:
    texts = ("hello", "hello\r\n", "\n\nhello \n", "hel\0lo")
    assert {turn(raw(text)).key for text in texts} == {turn(raw(), "b").key}


def test_what_counts_counts() -> None:
    others = (raw(), raw("bye"), raw(speaker="Mara"), raw(session="x"), raw(time=None))
    assert len({turn(each).key for each in others}) == len(others)


def test_the_ordinal_counts_only_without_an_exact_time() -> None:
    exact, day = turn(raw()), turn(raw(time=TIME[:10]))
    assert with_ordinal(exact, "main", 0).key == with_ordinal(exact, "main", 1).key == exact.key
    assert len({with_ordinal(day, "main", n).key for n in range(5)}) == 5
    assert with_ordinal(day, "main", 0).key == day.key


def test_secrets_are_masked_before_the_key_is_made() -> None:
    mask = Masker()
    tool = ToolCall("exec", f"export TOKEN={SECRET}")
    found = turn_from_message(raw(f"use {SECRET}", tool=tool, role="tool"), "a", mask)
    assert SECRET not in repr(found)
    assert mask.counts.total() == 2
    assert found.trust == "tool"


@pytest.mark.parametrize(
    ("name", "secret"),
    [
        ("notes/pw: Zeppelin99.md", "Zeppelin99"),
        ("Passwort Geheim123.md", "Geheim123"),
        ("password=Sommer2026!.txt", "Sommer2026"),
        (f"{SECRET}.md", SECRET),
    ],
)
def test_a_file_is_not_named_by_a_secret(name: str, secret: str) -> None:
    mask = Masker()
    known = mask.name(name)
    assert secret not in known
    assert sum(mask.counts.values()) == 1
    assert mask.name(known) == known
    assert mask.name(name.replace(secret, "Zitronen88")) != known  # two of them stay apart
