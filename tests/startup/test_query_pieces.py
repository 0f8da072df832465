import json
import time
import unicodedata
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import examples

from clsm_cli.embedding.wordpiece import WordPieces
from clsm_cli.startup.query_pieces import cut_pieces

TEXTS: list[str] = json.loads(
    (Path(__file__).parents[1] / "embedding" / "reference_texts.json").read_text()
)
MEGABYTE = 1 << 20


class Cutters:
    """Both tokenisers over the model's vocabulary."""

    def __init__(self, folder: Path) -> None:
        self.vocabulary = (folder / "vocab.txt").read_bytes()
        self.reference = WordPieces.open(folder / "vocab.txt")

    def ids(self, text: str) -> list[int]:
        return [piece.id for piece in cut_pieces(self.vocabulary, text)]

    def agree(self, text: str) -> bool:
        return self.ids(text) == self.reference.ids(text)[1:-1]

    def words(self, text: str) -> list[str]:
        """What stands in the text where each piece's word is."""
        return [text[piece.start : piece.end] for piece in cut_pieces(self.vocabulary, text)]


@pytest.fixture(scope="module")
def cutters(model_folder: Path) -> Cutters:
    return Cutters(model_folder)


def test_reference_texts(cutters: Cutters) -> None:
    assert [text for text in TEXTS if not cutters.agree(text)] == []


# What the tokeniser treats apart: letters with marks, white space and control characters, signs
# that decompose into ASCII, ideographs and those missing in its ranges, marks of the model, and
# words around the limit of 100 letters.
_PARTS = st.sampled_from(
    [
        *"aZéİßΣσ\u0301\u0489\u093e\u0b95 \t\n\r\x00\x0b\x1c\x7f\x85\xa0\xad\u2002\u2028\u200b\u200d\ufeff",
        *"\ufffd\u037e\u1fef≠≮½ﬁ字\u3400\u9fff\uf900\U00020000\U0002b820\U0002b920\U0002f800한あ\u1100",
        *".,'’—$^`~_()[]#",
        *"\U000e0001\U000f0000\U0010ffff😀",
        *("[SEP]", "[CLS]", "[PAD]", "[UNK]", "[MASK]", "[sep]", "[MASK", "SEP]", "##s"),
        *("word", "Embeddings", "unaffable", "x" * 99, "x" * 100, "x" * 101, "é" * 100),
    ]
)


# Marks, signs and letters that came after Unicode 8 are cut by the tables of this Python.
KNOWN = st.characters(max_codepoint=0x5FF) | st.characters(categories=["Lu", "Ll", "Lo", "Nd"])


@examples(200)
@given(st.text(KNOWN))
def test_text_of_many_scripts(cutters: Cutters, text: str) -> None:
    assert cutters.agree(text)


def test_every_mark_sign_and_separator(cutters: Cutters) -> None:
    """Within a word, where it shows whether a character is dropped, ends the word or belongs to it."""
    chars = [chr(code) for code in (*range(0x5FF), *range(0x2000, 0x2070), *range(0x20A0, 0x2BFF))]
    text = "".join(f"a{char}b " for char in chars if unicodedata.category(char)[0] in "MPSZC")
    texts = [text[at : at + 240] for at in range(0, len(text), 240)]
    assert [text for text in texts if not cutters.agree(text)] == []


def test_a_piece_knows_its_word(cutters: Cutters) -> None:
    text = "  Caf\u00e9 re\u0301sume\u0301\u200b, unaffable\x00s!字😀 x[SEP]y\u0301\n"
    words = cutters.words(text)
    assert list(dict.fromkeys(words)) == [
        "Caf\u00e9", "re\u0301sume\u0301", ",", "unaffable\x00s", "!", "字", "😀", "x", "[SEP]", "y\u0301",
    ]  # fmt: skip
    assert words.count("unaffable\x00s") > 1


@examples(100)
@given(st.lists(_PARTS, max_size=40).map("".join))
def test_words_stand_in_order_and_apart(cutters: Cutters, text: str) -> None:
    spans = list(dict.fromkeys(piece[1:] for piece in cut_pieces(cutters.vocabulary, text)))
    assert all(0 <= start < end <= len(text) for start, end in spans)
    assert all(one[1] <= other[0] for one, other in pairwise(spans))


@pytest.mark.parametrize("unit", ["word ", "x", " ", "字", "[SEP]", "[", "qzxjvkqwzj" * 10 + " "])
def test_a_megabyte_takes_bounded_time(cutters: Cutters, unit: str) -> None:
    text = unit * (MEGABYTE // len(unit))
    start = time.process_time()
    ids = cutters.ids(text)
    assert time.process_time() - start < 3
    assert ids == cutters.reference.ids(text)[1:-1]
