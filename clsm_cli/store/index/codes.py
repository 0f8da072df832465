"""Quantised vectors: four bits per component of a sentence vector, two per component of a token vector.

This costs no recall (docs/experiments.md). A row of

- ``sentences.q4``: code = round(40 · v), clipped to −7 … 7, plus 8. It has 192 bytes: the code of
  component j in the low four bits of byte j, that of component j + 192 in the high four.
- ``tokens.q2``: code = floor(10 · v), clipped to −2 … 1, plus 2, for the value (code − 1.5) / 10. It
  has 16 bytes: byte j has, from its lowest bits on, components 2j, 2j + 32, 2j + 1, 2j + 33.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Matrix = npt.NDArray[np.float32]

SENTENCE_BYTES = 384 // 2
TOKEN_BYTES = 64 // 4
SENTENCE_STEP = 1 / 40  # value of one step of a sentence code
TOKEN_STEP = 1 / 20  # value of one step of the codes from ``unpacked_tokens``
_MAX_CODE = 7
_ZERO = 8
_FROM_TWO_BITS = (5, 7, 9, 11)
"""Two-bit code → four-bit code, in steps of 1/20 from 8: −1.5, −0.5, 0.5, 1.5 tenths."""


def pack_sentences(vectors: Matrix) -> bytes:
    """Encode vectors as rows of ``sentences.q4`` (see the module).

    >>> import numpy as np
    >>> pack_sentences(np.array([[0.1, -0.1, 1.0, 0.0]], np.float32)).hex()
    'fc84'
    """
    import numpy as np

    steps = np.rint(vectors / SENTENCE_STEP)
    codes = (np.clip(steps, -_MAX_CODE, _MAX_CODE) + _ZERO).astype(np.uint8)
    half = codes.shape[1] // 2
    return bytes((codes[:, :half] | codes[:, half:] << 4).tobytes())


def pack_tokens(vectors: Matrix) -> bytes:
    """Encode vectors as rows of ``tokens.q2`` (see the module).

    >>> import numpy as np
    >>> pack_tokens(np.array([[-0.3, -0.05, 0.05, 0.3]], np.float32)).hex()
    'd8'
    """
    import numpy as np

    codes = (np.clip(np.floor(vectors * 10), -2, 1) + 2).astype(np.uint8)
    half = codes.shape[1] // 2
    first, second = codes[:, :half], codes[:, half:]
    return bytes(
        (first[:, ::2] | second[:, ::2] << 2 | first[:, 1::2] << 4 | second[:, 1::2] << 6).tobytes()
    )


def unpacked_tokens(rows: bytes) -> bytearray:
    """Convert rows of ``tokens.q2`` to the layout of ``sentences.q4``, with steps of ``TOKEN_STEP``.

    >>> unpacked_tokens(bytes.fromhex("d8")).hex()  # -0.15, -0.05, 0.05, 0.15
    '95b7'
    """
    wide = bytearray(2 * len(rows))
    wide[::2] = rows.translate(_LOW_HALF)
    wide[1::2] = rows.translate(_HIGH_HALF)
    return wide


_PAIRS = [_FROM_TWO_BITS[pair & 3] | _FROM_TWO_BITS[pair >> 2] << 4 for pair in range(16)]
_LOW_HALF = bytes(_PAIRS[byte & 15] for byte in range(256))
_HIGH_HALF = bytes(_PAIRS[byte >> 4] for byte in range(256))


def unit(row: bytes | memoryview) -> Any:
    """The unit vector of a row, float32: the codes minus 8, normalised."""
    import numpy as np

    packed = np.frombuffer(row, np.uint8)
    whole = np.concatenate([packed & 15, packed >> 4]).astype(np.float64) - _ZERO
    length = float(np.sqrt((whole * whole).sum())) or 1.0
    return (whole / length).astype(np.float32)
