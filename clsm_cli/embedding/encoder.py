"""Encode texts as vectors: word pieces, batches of equal length, one session.

Importing this module loads neither numpy nor tokenizers; :meth:`Encoder.open` does.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from clsm_cli.embedding import weights
from clsm_cli.embedding.onnx_session import Session, Tensor
from clsm_cli.embedding.weights import VOCABULARY
from clsm_cli.embedding.wordpiece import WordPieces
from clsm_cli.model.grouping import grouped

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy as np
    from numpy.typing import NDArray

    Ids: TypeAlias = NDArray[np.uint16]
    Vectors: TypeAlias = NDArray[np.float32]

GRAPH = Path(__file__).with_name("minilm.onnx")  # built by ``scripts/build_graph.py``

BATCH_TOKENS = 512
"""Word pieces per batch, at most; a text has no more than 256.

Measured on x86-64: documents per CPU second peak between 250 and 1,000 pieces a batch (a layer's
working set then stays in the L2 cache) and are 8 to 14 % fewer at 2,000.
"""


@dataclass(frozen=True, eq=False)
class Embedding:
    """The vectors of one text."""

    sentence: Vectors  # float32 [384], length 1
    # Float32 [n, 64], rows of length 1: the last layer at each word piece, without [CLS] and [SEP],
    # projected on the directions that keep most of the variance.
    tokens: Vectors
    pieces: tuple[str, ...]  # the n word pieces; a continuation begins with ``##``


@dataclass(frozen=True, eq=False)
class Encoder:
    """all-MiniLM-L6-v2 on the CPU, in float32.

    The vectors of a text are bitwise the same in every batch and with any number of threads, on one
    machine with one onnxruntime. Three things ensure this: a batch holds equal token lengths only, so no
    padding leaks into sums; each row of a matrix product is summed in an order that depends only on the
    shape of the weights; and the session options are fixed. A ``QueryEncoder`` differs in the last bits.
    """

    _session: Session
    _threads: int
    _tokenizer: WordPieces

    @classmethod
    def open(cls, folder: Path, *, threads: int = 0) -> Encoder:
        """Load the model, for so many threads; 0 is one for each physical core.

        Raises:
            ModelMissingError: The model is not installed.
            ModelDigestError: A model file is not the pinned one.
            DiskError: A model file cannot be read.
        """
        weights.check(folder)
        # Read when numpy loads: OpenBLAS would start a thread a core, 40 ms of CPU.
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
        session = Session(GRAPH.read_bytes(), folder, is_long_lived=True)
        return cls(session, threads or physical_cores(), WordPieces.open(folder / VOCABULARY.name))

    def encode(self, texts: Sequence[str]) -> list[Embedding]:
        """Encode texts, cut off after 256 word pieces, into sentence and token vectors."""
        ids = self._ids(texts)
        found: dict[int, Embedding] = {}
        for batch, (sentences, tokens) in self._run(ids):
            for row, at in enumerate(batch):
                # Copies: a view would keep its whole batch alive.
                found[at] = Embedding(
                    sentences[row].copy(),
                    tokens[row, 1:-1].copy(),
                    self._tokenizer.pieces(ids[at][1:-1].tolist()),
                )
        return [found[at] for at in range(len(ids))]

    def _ids(self, texts: Sequence[str]) -> list[Ids]:
        import numpy as np

        # Two bytes per piece (the vocabulary has 30,522); a list would take 36.
        return [np.asarray(self._tokenizer.ids(text), np.uint16) for text in texts]

    def _run(self, ids: Sequence[Ids]) -> Iterator[tuple[list[int], list[Vectors]]]:
        """Run every batch; yield the positions of its texts and the outputs, [texts, …] each.

        Each thread works on its own batch: this scales better than several threads on one matrix
        product (1.9 against 1.4 times for two), and the bits do not depend on their number.
        """
        import numpy as np

        def run(batch: list[int]) -> list[Vectors]:
            rows = np.stack([ids[at] for at in batch]).astype(np.int32)
            feeds = {"input_ids": rows, "attention_mask": np.ones_like(rows)}
            given = {name: Tensor("i", each.shape, each.data) for name, each in feeds.items()}
            found = self._session.run(given, ["sentence", "tokens"])
            arrays = [np.frombuffer(memoryview(each.data), np.float32) for each in found]
            return [one.reshape(each.shape) for one, each in zip(arrays, found, strict=True)]

        batches = list(equal_length_batches([len(row) for row in ids]))
        if self._threads == 1 or len(batches) == 1:
            yield from ((batch, run(batch)) for batch in batches)
            return
        from concurrent.futures import ThreadPoolExecutor

        with ThreadPoolExecutor(self._threads) as pool:
            yield from zip(batches, pool.map(run, batches), strict=True)


def equal_length_batches(lengths: Sequence[int], budget: int = BATCH_TOKENS) -> Iterator[list[int]]:
    """Yield the positions of the texts of each batch, long texts first, so that none needs padding.

    ``lengths`` and ``budget`` are in word pieces; a text above the budget is a batch of its own.

    >>> list(equal_length_batches([4, 9, 4, 4], budget=8))
    [[1], [0, 2], [3]]
    """
    by_length = grouped((length, at) for at, length in enumerate(lengths))
    for length, places in sorted(by_length.items(), reverse=True):
        size = max(1, budget // length)
        for start in range(0, len(places), size):
            yield places[start : start + size]


def physical_cores() -> int:
    """Count the physical cores that this process may use; logical ones if unknown.

    Two threads on one core share its multipliers, which one thread keeps busy.
    """
    if not hasattr(os, "sched_getaffinity"):
        return os.cpu_count() or 1
    cores = set()
    for cpu in os.sched_getaffinity(0):
        topology = Path(f"/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list")
        try:
            cores.add(topology.read_text())
        except OSError:
            cores.add(str(cpu))
    return len(cores)
