"""What is wrong with a command line is told without what could steer a terminal."""

from __future__ import annotations

import pytest
from processes import Cli

EVIL = "x\x1b[2J\u202e\u200b\U000e0041"


@pytest.mark.parametrize(
    "words", [(EVIL,), ("recall", f"--{EVIL}", "x"), ("recall", "-k", EVIL, "x"), (f"--{EVIL}",)]
)
def test_a_wrong_word_is_shown_and_not_obeyed(bare: Cli, words: tuple[str, ...]) -> None:
    done = bare(*words)
    assert done.code == 2
    assert not {"\x1b", "\u202e", "\u200b", "\U000e0041"} & set(done.err + done.out)
    assert "u{202e}" in done.err or "u202e" in done.err


KEY = "ghp_" + "a1B2c3" * 6


@pytest.mark.parametrize(
    "words",
    [
        ("note", "-----BEGIN RSA PRIVATE KEY" + "-----\n" + KEY),
        ("recall", f"--{KEY}", "x"),
        (KEY,),
        ("recall", "x", "--now", KEY),
        ("recall", "-k", KEY, "x"),
        ("recall", "x", "--store", f"/{KEY}"),
        ("show", KEY),
        ("ingest", f"/{KEY}.md"),
        ("feedback", KEY, "--good", KEY),
        ("forget", KEY, "--yes"),
    ],
)
def test_no_error_tells_a_secret(bare: Cli, words: tuple[str, ...]) -> None:
    bare.ok("init", "memory")
    done = bare(*words, CLSM_STORE="memory")
    assert done.code
    assert KEY not in done.out + done.err
    assert "[masked:" in done.err
