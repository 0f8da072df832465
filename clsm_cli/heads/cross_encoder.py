"""A cross-encoder: MiniLM reads two texts together and classifies the pair.

Attention runs between the words of both texts. Low-rank adapters of the model's layers (Hu et al. 2022,
"LoRA") are fitted by ``scripts/fit_pairs.py``, ``fit_statements.py`` and ``fit_answers.py``. The sum of both
is computed once for a machine, in int8 (``fold``), which makes a pair three times as fast: 2 ms on a desktop.
Recall reads a few pairs, without loading numpy or the tokeniser, consolidation thousands.
"""

from __future__ import annotations

import os
from array import array
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

from clsm_cli.embedding import weights
from clsm_cli.embedding.onnx_session import OnnxruntimeError, Session, Tensor
from clsm_cli.errors import HeadMissingError
from clsm_cli.startup.query_pieces import CLS_ID, SEP_ID, cut_pieces

MAX_PIECES, MAX_QUESTION_PIECES = 72, 24
"""Maximum word pieces per text, and per question."""
_MAX_CACHED = 1024
"""Texts whose word pieces are cached."""
WEIGHTS = os.path.join(os.path.dirname(__file__), "weights")
HEADS = ("answer", "pair", "statement")
"""Names of the graphs there: ``NAME.onnx`` has the adapters, ``NAME_reader.onnx`` reads with what ``fold`` makes."""


class CrossEncoder:
    """The model with one set of adapters."""

    def __init__(self, session: Session, cut: Callable[[str], list[int]]) -> None:
        """Use an open session of a graph in ``weights/`` and a function from text to word piece ids."""
        self._session = session
        self._cut = cut
        self._known: dict[str, list[int]] = {}

    def probabilities(self, first: str, second: str, asked: str = "") -> list[float]:
        """The probability of each class, to four decimals; ``asked``: a question both texts may answer."""
        return self._run(*pack(*map(self._pieces, (first, second, asked))))

    def read(self, pairs: Sequence[tuple[str, str]]) -> list[list[float]]:
        """The probabilities of each pair of texts, with a thread per core.

        Pairs are not batched: in int8, other pairs of a batch would change a pair's quantisation scale.
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
        """Whether a word is a single piece of the vocabulary."""
        return len(self._pieces(word)) == 1

    def _pieces(self, text: str) -> list[int]:
        """Ids of the first word pieces of a text, cached because the next pair often shares it."""
        if text not in self._known:
            if len(self._known) > _MAX_CACHED:
                self._known.clear()
            self._known[text] = self._cut(text)
        return self._known[text]


def pack(
    first: Sequence[int], second: Sequence[int], asked: Sequence[int] = ()
) -> tuple[list[int], list[int]]:
    """Two texts and a question as one row of word pieces, and a mask of the second text.

    >>> pack([7], [8, 9], [5])
    ([101, 7, 102, 8, 9, 102, 5, 102], [0, 0, 0, 1, 1, 1, 0, 0])
    """
    front = [CLS_ID, *first[:MAX_PIECES], SEP_ID]
    back = [*second[:MAX_PIECES], SEP_ID]
    question = [*asked[:MAX_QUESTION_PIECES], SEP_ID] if asked else []
    of_second = [0] * len(front) + [1] * len(back) + [0] * len(question)
    return front + back + question, of_second


@cache
def load(name: str, *, for_many: bool = False) -> CrossEncoder:
    """The installed model with the adapters of a head.

    Args:
        for_many: Whether many pairs will be read: opening takes longer, and reading less.

    Raises:
        ModelMissingError: The model is not installed.
        ModelDigestError: A model file is not the right one.
        HeadMissingError: The head has no folded weights, and the model's folder cannot be written.
    """
    folder = weights.default_folder()
    weights.check(folder)
    graph = _graph(f"{name}_reader")
    try:
        session = Session(graph, folder, is_long_lived=for_many)
    except OnnxruntimeError:  # the first time with these adapters
        fold(name, folder)
        session = Session(graph, folder, is_long_lived=for_many)
    return CrossEncoder(session, _cutter(folder / weights.VOCABULARY.name, for_many=for_many))


def _cutter(vocabulary: Path, *, for_many: bool) -> Callable[[str], list[int]]:
    """From a text to the ids of its word pieces: by the tokeniser, or without loading it."""
    if for_many:
        from clsm_cli.embedding.wordpiece import WordPieces

        pieces = WordPieces.open(vocabulary)
        return lambda text: pieces.ids(text)[1:-1][:MAX_PIECES]
    known = vocabulary.read_bytes()
    return lambda text: [piece.id for piece in cut_pieces(known, text, MAX_PIECES + 2)]


def fold_all(folder: Path) -> None:
    """``fold`` every head of a folder that can be written; else each is used if it is there."""
    if os.access(folder, os.W_OK):
        for name in HEADS:
            fold(name, folder)


def fold(name: str, folder: Path) -> None:
    """Compute the int8 weights of a head, of the model's and the adapters, in a file beside the model's.

    It takes 0.3 s. Files of the head by other versions are removed.

    Raises:
        HeadMissingError: The folder cannot be written.
    """
    graph = _graph(name)
    folded = folder / folded_name(name, graph)
    tensors = Session(graph, folder).run({}, ["codes", "numbers"])
    try:
        parts = (tensor.data for tensor in tensors)
        weights.replace(folded, *parts, instead_of=f"{name}-*{folded.suffix}")
    except OSError as error:
        raise HeadMissingError(folded, error.strerror or str(error)) from error


def folded_name(name: str, graph: bytes) -> str:
    """The file of ``fold``, which is another one for every graph."""
    import hashlib

    return f"{name}-{hashlib.sha256(graph).hexdigest()[:8]}.int8"


def _graph(name: str) -> bytes:
    with open(os.path.join(WEIGHTS, f"{name}.onnx"), "rb") as file:
        return file.read()
