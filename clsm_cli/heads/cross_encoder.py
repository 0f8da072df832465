"""A cross-encoder: MiniLM reads two texts at once and says which of some classes they are.

Its attention goes from the words of one to those of the other. The weights of the model stay as they
are; a graph of ``weights/`` adds small adapters to its layers (Hu et al. 2022, "LoRA";
``scripts/fit_pairs.py``, ``fit_statements.py`` and ``fit_answers.py`` fit them). Two texts take one pass of the model,
6 ms on a desktop. A recall reads a few pairs and loads neither numpy nor the tokeniser for it
(``load``); a night reads thousands, in whole numbers, which opens later and is two and a half times
as fast (``load_for_many``).
"""

from __future__ import annotations

import os
from array import array
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

from clsm_cli.embedding import weights
from clsm_cli.embedding.onnx_session import Session, Tensor
from clsm_cli.startup.query_pieces import CLS_ID, SEP_ID, cut_pieces

MOST_PIECES, MOST_ASKED = 72, 24
"""Word pieces of a text, and of a question, that are read."""
_MOST_KNOWN = 1024
"""Texts whose pieces are kept."""
WEIGHTS = os.path.join(os.path.dirname(__file__), "weights")


class CrossEncoder:
    """The model and its adapters, ready to read; see the module."""

    def __init__(self, session: Session, cut: Callable[[str], list[int]]) -> None:
        """Use an open session of a graph of ``weights/``, and what cuts a text into word pieces."""
        self._session = session
        self._cut = cut
        self._known: dict[str, list[int]] = {}

    def probabilities(self, first: str, second: str, asked: str = "") -> list[float]:
        """Of each class, to four decimals; ``asked`` is a question that both texts may answer."""
        return self._run(*pack(*map(self._pieces, (first, second, asked))))

    def read(self, pairs: Sequence[tuple[str, str]]) -> list[list[float]]:
        """The same of each pair of texts, a thread on each core.

        Each alone: in whole numbers, what a pair is read with would change the steps of its values.
        """
        from concurrent.futures import ThreadPoolExecutor

        from clsm_cli.embedding.encoder import physical_cores

        packed = [pack(self._pieces(first), self._pieces(second)) for first, second in pairs]
        with ThreadPoolExecutor(physical_cores()) as pool:
            return list(pool.map(lambda each: self._run(*each), packed))

    def _run(self, ids: Sequence[int], second: Sequence[int]) -> list[float]:
        shape = (1, len(ids))
        feeds = {
            "input_ids": Tensor("i", shape, array("i", ids)),
            "attention_mask": Tensor("i", shape, array("i", [1]) * len(ids)),
            "second": Tensor("i", shape, array("i", second)),
        }
        [found] = self._session.run(feeds, ["probabilities"])
        return [round(each, 4) for each in array("f", bytes(found.data))]

    def knows(self, word: str) -> bool:
        """Whether the vocabulary has a word whole."""
        return len(self._pieces(word)) == 1

    def _pieces(self, text: str) -> list[int]:
        """Ids of the first word pieces of a text; it is read again with the next pair."""
        if text not in self._known:
            if len(self._known) > _MOST_KNOWN:
                self._known.clear()
            self._known[text] = self._cut(text)
        return self._known[text]


def pack(
    first: Sequence[int], second: Sequence[int], asked: Sequence[int] = ()
) -> tuple[list[int], list[int]]:
    """Two texts as one row of word pieces, and for each whether it is of the second.

    >>> pack([7], [8, 9], [5])
    ([101, 7, 102, 8, 9, 102, 5, 102], [0, 0, 0, 1, 1, 1, 0, 0])
    """
    front = [CLS_ID, *first[:MOST_PIECES], SEP_ID]
    back = [*second[:MOST_PIECES], SEP_ID]
    question = [*asked[:MOST_ASKED], SEP_ID] if asked else []
    of_second = [0] * len(front) + [1] * len(back) + [0] * len(question)
    return front + back + question, of_second


@cache
def load(name: str) -> CrossEncoder:
    """The one with the adapters ``weights/NAME.onnx``, on the installed model, to read a few pairs.

    Raises:
        ModelMissingError: The model is not installed.
        ModelDigestError: A model file is not the right one.
    """
    folder = _checked()
    with open(folder / weights.VOCABULARY.name, "rb") as file:
        vocabulary = file.read()

    def cut(text: str) -> list[int]:
        return [piece.id for piece in cut_pieces(vocabulary, text, MOST_PIECES + 2)]

    return CrossEncoder(Session(_graph(name), folder), cut)


@cache
def load_for_many(name: str) -> CrossEncoder:
    """The same in whole numbers, ``weights/NAME_int8.onnx``, to read many pairs.

    Raises:
        ModelMissingError: The model is not installed.
        ModelDigestError: A model file is not the right one.
    """
    from clsm_cli.embedding.wordpiece import WordPieces

    folder = _checked()
    pieces = WordPieces.open(folder / weights.VOCABULARY.name)
    graph = _graph(f"{name}_int8")
    session = Session(graph, folder, is_long_lived=True, folds_constants=True)
    return CrossEncoder(session, lambda text: pieces.ids(text)[1:-1][:MOST_PIECES])


def _checked() -> Path:
    folder = weights.default_folder()
    weights.check(folder)
    return folder


def _graph(name: str) -> bytes:
    with open(os.path.join(WEIGHTS, f"{name}.onnx"), "rb") as file:
        return file.read()
