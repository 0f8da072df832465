"""The owner of the notes in a folder (an Obsidian vault, an agent, a person), and what the user excludes.

Links (``[[Mara|she]]``) and tags stay, because they say what a note is about. An agent's workspace that
somebody opens in Obsidian is no vault: its daily notes are the agent's.

``--exclude``, the setting ``ingest.exclude`` and ``.clsmignore`` files follow the rules of gitignore (by
pathspec): the last matching pattern decides. A ``.clsmignore`` applies below its folder, the nearest first.
The other patterns have no folder of their own: they apply below the named folder (or the folder of a named
file), and below its ancestors up to the home folder if they contain a name. So a path is excluded however it
is named, and ``*`` does not exclude everything in a folder.
"""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from clsm_cli.ingestion import encodings
from clsm_cli.ingestion.jsonl_rows import Problem

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pathspec import GitIgnoreSpec

    _Specs = tuple[GitIgnoreSpec, GitIgnoreSpec]

Place = Literal["", "vault", "workspace"]  # of the nearest known folder around a note; empty: none
WORKSPACE = ("AGENTS.md", "SOUL.md", "IDENTITY.md", "MEMORY.md")
"""Files, any of which makes a folder an agent's workspace (OpenClaw, Codex and others)."""
VAULT = ".obsidian"  # subfolder that makes a folder an Obsidian vault
_DIARY = "memory"


def locate_folder(folder: str) -> Place:
    """The kind of a folder, from itself and its ancestors."""
    for above in ancestors(folder):
        if any(os.path.exists(os.path.join(above, name)) for name in WORKSPACE):
            return "workspace"
        if os.path.isdir(os.path.join(above, VAULT)):
            return "vault"
    return ""


def locate_files(names: set[str], place: Place) -> Place:
    """The kind of place for files in a folder, from their names and the folder's kind."""
    if not names.isdisjoint(WORKSPACE):
        return "workspace"
    return "vault" if VAULT in names else place


def is_agents(folder: str, place: Place) -> bool:
    """Whether dated notes in a folder are an agent's: in a workspace, or in a ``memory/`` folder."""
    return place == "workspace" or (not place and os.path.basename(folder) == _DIARY)


def ancestors(folder: str) -> Iterator[str]:
    """A folder and its ancestors."""
    yield folder
    yield from map(str, Path(folder).parents)


_SETTINGS = (
    ("templates.json", "folder"),
    (os.path.join("plugins", "templater-obsidian", "data.json"), "templates_folder"),
)
_MAX_BYTES = 1 << 20
_FENCE = re.compile(r" {0,3}(?:>[ ]?)*(```+|~~~+)")
_OBSIDIAN_MARKUP = (
    (re.compile(r"!\[\[[^\[\]\n]{1,400}\]\]"), ""),
    (re.compile(r"%%.*?%%"), ""),
    (re.compile(r"\A([ \t]*(?:>[ \t]?)+)\[![\w-]{1,40}(?:\|[^\]\n]{0,80})?\][+-]?[ \t]*"), r"\1"),
    (re.compile(r"(?:\A|[ \t])\^[A-Za-z0-9-]{1,60}[ \t]*\Z"), ""),
    (re.compile(r"==(?=\S)([^=\n]{1,400})(?<=\S)=="), r"\1"),
)
"""Embedded notes and pictures, comments, kinds of callouts, block ids, highlighting."""
_MARKUP_HINTS = ("![[", "%%", "[!", "^", "==")
_EMPTY_ITEM = re.compile(r"[ \t]*(?:[-*+>]|\d{1,9}[.)])*[ \t]*(?:\[[ xX]\])?[ \t]*\Z", re.ASCII)


def templates(vault: str) -> Iterator[str]:
    """The template folders of a vault, from its settings."""
    for file, key in _SETTINGS:
        try:
            with open(os.path.join(vault, VAULT, file), "rb") as stream:
                settings = json.loads(stream.read(_MAX_BYTES))
        except (OSError, ValueError, RecursionError):
            continue
        name = settings.get(key) if isinstance(settings, dict) else None
        if isinstance(name, str) and name.strip("/. "):
            yield os.path.normpath(os.path.join(vault, name.strip("/")))


def strip_obsidian(lines: Sequence[str], start: int) -> list[str]:
    """The same number of lines, without markup that only Obsidian shows; code stays.

    >>> strip_obsidian(["> [!tip]- Oak", "![[a.png]]", "It is ==12 cm== %%ask%% wide. ^a1", "%%", "x", "%%"], 0)
    ['> Oak', '', 'It is 12 cm  wide.', '', '', '']
    """
    kept, fence, hidden = list(lines[:start]), "", False
    for line in lines[start:]:
        code = _FENCE.match(line)
        if code and not hidden and (not fence or code[1].startswith(fence)):
            fence = "" if fence else code[1]
            kept.append(line)
        elif fence:
            kept.append(line)
        else:
            text, hidden = _without_comment(line, hidden=hidden)
            is_marked = text != line or any(mark in line for mark in _MARKUP_HINTS)
            kept.append(_without_markup(text) if is_marked else line)
    return kept


def _without_comment(line: str, *, hidden: bool) -> tuple[str, bool]:
    """A line without a comment over several lines, and whether the comment continues."""
    if hidden:
        _, mark, line = line.partition("%%")
        if not mark:
            return "", True
    if line.count("%%") % 2:
        line, _, _ = line.rpartition("%%")
        return line, True
    return line, False


def _without_markup(line: str) -> str:
    for pattern, by in _OBSIDIAN_MARKUP:
        line = pattern.sub(by, line)
    return "" if _EMPTY_ITEM.match(line) else line.rstrip()


IGNORE_FILE = ".clsmignore"
_NAME = re.compile(r"[^/]+")
_NEUTRAL_NAME = "\ufffd" * 9  # a name that no file has


class Exclusion:
    """The exclusion patterns, and problems of the files that contain them."""

    def __init__(self, patterns: Sequence[str] = ()) -> None:
        """Exclude by ``patterns``, and by ignore files beside and above each path.

        Raises:
            ValueError: A pattern is invalid; its text is the argument.
        """
        self.problems: list[Problem] = []
        self._patterns, invalid = _compiled(patterns) if patterns else (None, [])
        if invalid:
            raise ValueError(patterns[invalid[0] - 1])
        self._files: dict[str, _Specs | None] = {}
        self._folders: dict[str, str | None] = {}
        self._home = os.path.realpath(os.path.expanduser("~"))

    def reason(self, path: str, root: str | None, *, is_folder: bool) -> str | None:
        """Why a file or folder itself is excluded; None if it is not.

        ``root`` is the named folder, or the folder of a named file; None above it.
        """
        if self._patterns is not None and self._is_left_out(path, root, is_folder=is_folder):
            return "excluded"
        for folder in ancestors(os.path.dirname(path)):
            specs = self._specs_of(folder)
            decided = specs and specs[is_folder].check_file(os.path.relpath(path, folder)).include
            if decided is not None:
                return f"excluded by {os.path.join(folder, IGNORE_FILE)}" if decided else None
        return None

    def reason_of_named(self, path: str, *, is_folder: bool) -> str | None:
        """Why a named path is excluded: by itself, or with one of its ancestors."""
        folder = path if is_folder else os.path.dirname(path)
        for above in reversed([*ancestors(folder)]):
            if above not in self._folders:
                self._folders[above] = self.reason(above, None, is_folder=True)
            if reason := self._folders[above]:
                return reason
        return None if is_folder else self.reason(path, folder, is_folder=False)

    def _is_left_out(self, path: str, root: str | None, *, is_folder: bool) -> bool:
        assert self._patterns is not None
        if root is None and os.path.commonpath([path, self._home]) == path:
            return False
        for folder in ancestors(root or os.path.dirname(path)):
            below = os.path.relpath(path, folder)
            found = self._patterns[is_folder].check_file(below)
            if found.include is not None:
                # Above the named path, ignore patterns that match any names.
                any_names = "" if folder == root else _NAME.sub(_NEUTRAL_NAME, below)
                if self._patterns[is_folder].check_file(any_names).index != found.index:
                    return found.include
            if folder == self._home:
                break
        return False

    def _specs_of(self, folder: str) -> _Specs | None:
        if folder not in self._files:
            path, specs = os.path.join(folder, IGNORE_FILE), None
            if os.path.isfile(path):
                try:
                    with open(path, "rb") as stream:
                        lines = self._decoded(stream.read(_MAX_BYTES), path).splitlines()
                    specs, invalid = _compiled(lines)
                    reason = "is no pattern of gitignore"
                    self.problems += [Problem(path, number, reason) for number in invalid]
                except OSError as error:
                    self.problems.append(Problem(path, None, error.strerror or "cannot be read"))
            self._files[folder] = specs
        return self._files[folder]

    def _decoded(self, data: bytes, path: str) -> str:
        encoding = encodings.detect_encoding(data, is_whole=True)
        text = encodings.to_utf_8(data, encoding or encodings.UTF_8).decode("utf-8-sig", "replace")
        if encoding == encodings.UNKNOWN or "\0" in text:
            self.problems.append(Problem(path, None, encodings.UNKNOWN_REASON))
        return text


def _compiled(lines: Sequence[str]) -> tuple[_Specs | None, list[int]]:
    """The valid patterns among some lines for files and for folders, if any, and the numbers of the others.

    For folders ``c/`` is ``c``: pathspec ranks patterns with a slash at the end below all others.
    """
    from pathspec import GitIgnoreSpec

    files: list[Any] = []
    folders: list[Any] = []
    invalid = []
    for number, line in enumerate(lines, 1):
        try:
            files += GitIgnoreSpec.from_lines([line]).patterns
            folders += GitIgnoreSpec.from_lines([line.rstrip().removesuffix("/")]).patterns
        except ValueError:
            invalid.append(number)
    return (GitIgnoreSpec(files), GitIgnoreSpec(folders)) if files else None, invalid
