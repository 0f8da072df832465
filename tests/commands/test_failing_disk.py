"""What a command says when the disk fails where it only looks."""

import contextlib
import errno
import mmap
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from ingesting import new_store, take

from clsm_cli.commands import output
from clsm_cli.consolidation import rehearsal
from clsm_cli.errors import DiskError
from clsm_cli.store import episode_files, layout
from clsm_cli.store.index import database, vectors
from clsm_cli.store.index.index_queries import Index
from clsm_cli.store.index.vector_files import VectorFiles


def test_an_error_of_the_disk_is_one_sentence_wherever_it_comes_from(
    capsys: pytest.CaptureFixture[str],
) -> None:
    unreadable = Path("/proc/self/mem")  # page 0 is in no process
    if not unreadable.exists():
        pytest.skip("this system has no /proc/self/mem")
    assert output.guard(unreadable.read_bytes) == DiskError.exit_code
    said = capsys.readouterr().err
    assert said.startswith("clsm: the disk: Input/output error; ")
    assert said.count("\n") == 1


def _fails(path: Path) -> OSError:
    return OSError(errno.EIO, os.strerror(errno.EIO), os.fspath(path))


def test_a_store_that_cannot_be_looked_for_is_not_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who is told that there is none would make one."""

    def fail(path: Path) -> bool:
        raise _fails(path)

    monkeypatch.setattr(Path, "is_file", fail)
    with pytest.raises(DiskError, match=r"clsm\.yaml: Input/output error"):
        layout.discover(str(tmp_path), {}, tmp_path)


def test_a_copy_that_has_no_room_says_so_in_one_line(mount: Callable[[str], Path]) -> None:
    """The sentence was a list of every file that could not be copied."""
    store = new_store(mount("size=1m") / "memory")
    topic = store.root / "projects" / "boats.md"
    topic.write_bytes(b"x" * 600_000)
    said = r"boats\.md: [^;\[]*; free some space"
    with pytest.raises(DiskError, match=said), rehearsal.copy_store(store):
        pass
    assert not list(store.derived.glob(f"{rehearsal.PREFIX}*"))
    topic.write_bytes(b"x" * 100_000)
    with rehearsal.copy_store(store) as copy:
        assert (copy.root / "projects" / "boats.md").read_bytes() == topic.read_bytes()


def test_unread_vectors_are_not_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An ingest ended with a KeyError."""
    store = new_store(tmp_path / "memory")
    note = tmp_path / "note.md"
    note.write_text("The ferry leaves at nine.\n")
    take(store, note)
    with contextlib.closing(database.open_to_write(store.derived)) as connection:
        files, texts = VectorFiles(connection, store.derived), ["The ferry leaves at nine."]
        assert [*vectors.of_texts(files, texts, None)] == texts

        def fail(*_: object, **__: object) -> None:
            raise _fails(files.sentences_path)

        monkeypatch.setattr(mmap, "mmap", fail)
        with pytest.raises(DiskError, match=r"sentences\.q4: cannot be read"):
            vectors.of_texts(files, texts, None)
        key = episode_files.read(next(episode_files.files(store.flow))).turns[0].key
        with pytest.raises(DiskError, match=r"sentences\.q4: cannot be read"):
            Index(connection, store).vectors_of([key])
        os.truncate(files.sentences_path, 0)  # made anew by whoever has the model
        assert vectors.of_texts(files, texts, None) == {}
