"""Find dumps in a long text: logs, data, code and other machine output.

Nobody searches a dump by meaning, and embedding a megabyte of it costs as much as a book. Only its head
is embedded, unless it has no words; the rest is found by its words. Each window is a dump if it compresses too well, not at all,
or has too few letters. Takes time linear in the length of the text.
"""

from collections.abc import Iterator

from clsm_cli.text.sentences import Span

MIN_DUMP_CHARS = 8192  # minimum length of a dump; a shorter text is embedded whole
HEAD_CHARS = 2048  # maximum length of the head of a dump, which is embedded
_WINDOW_CHARS = 4096
_MAX_REPETITIVE_RATIO = 0.36
"""Compressed bytes per character (zlib, level 1) below which a window is a dump. LoCoMo, GVD and this
project's pages have .42 or more, one tutorial in 32 languages .38 or more (its Chinese .9), logs .12 to
.36."""
_MIN_RANDOM_RATIO = 0.70
"""Compression ratio above which a window is encoded data: base64 has .76, no prose more than .60."""
_MIN_LETTER_SHARE = 0.70
"""Minimum share of characters that are neither digits nor ASCII marks: prose .84 to .97, logs .47 to .68."""
_WORDLESS_CHARS = 60  # minimum characters of a word in the mean; base64 has lines of 60 to 76
_MIN_PROSE_SHARE = 0.85  # the same for a line of prose before or after a dump; code has .57 to .80
_NON_LETTERS = {number: None for number in range(0x21, 0x7F) if not chr(number).isalpha()}


def find_dumps(text: str) -> list[Span]:
    r"""The parts of a text that are found by their words alone, in order.

    >>> log = "".join(f"10:{i // 60:02}:{i % 60:02} GET /a/{i * 7919} 200\n" for i in range(600))
    >>> [(text[:9], len(text) - end) for text in [log] for start, end in find_dumps(log)]
    [('10:00:00 ', 1)]
    >>> find_dumps("It rained. " * 10)
    []
    """
    if len(text) < MIN_DUMP_CHARS:
        return []
    found: list[Span] = []
    for start, end in _windows(text):
        if _is_machine_output(text[start:end]):
            first = found.pop().start if found and found[-1].end == start else start
            found.append(Span(first, end))
    rests = [_tail(text, start, end) for start, end in found if end - start >= MIN_DUMP_CHARS]
    return [rest for rest in rests if rest.start < rest.end]


def without_dumps(text: str) -> str:
    """A text without the parts that ``find_dumps`` returns."""
    found = find_dumps(text)
    if not found:
        return text
    starts, ends = [0, *(end for _, end in found)], [*(start for start, _ in found), len(text)]
    return "\n".join(text[a:b].rstrip() for a, b in zip(starts, ends, strict=True) if a < b)


def _tail(text: str, start: int, end: int) -> Span:
    """A dump without its head, which ends with a line or a word, and without adjacent lines of prose."""
    # Prose before a dump lies in its first window, prose after it in the last, at most twice as long.
    most, least = start + _WINDOW_CHARS, end - 2 * _WINDOW_CHARS
    while (line := text.find("\n", start, most)) >= 0 and _is_prose(text[start : line + 1]):
        start = line + 1
    limit = start + HEAD_CHARS
    if _is_wordless(text[start:limit]):
        # something of each text is embedded
        limit = start if text[:start].strip() else start + _WORDLESS_CHARS
    cut = text.rfind("\n", start + 1, limit) + 1 or text.rfind(" ", start + 1, limit) + 1 or limit
    while (line := text.rfind("\n", max(cut, least), end)) >= 0 and _is_prose(text[line:end]):
        end = line
    return Span(cut, end)


def _windows(text: str) -> Iterator[Span]:
    """Windows that end with a line where possible; a short remainder joins the last one."""
    start = 0
    while start < len(text):
        cut = start + _WINDOW_CHARS
        if cut + _WINDOW_CHARS // 2 >= len(text):
            cut = len(text)
        else:
            cut = text.rfind("\n", start + _WINDOW_CHARS // 2, cut) + 1 or cut
        yield Span(start, cut)
        start = cut


def _is_machine_output(window: str) -> bool:
    import zlib

    data = window.encode()
    shrunk = len(zlib.compress(data, 1))
    if shrunk < _MAX_REPETITIVE_RATIO * len(window) or shrunk > _MIN_RANDOM_RATIO * len(data):
        return True
    return _letter_share(window) < _MIN_LETTER_SHARE


def _is_wordless(head: str) -> bool:
    """Whether the head of a dump is encoded data, whose lines have no blanks.

    >>> _is_wordless("QUJDREVGR0hJSktM" * 40), _is_wordless("GET /index.html 200 " * 40)
    (True, False)
    """
    return head.isascii() and 0 < len(head.split()) * _WORDLESS_CHARS <= len(head)


def _is_prose(line: str) -> bool:
    return _letter_share(line) >= _MIN_PROSE_SHARE and not _is_wordless(line)


def _letter_share(text: str) -> float:
    return len(text.translate(_NON_LETTERS)) / len(text)
