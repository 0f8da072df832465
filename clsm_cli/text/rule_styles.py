"""Conventions that written files show: names of files and identifiers, indentation, imports.

Only counts of forms leave this module, never a word of a file, so nothing that stands in one can
become a rule.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from clsm_cli.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


class Write(NamedTuple):
    """A file that was created or changed.

    Attributes:
        path: as the tool was given it.
        text: what was written: the file, or the new part of it.
        is_new: whether the whole file was written.
        key: of the turn.
    """

    path: str
    text: str
    is_new: bool
    key: str


class Style(NamedTuple):
    """A convention that files show.

    Attributes:
        text: a sentence.
        key: what it is about and which form it has, for example "indent:py:4".
        turns: keys of the turns whose writes have that form.
    """

    text: str
    key: str
    turns: tuple[str, ...]


_LANGUAGES = {
    "py": "Python", "pyi": "Python", "js": "JavaScript", "mjs": "JavaScript", "cjs": "JavaScript",
    "jsx": "JavaScript", "ts": "TypeScript", "tsx": "TypeScript", "mts": "TypeScript", "go": "Go",
    "rs": "Rust", "rb": "Ruby", "java": "Java", "kt": "Kotlin", "c": "C", "h": "C", "cpp": "C++",
    "hpp": "C++", "cs": "C#", "php": "PHP", "swift": "Swift", "sh": "Shell", "lua": "Lua",
    "md": "Markdown", "html": "HTML", "css": "CSS", "scss": "CSS", "yaml": "YAML", "yml": "YAML",
    "toml": "TOML", "json": "JSON", "sql": "SQL",
}  # fmt: skip
_SCRIPTS = frozenset({"JavaScript", "TypeScript"})
_PROSE = frozenset({"Markdown", "HTML", "JSON", "YAML", "TOML"})
_SHARE = 0.8
"""Least share of the writes that have the form."""
_IMPORT = re.compile(r"\bfrom\s{0,4}[\"'](\.{1,2}/[^\"'\n]{1,200})[\"']|\b(?:require|import)\(\s{0,4}[\"'](\.{1,2}/[^\"'\n]{1,200})[\"']")  # fmt: skip
_DEFINED = re.compile(
    r"^[ \t]{0,40}(?:export\s{1,4})?(?:async\s{1,4})?(?:def|func|fn|function|const|let|var)\s{1,4}"
    r"([A-Za-z_$][\w$]{1,80})",
    re.MULTILINE,
)
_INDENT = re.compile(r"^([ \t]{1,40})(?=[^\s*])", re.MULTILINE)
_STEM = re.compile(r"(?:.*[/\\])?([^/\\.]{1,100})(?:\.[\w.-]{0,40}?)?\.(\w{1,8})\Z", re.DOTALL)
_MOST = 65_536
"""Characters of one write that are looked at."""


def styles(writes: Iterable[Write]) -> list[Style]:
    """The conventions that most of the writes share, in a fixed order.

    A form needs two writes, or two names, and 0.8 of all that could have had another form.

    >>> both = [Write(f"src/{name}.py", "", True, name) for name in ("read_rows", "to_text")]
    >>> [style.text for style in styles(both)]
    ['Python files are named in snake_case.']
    """
    forms: dict[tuple[str, str], Counter[str]] = {}
    turns: dict[tuple[str, str, str], dict[str, None]] = {}
    for write in writes:
        for theme, language, form in _forms(write):
            forms.setdefault((theme, language), Counter())[form] += 1
            turns.setdefault((theme, language, form), {})[write.key] = None
    found = []
    for (theme, language), counts in sorted(forms.items()):
        form, count = max(counts.items(), key=lambda item: (item[1], item[0]))
        if count >= 2 and count >= _SHARE * counts.total():
            text = _TEXTS[theme].format(language=language, form=_FORMS.get(form, form))
            key = f"style:{theme}:{language}:{form}".replace(" ", "-")
            found.append(Style(text, key, tuple(turns[theme, language, form])))
    return found


_TEXTS = {
    "files": "{language} files are named in {form}.",
    "names": "Identifiers in {language} files are written in {form}.",
    "indent": "{language} files are indented with {form}.",
    "imports": "Relative imports in {language} files are written {form}.",
}
_FORMS = {"suffix": "with the suffix .js", "bare": "without a suffix", "tab": "tabs"}


def _forms(write: Write) -> Iterator[tuple[str, str, str]]:
    """Yield theme, language and form of what a write shows."""
    named = _STEM.match(write.path)
    language = _LANGUAGES.get(named.group(2).lower()) if named else None
    if named is None or language is None:
        return
    text = write.text[:_MOST]
    if write.is_new and (form := name_form(named.group(1))):
        yield "files", language, form
    if language in _PROSE:
        return
    for match in _DEFINED.finditer(text):
        if form := name_form(match.group(1)):
            yield "names", language, form
    if form := _indent(text):
        yield "indent", language, form
    if language in _SCRIPTS:
        for match in _IMPORT.finditer(text):
            last = (match.group(1) or match.group(2)).rsplit("/", 1)[-1]
            if last.endswith(".js") or "." not in last:
                yield "imports", language, "suffix" if last.endswith(".js") else "bare"


def name_form(name: str) -> str | None:
    """How the words of a name are joined; None for a single word or a mixture.

    >>> [name_form(name) for name in ("read_rows", "readRows", "ReadRows", "read-rows", "read")]
    ['snake_case', 'camelCase', 'PascalCase', 'kebab-case', None]
    """
    name = name.strip("_$")
    for form, pattern in _NAME_FORMS:
        if pattern.fullmatch(name):
            return form
    return None


_NAME_FORMS = (
    ("snake_case", re.compile(r"[a-z][a-z0-9]*(?:_[a-z0-9]+)+")),
    ("kebab-case", re.compile(r"[a-z][a-z0-9]*(?:-[a-z0-9]+)+")),
    ("camelCase", re.compile(r"[a-z][a-z0-9]*[A-Z][A-Za-z0-9]*")),
    ("PascalCase", re.compile(r"[A-Z][a-z0-9]+[A-Z][A-Za-z0-9]*")),
)


def _indent(text: str) -> str | None:
    """The unit of indentation of a file: its least indent, where three lines are indented."""
    indents = _INDENT.findall(text)
    if len(indents) < 3:
        return None
    if all(indent[0] == "\t" for indent in indents):
        return "tab"
    widths = [len(indent) for indent in indents if "\t" not in indent]
    least = min(widths, default=0)
    regular = len(widths) == len(indents) and all(width % least == 0 for width in widths)
    return f"{least} spaces" if regular and least in {2, 3, 4, 8} else None
