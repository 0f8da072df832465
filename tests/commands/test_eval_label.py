"""``clsm eval label``: in an editor, and by a sheet for scripts."""

import re
from pathlib import Path

import labelled_store
import pytest
from processes import Cli, Done

from clsm_cli.store import labels

NOW = ("--now", labelled_store.NOW)


@pytest.fixture
def cli(bare: Cli, tmp_path: Path) -> Cli:
    """A folder with a store that has something to label."""
    return bare.holding(labelled_store.make(tmp_path / "labelled").root)


def run(cli: Cli, *words: str, stdin: str = "", **more: str) -> Done:
    return cli("eval", "label", *words, *NOW, stdin=stdin.encode(), **more)


def test_in_an_editor(cli: Cli) -> None:
    """What is marked is saved, with other words for a query; the next call goes on with the rest."""
    path = labels.path_of(cli.store)
    editor = cli.folder / "editor"
    editor.write_text(
        '#!/bin/sh\ncp "$1" seen\n'
        "sed -i -e '0,/^query: .*/s//query: Who waters the orchids?/' -e '0,/^\\[ \\]/s//[x]/'"
        " -e '0,/^\\[ \\] none/s//[ ] none/' \"$1\"\n"
    )
    editor.chmod(0o700)
    done = run(cli, "-n", "3", VISUAL=str(editor))
    assert done.code == 0, done.err
    assert done.out.startswith("1 label saved, 1 label in ")
    assert "passed over: 2" in done.err
    seen = (cli.folder / "seen").read_text()
    assert seen.count("\nquery: ") == seen.count("\n[ ] none of these") == 3
    (row,) = labels.parse(path.read_text(), "x").rows
    assert row.text == "Who waters the orchids?"
    assert f"[ ] {row.memories[0]}  " in seen
    editor.write_text('#!/bin/sh\necho nonsense > "$1"\n')
    refused = run(cli, "-n", "3", VISUAL=str(editor))
    assert (refused.code, "line 1 is no query" in refused.err) == (12, True)
    assert len(labels.parse(path.read_text(), "x").rows) == 1


def test_a_list_for_scripts(cli: Cli) -> None:
    path = labels.path_of(cli.store)
    printed = run(cli, "--print", "-n", "4")
    assert printed.code == 0, printed.err
    assert printed.out == run(cli, "--print", "-n", "4").out
    assert not path.exists()
    assert printed.out.count("kind: negative") == 1
    marked = re.sub(r"(?m)^\[ \](?=.*Marsdiep)", "[x]", printed.out, count=1)
    done = run(cli, "--from", "-", "--json", stdin=marked)
    assert done.code == 0, done.err
    assert done.json["labelled"] == 1
    assert "passed over: 3" in done.err
    (row,) = labels.parse(path.read_text(), "x").rows
    assert row.text not in run(cli, "--print").out


def test_a_list_that_is_not_there(cli: Cli) -> None:
    done = run(cli, "--from", "nowhere.txt")
    assert (done.code, "nowhere.txt: No such file" in done.err) == (12, True)
