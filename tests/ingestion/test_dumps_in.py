"""A log in a note or a message: kept whole, found by its words everywhere, embedded only at its beginning."""

import re
import sqlite3
import time
from contextlib import closing
from pathlib import Path

import pytest
from ingesting import row
from processes import Cli, environment
from tables import table

LINES = [
    f"2026-03-01 {i // 3600:02}:{i // 60 % 60:02}:{i % 60:02} INFO [w-{i % 7}] GET /api/{i * 7919} {i % 97} ms"
    for i in range(1200)
]
LINES[600] += " quagmire reached the zebrafish gate"
LINES[-1] += " okapi was here"
LOG = "\n".join(LINES)
NOTE = f"# Outage\n\nMara pasted what the server said.\n\n```\n{LOG}\n```\n\nThen Tom restarted the pump.\n"


@pytest.fixture(scope="module")
def outage(tmp_path_factory: pytest.TempPathFactory, model_folder: Path) -> Cli:
    home = tmp_path_factory.mktemp("home")
    cli = Cli(home, {**environment(home, model_folder), "CLSM_STORE": str(home / "memory")})
    cli.ok("init")
    (cli.folder / "outage.md").write_text(NOTE)
    said = row(f"See:\n{LOG}\nWhy does Ines call it the walrus?")
    (cli.folder / "chat.jsonl").write_bytes(said)
    began = time.monotonic()
    done = cli.ok("ingest", "outage.md", "chat.jsonl")
    assert time.monotonic() - began < 120
    for name, added in (("outage.md", 3), ("chat.jsonl", 1)):
        size = r"\d\d,000 characters of dumps found by their words alone"
        assert re.search(rf"^{re.escape(name)}: {added} added; {size}$", done.out, re.MULTILINE)
    return cli


def counts(cli: Cli) -> tuple[int, int, int]:
    """Passages, those with a vector, and texts that wait for one."""
    with closing(sqlite3.connect(cli.store / ".clsm" / "index" / "index.sqlite")) as index:
        query = (
            "SELECT COUNT(*), COUNT(v.digest), (SELECT COUNT(*) FROM waiting) FROM passages p"
            " LEFT JOIN vectors v ON v.digest = p.embedded"
        )
        passages, embedded, waiting = index.execute(query).fetchone()
    return passages, embedded, waiting


def test_it_is_kept_whole_and_embedded_in_part(outage: Cli) -> None:
    (episode,) = outage.store.glob("flow/*/episodes/**/*.md")
    assert LOG in episode.read_text()
    passages, embedded, waiting = counts(outage)
    assert passages > 160
    assert embedded < 40
    assert waiting == 0


@pytest.mark.parametrize(("query", "text"), table(__file__, "found"))
def test_what_is_in_it_and_around_it_is_found(outage: Cli, query: str, text: str) -> None:
    found = outage.ok("recall", query, "--json").json
    assert text in found["memories"][0]["text"]
    assert found["warnings"] == []


def test_nothing_is_learnt_from_it_and_it_can_be_forgotten(outage: Cli) -> None:
    outage.ok("consolidate")
    nodes = outage.ok("graph", "--json").out
    assert "zebrafish" not in nodes
    assert outage.ok("doctor").code == 0
    outage.ok("forget", "--source", "outage.md", "--yes", "--force")
    assert "zebrafish" not in "".join(p.read_text() for p in outage.store.rglob("episodes/**/*.md"))
    passages, embedded, waiting = counts(outage)
    assert embedded < 60 < passages + 10
    assert waiting == 0
