import sys
import unicodedata

from hypothesis import given
from hypothesis import strategies as st
from strategies import examples

from clsm_cli.text.terminal import safe

BIDI = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}


def test_every_code_point_is_kept_or_shown_in_ascii() -> None:
    chars = [char for char in map(chr, range(sys.maxunicode + 1)) if char != "\n"]
    for char, shown in zip(chars, safe("\n".join(chars)).split("\n"), strict=True):
        if shown == char:
            assert unicodedata.category(char) not in {"Cc", "Cs"} or char == "\t", hex(ord(char))
            assert unicodedata.bidirectional(char) not in BIDI, hex(ord(char))
        else:
            assert shown == f"\\u{{{ord(char):x}}}"


@given(st.text(st.characters(), max_size=50))
@examples(200)
def test_escaping_twice_is_escaping_once_and_can_be_encoded(text: str) -> None:
    assert safe(safe(text)) == safe(text)
    safe(text).encode("utf-8")
