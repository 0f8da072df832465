"""Tables of sentences beside the tests that read them: a row a line, cells between tabs, ⏎ a new line."""

from pathlib import Path


def table(test: str, name: str) -> list[tuple[str, ...]]:
    """The rows under ``## name`` in the ``.tsv`` of a test file; what stands above them is comment."""
    text = Path(test).with_suffix(".tsv").read_text("utf-8")
    rows = text.partition(f"## {name}\n")[2].partition("\n## ")[0].split("\n")
    assert rows[0], f"no table {name!r}"
    return [tuple(row.replace("⏎", "\n").split("\t")) for row in rows if row]


def column(test: str, name: str) -> list[str]:
    """The same of a table with one cell a row."""
    return [cell for (cell,) in table(test, name)]


def mapping(test: str, name: str) -> dict[str, str]:
    """The same of a table with a key and a value a row."""
    return {row[0]: row[1] for row in table(test, name)}
