"""What a later sentence is to an earlier one: the same again, its update, true beside it, or unrelated.

MiniLM reads both at once, and the question that both may answer, where one is asked: its attention
goes from the words of one to those of the other. The weights of the model stay as they are; the graph
``weights/pair.onnx`` adds small adapters to its layers (``scripts/fit_pairs.py``; figures on pairs
that it did not see: ``pair.json``). One pair takes one pass of the model, 6 ms on a desktop. It needs
neither numpy nor the tokeniser, so a recall asks it as well as a night.
"""

from __future__ import annotations

import os
import re
from array import array
from functools import cache, lru_cache
from typing import TYPE_CHECKING

from clsm_cli.embedding import pins
from clsm_cli.embedding.onnx_session import Session, Tensor
from clsm_cli.startup.query_pieces import END, START, cut_pieces
from clsm_cli.startup.records import NamedTuple
from clsm_cli.text.tokens import STOP_WORDS

if TYPE_CHECKING:
    from collections.abc import Sequence

RELATIONS = ("same", "update", "both", "unrelated")
MOST_PIECES, MOST_ASKED = 72, 24
"""Word pieces of a sentence, and of a question, that are read."""
_MOST_KNOWN = 1024
"""Texts whose pieces are kept."""
GRAPH = os.path.join(os.path.dirname(__file__), "weights", "pair.onnx")

_WORD = re.compile(r"[^\W_]+(?:[.,:/@_+\-][^\W_]+)*%?|n['’]t\b|(?<=\w)['’](?:m|re|ve|ll|d)\b")
_NEGATED = re.compile(r"n['’]t\b")
_SAID = re.compile(r"([^:\n]{1,40}): (?=[^\W\d_a-z].*[.!?…]$)", re.DOTALL)
"""Whoever said a whole sentence."""
_MARKS = re.compile(r"[*_`#>]+")


class Relation(NamedTuple):
    """How likely a later sentence is each of ``RELATIONS`` to an earlier one."""

    same: float
    update: float
    both: float
    unrelated: float


class Sentence(NamedTuple):
    """A sentence, item or row as its words are compared with another's.

    Attributes:
        text: As it is written, after its heading if it has one.
        words: Without marks.
        keys: The same to be compared: folded, without endings.
    """

    text: str
    words: tuple[str, ...]
    keys: tuple[str, ...]


def sentence(text: str, heading: str = "") -> Sentence:
    """Read a sentence, with or without its marks."""
    words = tuple(_WORD.findall(_NEGATED.sub(" n't", _MARKS.sub("", text))))
    return Sentence(joined(text, heading), words, tuple(map(_key, words)))


def joined(text: str, heading: str) -> str:
    """A sentence behind its heading, as the model was fitted on it."""
    return f"{heading}: {text}" if heading else text


@lru_cache(maxsize=8192)
def _key(word: str) -> str:
    """A word to compare: folded, without what most endings of a word of its length are."""
    folded = word.casefold()
    if any(map(str.isdigit, folded)):
        return folded.replace(",", "")
    for ending in ("ing", "ed", "es", "en", "er", "s", "e"):
        if folded.endswith(ending) and len(folded) - len(ending) >= 3:
            return folded[: -len(ending)]
    return folded


_STOP_KEYS = frozenset(map(_key, STOP_WORDS))


def content(sentence: Sentence) -> set[str]:
    """Keys of the words that say what it is about."""
    return {
        key for key in sentence.keys if key not in _STOP_KEYS and (len(key) > 1 or key.isdigit())
    }


def particulars(sentence: Sentence) -> set[str]:
    """Keys of its numbers and names; a name has a capital inside the sentence, or more than one.

    >>> sorted(particulars(sentence("Our dog Rex is 4.")))
    ['4', 'rex']
    """
    return {
        key
        for place, (word, key) in enumerate(zip(sentence.words, sentence.keys, strict=True))
        if any(map(str.isdigit, key))
        or (word[0].isupper() and place > 0 and word != "I")
        or any(map(str.isupper, word[1:]))
    }


class PairHead:
    """The model and its adapters, ready to read pairs; see the module."""

    def __init__(self, session: Session, vocabulary: bytes) -> None:
        """Use an open session of ``weights/pair.onnx`` and the content of the model's ``vocab.txt``."""
        self._session = session
        self._vocabulary = vocabulary
        self._known: dict[str, list[int]] = {}

    def relation(self, old: str, new: str, asked: str = "") -> Relation:
        """What a later sentence is to an earlier one.

        Args:
            old: The earlier, ``joined`` with its heading.
            new: The later.
            asked: A question that both may answer.
        """
        ids, second = pack(*map(self._pieces, (*without_speaker(old, new), asked)))
        shape = (1, len(ids))
        feeds = {
            "input_ids": Tensor("i", shape, array("i", ids)),
            "attention_mask": Tensor("i", shape, array("i", [1]) * len(ids)),
            "second": Tensor("i", shape, array("i", second)),
        }
        [found] = self._session.run(feeds, ["relation"])
        return Relation(*(round(each, 4) for each in array("f", bytes(found.data))))

    def _pieces(self, text: str) -> list[int]:
        """Ids of the first word pieces of a text; it is read again with the next pair."""
        if text not in self._known:
            if len(self._known) > _MOST_KNOWN:
                self._known.clear()
            found = cut_pieces(self._vocabulary, text, MOST_PIECES + 2)
            self._known[text] = [piece.id for piece in found]
        return self._known[text]


def without_speaker(old: str, new: str) -> tuple[str, str]:
    """Two sentences of one speaker without the name before them, which is no label of a value.

    >>> without_speaker("Mara: I live in York.", "Mara: I like tea.")
    ('I live in York.', 'I like tea.')
    >>> without_speaker("Rent: 900", "Rent: 950")
    ('Rent: 900', 'Rent: 950')
    """
    one, two = _SAID.match(old), _SAID.match(new)
    if one and two and one[1] == two[1]:
        return old[one.end() :], new[two.end() :]
    return old, new


def pack(
    old: Sequence[int], new: Sequence[int], asked: Sequence[int]
) -> tuple[list[int], list[int]]:
    """A pair as one row of word pieces, and for each whether it is of the later sentence.

    >>> pack([7], [8, 9], [5])
    ([101, 7, 102, 8, 9, 102, 5, 102], [0, 0, 0, 1, 1, 1, 0, 0])
    """
    first = [START, *old[:MOST_PIECES], END]
    later = [*new[:MOST_PIECES], END]
    question = [*asked[:MOST_ASKED], END] if asked else []
    second = [0] * len(first) + [1] * len(later) + [0] * len(question)
    return first + later + question, second


@cache
def load() -> PairHead:
    """The head on the installed model.

    Raises:
        ModelMissingError: The model is not installed.
        ModelDigestError: A model file is not the right one.
    """
    folder = pins.default_folder()
    pins.check(folder)
    with open(GRAPH, "rb") as graph, open(folder / pins.VOCABULARY.name, "rb") as vocabulary:
        return PairHead(Session(graph.read(), folder), vocabulary.read())
