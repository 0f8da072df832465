import time
from typing import Any

import pytest
from tables import table

from clsm_cli.store.jsonlines import LineError
from clsm_cli.store.yaml_text import load

LIMIT = 8 << 20
BOMB = "a: &a [x, x]\n" + "".join(
    f"{chr(98 + i)}: &{chr(98 + i)} [{', '.join([f'*{chr(97 + i)}'] * 9)}]\n" for i in range(8)
)
REFUSED = {
    **{name: (text, reason) for name, text, reason in table(__file__, "refused")},
    "alias bomb": (BOMB, r"anchor or an alias.*\(line 1\)"),
    "deep flow": ("[" * 5000 + "]" * 5000, r"nested deeper than 64 \(line 1\)"),
    "deep flow behind a quote": ('a: 5" x\nb: ' + "[" * 5000, r"nested deeper than 64 \(line 2\)"),
    "deep braces": ("{a: " * 5000, r"nested deeper than 64"),
    "deep block": ("\n".join(" " * n + "a:" for n in range(99)), r"deeper than 64 \(line \d+\)"),
    "deep dashes": ("- " * 20_000, r"nested deeper than 64"),
    "huge integer": ("a: " + "9" * 10_000, r"is not YAML"),
    "NUL": ("id: a\0b", r"is not YAML"),
    "tab": ("a:\n\t- b", r"is not YAML.*\(line 2\)"),
    "too long": ("x" * (LIMIT + 1), r"is longer than 8192 KiB"),
}


@pytest.mark.parametrize("name", [*REFUSED])
def test_hostile_and_wrong_texts_are_refused_with_a_reason(name: str) -> None:
    text, reason = REFUSED[name]
    start = time.process_time()
    with pytest.raises(LineError, match=reason):
        load(text, LIMIT)
    assert time.process_time() - start < 2


READ: list[tuple[str, Any]] = [
    ("", None),
    ("# only a comment\n", None),
    ("a: I like *this* & that! [or] {that}", {"a": "I like *this* & that! [or] {that}"}),
    ("a: |\n  *x* &y !z\n\n  [[[\n", {"a": "*x* &y !z\n\n[[[\n"}),
    ("[no, 12:30:45, 2026-03-29, 017, ~]", ["no", "12:30:45", "2026-03-29", 17, None]),
    ("at: 2026-03-29 02:30:00", {"at": "2026-03-29 02:30:00"}),
    ("at: 2026-03-29T02:30:00+02:00", {"at": "2026-03-29T02:30:00+02:00"}),
    ("1: a\nnull: b\n2.5: c", {"1": "a", "null": "b", "2.5": "c"}),
    ("\ufeffa: 1\r\nb: 2\r\n", {"a": 1, "b": 2}),
]  # fmt: skip


@pytest.mark.parametrize(("text", "value"), READ)
def test_what_a_person_writes_is_read_plainly(text: str, value: Any) -> None:
    assert load(text, LIMIT) == value
