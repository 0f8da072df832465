"""Mentions: spans of text that name something.

The author's own markup (wiki links, tags, italic titles, code) is taken as it is. Capitalised words are names
only where the capital is significant: not at the start of a sentence, unless the run is longer or the word
is capitalised elsewhere, too.
"""

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Literal

from clsm_cli.startup.records import NamedTuple
from clsm_cli.text import name_matching
from clsm_cli.text.markdown_marks import ADDRESS, CODE_BLOCK, LINK_TARGET
from clsm_cli.text.sentences import split

Kind = Literal["link", "tag", "title", "code", "name"]


class Mention(NamedTuple):
    """A name in a text, and its span."""

    start: int
    end: int
    label: str
    kind: Kind


_NO_PROSE = re.compile(
    rf"{CODE_BLOCK}|{ADDRESS}|\]\([^()\s]{{1,500}}\)|[\w.+-]{{1,64}}@[\w-]{{1,64}}\.\w",
    re.MULTILINE,
)
"""Code blocks and addresses."""
_LINK = re.compile(rf"{LINK_TARGET}(?:\|[^\[\]\n]{{0,200}})?\]\]")
_TAG = re.compile(r"(?<![\w#&/])#([^\W\d_][\w/-]{1,60})")
_COLOUR = re.compile(r"(?:[0-9a-fA-F]{3,4}|[0-9a-fA-F]{6}|[0-9a-fA-F]{8})")
_TITLE = re.compile(
    r"(?<![\w*])\*(?![\s*])([^*\n]{2,80})(?<!\s)\*(?![\w*])|(?<!\w)_(?![\s_])([^_\n]{2,80})(?<!\s)_(?!\w)"
)
_CODE = re.compile(r"`([^`\n]{2,80})`")
_IDENTIFIER = re.compile(r"[\w.][\w./-]*")


@lru_cache(maxsize=512)
def find_mentions(text: str) -> tuple[Mention, ...]:
    """Return the mentions of a text in order, without overlaps; none lie in code blocks and addresses.

    >>> [(each.label, each.kind) for each in find_mentions("See [[Delegation Defect]] with Mara Hart.")]
    [('Delegation Defect', 'link'), ('Mara Hart', 'name')]
    """
    taken = bytearray(len(text))
    for match in _NO_PROSE.finditer(text):
        taken[slice(*match.span())] = b"\1" * len(match.group())
    found: list[Mention] = []
    for pattern, kind, read in _MARKS:
        for match in pattern.finditer(text):
            label = read(next(group for group in match.groups() if group))
            if any(taken[slice(*match.span())]):
                continue
            if label:
                found.append(Mention(*match.span(), label, kind))
            if label or kind != "title":  # no names inside code that is no identifier
                taken[slice(*match.span())] = b"\1" * len(match.group())
    # "emily@here.org" does not make Emily a common word, so addresses are hidden.
    prose = _NO_PROSE.sub(lambda match: "|" * len(match.group()), text)
    for start, end in name_matching.find_names(prose, split(text)):
        if not any(taken[start:end]):
            found.append(Mention(start, end, " ".join(text[start:end].split()), "name"))
    return tuple(sorted(found))


def link_label(target: str) -> str:
    """The label of a link: its target with its folders, without the file extension of a note.

    >>> link_label("people/Mara Hart.md"), link_label("../map")
    ('people/Mara Hart', 'map')
    """
    return "/".join(
        " ".join(part.split()) for part in target.removesuffix(".md").split("/") if part.strip(" .")
    )


def _tag_label(tag: str) -> str:
    return "" if _COLOUR.fullmatch(tag) else tag.rstrip("-/_")


def _title_label(title: str) -> str:
    """A title: every word except small ones is capitalised; "" for any other emphasis."""
    words = title.split()
    large = [word for word in words if word.lower() not in name_matching.SMALL_WORDS]
    if not large or not all(word[0].isupper() or word[0].isdigit() for word in [words[0], *large]):
        return ""
    if len(words) == 1 and not (words[0].isalpha() and len(words[0]) >= 4):
        return ""
    return "" if title in name_matching.NON_NAMES else " ".join(words)


def _code_label(code: str) -> str:
    code = code.removesuffix("()").rstrip("/.")
    plain = _IDENTIFIER.fullmatch(code) and any(c.isalpha() for c in code) and len(code) > 1
    return code if plain and code.lower() not in name_matching.SHELL_WORDS else ""


_MARKS: tuple[tuple[re.Pattern[str], Kind, Callable[[str], str]], ...] = (
    (_LINK, "link", link_label),
    (_CODE, "code", _code_label),
    (_TAG, "tag", _tag_label),
    (_TITLE, "title", _title_label),
)
