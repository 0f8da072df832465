from __future__ import annotations

import pytest

from clsm_cli.text.rule_keys import is_same_key, key_of


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("I prefer tabs over spaces.", "Use tabs instead of spaces."),
        ("Use tabs, not spaces.", "Please use tabs rather than spaces!"),
        ("No meetings before ten.", "No meetings before 10, please."),
        ("Always run the linter before a commit.", "Run the linter before each commit, always."),
        ("Never push to main.", "Please don't push to main."),
        ("Dont push to main", "Don't push to main."),
        ("No, its the 14th not the 15th", "It is the 14th, not the 15th."),
        ("I'd rather have short answers in English.", "Keep answers short and in English."),
    ],
)
def test_same_rule(first: str, second: str) -> None:
    assert is_same_key(key_of(first), key_of(second))
    assert is_same_key(key_of(second), key_of(first))


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("I prefer tabs over spaces.", "I prefer spaces over tabs."),
        ("Always push to main at night.", "Never push to main at night."),
        ("Wash the shirts at 30 degrees.", "Wash the shirts at 40 degrees."),
        ("No meetings before ten.", "No calls after nine."),
        ("Use tabs.", "Use metric units."),
        ("No calls before nine.", "No calls after nine."),
        ("No calls before nine.", "No meetings before nine."),
        ("Don't do it.", "Never do that."),
    ],
)
def test_other_rule(first: str, second: str) -> None:
    assert not is_same_key(key_of(first), key_of(second))
    assert not is_same_key(key_of(second), key_of(first))
