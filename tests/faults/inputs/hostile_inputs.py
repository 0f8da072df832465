"""Inputs that somebody made to break a reader, and some that nobody meant badly.

``YAML``, ``JSON`` and ``TEXT`` are what stands in a file of each kind; small ones as bytes, large
ones made when they are asked for. The long form reads every one in every place.
"""

from collections.abc import Iterator

MIB = 1 << 20
KIB = 1 << 10


def _alias_bomb() -> bytes:
    rows = ["a: &a [x,x,x,x,x,x,x,x,x]"]
    rows += [
        f"{b}: &{b} [{','.join([f'*{a}'] * 9)}]"
        for a, b in zip("abcdefgh", "bcdefghi", strict=True)
    ]
    return "\n".join(rows).encode()


def _merge_bomb() -> bytes:
    rows = ["m0: &m0 {k0: 1}"]
    rows += [
        f"m{n + 1}: &m{n + 1} {{<<: [{','.join([f'*m{n}'] * 9)}], k{n + 1}: 1}}" for n in range(7)
    ]
    return "\n".join(rows).encode()


YAML: dict[str, bytes] = {
    "alias bomb": _alias_bomb(),
    "merge bomb": _merge_bomb(),
    "recursive alias": b"&a [*a]",
    "100,000 [": b"a: " + b"[" * 100_000 + b"]" * 100_000,
    "100,000 [ not closed": b"[" * 100_000,
    "20,000 {a:": b"{a: " * 20_000 + b"1" + b"}" * 20_000,
    "20,000 dashes": b"- " * 20_000,
    "30,000 question marks": b"? " * 30_000,
    "60 deep by indent": b"".join(b" " * n + b"a%d:\n" % n for n in range(60)),
    "400 deep by indent": b"".join(b" " * n + b"a:\n" for n in range(400)),
    "5,000 keys": b"\n".join(b"k%d: %d" % (n, n) for n in range(5000)),
    "5,000 keys in braces": b"{" + b", ".join(b"k%d: %d" % (n, n) for n in range(5000)) + b"}",
    "duplicate keys": b"id: a\nid: b\n",
    "NUL": b"id: a\0b\n",
    "zeros": b"\0" * 4096,
    "octal, time, date, norway": b"a: 017\nb: 12:30:45\nc: 2026-03-29\nd: no\ne: 0o17\nf: 1_000\ng: ~\n",
    "impossible date": b"date: 2026-13-45\ncreated: 0000-00-00\n",
    "10,000 digits": b"a: " + b"9" * 10_000,
    "1e999, .inf, .nan": b"a: 1e999\nb: .inf\nc: .nan\nd: -.INF\n",
    "python tag": b"!!python/object/apply:os.system ['touch pwned']",
    "local tag": b"a: !x {b: !<tag:yaml.org,2002:set> {c, d}}",
    "key that is a list": b"{[1]: 2}",
    "keys that read the same": b'1: a\n"1": b\n',
    "conflict markers": b"a: 1\n<<<<<<< HEAD\nb: 2\n=======\nb: 3\n>>>>>>> x\n",
    "60 KB scalar": b"a: " + b"x" * 60_000,
    "60 KB quotes": b'a: "' + b"\\" * 60_000,
    "quote not closed": b"a: 'it is\nb: 1\n",
    "directives": b"%YAML 9.9\n%TAG ! tag:x,2000:\n--- a: 1\n",
    "many documents": b"---\na: 1\n" * 3000,
    "block scalar of 10^9": b"a: |999999999\n  x\n",
    "block scalars": b"a: |+\n x\n\n\nb: >-\n y\n" * 200,
    "tabs": b"\ta:\t1\n\t\tb: 2\n",
    "BOM": b"\xef\xbb\xbfid: a\n",
    "BOM twice": b"\xef\xbb\xbf\xef\xbb\xbfid: a\n",
    "UTF-16": "id: a\n".encode("utf-16"),
    "invalid UTF-8": b"id: \xff\xfe\xed\xa0\x80\n",
    "CR alone": b"id: a\rtext: b\r",
    "NEL and U+2028": "id: a\x85text: b\u2028c: d\u2029".encode(),
    "escapes": b'a: "\\ud800 \\x00 \\U0010ffff \\e[2J"\n',
    "colons": b": " * 20_000,
    "anchors without end": b"&a " * 20_000,
    "commas": b"[" + b"," * 20_000 + b"]",
    "comments": b"#" * 60_000 + b"\n",
    "only a dash": b"-",
    "empty": b"",
    "blank lines": b"\n" * 60_000,
}
"""Of up to 200 KB: front matter, a configuration, labels, tags, a shard."""

_ROW = b'{"role": "user", "content": %s, "timestamp": "2026-02-24T08:00:00Z"}\n'
JSON: dict[str, bytes] = {
    "NaN, Infinity, 1e999": _ROW % b"NaN" + _ROW % b"-Infinity" + _ROW % b"1e999",
    "10,000 digits": _ROW % (b"9" * 10_000),
    "duplicate keys": b'{"role": "user", "role": "tool", "content": "x"}\n',
    "lone surrogates": _ROW % rb'"\ud800 \udfff x"',
    "keys with surrogates": b'{"\\ud800": 1, "content": "x", "role": "user"}\n',
    "NUL escaped": _ROW % rb'"a\u0000b"',
    "NUL": _ROW % b'"a\0b"',
    "zeros": b"\0" * 4096,
    "100,000 [": _ROW % (b"[" * 100_000 + b"]" * 100_000),
    "100,000 [ alone": b"[" * 100_000,
    "100,000 {": b'{"a":' * 100_000,
    "64 deep": _ROW % (b"[" * 62 + b"]" * 62),
    "65 deep": _ROW % (b"[" * 64 + b"]" * 64),
    "list of a million": b"[" + b"1," * 999_999 + b"1]\n",
    "parts, 100,000": _ROW % (b'["x"' + b',"x"' * 100_000 + b"]"),
    "no object": b'1\n"x"\n[]\nnull\ntrue\n',
    "two on a line": b'{"role": "user", "content": "x"}{"role": "user", "content": "y"}\n',
    "half a line": b'{"role": "user", "content": "x',
    "quotes and backslashes": _ROW % (b'"' + b"\\\\" * 100_000 + b'"'),
    "backslash at the end": b'{"content": "x\\',
    "fields of other kinds": b"".join(
        b'{"role": %s, "speaker": %s, "content": %s, "timestamp": %s, "id": %s, "session": %s,'
        b' "tool": %s, "type": %s}\n' % ((value,) * 8)
        for value in (
            b"5", b"-1e300", b"null", b"true", b"[]", b"{}", b'[[["x"]]]', b'{"name": 5}', b'""',
        )
    ),
    "times": b"".join(
        b'{"role": "user", "content": "at %d", "timestamp": %s}\n' % (number, time)
        for number, time in enumerate(
            (
            b"1e300", b"-1e300", b"99999999999999999999", b"0", b"-1", b'"0000-00-00"',
            b'"9999-12-31T23:59:60Z"', b'"2026-02-30"', b'"2026-02-24T08:00:00+99:99"',
            b'"9999-12-31T23:59:59-23:59"', b'"0001-01-01T00:00:00+23:59"', b'"2026-W09-2"',
            b'"now"', b'"2026-02-24T25:00"', '"\u0662\u0660\u0662\u0666-02-24"'.encode(),
            )
        )
    ),
    "names": b"".join(
        b'{"speaker": %s, "session": %s, "id": %s, "content": "hello there"}\n' % ((name,) * 3)
        for name in (
            rb'"../../etc/passwd"', rb'"a\u0000b"', rb'"\u001b[2J"', b'"' + b"x" * 5000 + b'"',
            rb'"\u202e"', rb'" "', rb'"\ud800"', b'"$(touch pwned)"',
        )
    ),
    "tools": b"".join(
        b'{"role": "tool", "tool": {"name": %s, "input": %s, "error": %s}, "content": "x"}\n'
        % ((value,) * 3)
        for value in (
            b"5", b'"x"', b"[]", b'{"command": 5}', b'{"command": "clsm recall"}', b"null",
        )
    ),
    "openclaw": b'{"type":"session","version":4,"id":"a","timestamp":"2026-02-24T08:00:00Z"}\n'
    + b"".join(
        b'{"type":"message","id":%s,"parentId":%s,"timestamp":%s,"message":{"role":%s,"content":%s,"toolName":%s}}\n'
        % ((value,) * 6)
        for value in (
            b"5", b"null", b"[]", b"{}", b'"toolResult"',
            b'[{"type":"toolCall","name":[],"arguments":5}]', b'[{"type":"text","text":[]}]',
        )
    )
    + b'{"type":"compaction","summary":[]}\n{"type":"custom","data":"'
    + b"x" * 5000
    + b'"}\n',
    "openclaw loop of parents": b'{"type":"session","version":4,"id":"a"}\n{"type":"message","id":"x","parentId":"y","message":{"role":"user","content":"a"}}\n{"type":"message","id":"y","parentId":"x","message":{"role":"user","content":"b"}}\n',
    "CSV among it": b"role,content\nuser,hello\n" + _ROW % b'"hello"' + b"user;1,5;\x1e\n",
    "UTF-16": (_ROW % b'"hello"').decode().encode("utf-16"),
    "BOM": b"\xef\xbb\xbf" + _ROW % b'"hello"',
    "CRLF": (_ROW % b'"hello"').replace(b"\n", b"\r\n"),
    "CR alone": (_ROW % b'"hello"').replace(b"\n", b"\r"),
    "U+2028 between": "\u2028".encode().join([(_ROW % b'"hello"').strip()] * 3),
    "conflict markers": b"<<<<<<< HEAD\n"
    + _ROW % b'"a"'
    + b"=======\n"
    + _ROW % b'"b"'
    + b">>>>>>> x\n",
    "shell": _ROW % rb'"$(touch pwned) `touch pwned` ; touch pwned"',
    "gzip": b"\x1f\x8b\x08\0\0\0\0\0\0\x03" + b"\0" * 1000,
    "empty objects": b"{}\n" * 20_000,
    "empty": b"",
}  # fmt: skip
"""Of up to 2 MB: transcripts, hooks, logs, inboxes, shards, batches of queries."""

FILLERS: tuple[str, ...] = (
    "a", "A", "1", " ", "\n", "\t", "*", "_", "`", "[", "](", "<", ">", "> ", "- ", "#", "# ", "|", "\\", "^",
    "&", "~", "=", "'", '"', "(", ")", ",", ".", ". ", "? ", "! ", ":", ";", "/", "@", "http://", "<!--", "```\n",
    "- [ ] ", "1. ", "a b ", "Aa ", "A. ", "Mara ", "Mara's ", "I ", "not ", "if ", "and ", "the ", "to ", "of ",
    "because ", "since ", "last ", "next ", "the day after ", "2026-02-24 ", "12:30 ", "1/2/2026 ", "3 days ago ",
    "Monday ", "first ", "password: x ", "token=", "eyJ", "-----BEGIN ", "key ", "\u0301", "\u202e", "\U0001f468\u200d",
    "\u0661", "ß", "İ", "日", "e\u0301 ", "\ufdfa", "x\u2028", "\r", "\x1b[", "\0", "never ", "want ", "moved to ",
    "is called ", "aka ", "Dr. ", "U.S. ", "\u201c", "«", "--", "...", "$(", "---\n", "***\n", "    x\n", "| a ",
    "[x]: y\n", "&amp;", "~~~\n", "<b>", "=\n", "^0f3a9c12d08e ", "- x ^0f3a9c12d08e\n", "I don't ", "her ", "who ",
    "what ", "(a", "{{", "%s", "a@b.c ", "#tag ", "http://a:b@", "0x", "1,", "one ", "hundred ", "and a half ",
)  # fmt: skip
"""Pieces that are repeated until a text is as long as it may be."""


def filled(piece: str, size: int) -> bytes:
    """``size`` bytes of one piece over and over, without half a character at the end."""
    data = piece.encode()
    return (data * (size // len(data) + 1))[:size].decode("utf-8", "ignore").encode()


TEXT: dict[str, bytes] = {
    "front matter not closed": b"---\ntitle: a\n" + b"x\n" * 1000,
    "front matter of 100 KB": b"---\n" + b"a: b\n" * 20_000 + b"---\ntext\n",
    "front matter empty": b"---\n---\ntext\n",
    "front matter twice": b"---\na: 1\n---\n---\nb: 2\n---\n",
    "front matter, CRLF": b"---\r\ntitle: a\r\n---\r\ntext\r\n",
    "front matter is a list": b"---\n- a\n---\ntext\n",
    "front matter lies": b"---\ntrust: root\ndate: [1]\ntitle: {a: b}\ncreated: 99999-99-99\n---\ntext\n",
    "fence not closed": b"```\n" + b"x y z\n" * 10_000,
    "ids twice": b"- one ^0f3a9c12d08e\n- two ^0f3a9c12d08e\n- ^\n- ^../x\n",
    "only ids": b"- ^0f3a9c12d08e\n" * 5000,
    "table of 10,000 columns": b"|a" * 10_000 + b"|\n" + b"|-" * 10_000 + b"|\n",
    "heading of 60 KB": b"# " + b"x" * 60_000 + b"\ntext\n",
    "10,000 headings": b"".join(b"#" * (n % 6 + 1) + b" h%d\n" % n for n in range(10_000)),
    "lists 2,000 deep": b"".join(b"  " * n + b"- x\n" for n in range(2000)),
    "quotes 2,000 deep": b"> " * 2000 + b"x\n",
    "NUL": b"# A\n\na\0b\n",
    "zeros": b"\0" * 4096,
    "invalid UTF-8": b"# \xff\xfe\n\n\xed\xa0\x80 \xc0\xaf \xf5\x80\x80\x80\n",
    "UTF-16": "# A\n\ntext\n".encode("utf-16"),
    "BOM": b"\xef\xbb\xbf# A\n\ntext\n",
    "CR alone": b"# A\r\rtext\r",
    "NEL and U+2028": "# A\x85text\u2028text\u2029text\n".encode(),
    "conflict markers": b"a\n<<<<<<< HEAD\nb\n=======\nc\n>>>>>>> x\nd\n<<<<<<< \n",
    "recalled block not closed": b"<clsm-memory key=x>\n" * 1000,
    "code without words": b"` `: is here\n\n```\n```\n\n[[ ]] lives in ** **\n",
    "shell": b"$(touch pwned) `touch pwned` ; touch pwned\n",
    "escapes": b"\x1b[2J\x1b]0;x\x07\x9b31m\n",
    "html": b"<script>alert(1)</script><!-- " * 1000,
    "10,000 names": b" ".join(b"Name%d Surname%d went home." % (n, n) for n in range(10_000)),
    "5,000 tasks": b"".join(b"- [ ] do thing %d by 2026-02-%d\n" % (n, n % 40) for n in range(5000)),
    "1,000 sentences": b"I moved to Leeds in March because my sister told me that she wants it. " * 1000,
    "empty": b"",
    "a newline": b"\n",
}  # fmt: skip
"""Of up to 700 KB: notes, topics, episodes."""


def large() -> Iterator[tuple[str, str, bytes]]:
    """What is as large as it may be, or a little larger: (name, extension, content)."""
    yield "line of 1 MiB", "md", b"word " * (MIB // 5)
    yield "line of 8 MiB", "md", b"word " * (8 * MIB // 5)
    yield "8 MiB of lines", "md", b"We met at the cafe and spoke.\n\n" * (8 * MIB // 31)
    yield "8 MiB and a byte", "md", b"x" * (8 * MIB + 1)
    yield "8 MiB of blank lines", "md", b"\n" * (8 * MIB)
    yield "8 MiB of empty objects", "jsonl", b"{}\n" * (8 * MIB // 3)
    yield "message of 1 MiB", "jsonl", _ROW % (b'"' + b"word " * (MIB // 5 - 30) + b'"')
    yield "message of 2 MiB", "jsonl", _ROW % (b'"' + b"word " * (2 * MIB // 5) + b'"')
    yield (
        "20,000 messages",
        "jsonl",
        b"".join(_ROW % (b'"number %d of many"' % n) for n in range(20_000)),
    )
    yield "million newlines", "jsonl", b"\n" * 1_000_000
