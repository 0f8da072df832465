"""One setting changes; comments, order, line ends and all other values stay."""

from __future__ import annotations

from pathlib import Path

import pytest

from clsm_cli.errors import RefusedError
from clsm_cli.store import front_matter

PATH = Path("clsm.yaml")
HEAD = "# a store\nformat: 1\nstore: abc  # its id\n"


def changed(text: str) -> str:
    return front_matter.with_setting(text.encode(), "recall.floor", 0.2, PATH).decode()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", "settings:\n  recall.floor: 0.2\n"),
        ("settings:\n", "settings:\n  recall.floor: 0.2\n"),
        ("settings: {}\n", "settings:\n  recall.floor: 0.2\n"),
        ('settings: {"recall.k": 5}\n', 'settings: {"recall.k": 5, recall.floor: 0.2}\n'),
        (
            "settings:\n  # few\n  recall.k: 5  # five\n  recall.floor: 0.1  # old\n# end\n",
            "settings:\n  # few\n  recall.k: 5  # five\n  recall.floor: 0.2  # old\n# end\n",
        ),
    ],
)
def test_only_the_setting_changes(before: str, after: str) -> None:
    assert changed(HEAD + before) == HEAD + after
    windows = (HEAD + before).replace("\n", "\r\n")
    assert changed(f"\ufeff{windows}") == "\ufeff" + (HEAD + after).replace("\n", "\r\n")


@pytest.mark.parametrize("text", ["settings: 5\n", "- a\n", "a: [\n"])
def test_what_cannot_be_changed_is_refused(text: str) -> None:
    with pytest.raises(RefusedError, match=r"by hand recall\.floor: 0\.2"):
        changed(text)
