"""The program as what it makes depends on it: a version stands still while somebody works on it."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import clsm_cli
from clsm_cli.model.ids import digest
from clsm_cli.store import atomic

INGEST = ("embedding", "ingestion", "model", "scoring", "store", "text")
"""Parts of the program that decide what an ingested store holds, its index included."""
SLEEP = (*INGEST, "consolidation")
"""Those that decide what a consolidated one holds."""
ANSWERS = (*SLEEP, "retrieval", "evaluation")
"""Those that decide what a system of an evaluation returns."""


@cache
def digest_of(parts: tuple[str, ...]) -> str:
    """Digest of some parts of the code, and of the shipped settings."""
    root = Path(clsm_cli.__file__).parent
    everything = (file for part in parts for file in (root / part).rglob("*"))
    files = sorted(file for file in everything if file.suffix in {".py", ".yaml"})
    files.append(root / "config.py")
    return digest(clsm_cli.__version__, *(atomic.digest_of(file) or "" for file in files))
