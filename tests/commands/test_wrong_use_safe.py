"""What is wrong with a command line is told without what could steer a terminal."""

from __future__ import annotations

import pytest
from processes import Cli

EVIL = "x\x1b[2J\u202e\u200b\U000e0041"


@pytest.mark.parametrize(
    "words",
    [(EVIL,), ("recall", f"--{EVIL}", "x"), ("recall", "-k", EVIL, "x"), (f"--{EVIL}",)],
)
def test_a_wrong_word_is_shown_and_not_obeyed(bare: Cli, words: tuple[str, ...]) -> None:
    done = bare(*words)
    assert done.code == 2
    assert not {"\x1b", "\u202e", "\u200b", "\U000e0041"} & set(done.err + done.out)
    assert "u{202e}" in done.err or "u202e" in done.err
