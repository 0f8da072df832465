"""Samples are put together here at run time: no secret-looking literal may be committed."""

from pathlib import Path

import pytest
from tables import table

from clsm_cli.text.secrets import mask

BODY = "\n".join(["MIIEvQIBADANBgkqhkiG9w0B" + "Ab1+" * 8] * 6)
SAMPLES = [
    *((kind, text.replace("¦", "")) for kind, text in table(__file__, "samples")),
    ("github-token", "ghp_" + "a1B2" * 4 + "\u200b" + "a1B2" * 5),
    ("github-token", "ghp_" + "a1B2" + "\n" + "a1B2" * 8),
    ("anthropic-key", "sk-ant-api03-" + "a1B2c3" * 6 + "\n" + "d4E5f6" * 6),
    ("private-key", "-----BEGIN OPENSSH PRIVATE KEY" + "-----\n" + BODY),
]

HARMLESS = Path(__file__).with_name("harmless.txt").read_text(encoding="utf-8").splitlines()
"""Lines that look like secrets and are none."""


@pytest.mark.parametrize(("kind", "sample"), SAMPLES)
def test_each_kind_is_masked_and_counted(kind: str, sample: str) -> None:
    masked = mask(f"note before\n{sample}\nnote after")

    assert masked.counts == {kind: 1}
    assert f"[masked:{kind}]" in masked.text
    assert masked.text.startswith("note before\n")
    assert masked.text.endswith("\nnote after")


def test_harmless_lines_are_left_alone() -> None:
    assert len(HARMLESS) >= 150
    assert [line for line in HARMLESS if mask(line).text != line] == []


@pytest.mark.parametrize(
    "line",  # in no fit
    [
        "The phone that we found has the IMEI 356938035643809 and no case.",
        "The camera KQT4471B20 is broken, and the booking is under HZB8842D17.",
        'viewBox="0 0 24 24"',
        "The password of the shed is a mystery to everybody.",
    ],
)
def test_codes_of_things_and_talk_of_passwords_stay(line: str) -> None:
    assert mask(line).text == line


def test_a_private_key_goes_from_first_to_last_mark() -> None:
    begin, end = "-----BEGIN RSA PRIVATE KEY" + "-----", "-----END RSA PRIVATE KEY" + "-----"

    assert mask(f"a\n{begin}\n{BODY}\n{end}\nb").text == "a\n[masked:private-key]\nb"
    assert mask(f"a\n{begin}\n{BODY}\n\n(cut off)").text == "a\n[masked:private-key]\n\n(cut off)"
