"""Bad input of every kind, from the outside: the right exit code, one sentence with the place and the
next step, and everything good is still there."""

import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from processes import Cli, Done
from small_store import row

from clsm_cli.commands.command_line import UsageError, parse_start
from clsm_cli.errors import BadInputError, ClsmError, DiskError, ModelDigestError

DAMAGED = Path(__file__).parents[2] / "fixtures" / "damaged"
NOW = ("--now", "2026-02-25T08:00:00+01:00")
NEXT_STEP = re.compile(r"; [^;]*\b(run|mend|choose|give|check|install|upgrade|create|use|find)\b")


def assert_said(done: Done, error: type[ClsmError], *places: str) -> None:
    """The error's own code, and as the last line of stderr its one sentence."""
    assert done.code == error.exit_code, done.err
    sentence = done.err.splitlines()[-1]
    assert sentence.startswith("clsm: ")
    assert "Traceback" not in done.err
    assert NEXT_STEP.search(sentence), sentence
    for place in places:
        assert place in sentence


def assert_remarked(done: Done, *remarks: str) -> None:
    """A run that went through, with a sentence on stderr for each thing that was not right."""
    assert done.code == 0, done.err
    for remark in remarks:
        (sentence,) = (line for line in done.err.splitlines() if remark in line)
        assert sentence.startswith("clsm: ")
        assert NEXT_STEP.search(sentence), sentence


def assert_found(cli: Cli, query: str) -> None:
    found = cli.ok("recall", "--json", "--no-touch", *NOW, query).json["memories"]
    assert any(query in memory["text"] for memory in found)


# What is named and cannot be read


def test_an_unreadable_file(cli: Cli) -> None:
    folder = cli.folder / "notes"
    folder.mkdir()
    (folder / "good.md").write_text("The heron stood on the gauge.\n")
    (folder / "secret.md").write_text("Nobody may read this.\n")
    (folder / "secret.md").chmod(0)
    (folder / "shut").mkdir(mode=0)
    done = cli.unprivileged()("ingest", "notes", *NOW)
    assert_remarked(done, *(f"notes/{name}: permission denied" for name in ("secret.md", "shut")))
    (folder / "shut").chmod(0o700)
    assert_found(cli, "heron stood")


# What is in the files


def table() -> dict[str, tuple[int, list[str]]]:
    """Name, turns and blocks, and remarks of each damaged file, as their README has them."""
    found = {}
    for line in (DAMAGED / "README.md").read_text().splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if cells[0].startswith("`"):
            says = cells[3].split("<br>") if cells[3] else []
            found[cells[0].strip("`")] = int(cells[2]), says
    return found


@pytest.mark.parametrize("name", table())
def test_damaged_files(cli: Cli, name: str) -> None:
    count, remarks = table()[name]
    shutil.copy(DAMAGED / name, cli.folder)
    if remarks:
        strict = cli("ingest", name, "--strict", "--dry-run", *NOW)
        assert_said(strict, BadInputError, f"{name}, ")
    done = cli("ingest", name, *NOW)
    assert_remarked(done, *(f"{name}, {remark}; " for remark in remarks))
    assert done.err.count(name) == len(remarks)
    assert f"\n{name}: {count} added" in f"\n{done.out}"
    assert count


def test_the_table_names_every_damaged_file() -> None:
    assert {path.name for path in DAMAGED.iterdir()} - {"README.md"} == table().keys()


# The store


def on_disk(bare: Cli, disk: Path, home: Path | str) -> Cli:
    """A store that is made there."""
    where = {"CLSM_STORE": str(disk / "memory"), "HOME": str(home)}
    cli = Cli(bare.folder, {**bare.environment, **where})
    cli.ok("init", "-q")
    return cli


def remount(disk: Path, how: str) -> None:
    subprocess.run(["mount", "-o", f"remount,{how}", disk], check=True)


def test_a_version_that_cannot_be_printed() -> None:
    with Path("/dev/full").open("w") as full:
        words = [sys.executable, "-m", "clsm_cli", "--version"]
        done = subprocess.run(words, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert (done.returncode, done.stderr.count("\n")) == (DiskError.exit_code, 1)


def test_a_full_disk(bare: Cli, mount: Callable[[str], Path]) -> None:
    disk = mount("size=1400k")
    cli = on_disk(bare, disk, bare.environment["HOME"])
    for number in range(200):
        text = f"Visit {number} of the heron. " + "It stood on the gauge and waited. " * 8
        (cli.folder / f"{number:03}.md").write_text(text + "\n")
    files = sorted(path.name for path in cli.folder.glob("*.md"))
    cli.ok("ingest", *files[:50], *NOW)
    assert_said(cli("ingest", *files, *NOW), DiskError, "free some space")
    assert cli.ok("recall", "Visit 0 heron", "-k", "1", *NOW).out.count("Visit 0 of the heron") == 1
    remount(disk, "size=64m")
    cli.ok("ingest", *files, *NOW)
    assert cli.ok("status", "--json").json["counts"]["blocks"] == len(files)
    assert_found(cli, "Visit 199 of the heron")


def test_a_disk_that_became_read_only(bare: Cli, mount: Callable[[str], Path]) -> None:
    """As Linux mounts one that fails: the home of whoever calls is on it too."""
    disk = mount("size=64m")
    settings = disk / "home" / ".claude" / "settings.json"
    settings.parent.mkdir(parents=True)
    settings.write_text("{}\n")
    cli = on_disk(bare, disk, disk / "home")
    (cli.folder / "good.md").write_text("The heron stood on the gauge.\n")
    cli.ok("ingest", "good.md", *NOW)
    remount(disk, "ro")
    for words in (
        ("note", "The dove came later."),
        ("ingest", "good.md", *NOW),
        ("consolidate", *NOW),
        ("hook", "claude-code", "install"),
        ("schedule", "run", *NOW),
    ):
        assert_said(cli(*words), DiskError, "Read-only file system")
    said = row("The dove came later.").encode()
    assert_said(cli("ingest", "-", "--capture", stdin=said), DiskError, "Read-only file system")
    assert settings.read_text() == "{}\n"
    assert_found(cli, "heron stood")
    sealed = cli.ok("recall", "heron", "--format", "prompt", *NOW)
    assert "heron stood" in sealed.out
    found = cli.ok("doctor", "--json").json["findings"]
    assert "read-only" in {each["code"] for each in found}


# The model


def test_a_model_with_one_byte_flipped(cli: Cli, model_copy: Path) -> None:
    weights = model_copy / "model.safetensors"
    with weights.open("r+b") as file:
        file.seek(50_000)
        byte = file.read(1)[0]
        file.seek(50_000)
        file.write(bytes([byte ^ 1]))
    wrong = Cli(cli.folder, {**cli.environment, "CLSM_MODEL_DIR": str(model_copy)})
    (cli.folder / "good.md").write_text("The heron stood on the gauge.\n")
    done = wrong("ingest", "good.md", *NOW)
    assert_said(done, ModelDigestError, "model.safetensors: sha256 is ", "--force")
    assert "good.md: 1 added" in done.out
    assert_said(wrong("model", "verify"), ModelDigestError, "model.safetensors")
    answer = wrong.ok("recall", "heron stood", *NOW)
    assert "heron stood" in answer.out
    assert "this answer is from words alone" in answer.err


# What is wrong with a command line is told without the secret in it
KEY = "ghp_" + "a1B2c3" * 6


@pytest.mark.parametrize(
    ("words", "secret"),
    [
        (("note", "-----BEGIN RSA PRIVATE KEY" + "-----\n" + KEY), KEY),
        (("recall", f"--{KEY}", "x"), KEY), ((KEY,), KEY), (("recall", "x", "--now", KEY), KEY),
        (("recall", "-k", KEY, "x"), KEY), (("recall", "x", "--store", f"/{KEY}"), KEY),
        (("show", KEY), KEY), (("ingest", f"/{KEY}.md"), KEY),
        (("feedback", KEY, "--good", KEY), KEY), (("forget", KEY, "--yes"), KEY),
        (("note", "--- password " + "swordfish"), "swordfish"),
        (("note", "x", "--by", "Tulip" + "88"), "Tulip88"),
        (("note", "x", "--by", "pw " + "tulip field"), "field"),
        (("note", "--- password\n" + "swordfish"), "swordfish"),
        (("note", "x", "--by", "pw\n" + "tulip field"), "field"),
        (("recall", "--Tulip" + "88", "x"), "Tulip88"),
        (("recall", "x", "-k", "Tulip" + "88"), "Tulip88"), (("Tulip" + "88",), "Tulip88"),
        (("ingest", "Netflix pw " + "tulip99.md"), "tulip99"),
        (("ingest", "password=" + "Tulip88x.md"), "Tulip88x"),
        (("recall", "x", "--store", "pw " + "tulip99"), "tulip99"),
        (("note", "-----BEGIN RSA PRIVATE KEY" + "-----\nMIIEow" + "IB=abc"), "MIIEow"),
    ],
)  # fmt: skip
def test_no_error_tells_a_secret(cli: Cli, words: tuple[str, ...], secret: str) -> None:
    done = cli(*words)
    assert done.code
    assert secret not in done.out + done.err
    assert secret != KEY or "[masked:" in done.err


@pytest.mark.parametrize(
    "words", [("note", "x", "--swordfish"), ("swordfish",), ("ingest", "my swordfish.md")]
)
def test_an_error_names_what_was_not_found(cli: Cli, words: tuple[str, ...]) -> None:
    assert words[-1] in cli(*words).err


def test_a_report_names_no_file_by_its_secret(cli: Cli) -> None:
    for number, name in enumerate(("password=" + "Tulip88x.md", "Netflix pw " + "Tulip99.md")):
        (cli.folder / name).write_text(f"The boat number {number} is green, as all are.\n")
    for words in ((), ("--json",), ("-v",)):
        done = cli.ok("ingest", ".", *words)
        assert "Tulip" not in done.out + done.err


def test_a_store_in_a_store_and_a_file_without_questions(cli: Cli) -> None:
    inner = cli.store / "projects" / "inner"
    assert_said(cli("init", str(inner)), BadInputError, str(inner), f"inside the store {cli.store}")
    assert not inner.exists()
    page = cli.folder / "page.md"
    page.write_text("# Not\n\nquestions\n")
    assert_said(
        cli("recall", "--batch", str(page)), BadInputError, "page.md: no line is a question"
    )


@pytest.mark.parametrize(("name", "shown"), [("", '""'), ("two\nlines", "two\\nlines")])
def test_a_name_is_shown_on_one_line(cli: Cli, name: str, shown: str) -> None:
    for words in (("edit", name), ("forget", name)):
        said = cli(*words).err
        assert said.startswith(f"clsm: {shown}: ")
        assert said.count("\n") == 1


def test_the_first_and_the_last_day_of_the_calendar(cli: Cli) -> None:
    assert cli("log", "--month", "9999-12-31").code == 2
    with pytest.raises(UsageError):  # it began in the year 0 by UTC
        parse_start("0001-01-01", datetime.now(UTC), ZoneInfo("Europe/Berlin"))
