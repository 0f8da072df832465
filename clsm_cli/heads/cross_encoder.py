"""A cross-encoder: MiniLM reads two texts at once and says which of some classes they are.

Its attention goes from the words of one to those of the other. The weights of the model stay as they
are; a graph of ``weights/`` adds small adapters to its layers (Hu et al. 2022, "LoRA";
``scripts/fit_pairs.py`` and ``scripts/fit_statements.py`` fit them). Two texts take one pass of the model, 6 ms on a desktop. It needs
neither numpy nor the tokeniser, so a recall asks it as well as a night.
"""

from __future__ import annotations

import os
from array import array
from functools import cache
from typing import TYPE_CHECKING

from clsm_cli.embedding import pins
from clsm_cli.embedding.onnx_session import Session, Tensor
from clsm_cli.startup.query_pieces import END, START, cut_pieces

if TYPE_CHECKING:
    from collections.abc import Sequence

MOST_PIECES, MOST_ASKED = 72, 24
"""Word pieces of a text, and of a question, that are read."""
_MOST_KNOWN = 1024
"""Texts whose pieces are kept."""
WEIGHTS = os.path.join(os.path.dirname(__file__), "weights")


class CrossEncoder:
    """The model and its adapters, ready to read; see the module."""

    def __init__(self, session: Session, vocabulary: bytes) -> None:
        """Use an open session of a graph of ``weights/`` and the content of the model's ``vocab.txt``."""
        self._session = session
        self._vocabulary = vocabulary
        self._known: dict[str, list[int]] = {}

    def probabilities(self, first: str, second: str, asked: str = "") -> list[float]:
        """Of each class, to four decimals; ``asked`` is a question that both texts may answer."""
        ids, of_second = pack(*map(self._pieces, (first, second, asked)))
        shape = (1, len(ids))
        feeds = {
            "input_ids": Tensor("i", shape, array("i", ids)),
            "attention_mask": Tensor("i", shape, array("i", [1]) * len(ids)),
            "second": Tensor("i", shape, array("i", of_second)),
        }
        [found] = self._session.run(feeds, ["probabilities"])
        return [round(each, 4) for each in array("f", bytes(found.data))]

    def _pieces(self, text: str) -> list[int]:
        """Ids of the first word pieces of a text; it is read again with the next pair."""
        if text not in self._known:
            if len(self._known) > _MOST_KNOWN:
                self._known.clear()
            found = cut_pieces(self._vocabulary, text, MOST_PIECES + 2)
            self._known[text] = [piece.id for piece in found]
        return self._known[text]


def pack(
    first: Sequence[int], second: Sequence[int], asked: Sequence[int] = ()
) -> tuple[list[int], list[int]]:
    """Two texts as one row of word pieces, and for each whether it is of the second.

    >>> pack([7], [8, 9], [5])
    ([101, 7, 102, 8, 9, 102, 5, 102], [0, 0, 0, 1, 1, 1, 0, 0])
    """
    front = [START, *first[:MOST_PIECES], END]
    back = [*second[:MOST_PIECES], END]
    question = [*asked[:MOST_ASKED], END] if asked else []
    of_second = [0] * len(front) + [1] * len(back) + [0] * len(question)
    return front + back + question, of_second


@cache
def load(name: str) -> CrossEncoder:
    """The one with the adapters ``weights/NAME.onnx``, on the installed model.

    Raises:
        ModelMissingError: The model is not installed.
        ModelDigestError: A model file is not the right one.
    """
    folder = pins.default_folder()
    pins.check(folder)
    graph = os.path.join(WEIGHTS, f"{name}.onnx")
    with open(graph, "rb") as shipped, open(folder / pins.VOCABULARY.name, "rb") as vocabulary:
        return CrossEncoder(Session(shipped.read(), folder), vocabulary.read())
