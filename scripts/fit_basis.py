"""Fit ``scripts/basis.npy``: the 64 directions that token vectors are stored in.

The text is the example sentences of WordNet 3.0 (Princeton University; its licence allows any use),
from the Debian package ``dict-wn`` 1:3.0-37, file ``/usr/share/dictd/wn.dict.dz``: 10,000 sentences
of everyday English about everything, chosen by a fixed seed. The directions are the principal
components of MiniLM's token vectors, function words left out as they are in the index, and not
centred: a cosine must stay a cosine.

Run: ``python -m scripts.fit_basis wn.dict.dz``, then ``python scripts/build_graph.py``.
"""

from __future__ import annotations

import argparse
import gzip
import random
import re
from array import array
from pathlib import Path

import numpy as np

from clsm_cli.embedding import weights
from clsm_cli.embedding.onnx_session import Session
from clsm_cli.embedding.query_vectors import QueryEncoder
from clsm_cli.embedding.weights import VOCABULARY, WEIGHTS
from clsm_cli.text.tokens import stems
from scripts.build_graph import BASIS, DIRECTIONS, WIDTH, build

SENTENCES = 10_000
SEED = 1


def sentences(dictionary: Path) -> list[str]:
    """The quoted examples of the dictionary, 41 to 200 characters, in a fixed random order."""
    text = gzip.decompress(dictionary.read_bytes()).decode("utf-8", "replace")
    senses = re.split(r"\n\s+(?:(?:n|v|adj|adv)\s+)?\d+:\s", text)
    found = set()
    for sense in senses:
        plain = re.split(r"\n\S", re.sub(r"\[(?:syn|ant|also|see)[^\]]*\]", "", sense))[0]
        plain = " ".join(plain.translate({ord("{"): "", ord("}"): ""}).split())
        found.update(re.findall(r'"([^"]{41,200})"', plain))
    ordered = sorted(found)
    random.Random(SEED).shuffle(ordered)
    return ordered[:SENTENCES]


def token_vectors(folder: Path, texts: list[str]) -> np.ndarray:
    """Unit vectors of all tokens whose word carries a search term, float32 [n, 384]."""
    session = Session(build(folder / WEIGHTS.name, basis=None), folder)
    encoder = QueryEncoder(session, (folder / VOCABULARY.name).read_bytes())
    rows = []
    for text in texts:
        found = encoder.encode(text)
        for piece, vector in zip(found.pieces, found.tokens, strict=True):
            if stems(text[piece.start : piece.end]):
                rows.append(vector)
    return np.frombuffer(array("f", b"".join(map(bytes, rows))), np.float32).reshape(-1, WIDTH)


def fit(vectors: np.ndarray) -> np.ndarray:
    """Principal components of ``vectors``, float32 [384, 64]; the largest part of each positive."""
    whole = vectors.astype(np.float64)
    _, directions = np.linalg.eigh(whole.T @ whole)
    best = directions[:, ::-1][:, :DIRECTIONS]
    signs = np.sign(best[np.abs(best).argmax(axis=0), np.arange(DIRECTIONS)])
    return np.asarray(best * signs, np.float32)


def main() -> None:
    """Fit and write the basis."""
    parser = argparse.ArgumentParser(description="Fit the basis of stored token vectors.")
    parser.add_argument("dictionary", type=Path)
    options = parser.parse_args()
    vectors = token_vectors(weights.default_folder(), sentences(options.dictionary))
    basis = fit(vectors)
    kept = np.linalg.norm(vectors @ basis, axis=1).mean()
    np.save(BASIS, basis)
    print(f"{BASIS.name}: {len(vectors):,} tokens, mean length kept {kept:.3f}")


if __name__ == "__main__":
    main()
