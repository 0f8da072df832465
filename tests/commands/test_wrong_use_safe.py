"""What is wrong with a command line is told without the secret in it."""

from __future__ import annotations

import pytest
from processes import Cli

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
def test_no_error_tells_a_secret(cli: Cli, words: tuple[str, ...]) -> None:
    done = cli(*words)
    assert done.code
    assert KEY not in done.out + done.err
    assert "[masked:" in done.err
