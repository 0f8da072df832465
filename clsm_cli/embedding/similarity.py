"""Exact dot products of stored vectors with queries, without numpy.

Source: the splitting of a float factor into integer parts, after Ozaki, Ogita, Oishi and Rump,
"Error-free transformations of matrix multiplication", Numer. Algorithms 59 (2012).
"""

from __future__ import annotations

import os
from array import array
from math import isqrt
from typing import TYPE_CHECKING

from clsm_cli.embedding.onnx_session import Session, Tensor

if TYPE_CHECKING:
    from collections.abc import Sequence

    from _typeshed import ReadableBuffer

_GRAPH = os.path.join(os.path.dirname(__file__), "similarity.onnx")

ZERO_CODE = 8  # code of a component with the value 0

_MAX_HIGH = 127  # largest high part of a query's component
_BASE = 128  # low-part units per high-part unit; a power of two, so the product is exact
_MAX_WIDTH = 4096  # 15 · 127 · width < 2²⁴, up to which float32 holds the integers exactly

_CHUNK_BYTES = 1 << 18
_CHUNK_ROWS = 8192
"""Bytes and rows per run, at most: 1 MB for each float32 array of half a row's components."""
_BREAK_EVEN_BYTES = 1 << 13
"""Chunk size at which first-touch memory costs as much as the call of a run: 0.04 ms / 5 ns per byte.

The arrays of a run are new memory in a process that has just started. The sum of both costs is smallest
for chunks of √(bytes · 0.04 ms / 5 ns).
"""


class Similarity:
    """Exact dot products, computed by onnxruntime.

    A row of d components has d/2 bytes: the low four bits of byte j are the code of component j, the
    high four bits that of component j + d/2. A code c represents the value scale · (c − 8).

    Each component of a query q is split into two integers, q = step · (128 · high + low), |high| ≤ 127
    and |low| ≤ 64, so that for a row of codes c

        q · v = step · scale · (128 · Σ high_i c_i + Σ low_i c_i − 8 · Σ (128 · high_i + low_i)).

    Every product and sum over i is an integer below 2²⁴, so it is exact in float32 in any order of
    addition; the three remaining operations are rounded by IEEE 754. The result is bitwise the same at
    every position and on every processor. Splitting changes a component by less than max|q| / 32,512.
    """

    __slots__ = ("_session",)

    def __init__(self, session: Session) -> None:
        """Take an open session of ``similarity.onnx``."""
        self._session = session

    @classmethod
    def open(cls) -> Similarity:
        """Load the graph, in 1 ms if the library is loaded."""
        with open(_GRAPH, "rb") as file:
            return cls(Session(file.read()))

    def products(
        self,
        rows: ReadableBuffer,
        width: int,
        queries: Sequence[Sequence[float]],
        scale: float,
        block: int = 1,
    ) -> list[memoryview[float]]:
        """Compute the dot product of every row with every query, or the maximum of each block of rows.

        Args:
            rows: n · width/2 bytes; a mapped file is read in place.
            width: Components of a row, an even number up to 4,096.
            scale: Value of one unit of a stored component.
            block: Rows per block; divides n.

        Returns:
            For each query, float32 [n / block], flat: the largest product of each block.

        Raises:
            ValueError: A row or block is incomplete, a query has another width, or the width is odd or
                over the limit.
        """
        view = memoryview(rows).cast("B")
        size = width // 2
        if not 0 < width <= _MAX_WIDTH or width % 2 or len(view) % (size * block):
            raise ValueError(f"{len(view)} bytes are not rows of {width} (at most {_MAX_WIDTH})")
        if any(len(query) != width for query in queries):
            raise ValueError(f"a query has not {width} components")
        if not queries:
            return []
        feeds = _split_all(queries, width, scale)
        feeds["blocks"] = Tensor("q", (3,), array("q", [0, -1, block]))
        count = len(view) // size
        found = [memoryview(bytearray(4 * count // block)).cast("f") for _ in queries]
        chunk_bytes = min(_CHUNK_BYTES, isqrt(len(view) * _BREAK_EVEN_BYTES))
        rows_per_run = max(1, min(_CHUNK_ROWS, chunk_bytes // size) // block) * block
        for start in range(0, count, rows_per_run):
            stop = min(start + rows_per_run, count)
            chunk = Tensor("B", (stop - start, size), view[start * size : stop * size])
            (part,) = self._session.run({"rows": chunk, **feeds}, ["products"])
            products = memoryview(part.data)
            first, last = start // block, stop // block
            for place, whole in enumerate(found):
                at = place * (last - first)
                whole[first:last] = products[at : at + last - first]
        return found


def _split_all(queries: Sequence[Sequence[float]], width: int, scale: float) -> dict[str, Tensor]:
    parts = {
        f"{half}.{part}": array("f") for half in ("first", "second") for part in ("high", "low")
    }
    offsets, steps = array("f"), array("f")
    for query in queries:
        step, high, low = _split(query)
        for name, values in (("high", high), ("low", low)):
            parts[f"first.{name}"].extend(values[: width // 2])
            parts[f"second.{name}"].extend(values[width // 2 :])
        offsets.append(ZERO_CODE * (_BASE * sum(high) + sum(low)))
        steps.append(step * scale)
    shape = len(queries), width // 2
    column = len(queries), 1
    feeds = {name: Tensor("f", shape, values) for name, values in parts.items()}
    return {**feeds, "offset": Tensor("f", column, offsets), "step": Tensor("f", column, steps)}


def _split(query: Sequence[float]) -> tuple[float, list[int], list[int]]:
    """Split a vector into step · (128 · high + low).

    >>> _split([1.0, -0.5])
    (6.151574803149606e-05, [127, -63], [0, -64])
    """
    step = max(map(abs, query)) / (_MAX_HIGH * _BASE) or 1.0
    whole = [round(value / step) for value in query]
    high = [(value + _BASE // 2) // _BASE for value in whole]
    return step, high, [value - _BASE * part for value, part in zip(whole, high, strict=True)]
