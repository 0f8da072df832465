from __future__ import annotations

import sys
import unicodedata

from hypothesis import given
from hypothesis import strategies as st
from strategies import examples

from clsm_cli.text.terminal import safe

BIDI = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}


def test_every_code_point_is_kept_or_shown_in_ascii() -> None:
    for code in range(sys.maxunicode + 1):
        char = chr(code)
        shown = safe(char)
        control = unicodedata.category(char) in {"Cc", "Cs"} and char not in "\n\t"
        if control or unicodedata.bidirectional(char) in BIDI:
            assert shown != char, hex(code)
        assert shown in (char, f"\\u{{{code:x}}}")


@given(st.text(st.characters(), max_size=50))
@examples(200)
def test_escaping_twice_is_escaping_once_and_can_be_encoded(text: str) -> None:
    assert safe(safe(text)) == safe(text)
    safe(text).encode("utf-8")
