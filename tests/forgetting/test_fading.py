"""What fades, when, and what never does."""

from dataclasses import replace
from datetime import date, timedelta

import pytest
from aging import BORN
from hypothesis import given
from hypothesis import strategies as st
from strategies import examples

from clsm_cli.forgetting.fading import (
    Trace,
    archived_shares,
    statement_trace,
    turn_trace,
    with_use,
)
from clsm_cli.model.episodes import Block, Document, Episode, Turn
from clsm_cli.model.graph import Statement
from clsm_cli.model.streams import STREAMS
from clsm_cli.scoring.retention import ARCHIVE_RETENTION, SURVIVAL


def trace(name: str = "a", stream: str = "flow", tokens: int = 1, *used: int) -> Trace:
    days = tuple(BORN + timedelta(each) for each in used)
    return Trace(name, "turn", stream, "", tokens, BORN, days)  # type: ignore[arg-type]


@examples(200)
@given(st.sampled_from(STREAMS), st.lists(st.integers(0, 300), max_size=6, unique=True))
def test_it_fades_on_the_first_day_at_the_limit(stream: str, used: list[int]) -> None:
    """The day is worked out by an inverse; here it is searched for with the law itself."""
    one = trace("a", stream, 1, *sorted(used))
    since = one.since
    assert one.retention(since) <= ARCHIVE_RETENTION + 1e-6
    assert one.retention(since - timedelta(1)) > ARCHIVE_RETENTION - 1e-6 or since == one.last
    assert one.retention(one.last) == 1.0


@pytest.mark.parametrize(("stream", "ratio"), SURVIVAL.items())
def test_a_stream_keeps_its_ratio_of_tokens(stream: str, ratio: float) -> None:
    group = [trace(f"{number:03}", stream, 7) for number in range(100)]
    share = archived_shares(group, date(9000, 1, 1))[stream]  # type: ignore[index]
    state = share.state
    assert state.tokens == 700
    assert (1 - ratio) * 700 - 7 < state.archived_tokens <= (1 - ratio) * 700
    assert len(share.faded) + state.kept == state.items == 100
    assert [each.id for each in share.faded] == [t.id for t in group[: len(share.faded)]]


def test_what_faded_first_goes_first_and_its_twin_by_id() -> None:
    group = [trace("b", "flow", 10), trace("a", "flow", 10), trace("c", "flow", 10, 5)]
    older = trace("d", "flow", 10)._replace(recorded=BORN - timedelta(20))
    group += [older, trace("e", "flow", 10, 9)]
    share = archived_shares(group, BORN + timedelta(1000))["flow"]
    assert [each.id for each in share.faded] == ["d", "a", "b"]  # 30 of 50 tokens, not 40
    assert share.state.kept == 2


def told(
    key: str, time: str | None = None, trust: str = "agent", *, document: bool = True
) -> Trace:
    turn = Turn(key, "", "user", "The heron.", time=time, trust=trust)  # type: ignore[arg-type]
    episode = Episode(
        "e-1", "s", (turn,), f"{BORN}T08:00:00Z", document="d-1" if document else None
    )
    held = DOCUMENT if key in {block.key for block in DOCUMENT.blocks} else None
    return turn_trace(episode, turn, held, is_settled=key != "pending")


DOCUMENT = Document(
    id="d-1",
    rev=(1, "pi"),
    blocks=tuple(Block(key=key, line_start=1, line_end=1) for key in ("undated", "dated", "mine")),
)
ROW = Statement(id="f-1", rev=(1, "pi"), text="The pump hums.", recorded_at="2026-01-01T08:00:00Z")


@pytest.mark.parametrize(
    ("heard", "stream", "is_kept"),
    [
        (told("turn", "2026-01-01T08:00:00Z", "user", document=False), "flow", False),
        (told("undated"), "projects", False),
        (told("dated", "2026-01-01"), "flow", False),
        (told("closed"), "flow", False),
        (told("mine", trust="user"), "projects", True),
        (told("pending", document=False), "flow", True),
    ],
)
def test_turns_and_blocks(heard: Trace, stream: str, is_kept: bool) -> None:
    assert (heard.stream, bool(heard.kept)) == (stream, is_kept)


@pytest.mark.parametrize(
    ("row", "is_kept"),
    [
        (ROW, False), (replace(ROW, stream="flow", kind="gist"), False),
        (replace(ROW, stream="tasks", kind="task", state="done"), False),
        (replace(ROW, stream="tasks", kind="task", state="open"), True),
        (replace(ROW, stream="tasks", kind="task", state="blocked"), True),
        (replace(ROW, stream="identity"), True), (replace(ROW, pinned=True), True),
        (replace(ROW, superseded_at="2026-01-02T08:00:00Z"), True),
        (replace(ROW, valid_until="2026-01-02"), True), (replace(ROW, withdrawn=True), True),
        (replace(ROW, recorded_at=None), True), (replace(ROW, recorded_at="long ago"), True),
    ],
)  # fmt: skip
def test_statements(row: Statement, is_kept: bool) -> None:
    found = statement_trace(row)
    assert bool(found.kept) is is_kept
    assert found.tokens > 0


def test_what_is_stamped_in_the_future_counts_as_today() -> None:
    ahead = date(2068, 1, 1)
    used = {"f-1": (BORN, ahead, ahead + timedelta(1))}
    today = BORN + timedelta(10)
    turn = with_use(trace("turn")._replace(recorded=ahead), used, today, {})
    row = with_use(statement_trace(ROW), used, today, {})
    assert turn.recorded == today
    assert row.used == (BORN, today)
    assert turn.since == today + timedelta(99)
