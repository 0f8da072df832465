"""Mask secrets in a text: replace each by the name of its kind before anything is written.

Four readers recognise secrets: by the form that the issuer documents (``issued``), by their shape and
the words around them (``contextual``), by check digits (``numbers``), or by the heading of a column (``cells``). Services, languages
and states are data with their source, read at first use: the capture hook imports this module on every turn,
and most turns have no secret.
"""

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from functools import lru_cache

from clsm_cli.startup.records import NamedTuple
from clsm_cli.text.language_data import compiled
from clsm_cli.text.secrets.secret_values import Secret


class MaskedText(NamedTuple):
    """A text without its secrets, and their number by kind."""

    text: str
    counts: Mapping[str, int]


_MASK = "[masked:"
_MASKED = r"\[masked:[a-z-]*\]?"
_EDGES = r"(?<=[^\s./])\.[A-Za-z0-9]{1,8}(?![\w.])|(?<=\S):(?=\s(?!\[masked:))|/(?=[^/\s]*[=:])"
"""What may stand around a name: its extension, "NAME: what is wrong", the folder before "key=value"."""
_FOLDER = r"( [^\s/]+)/"  # the last word of a folder with several
_NUMERAL = r"(?ai)\d(?:[ .-]?\d){3}|[a-z]{4}\d\d"  # a part that each secret number has
_INVISIBLE = "[\u00ad\u200b-\u200f\u2060-\u2064\ufeff]+"
"""Invisible characters inside a token: soft hyphen, zero-width and directional characters."""
_MAX_PASSES = 8  # maximum passes over a text: a masked secret may have hidden the next one


@lru_cache(maxsize=64)  # each block is read with its headings
def mask(text: str) -> MaskedText:
    """Replace every secret in ``text`` by ``[masked:kind]``.

    The result depends on the text alone; masking a masked text changes nothing. Takes time linear in the
    length of the text.

    >>> mask("token: " + "glpat-" + "a1B2" * 5)
    MaskedText(text='token: [masked:gitlab-token]', counts={'gitlab-token': 1})
    >>> mask("password: see the vault").counts
    {}
    """
    found: dict[str, int] = {}
    masked = _mask_once(text, found)
    if found:  # a mask may reveal another secret next to it
        parts = masked.split("\n\n")
        masked = "\n\n".join(_mask_fully(each, found) if _MASK in each else each for each in parts)
    return MaskedText(masked, found)


def is_masked(text: str) -> bool:
    """Whether something of a text was masked.

    >>> is_masked("Netflix: [masked:password]"), is_masked("Netflix")
    (True, False)
    """
    return _MASK in text


def mask_name(text: str) -> MaskedText:
    """Mask a name or path, or a sentence with one.

    It is also searched without file extensions and folder by folder: in a text, "pw: notes1.md" names a file.

    >>> mask_name("Netflix pw Tulip99.md: no such file").text
    'Netflix pw [masked:password]: no such file'
    >>> mask_name("Netflix pw Tulip99/tasks.md").text
    'Netflix pw [masked:password]/tasks.md'
    >>> mask_name("/tmp/pw=Tulip99: no such file").text
    '/tmp/pw=[masked:password]: no such file'
    """
    masked, found = mask(text)
    known = dict(found)
    bare = compiled(_EDGES).sub(lambda match: "\n" * len(match.group()), masked)
    bare = compiled(_FOLDER).sub(r"\1\n", bare)
    return MaskedText(_mask_once(masked, known, secrets_of(bare)), known)


def _mask_fully(text: str, found: dict[str, int]) -> str:
    for _ in range(_MAX_PASSES):
        before, text = text, _mask_once(text, found)
        if text == before:
            break
    return text


def _mask_once(text: str, found: dict[str, int], spans: list[Secret] | None = None) -> str:
    pieces: list[str] = []
    done = 0
    for secret in secrets_of(text) if spans is None else spans:
        pieces += text[done : secret.start], f"{_MASK}{secret.kind}]"
        done = secret.end
        found[secret.kind] = found.get(secret.kind, 0) + 1
    return "".join([*pieces, text[done:]])


def secrets_of(text: str) -> list[Secret]:
    """The secrets of a text in order; none overlaps another or a mask."""
    from clsm_cli.text.secrets import contextual, issued

    plain, places = _without_invisible(text)
    found = issued.find(plain)
    if compiled(_NUMERAL).search(plain):
        from clsm_cli.text.secrets import numbers

        found += numbers.find(plain)
    found += contextual.find(plain)
    if "\n" in plain or "|" in plain:
        from clsm_cli.text.secrets import cells

        found += cells.find(plain)
    spans = found if _MASK not in plain else _outside_masks(plain, found)
    return [
        Secret(places[each.start], places[each.end - 1] + 1, each.kind)
        for each in _merge_overlaps(spans)
    ]


def _outside_masks(text: str, found: list[Secret]) -> list[Secret]:
    masks = [match.span() for match in compiled(_MASKED).finditer(text)]
    ends = [end for _, end in masks]
    return [
        span
        for span in found
        if (place := bisect_right(ends, span.start)) == len(masks) or masks[place][0] >= span.end
    ]


def _without_invisible(text: str) -> tuple[str, Sequence[int]]:
    """A text without invisible characters, and the original offset of each remaining character."""
    invisible = None if text.isascii() else compiled(_INVISIBLE)
    if invisible is None or not invisible.search(text):
        return text, range(len(text))
    places = [place for place, char in enumerate(text) if not invisible.match(char)]
    return "".join(text[place] for place in places), places


def _merge_overlaps(spans: list[Secret]) -> list[Secret]:
    """Merge overlapping secrets; the one found first, which is the surest, gives the kind."""
    kept: list[tuple[int, Secret]] = []
    for number, span in sorted(enumerate(spans), key=lambda pair: (pair[1].start, pair[0])):
        if not kept or span.start >= kept[-1][1].end:
            kept.append((number, span))
            continue
        before, last = kept[-1]
        kind = span.kind if number < before else last.kind
        kept[-1] = (min(before, number), Secret(last.start, max(last.end, span.end), kind))
    return [span for _, span in kept]
