"""README, man pages and docs name every command and setting, and show only what the program has."""

import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from faults import figures
from faults.rig import rigs
from processes import ran
from typer.main import get_command

from benchmarks import evaluation, report
from clsm_cli import app as app_module
from clsm_cli import errors
from clsm_cli.app import app
from clsm_cli.health.findings import CODES
from clsm_cli.model import ids
from scripts import make_man, make_settings

# The README names every command; what the pages tell a person to type works; their links lead somewhere.
ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
GUIDE = (ROOT / "docs" / "guide.md").read_text(encoding="utf-8")
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
LINK = re.compile(r"\]\(([^)#\s]*)(#[^)\s]*)?\)")
CODE = re.compile(r"^```.*?^```|`[^`\n]+`", re.MULTILINE | re.DOTALL)
SHOWN = re.compile(r"(?<![\w.-])clsm((?: [a-z][a-z-]*)*)([^`|&;#\n]*)")
"""A command in text or in a block: the words that may name it, and what follows them."""
OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]*")
CONTEXTS: list[Any] = make_man._walk(
    get_command(app).make_context("clsm", [], resilient_parsing=True)
)
PATHS = [context.command_path for context in CONTEXTS]


def _long_options(context: Any) -> set[str]:
    options: set[str] = set()
    for parameter in context.command.get_params(context):
        names = [*parameter.opts, *parameter.secondary_opts]
        options.update([name for name in names if name.startswith("--")] or names[:1])
    return {option for option in options if option.startswith("-")}


OPTIONS = {context.command_path: _long_options(context) for context in CONTEXTS}


@pytest.mark.parametrize("name", [name for name in app_module.COMMANDS if name != "merge-driver"])
def test_the_readme_names_the_command(name: str) -> None:
    assert f"`clsm {name}" in README


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_what_a_page_shows_can_be_typed(page: Path) -> None:
    """Every command of a block exists, and every option that code shows a command with."""
    for code in CODE.findall(page.read_text("utf-8")):
        for words, rest in SHOWN.findall(re.sub(r" # .*", "", code)):
            path = "clsm"
            for word in words.split():
                if f"{path} {word}" not in OPTIONS:
                    break
                path += f" {word}"
            assert path != "clsm" or not words or not code.startswith("```"), f"clsm{words}"
            assert set(OPTION.findall(words + rest)) <= OPTIONS[path], f"clsm{words}{rest}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    for path, anchor in LINK.findall(page.read_text(encoding="utf-8")):
        if not path.startswith("http"):
            target = (page.parent / path).resolve() if path else page
            assert target.exists(), path
            assert not anchor or anchor[1:] in _anchors(target), f"{path}{anchor}"


def _anchors(page: Path) -> set[str]:
    """The headings of a page as GitHub makes addresses of them."""
    titles = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("context", CONTEXTS[1:], ids=PATHS[1:])
def test_every_command_takes_the_options_of_all(context: Any) -> None:
    if not hasattr(context.command, "commands"):
        assert {"--store", "--json", "--quiet", "--verbose", "--now"} <= _long_options(context)


@pytest.mark.parametrize("error", errors.ClsmError.__subclasses__(), ids=lambda e: e.__name__)
def test_the_guide_lists_the_exit_codes(error: type[errors.ClsmError]) -> None:
    section = GUIDE.partition("## Exit codes")[2]
    assert re.search(rf"\b{error.exit_code}\b", section)


def test_the_test_command_is_where_ci_looks_for_it() -> None:
    commands = re.findall(r"<!-- test-command -->\n```sh\n(.+)\n```", README)
    assert len(commands) == 1
    assert "pytest" in commands[0]


# The man pages are what the commands say of themselves, and groff has nothing against them.
MAN = ROOT / "man"
PAGES = sorted(MAN.glob("*.1"))


def test_pages_are_up_to_date() -> None:
    stored = {page.name: page.read_text(encoding="utf-8") for page in PAGES}
    assert stored == make_man.pages(), "run: python scripts/make_man.py"


@pytest.mark.skipif(shutil.which("groff") is None, reason="groff is not installed")
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_is_set_without_a_warning(page: Path) -> None:
    done = ran("groff", "-man", "-Tutf8", "-ww", "-P-cbou", page)
    assert (done.returncode, done.stderr) == (0, "")
    assert "EXIT STATUS" in done.stdout


# The table of settings in the documentation is what the program says of itself.


def test_the_page_has_every_setting_as_it_is() -> None:
    page = make_settings.PAGE.read_text("utf-8")
    assert page == make_settings.written(page), "run: python scripts/make_settings.py"


# The pages stay short enough to be read.


def test_the_pages_have_at_most_20_000_words_by_hand() -> None:
    """All of docs/ but what ``benchmarks``, ``faults`` and ``scripts`` write, and the codes of ``clsm doctor``."""
    pages = {page: page.read_text("utf-8") for page in (ROOT / "docs").glob("*.md")}
    pages |= {evaluation.FIGURES: "", report.DOCUMENT: report.TEMPLATE.read_text("utf-8")}
    text = "\n".join(pages.values()).replace(make_settings.table(), "")
    codes = re.compile(rf"^\| `({'|'.join(CODES)})` \|.*$", re.MULTILINE)
    words = codes.sub("", figures.BLOCK.sub("", text)).split()
    assert len(words) <= 20_000


# Each promise of docs/promises.md has a rig or a test that shows it, and no rig found it broken.
PROMISES = figures.PAGE.read_text()
HELD = figures.rows(PROMISES)


def test_every_promise_is_shown_by_a_rig_or_a_test() -> None:
    for number, text in enumerate(re.split(r"^### \d+\. ", PROMISES, flags=re.MULTILINE)[1:], 1):
        tests = re.findall(r"^Shown by `(.+)`\.$", text, re.MULTILINE)
        assert bool(tests) != (number in HELD), number
        assert all((ROOT / each).exists() for each in tests)
    rigs_of = {
        number: {rig.name for rig in rigs() if number in rig.promises}
        for number in {n for rig in rigs() for n in rig.promises}
    }
    assert {number: {row[0] for row in found} for number, found in HELD.items()} == rigs_of


def test_no_figure_hides_a_violation() -> None:
    """What a rig found stands in the page until it is mended and run again."""
    for name, _, planned, fired, wrong, caught, *_ in (
        row for each in HELD.values() for row in each
    ):
        found, tried = caught.split(" of ")
        assert (name, wrong) == (name, "0")
        assert planned != "0"
        assert fired != "0"
        assert found == tried != "0"


# The page of the 64 rows names each row once, and tests that exist.
ROWS = (ROOT / "docs" / "rows.md").read_text("utf-8")


def test_every_row_is_told_once() -> None:
    rows = [int(number) for number in re.findall(r"^\| (\d+) \|", ROWS, re.MULTILINE)]
    assert sorted(rows) == list(range(1, 65))


def test_every_test_that_is_named_exists() -> None:
    named = re.findall(r"`([\w/]+\.py)(?:::(\w+))?`", ROWS)
    assert len(named) >= 55
    for path, test in named:
        assert f"def {test}" in (ROOT / "tests" / path).read_text("utf-8"), (path, test)


def test_a_row_that_works_or_is_a_presets_names_its_test() -> None:
    for line in re.findall(r"^\| \d+ \|.*$", ROWS, re.MULTILINE):
        _, _, _, state, shown, _ = (cell.strip() for cell in line.split("|"))
        assert state == "not done" or ".py" in shown, line


def test_the_turn_that_the_architecture_follows_has_these_ids() -> None:
    text = "The Lantern is our narrowboat; Ruben repairs its engine on Fridays."
    key = ids.turn_key("kitchen", "Mara", "2026-03-02T18:04:00+01:00", text)
    page = (ROOT / "docs" / "architecture.md").read_text("utf-8")
    for record in (key, ids.statement_id(ids.normalise_text(f"Mara: {text}"))):
        assert record in page
