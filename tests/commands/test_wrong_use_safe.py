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
def test_no_error_tells_a_secret(bare: Cli, words: tuple[str, ...]) -> None:
    bare.ok("init", "memory")
    done = bare(*words, CLSM_STORE="memory")
    assert done.code
    assert KEY not in done.out + done.err
    assert "[masked:" in done.err


@pytest.mark.parametrize(
    ("words", "secret"),
    [
        (("note", "--- password " + "swordfish"), "swordfish"),
        (("note", "x", "--by", "Tulip" + "88"), "Tulip88"),
        (("note", "x", "--by", "pw " + "tulip field"), "field"),
        (("note", "--- password\n" + "swordfish"), "swordfish"),
        (("note", "x", "--by", "pw\n" + "tulip field"), "field"),
        (("recall", "--Tulip" + "88", "x"), "Tulip88"),
        (("recall", "x", "-k", "Tulip" + "88"), "Tulip88"),
        (("Tulip" + "88",), "Tulip88"),
        (("ingest", "Netflix pw " + "tulip99.md"), "tulip99"),
        (("ingest", "password=" + "Tulip88x.md"), "Tulip88x"),
        (("recall", "x", "--store", "pw " + "tulip99"), "tulip99"),
        (("note", "-----BEGIN RSA PRIVATE KEY" + "-----\nMIIEow" + "IB=abc"), "MIIEow"),
    ],
)
def test_no_error_tells_what_is_no_name(bare: Cli, words: tuple[str, ...], secret: str) -> None:
    bare.ok("init", "memory")
    done = bare(*words, CLSM_STORE="memory")
    assert done.code
    assert secret not in done.out + done.err


@pytest.mark.parametrize(
    "words", [("note", "x", "--swordfish"), ("swordfish",), ("ingest", "my swordfish.md")]
)
def test_an_error_names_what_was_not_found(bare: Cli, words: tuple[str, ...]) -> None:
    bare.ok("init", "memory")
    assert words[-1] in bare(*words, CLSM_STORE="memory").err


def test_a_report_names_no_file_by_its_secret(bare: Cli) -> None:
    bare.ok("init", "memory")
    for number, name in enumerate(("password=" + "Tulip88x.md", "Netflix pw " + "Tulip99.md")):
        (bare.folder / name).write_text(
            f"The boat number {number} is green, and the harbour is far.\n"
        )
    for words in ((), ("--json",), ("-v",)):
        done = bare.ok("ingest", ".", *words, CLSM_STORE="memory")
        assert "Tulip" not in done.out + done.err
