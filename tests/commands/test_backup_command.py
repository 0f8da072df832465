"""``clsm backup`` and ``clsm restore`` as a person meets them."""

import os
import re
import shutil
from pathlib import Path

from processes import Cli
from sample_store import SAMPLE

NOW = ("--now", "2026-03-01T12:00:00+01:00")
ASKED = ("delegation defect", "who built the heron gauge", "what did we decide about the heartbeat")


def answers(cli: Cli, store: Path) -> list[str]:
    words = ("--json", "--no-touch", "--store", store, *NOW)
    return [cli.ok("recall", question, *words).out for question in ASKED]


def test_a_restored_store_answers_the_same_bytes(cli: Cli) -> None:
    cli.ok("ingest", min((SAMPLE / "sessions").glob("*.jsonl")), *NOW)
    cli.ok("consolidate", *NOW)
    cli.ok("note", "The gate number is 4711 from May on.", *NOW)
    backup, new = cli.folder / "b.tar.gz", cli.folder / "new"
    before = answers(cli, cli.store)
    told = cli.ok("backup", backup, *NOW).out
    assert re.fullmatch(
        r".*/b\.tar\.gz  [\d.]+ kB, holds .*/memory \(\d+ files, [\d.]+ kB\), read back and"
        r" verified\n",
        told,
    )
    planned = cli.ok("restore", backup, new, "--dry-run").out.splitlines()
    assert planned[0].startswith(f"{backup} is whole (")
    assert planned[1:] == [f"it would be restored to {new}", "nothing was written"]
    assert not new.exists()
    beside = cli.ok("restore", backup, "--dry-run", CLSM_STORE=cli.store).out.splitlines()
    assert beside[0] == planned[0]
    assert f"{cli.store}: is not empty" in beside[1]
    assert answers(cli, cli.store) == before
    done = cli.ok("restore", backup, new)
    assert done.out.startswith(f"restored  {new} (")
    assert done.err == (
        f"clsm: the first recall makes the index anew; look with: clsm status --store {new}\n"
    )
    assert answers(cli, new) == before
    shutil.rmtree(cli.store)
    cli.ok("restore", backup, CLSM_STORE=cli.store)
    assert answers(cli, cli.store) == before
    context = cli.ok("context", "--json", "--store", new, *NOW).json
    texts = [[item["text"] for item in section["items"]] for section in context["sections"]]
    same = cli.ok("context", "--json", *NOW).json["sections"]
    assert texts == [[item["text"] for item in section["items"]] for section in same]
    cli.ok("undo", *NOW)


def test_as_data(cli: Cli) -> None:
    cli.ok("note", "One.", *NOW)
    backup = cli.folder / "b.tar.gz"
    planned = cli.ok("backup", backup, "--json", "--dry-run", *NOW).json
    assert not backup.exists()
    made = cli.ok("backup", backup, "--json", *NOW).json
    assert made == {**planned, "dry_run": False, "packed": backup.stat().st_size}
    restored = cli.ok("restore", backup, "new", "--json", CLSM_DEVICE=None)
    found = restored.json
    assert (found["schema"], made["schema"]) == ("clsm.restore/1", "clsm.backup/1")
    assert (found["made_by"], found["at"]) == ("test", "2026-03-01T11:00:00Z")
    assert [found[name] for name in ("id", "files", "size", "path")] == [
        made[name] for name in ("id", "files", "size", "path")
    ]
    assert found["store"] == str(cli.folder / "new")
    assert found["device"] != "test"
    assert f"CLSM_DEVICE=test clsm restore {backup} {cli.folder / 'new'}" in restored.err
    verbose = cli.ok("backup", "c.tar.gz", "--verbose", *NOW).out.splitlines()
    assert len(verbose) == made["files"] + 1
    assert re.fullmatch(r"[0-9a-f]{64}  clsm\.yaml", next(r for r in verbose if "clsm.yaml" in r))


def test_what_is_refused(cli: Cli) -> None:
    cli.ok("note", "One.")
    cli.ok("backup", "b.tar.gz")
    whole = (cli.folder / "b.tar.gz").read_bytes()
    (cli.folder / "torn.tar.gz").write_bytes(whole[:-9])
    (cli.folder / "text.tar.gz").write_bytes(b"What is this?")
    wanted = {
        ("backup", "b.tar.gz"): 17, ("backup", "memory/b.tar.gz"): 17,
        ("backup", "no/b.tar.gz"): 12, ("backup", "memory", "--force"): 17, ("backup", "-"): 2,
        ("backup", ""): 2, ("backup",): 2, ("restore", "-"): 2, ("restore", "no.tar.gz"): 12,
        ("restore", "memory", "new"): 12, ("restore", "b.tar.gz"): 17,
        ("restore", "b.tar.gz", "memory", "--store", "new"): 2,
        ("restore", "torn.tar.gz", "new"): 13, ("restore", "text.tar.gz", "new", "--dry-run"): 13,
    }  # fmt: skip
    for words, code in wanted.items():
        done = cli(*words)
        assert (done.code, done.out) == (code, ""), (words, done)
        assert "Traceback" not in done.err
        if code != 2:
            assert len(done.err.splitlines()) == 1
            assert done.err.startswith("clsm: ")
    assert sorted(os.listdir(cli.folder)) == ["b.tar.gz", "memory", "text.tar.gz", "torn.tar.gz"]
    assert (cli.folder / "b.tar.gz").read_bytes() == whole
