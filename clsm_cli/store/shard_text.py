"""What stands in a shard, line by line, whoever wrote it: clsm, a merge, or a person in YAML."""

from __future__ import annotations

from typing import Any

from clsm_cli.store.jsonlines import LineError, dump, load, load_all

_MAX_YAML = 1 << 20
"""Characters of a shard that a person rewrote in YAML; twice what a full one has."""
_YAML_ENTRIES, _YAML_TRIED = 50, 64 << 10
"""Entries of a shard, and their characters, that are tried as YAML one by one: bounds the time."""
_CONFLICT = ("<<<<<<<", "|||||||", "=======", ">>>>>>>")

Loaded = list[tuple[int | None, str, Any]]
"""Line number, what stands there, and its value or a LineError."""


def values(text: str, only: str | None = None) -> Loaded:
    """The value of each entry; a LineError stands for what cannot be read.

    A line that is no JSON is read as YAML together with the indented lines below it, since a person
    may have written or rewritten it; a file in which no line begins like ours is read as a whole.

    Args:
        text: Of the shard, with newlines alone.
        only: The type of record that is wanted; other lines of ours are passed over.
    """
    lines = list(enumerate(text.split("\n"), 1))
    entries = [(number, line) for number, line in lines if not _is_aside(line)]
    if only is not None and all(line.startswith("- {") for _, line in entries):
        lines = entries = [each for each in entries if f'"record": "{only}"' in each[1]]
    loaded: Loaded | None = _load_all(entries)
    is_block = bool(entries) and not any(
        line.startswith(("- {", *_CONFLICT)) for _, line in entries
    )
    if is_block:
        loaded = _load_block(lines)
    return _load_each(lines, together=not is_block) if loaded is None else loaded


def _is_aside(line: str) -> bool:
    return not line or line[0] == "#" or line == "---" or line.isspace()


def _load_all(lines: list[tuple[int, str]]) -> Loaded | None:
    """Every line at once: one parser call is three times faster; None when any line is bad."""
    if not all(line.startswith("- {") for _, line in lines):
        return None
    try:
        found = load_all([line[2:] for _, line in lines])
    except LineError:
        return None
    return [(number, line, value) for (number, line), value in zip(lines, found, strict=True)]


def _load_each(lines: list[tuple[int, str]], *, together: bool) -> Loaded:
    """Entry by entry, so that one bad line costs only itself.

    Args:
        lines: With their numbers.
        together: What is no JSON is first tried as one YAML text.
    """
    entries: list[tuple[int, list[str], Any]] = []
    for number, line in lines:
        is_open = bool(entries) and isinstance(entries[-1][2], LineError)
        if is_open and line[:1] in " \t":  # also an empty line
            entries[-1][1].append(line)
        elif not _is_aside(line):
            entries.append((number, [line], _json_or_error(line)))
    loaded: Loaded = [(number, "\n".join(rows).rstrip(), value) for number, rows, value in entries]
    odd = [n for n, row in enumerate(loaded) if isinstance(row[2], LineError) and row[1][0] == "-"]
    found = _yaml_entries("\n".join([loaded[at][1] for at in odd])) if odd and together else []
    if len(found) != len(odd):  # not all of them are YAML
        found = []
        left = _YAML_TRIED
        for at in odd[:_YAML_ENTRIES]:
            left -= len(loaded[at][1])
            found += (_yaml_entries(loaded[at][1])[:1] if left >= 0 else []) or [None]
    for at, value in zip(odd, found, strict=False):
        if isinstance(value, dict):
            loaded[at] = (loaded[at][0], loaded[at][1], value)
    return loaded


def _json_or_error(line: str) -> Any:
    if line.startswith(_CONFLICT):
        return LineError("is a git conflict marker (both sides were read)")
    try:
        return load(line.removeprefix("- ").strip())
    except LineError as error:
        return error


def _yaml_entries(text: str) -> list[Any]:
    from clsm_cli.store import yaml_text

    try:
        found = yaml_text.load(f"{text}\n", _MAX_YAML)
    except LineError:
        return []
    return found if isinstance(found, list) else []


def _load_block(lines: list[tuple[int, str]]) -> Loaded | None:
    """The whole file as YAML by a person: a list of records, or one; None when it is not that."""
    from clsm_cli.store import yaml_text

    try:
        found = yaml_text.load("\n".join([line for _, line in lines]), _MAX_YAML)
    except LineError:
        return None
    if isinstance(found, dict):
        found = [found]
    if not isinstance(found, list):
        return None
    starts: list[int | None] = [number for number, line in lines if line.startswith("-")]
    if len(starts) != len(found):
        starts = [None] * len(found)
    return [(start, dump(value), value) for start, value in zip(starts, found, strict=True)]
