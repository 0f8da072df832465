"""Only the files decide: the same answers, to the byte, whatever became of the index."""

import json
import shutil
from pathlib import Path

from processes import Cli
from sample_store import SAMPLE

NOW = ("--now", "2026-03-01T08:00:00+01:00")
QUERIES = (
    "delegation defect", "who is brian", "what broke the old memory on 12 February 2026",
    "When did Ilse see the vet?", "last week", "?!", "日本",
)  # fmt: skip
PARTS = (
    *(SAMPLE / "workspace" / f"{name}.md" for name in ("USER", "memory/2026-02-12")),
    SAMPLE / "sessions" / "5d2ce8b0.jsonl",
)


def answers(cli: Cli, store: Path) -> list[str]:
    """What recall says, byte by byte; many candidates, so that ties would show."""
    rows = "".join(json.dumps({"query": query}) + "\n" for query in QUERIES).encode()
    asked = ("--batch", "-", "--no-touch", "--min-score", "0", "-k", "200", "--budget", "100000")
    return cli.ok("recall", "--store", store, *asked, *NOW, stdin=rows).out.splitlines()


def ingest(cli: Cli, store: Path, *parts: Path) -> None:
    cli.ok("ingest", "-q", "--store", store, *parts, *NOW)


def test_without_the_index_and_made_in_parts(cli: Cli) -> None:
    ingest(cli, cli.store, *PARTS)
    expected = answers(cli, cli.store)
    assert all(json.loads(answer)["memories"] for answer in expected[:5])
    shutil.rmtree(cli.store / ".clsm")
    assert answers(cli, cli.store) == expected

    other = cli.folder / "other"
    shutil.copytree(cli.store, other, ignore=shutil.ignore_patterns(".clsm", "*.md"))
    cli("recall", "--store", other, "x", *NOW)  # an index of what is there
    for path in sorted(cli.store.rglob("*.md"), reverse=True):
        target = other / path.relative_to(cli.store)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target)
        if "episodes" not in path.parts:
            cli("recall", "--store", other, "x", *NOW)
    ingest(cli, other, SAMPLE / "workspace" / "USER.md")  # known: it makes missing vectors only
    assert answers(cli, other) == expected
