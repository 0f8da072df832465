"""Detect and decode text that is not UTF-8: by its byte order mark, its zero bytes, or its letters.

All readers expect UTF-8, so a source in another encoding is decoded once, before it is read, and the report
names the encoding. Damaged UTF-8 stays UTF-8, and its damage is reported.
"""

import codecs
import errno
import io
import re
from collections import Counter
from collections.abc import Sequence
from functools import cache
from typing import BinaryIO
from unicodedata import category

from clsm_cli.text.language_data import table_rows

UTF_8 = "utf-8"
UNKNOWN = ""
UNKNOWN_REASON = "text in an encoding that cannot be told, save it as UTF-8"
_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
NAMES = {
    "cp1252": "windows-1252",
    "cp866": "IBM866",
    **{f"iso8859_{n}": f"ISO-8859-{n}" for n in (2, 5, 6, 7, 8)},
    "koi8_r": "KOI8-R",
    "koi8_u": "KOI8-U",
    "mac_roman": "macintosh",
    "cp874": "windows-874",
    **{f"cp{n}": f"windows-{n}" for n in (1250, 1251, 1253, 1254, 1255, 1256, 1257)},
    "gb18030": "gb18030",
    "big5": "Big5",
    "euc_jp": "EUC-JP",
    "iso2022_jp": "ISO-2022-JP",
    "cp932": "Shift_JIS",
    "cp949": "EUC-KR",
}
"""Legacy encodings, Python's name → name in the WHATWG Encoding Standard (encoding.spec.whatwg.org, "Names
and labels"), without those of few languages, which match texts of others. If several are equally likely,
the first wins, which is the standard's default."""
_LEGACY = tuple(NAMES)
_IDEOGRAPHS, _KANA, _HANGUL = range(0x4E00, 0xA000), range(0x3041, 0x30FF), range(0xAC00, 0xD7A4)
_WIDE_LETTERS = {
    "gb18030": ("gbk", (_IDEOGRAPHS,)),
    "big5": ("big5", (_IDEOGRAPHS,)),
    **dict.fromkeys(("euc_jp", "iso2022_jp", "cp932"), ("euc_jp", (_IDEOGRAPHS, _KANA))),
    "cp949": ("euc_kr", (_HANGUL,)),
}
"""For encodings of two bytes a standard and blocks, whose common characters are of two bytes in it."""
_SIGNS = frozenset("\u00b0\u00a9\u00ae\u2122\u2116")  # symbols that texts have
_NO_LETTERS = ("Sc", "Sm", "Nd")
_MIXED = re.compile(r"(?<=[A-Za-z])[\u0370-\uffff]|[\u0370-\uffff](?=[A-Za-z])")
"""Letters of another script within Latin words."""
_MIN_SHARE = 0.8  # of letters of one language, below which letters tell nothing
_SAMPLE_BYTES, _SHARE_BYTES = 1 << 16, 1 << 13
_MAX_CHAOS = 0.5  # its own limit of 0.2 leaves short texts with many accents undecided
_WIDE = ("utf-16le", "utf-16be")
_STRANGE = frozenset({"Cc", "Cn", "Co"})  # control, private-use and unassigned characters
_CHARS_PER_STRANGE = 50  # minimum characters of a text for each one of these
_MAX_BYTES = 256 << 20  # bytes of a text that is not UTF-8


def detect_encoding(data: bytes, *, is_whole: bool = False) -> str:
    r"""The encoding of a text, by its name in Python; empty if unknown.

    If the text ``is_whole``, an incomplete last character is damage.

    >>> detect_encoding("Zoë.".encode()), detect_encoding("Zoë.".encode("utf-16")), detect_encoding(b"Zo\xeb.")
    ('utf-8', 'utf-16', 'cp1252')
    """
    for mark, name in _MARKS:
        if data.startswith(mark):
            return name
    if b"\0" in data[:_SAMPLE_BYTES]:
        return _detect_wide(data[:_SAMPLE_BYTES])
    decoder = codecs.getincrementaldecoder(UTF_8)()
    try:
        decoder.decode(data, final=is_whole)
    except UnicodeDecodeError:
        return UTF_8 if _is_damaged_utf_8(data) else _guess(data)
    return UTF_8


def _detect_wide(data: bytes) -> str:
    """UTF-16 without a mark; UTF-8 if the zero bytes are damage, or the data is no text.

    Text in UTF-16 has a zero byte in each blank and line break.
    """
    if 4 * data.count(0) < len(data) and _is_text(data.replace(b"\0", b""), UTF_8):
        return UTF_8
    found = [name for name in _WIDE if _is_text(data, name)]
    # With swapped bytes, text is seldom ASCII.
    plain = {name: sum(map(str.isascii, data.decode(name, "ignore"))) for name in found}
    return max(filter(plain.get, found), key=lambda name: plain[name], default=UTF_8)


def _is_text(data: bytes, encoding: str) -> bool:
    """Whether data decodes to ordinary characters; the last one may be incomplete."""
    try:
        text = codecs.getincrementaldecoder(encoding)().decode(data)
    except UnicodeDecodeError:
        return False
    strange = sum(category(each) in _STRANGE and not each.isspace() for each in text)
    return strange * _CHARS_PER_STRANGE < len(text)


def display_name(encoding: str) -> str:
    """The name of an encoding in reports; empty for UTF-8."""
    return "" if encoding == UTF_8 else NAMES.get(encoding, encoding.upper())


def to_utf_8(data: bytes, encoding: str) -> bytes:
    """The same text as UTF-8; invalid characters are replaced."""
    return data if encoding == UTF_8 else data.decode(encoding, "replace").encode()


def utf_8_stream(stream: BinaryIO, encoding: str) -> BinaryIO:
    """A stream of the same text as UTF-8; other encodings are read whole."""
    if encoding == UTF_8:
        return stream
    with stream:
        data = stream.read(_MAX_BYTES + 1)
    if len(data) > _MAX_BYTES:
        reason = f"larger than {_MAX_BYTES >> 20} MiB, save it as UTF-8"
        raise OSError(errno.EFBIG, reason)
    return io.BytesIO(to_utf_8(data, encoding))


def _is_damaged_utf_8(data: bytes) -> bool:
    """Whether more non-ASCII characters are intact than broken: in other encodings hardly any is."""
    text = data.decode(errors="replace")
    broken = text.count("\ufffd")
    return sum(not character.isascii() for character in text) - broken > broken


def _guess(data: bytes) -> str:
    """The likeliest encoding of a text that is not Unicode.

    It is one of those in which the letters are most of all those of one language: in others, a text mixes the
    letters of several. Between these, the standard's default, or what charset-normalizer finds.
    """
    # ASCII lines carry no evidence, and other lines are few.
    lines = [line for line in data.split(b"\n") if not line.isascii()]
    telling = b"\n".join(lines)[:_SAMPLE_BYTES]
    shares = {name: _share_of_one_language(telling[:_SHARE_BYTES], name) for name in _LEGACY}
    best = max(shares.values())
    if best < _MIN_SHARE:
        return _guess_by_chaos(telling, _LEGACY)
    likely = [name for name in _LEGACY if shares[name] == best]
    return likely[0] if likely[0] == _LEGACY[0] else _guess_by_chaos(telling, likely) or likely[0]


def _share_of_one_language(data: bytes, encoding: str) -> float:
    """The largest share of the characters outside ASCII that are letters of one language.

    Punctuation and signs do not count. 0 if the data is not in this encoding.
    """
    try:
        text = codecs.getincrementaldecoder(encoding)().decode(data)
    except UnicodeDecodeError:
        return 0.0
    counts = Counter(
        low if len(low := each.lower()) == 1 else each for each in text if not each.isascii()
    )
    for each in [each for each in counts if _is_punctuation(each)]:
        del counts[each]
    known = max(sum(counts[each] for each in letters) for letters in _alphabets(encoding))
    if encoding not in _WIDE_LETTERS:
        known -= sum(map(str.isalpha, _MIXED.findall(text)))
    return known / counts.total() if counts else 1.0


def _is_punctuation(character: str) -> bool:
    kind = category(character)
    return kind[0] in "PZ" or kind in _NO_LETTERS or character in _SIGNS


@cache
def _alphabets(encoding: str) -> list[frozenset[str]]:
    """The letters outside ASCII of the languages that an encoding is for."""
    if encoding in _WIDE_LETTERS:
        standard, ranges = _WIDE_LETTERS[encoding]
        every = (chr(each) for one in ranges for each in one)
        return [frozenset(each for each in every if len(each.encode(standard, "ignore")) == 2)]
    found = (frozenset(letters) for _, letters in table_rows("letters"))
    return [
        letters
        for letters in found
        if len("".join(letters).encode(encoding, "ignore").decode(encoding)) >= 0.9 * len(letters)
    ]


def _guess_by_chaos(data: bytes, among: Sequence[str]) -> str:
    from charset_normalizer import from_bytes

    found = list(
        from_bytes(data, cp_isolation=list(among), threshold=_MAX_CHAOS, enable_fallback=False)
    )
    if not found:
        return UNKNOWN
    # Differences below 0.01 in chaos are chance; coherence decides between equals.
    best = min((int(100 * each.chaos), -each.coherence) for each in found)
    likely = [each for each in found if (int(100 * each.chaos), -each.coherence) == best]
    names = {name for each in likely for name in each.could_be_from_charset}
    return min(names, key=_LEGACY.index) if _LEGACY[0] in names else likely[0].encoding
