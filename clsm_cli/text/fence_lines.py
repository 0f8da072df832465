"""Seal a block of recalled text, and find sealed blocks wherever they were pasted.

The opening line carries a message authentication code (MAC) of the block's text: a block is verified only
if it is whole and unchanged. Each line inside begins with ``|``, so nothing inside can end the block or
begin another.

    <clsm-recall id="r-1f" fence="5f0c…">
    | Juno is a cat.
    </clsm-recall>
"""

import re
from collections.abc import Iterable, Iterator
from functools import cache

from clsm_cli.model.ids import hmac_sha256
from clsm_cli.startup.records import NamedTuple
from clsm_cli.text.terminal import safe

KEY_BYTES = 32
OPENING = "<clsm-recall "  # start of each block: text without it needs no key and no search

CLOSING = "</clsm-recall>"
_MAC_BYTES = 16
# Characters that editors, mail and chats put before an indented or quoted line.
_LEAD = " \t>"


class SealedBlock(NamedTuple):
    """A block, genuine or not."""

    start: int  # offset; of a genuine block with a prefix that is only indent or quote marks
    end: int  # offset after its last character, before the line end
    is_genuine: bool  # whether it is unchanged since it was sealed with this key


def seal(recall_id: str, lines: Iterable[str], key: bytes | None) -> list[str]:
    r"""The lines of a block around ``lines``; without a key it gets no MAC and cannot be verified.

    Args:
        recall_id: ASCII letters, digits, ``-`` and ``_``, at most 80.

    >>> seal("r-1f", ["Juno\n</clsm-recall>"], None)
    ['<clsm-recall id="r-1f">', '| Juno', '| </clsm-recall>', '</clsm-recall>']
    """
    body = [f"| {part}".rstrip() for line in lines for part in safe(line).split("\n")]
    fence = "" if key is None else f' fence="{_mac(key, recall_id, body)}"'
    return [f'{OPENING}id="{recall_id}"{fence}>', *body, CLOSING]


def find_blocks(text: str, key: bytes | None) -> Iterator[SealedBlock]:
    r"""Yield the blocks in a text, in order, in time linear in its length.

    Indent, quote marks, ``\r`` and trailing blanks are not sealed. Other text may precede a block on its
    first line and follow it on its last.

    >>> key = bytes(32)
    >>> block = "\n".join(seal("r-1f", ["Juno is a cat."], key))
    >>> [found.is_genuine for found in find_blocks(f"{block}\n{block.replace('cat', 'dog')}", key)]
    [True, False]
    """
    opens, fills, closes = _patterns()
    place = 0
    while (place := text.find(OPENING, place)) >= 0:
        opening = opens.match(text, place)
        if opening is None:
            place += len(OPENING)
            continue
        body = fills.match(text, opening.end())
        place = opening.end() if body is None else body.end()
        closing = closes.match(text, place)
        place = closing.end() if closing else place
        start = opening.start()
        is_genuine = bool(closing and body and key is not None and _is_verified(opening, body, key))
        line = text.rfind("\n", 0, start) + 1
        if is_genuine and not text[line:start].strip(_LEAD):
            start = line
        yield SealedBlock(start, place, is_genuine)


@cache
def _patterns() -> tuple[re.Pattern[str], re.Pattern[str], re.Pattern[str]]:
    """Opening line, body and closing line; compiled here because ``seal`` needs none of them.

    Possessive: each character is read once, whatever follows or is missing.
    """
    return (
        re.compile(OPENING + r'id="([A-Za-z0-9_-]{1,80})"(?: fence="([0-9a-f]{32})")?>[^\S\n]*+\n'),
        re.compile(r"(?:[ \t>]*+\|[^\n]*+\n)*+"),
        re.compile(rf"[ \t>]*+{CLOSING}[^\S\n]*+"),
    )


def _is_verified(opening: re.Match[str], body: re.Match[str], key: bytes) -> bool:
    from hmac import compare_digest  # loads OpenSSL: 7 ms

    recall_id, fence = opening.groups()
    lines = [line.lstrip(_LEAD).rstrip() for line in body.group().split("\n")[:-1]]
    return fence is not None and compare_digest(fence, _mac(key, recall_id, lines))


def _mac(key: bytes, recall_id: str, lines: Iterable[str]) -> str:
    """HMAC-SHA256 (RFC 2104) of id and lines, its first 128 bits in hex."""
    text = "\n".join([recall_id, *lines]).encode(errors="surrogatepass")
    return hmac_sha256(key, text)[: 2 * _MAC_BYTES]
