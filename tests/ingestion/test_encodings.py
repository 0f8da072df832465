"""Text that is not UTF-8 comes in as it was written, and the report says what it was."""

import io
import itertools

import pytest
from processes import Cli
from tables import mapping, table

from clsm_cli.ingestion import encodings

TEXTS = mapping(__file__, "texts")
WIDE = ("utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32")


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        *itertools.product(TEXTS, WIDE),
        *((text, each) for text, names in table(__file__, "narrow") for each in names.split()),
    ],
)
def test_a_text_is_what_it_was(text: str, encoding: str) -> None:
    data = f"# Plan\n\n{TEXTS[text]}\n".encode(encoding)
    found = encodings.detect_encoding(data, is_whole=True)
    assert encodings.to_utf_8(data, found).decode("utf-8-sig") == f"# Plan\n\n{TEXTS[text]}\n"
    with encodings.utf_8_stream(io.BytesIO(data), found) as stream:
        assert stream.read() == encodings.to_utf_8(data, found)


@pytest.mark.parametrize(
    "data",
    [
        b"Plan\0ned for May.\n", "Grüße\0 aus München.\n".encode(), b"Plan.\n" + bytes(4096),
        b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x01\0", bytes(range(256)) * 16,
        "Plan für Mai, und für Juni auch.\n".encode("utf-32-le"), b"\0",
    ],
)  # fmt: skip
def test_other_zero_bytes_are_damage(data: bytes) -> None:
    assert encodings.detect_encoding(data, is_whole=True) == "utf-8"


def test_every_reader_gets_utf_8_and_the_report_says_from_what(cli: Cli) -> None:
    files = {
        "latin.md": (TEXTS["german"], "latin-1"),
        "wide.txt": (TEXTS["french"], "utf-16"),
        "sjis.md": (TEXTS["japanese"], "shift_jis"),
        "late.md": ("x\n" * 40_000 + TEXTS["german"], "latin-1"),
        "bare.txt": (TEXTS["polish"], "utf-16-le"),
        "wide.jsonl": ('{"role": "user", "text": "Zoë waters the oak."}\n' * 2, "utf-16"),
    }
    for name, (text, encoding) in files.items():
        (cli.folder / name).write_bytes(text.encode(encoding))
    (cli.folder / "picture.md").write_bytes(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x01\0\0\0\x01\0")
    done = cli("ingest", "--capture", "--json", *files, "picture.md")
    assert done.code == 0
    told = {file["path"]: file["encoding"] for file in done.json["files"]}
    assert told == {
        "latin.md": "windows-1252",
        "wide.txt": "UTF-16",
        "bare.txt": "UTF-16LE",
        "sjis.md": "Shift_JIS",
        "late.md": "windows-1252",
        "wide.jsonl": "UTF-16",
    }
    problem = {"path": "picture.md", "line": None, "reason": "binary file"}
    assert problem in done.json["problems"]
    assert cli.ok("ingest", "latin.md", "--verbose", "--capture").out.splitlines()[0] == (
        "latin.md: 1 unchanged; decoded from windows-1252"
    )
    held = "".join(path.read_text() for path in cli.store.glob("flow/**/*.*l") if path.is_file())
    held += "".join(path.read_text() for path in cli.store.glob("flow/**/*.md"))
    for text in (TEXTS["german"], TEXTS["french"], TEXTS["japanese"], "Zoë waters the oak."):
        assert text in held
