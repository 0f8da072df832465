"""What the user leaves out is left out however it is named, by the rules of gitignore, and counted."""

from pathlib import Path

import pytest
from ingesting import place
from processes import Cli
from tables import table

from clsm_cli.ingestion import encodings
from clsm_cli.ingestion.folders import Exclusion
from clsm_cli.ingestion.jsonl_rows import Problem
from clsm_cli.ingestion.sources import Excluded, SourceFile, find

NAMES = "a.md drafts/b.md office/drafts/c.md office/d.log.md office/keep.log.md office/e.md"
FILES = tuple(NAMES.split())


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    place(tmp_path / "notes", *FILES)
    return tmp_path / "notes"


def read(notes: Path, *patterns: str, below: str = "") -> list[str]:
    found = find([str(notes / below)], exclusion=Exclusion(patterns))
    paths = [each.path for each in found if isinstance(each, SourceFile)]
    return sorted(path.removeprefix(f"{notes}/") for path in paths)


@pytest.mark.parametrize(("patterns", "left"), table(__file__, "patterns"))
def test_patterns_count_below_the_folder_that_is_named(
    notes: Path, patterns: str, left: str
) -> None:
    assert ", ".join(read(notes, *patterns.split(", "))) == left


@pytest.mark.parametrize(("patterns", "named", "left"), table(__file__, "named"))
def test_what_is_named_is_left_out_as_it_is_in_the_folder_above(
    notes: Path, patterns: str, named: str, left: str
) -> None:
    (notes / "link").symlink_to(notes / "drafts")
    excluded = Exclusion(patterns.split(", "))
    found = find([str(notes / each) for each in named.split(", ")], exclusion=excluded)
    paths = [each.path for each in found if isinstance(each, SourceFile)]
    assert ", ".join(sorted(path.removeprefix(f"{notes}/") for path in paths)) == left


def test_a_folder_around_home_is_never_left_out_by_its_name(
    notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(notes / "office"))
    assert read(notes, "notes/", "office", below="office/drafts") == ["office/drafts/c.md"]
    assert read(notes, "office") == ["a.md", "drafts/b.md"]


def test_a_file_beside_and_above_says_what_is_left_out(notes: Path) -> None:
    (notes / ".clsmignore").write_text("*.log.md\ndrafts/\n")
    (notes / "office" / ".clsmignore").write_text("!d.log.md\ne.md\n")
    assert read(notes) == ["a.md", "office/d.log.md"]
    assert read(notes, below="office") == ["office/d.log.md"]
    (left_out,) = find([str(notes / "office" / "e.md")])
    assert isinstance(left_out, Excluded)
    assert left_out.reason == f"excluded by {notes / 'office' / '.clsmignore'}"


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "cp1252"])
def test_a_file_of_patterns_is_read_in_any_encoding(notes: Path, encoding: str) -> None:
    place(notes, "Café Zoë/f.md")
    (notes / ".clsmignore").write_bytes("# Où\ndrafts/\r\nCafé Zoë/\n".encode(encoding))
    assert read(notes) == sorted(("a.md", *FILES[3:]))


def test_a_file_of_patterns_that_cannot_be_read_is_told(notes: Path) -> None:
    (notes / ".clsmignore").write_bytes("drafts/\n".encode("utf-32-le"))
    (problem,) = [each for each in find([str(notes)]) if isinstance(each, Problem)]
    assert problem == Problem(str(notes / ".clsmignore"), None, encodings.UNKNOWN_REASON)


def test_a_line_that_is_no_pattern_is_told_and_the_others_count(notes: Path) -> None:
    (notes / ".clsmignore").write_text("a.md\n!\n/drafts\n")
    (problem,) = [each for each in find([str(notes)]) if isinstance(each, Problem)]
    assert problem == Problem(str(notes / ".clsmignore"), 2, "is no pattern of gitignore")
    assert read(notes) == sorted(FILES[2:])


def test_the_command_counts_what_is_left_out_and_says_what_stays(cli: Cli) -> None:
    texts = {name: f"The heron of {name} waits.\n".encode() for name in FILES}
    place(cli.folder / "notes", **texts)
    cli.ok("ingest", "notes", "--quiet")
    settings = cli.store / "clsm.yaml"
    settings.write_text(settings.read_text() + 'settings:\n  ingest.exclude: ["office/"]\n')
    (cli.folder / "notes" / ".clsmignore").write_text("drafts/\n")
    done = cli.ok("ingest", "notes", "--exclude", "a.*", "--exclude=z.md")
    assert done.out.endswith(" added, 0 changed, 0 closed, 0 unchanged; 3 excluded; 1 skipped\n")
    assert (
        "clsm: notes/office/d.log.md and 3 more: excluded now, but what was taken in before stays;"
        " to remove it: clsm forget --source notes/office/d.log.md\n"
    ) in done.err
    told = cli.ok("ingest", "notes", "--exclude", "a.*", "--json").json
    assert told["excluded"] == 3
    assert {"path": "notes/a.md", "reason": "excluded"} in told["skipped"]
    assert "heron" in cli.ok("recall", "the heron of a.md").out
