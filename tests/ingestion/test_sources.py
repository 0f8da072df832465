import os
import socket
from pathlib import Path

import pytest
from ingesting import place
from tables import mapping, table

from clsm_cli.ingestion.detection import Format, file_format
from clsm_cli.ingestion.jsonl_rows import Problem
from clsm_cli.ingestion.sources import Missing, SourceFile, find

SESSION = b'{"type":"session","version":4,"id":"s"}\n'


def found(*paths: object, kind: Format | None = None) -> list[tuple[str, str]]:
    """Path and format of what is read, path and reason of the rest."""
    return [
        (item.path, item.format if isinstance(item, SourceFile) else item.reason)
        for item in find([str(path) for path in paths], kind)
    ]


def test_a_folder_is_walked_in_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = {
        "b.md": b"b",
        "a.txt": b"a",
        "sub/c.jsonl": b'{"text":"c"}\n',
        "d.MD": b"",
        "sub/a/x.md": b"x",
    }
    place(tmp_path, **files)
    monkeypatch.chdir(tmp_path.parent)
    given = f"./{tmp_path.name}/"
    assert found(given) == [
        (f"{given}a.txt", "markdown"),
        (f"{given}b.md", "markdown"),
        (f"{given}d.MD", "markdown"),
        (f"{given}sub/c.jsonl", "jsonl"),
        (f"{given}sub/a/x.md", "markdown"),
    ]


def test_what_is_passed_over_is_said(tmp_path: Path) -> None:
    names = ["MEMORY.md", "skills/clsm/SKILL.md", "hooks/x/HOOK.md", "other/SKILL.md", ".git/x.md"]
    names += [".hidden.md", "node_modules/x.md", "store/clsm.yaml", "store/identity/x.md", "p.png"]
    names += ["s/sessions.json", "s/a.trajectory.jsonl", "s/a.trajectory-path.json"]
    names += ["s/a.checkpoint.7.jsonl", "s/a.jsonl.reset.2026", "s/a.jsonl.deleted.2026", "s/b.bak"]
    names += ["vault/hooks/fishing.md", "s/chat.zip"]
    place(tmp_path, *names)
    (tmp_path / "loop").symlink_to(tmp_path)
    (tmp_path / "out.md").symlink_to("/etc/passwd")
    seen = {path.removeprefix(f"{tmp_path}/"): what for path, what in found(tmp_path)}
    assert seen == mapping(__file__, "found in a folder")


@pytest.mark.parametrize(
    ("name", "data", "what"),
    [
        *((name, text.encode(), what) for name, text, what in table(__file__, "formats")),
        ("a.ndjson", b'\xef\xbb\xbf{"role":"user","text":"a"}\r\n', "jsonl"),
        ("a.jsonl", b'{"type":"message","message":{"content":"' + b"x" * 100_000, "openclaw"),
        ("a.jsonl", b'{"text":"' + b"x" * 100_000, "jsonl"),
        ("a.dat", b"text\0text", "binary file"),
        ("a.md", b"one \0 in a text that is long enough", "markdown"),
        ("a.md", "text".encode("utf-16"), "markdown"),
        ("a.jsonl", '{"role":"user","text":"Zoë"}'.encode("utf-16"), "jsonl"),
        ("a.md", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x01\0\0\0\x01\0", "binary file"),
    ],
)
def test_format(tmp_path: Path, name: str, data: bytes, what: str) -> None:
    place(tmp_path, **{name: data})
    assert found(tmp_path / name) == [(str(tmp_path / name), what)]
    assert found(tmp_path / name, kind="jsonl") == [(str(tmp_path / name), "jsonl")]


def test_missing_is_told_apart(tmp_path: Path) -> None:
    (missing, nul) = find([str(tmp_path / "none.md"), "a\0b"])
    assert missing == Missing(str(tmp_path / "none.md"), None, "no such file or folder")
    assert type(nul) is Problem


def test_devices_fifos_and_sockets_are_refused_without_waiting(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo.md")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "socket.md"))
        for paths in ([tmp_path], [tmp_path / "fifo.md", tmp_path / "socket.md"]):
            assert [what for _, what in found(*paths)] == ["not a regular file"] * 2
    assert [what for _, what in found("/dev/zero")] == ["not a regular file"]


def test_a_named_link_is_followed_and_its_loop_is_a_problem(tmp_path: Path) -> None:
    place(tmp_path, **{"real/a.md": b"a"})
    (tmp_path / "link").symlink_to("real")
    (tmp_path / "a.md").symlink_to("real/a.md")
    (tmp_path / "loop").symlink_to("loop")
    assert found(tmp_path / "link") == [(str(tmp_path / "link/a.md"), "markdown")]
    (item,) = find([str(tmp_path / "a.md")])
    assert isinstance(item, SourceFile)
    assert (item.path, item.origin) == (str(tmp_path / "a.md"), str(tmp_path / "real/a.md"))
    with item.open() as stream:
        assert stream.read() == b"a"
    ((_, reason),) = found(tmp_path / "loop")
    assert "symbolic link" in reason


def test_each_file_comes_once(tmp_path: Path) -> None:
    place(tmp_path, **{"a.md": b"a"})
    assert [what for _, what in found(tmp_path, tmp_path / "a.md")] == ["markdown", "named twice"]


def test_a_file_swapped_for_a_link_is_not_opened(tmp_path: Path) -> None:
    place(tmp_path, **{"a.md": b"a"})
    (item,) = find([str(tmp_path / "a.md")])
    assert isinstance(item, SourceFile)
    (tmp_path / "a.md").unlink()
    (tmp_path / "a.md").symlink_to("/etc/passwd")
    with pytest.raises(OSError, match="not a regular file"):
        item.open()


def test_origin_is_told_from_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place(tmp_path, **{"notes/a.md": b"a"})
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path / "notes")
    (item,) = find(["a.md"])
    assert isinstance(item, SourceFile)
    assert (item.path, item.origin) == ("a.md", "~/notes/a.md")
    with item.open() as stream:
        assert stream.read() == b"a"


@pytest.mark.parametrize(
    ("data", "what"),
    [(SESSION, "openclaw"), (b'{"text":"a"}\n', "jsonl"), (b"# a", "markdown"), (b"", "markdown")],
)
def test_standard_input_is_told_by_its_first_row_and_kept_whole(data: bytes, what: str) -> None:
    reading, writing = os.pipe()  # which cannot be read twice
    os.write(writing, data)
    os.close(writing)
    with open(reading, "rb") as stdin:
        (item,) = find(["-"], stdin=stdin)
        assert isinstance(item, SourceFile)
        with item.open() as stream:
            assert (item.path, item.origin, item.format, stream.read()) == ("-", "-", what, data)


def test_detect_takes_any_bytes() -> None:
    assert file_format("-", b"\xff\xfe{{{\n[1]\n", None) == "markdown"


@pytest.mark.parametrize(("is_agents", "name", "beside"), table(__file__, "dated notes"))
def test_whose_dated_notes_they_are(tmp_path: Path, is_agents: str, name: str, beside: str) -> None:
    place(tmp_path, *beside.split(), name)
    walked = {each.path: each for each in find([str(tmp_path)])}
    (named,) = find([str(tmp_path / name)])
    for each in (named, walked[str(tmp_path / name)]):
        assert isinstance(each, SourceFile)
        assert each.is_agents == (is_agents == "yes")
