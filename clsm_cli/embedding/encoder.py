"""Text to vectors: word pieces, batches of equal length, one session for documents.

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
    from collections.abc import Callable, Iterator, Sequence

    import numpy as np
    from numpy.typing import NDArray

    Ids: TypeAlias = NDArray[np.uint16]
    Vectors: TypeAlias = NDArray[np.float32]
    Progress: TypeAlias = Callable[[int, int], None]

GRAPH = Path(__file__).with_name("minilm.onnx")
"""Built by ``scripts/build_graph.py``."""

BATCH_TOKENS = 512
"""Word pieces a batch, at most; a text has no more than 256.

Measured on x86-64: documents per CPU second peak between 250 and 1,000 pieces a batch (what a
layer works on then stays in the L2 cache) and lose 8 to 14 % at 2,000.
"""


@dataclass(frozen=True, eq=False)
class Embedding:
    """One text as vectors.

    Attributes:
        sentence: Float32 [384], length 1.
        tokens: Float32 [n, 64], rows of length 1: the last layer at each word piece, without
            the start and end marks, along the directions that keep most of it.
        pieces: The n word pieces; a continuation begins with ``##``.
    """

    sentence: Vectors
    tokens: Vectors
    pieces: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Encoder:
    """all-MiniLM-L6-v2 on the CPU, in float32.

    A text's vectors are the same bits whatever it is batched with and however many threads run,
    on one machine with one onnxruntime, as long as documents are encoded with a document encoder.
    Three things see to it: a batch holds equal token lengths only, so there is no padding to
    leak into sums; every matrix product is over rows of tokens, each of which onnxruntime sums
    in an order that depends on the weights' shape alone; and the session options are fixed.
    """

    _session: Session
    _threads: int
    _tokenizer: WordPieces

    @classmethod
    def open(cls, folder: Path, *, threads: int = 0) -> Encoder:
        """Load the model.

        Args:
            threads: Threads for documents; 0 is one for each physical core.

        Raises:
            ModelMissingError: The model is not installed.
            ModelDigestError: A model file is not the pinned one.
            DiskError: A model file cannot be read.
        """
        weights.check(folder)
        # Read when numpy loads: OpenBLAS would start a thread a core, 40 ms of CPU.
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
        session = Session(GRAPH.read_bytes(), folder, is_for_many=True)
        return cls(session, threads or physical_cores(), WordPieces.open(folder / VOCABULARY.name))

    def encode(self, texts: Sequence[str], *, progress: Progress | None = None) -> list[Embedding]:
        """Encode texts into sentence and token vectors.

        Args:
            texts: Any strings, also empty ones; what passes 256 word pieces is cut off.
            progress: Told how many texts of how many are done, after each batch.
        """
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
            if progress:
                progress(len(found), len(ids))
        return [found[at] for at in range(len(ids))]

    def _ids(self, texts: Sequence[str]) -> list[Ids]:
        import numpy as np

        # Two bytes a piece (the vocabulary has 30,522), where a list would take 36.
        return [np.asarray(self._tokenizer.ids(text), np.uint16) for text in texts]

    def _run(self, ids: Sequence[Ids]) -> Iterator[tuple[list[int], list[Vectors]]]:
        """Run every batch; yield the places of its texts and the outputs, [texts, …] each.

        Threads work on batches of their own, one each: that scales better than several on one
        matrix product (1.9 against 1.4 times for two), and the bits cannot depend on how
        many there are.
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
    """Group texts so that a batch needs no padding.

    Args:
        lengths: Word pieces of each text.
        budget: Word pieces a batch, at most; a longer text is a batch of its own.

    Yields:
        The places of a batch's texts in ``lengths``, each place once, long texts first.

    Example:
        >>> list(equal_length_batches([4, 9, 4, 4], budget=8))
        [[1], [0, 2], [3]]
    """
    by_length = grouped((length, at) for at, length in enumerate(lengths))
    for length, places in sorted(by_length.items(), reverse=True):
        size = max(1, budget // length)
        for start in range(0, len(places), size):
            yield places[start : start + size]


def physical_cores() -> int:
    """Count the physical cores this process may run on; logical ones where that is unknown.

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
