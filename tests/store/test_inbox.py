from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import examples, texts, turns
from tables import table

from clsm_cli.model.episodes import EndMark, Turn
from clsm_cli.store import atomic, inbox
from clsm_cli.store.inbox import CapturedTurn

AT = "2026-02-24T22:00:00Z"


def captured(number: int, text: str = "hi") -> CapturedTurn:
    return CapturedTurn("main", Turn(f"{number:012x}", "Mara", "user", text), AT)


items = st.one_of(
    st.builds(CapturedTurn, texts, turns(), st.just(AT)),
    st.builds(EndMark, texts, texts, st.one_of(st.none(), st.just(AT))),
)


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("inbox") / "main.jsonl"


@examples(100)
@given(found=st.lists(items, max_size=5))
def test_what_is_captured_reads_back_in_order(path: Path, found: list[inbox.InboxItem]) -> None:
    path.write_bytes(b"\n" + inbox.render(found) + b"\n")
    seen: dict[str, inbox.InboxItem] = {}
    for item in found:
        key = f"end {item.after}" if isinstance(item, EndMark) else item.turn.key
        seen.setdefault(key, item)
    read = inbox.read(path)
    assert (read.items, read.problems) == (tuple(seen.values()), ())
    assert read.turns == [item for item in seen.values() if isinstance(item, CapturedTurn)]


def test_what_is_delivered_twice_counts_once_where_it_came_first(tmp_path: Path) -> None:
    """Marks of ends keep their places among the turns; those of calls stand apart."""
    path = inbox.path_of(tmp_path, "main")
    mark, call = EndMark("main", captured(2).turn.key), inbox.CallMark("main", "toolu_\u2028 1")
    atomic.append(path, inbox.render([captured(2), mark, call, captured(1)]))
    atomic.append(path, inbox.render([captured(1), captured(3), mark, call]))
    atomic.append(path, inbox.render([captured(2, "late")]))
    read = inbox.read(path)
    assert read.items == (captured(2), mark, captured(1), captured(3))
    assert read.calls == (call,)


def test_every_length_of_a_torn_line_is_harmless(tmp_path: Path) -> None:
    path = tmp_path / "main.jsonl"
    whole = inbox.render([captured(2)])
    for cut in range(1, len(whole)):
        good = inbox.render([captured(1)]), inbox.render([captured(3)])
        path.write_bytes(b"\n" + good[0] + b"\n\n" + whole[:cut] + b"\n" + good[1] + b"\n")
        read = inbox.read(path)
        assert [item.turn.key[-1] for item in read.turns] == ["1", "3"]
        assert [problem.line for problem in read.problems] == [4]


@pytest.mark.parametrize(
    ("line", "reason"), [("\xff\xfe\x00", "is not JSON"), *table(__file__, "no items")]
)
def test_lines_that_are_no_items_are_problems(tmp_path: Path, line: str, reason: str) -> None:
    path = tmp_path / "main.jsonl"
    path.write_bytes(inbox.render([captured(1)]) + b"\n" + line.encode("latin-1") + b"\n")
    read = inbox.read(path)
    assert read.items == (captured(1),)
    assert [problem.line for problem in read.problems] == [2]
    assert reason in read.problems[0].reason


def test_a_missing_file_is_empty_and_a_link_a_problem(tmp_path: Path) -> None:
    assert inbox.read(tmp_path / "no.jsonl").items == ()
    (tmp_path / "link.jsonl").symlink_to(tmp_path / "no.jsonl")
    (problem,) = inbox.read(tmp_path / "link.jsonl").problems
    assert problem.reason == "is a symbolic link"
