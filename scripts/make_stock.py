"""Make ``clsm_cli/heads/weights/stock.txt``: digests of the sentences of stock workspace files.

Run ``python -m scripts.make_stock FOLDER…``. The shipped file is of ``docs/reference/templates`` and
``docs/reference/AGENTS.default.md`` of OpenClaw (MIT licence) as of early 2026.
"""

from __future__ import annotations

import sys
from pathlib import Path

from clsm_cli.heads.unit_features import sentence_digest
from clsm_cli.text.sentences import sentences

STOCK = Path(__file__).parents[1] / "clsm_cli" / "heads" / "weights" / "stock.txt"


def main(folders: list[str]) -> None:
    """Write the digests of all Markdown files in some folders."""
    files = [path for folder in folders for path in Path(folder).rglob("*.md")]
    found = {
        sentence_digest(said) for path in files for said in sentences(path.read_text("utf-8"))
    } - {""}
    head = (
        "# Digests of the sentences of OpenClaw's workspace templates; see scripts/make_stock.py\n"
    )
    STOCK.write_text(head + "\n".join(sorted(found)) + "\n", "utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
