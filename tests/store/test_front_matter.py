from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import examples, json_values
from tables import table

from clsm_cli.store import yaml_text
from clsm_cli.store.front_matter import MAX_FRONT_MATTER, parse, parse_config, split
from clsm_cli.store.jsonlines import LineError, dump

names = st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,6}", fullmatch=True).filter(
    lambda name: name.lower() not in ("null", "true", "false")
)


@examples(200)
@given(st.dictionaries(names, json_values, max_size=4), st.text(max_size=30))
def test_the_fast_path_and_yaml_read_our_lines_alike(values: dict[str, Any], body: str) -> None:
    text = "".join(f"{key}: {dump(value)}\n" for key, value in values.items())
    raw, rest, lines = split(f"---\n{text}---\n{body}")
    assert (raw, rest, lines) == (text, body, len(values) + 2)
    assert parse(text) == values
    assert parse_config(text) == values
    assert (yaml_text.load(text, MAX_FRONT_MATTER) or {}) == values


def test_a_person_may_write_yaml() -> None:
    raw = "# mine\ntitle: Mara's notes\ntags:\n  - a\n  - b\n"
    assert parse(raw) == {"title": "Mara's notes", "tags": ["a", "b"]}
    assert parse("date: 2026-02-24\nat: 12:30\n") == {"date": "2026-02-24", "at": "12:30"}
    assert parse("") == parse("# nothing\n") == parse("\n \n") == {}


@pytest.mark.parametrize(
    ("raw", "reason"),
    [("a: " + "[" * 200 + "\n", r"nested deeper than 64 \(line 2\)"), *table(__file__, "refused")],
)
def test_a_refusal_counts_lines_from_the_opening_fence(raw: str, reason: str) -> None:
    with pytest.raises(LineError, match=reason):
        parse(raw)
