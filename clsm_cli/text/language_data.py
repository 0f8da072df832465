"""Words and patterns of languages, from data files beside this module; each names its source."""

import os
import re
from functools import cache

_HERE = os.path.dirname(__file__)

compiled = cache(re.compile)  # compile a pattern at its first use: most commands need only a few


def table_rows(name: str, **pieces: str) -> list[list[str]]:
    """The rows of a tab-separated file, by its relative path without suffix; ``#`` starts a comment.

    A row ``let NAME pattern`` defines ``{NAME}`` for the rows below it, as ``pieces`` do, and is not returned.
    """
    found = []
    with open(os.path.join(_HERE, f"{name}.tsv"), encoding="utf-8") as stream:
        for line in stream:
            if not line.strip() or line[0] == "#":
                continue
            text = line.rstrip("\n")
            if pieces:
                text = re.sub(r"\{([A-Z][A-Z_]*2?)\}", lambda piece: pieces[piece[1]], text)
            row = text.split("\t")
            if row[0] == "let":
                pieces[row[1]] = row[2]
            else:
                found.append(row)
    return found


@cache
def _patterns() -> dict[str, str]:
    return dict(table_rows("patterns"))


@cache
def pattern(name: str) -> re.Pattern[str]:
    """A pattern of ``patterns.tsv``."""
    return re.compile(_patterns()[name])


@cache
def _word_lists(file: str) -> dict[str, str]:
    with open(os.path.join(_HERE, f"{file}.txt"), encoding="utf-8") as stream:
        text = "".join(line for line in stream if line[0] != "#")
    return dict(each.split("]", 1) for each in text.split("[")[1:])


def word_list(name: str, file: str = "english") -> list[str]:
    """The words of a section of a word list, in order."""
    return _word_lists(file)[name].split()


@cache
def question_words() -> frozenset[str]:
    """Words of questions in other languages that ask for nothing in particular."""
    return frozenset(" ".join(_word_lists("question_words").values()).split())


@cache
def number_words() -> dict[str, int]:
    """Numbers up to ninety-nine, by word."""
    units, tens = word_list("numbers"), word_list("tens")
    found = {word: value for value, word in enumerate(units)}
    for ten, word in enumerate(tens, start=2):
        found[word] = 10 * ten
        found |= {f"{word}-{units[unit]}": 10 * ten + unit for unit in range(1, 10)}
    return found
