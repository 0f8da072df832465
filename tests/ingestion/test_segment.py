"""The inbox becomes episodes: caps, end marks, and every state that a crash can leave."""

import shutil
from pathlib import Path

from ingesting import new_store, pipe, row, same, state_of, take
from sleeping import bytes_of

from clsm_cli.model.episodes import Episode
from clsm_cli.store import layout, logs
from clsm_cli.store.layout import Store

TOPIC = "The river gauge at the harbour reads {} centimetres, the lock keeper wrote it down."


def gauge(count: int, start: int = 0) -> list[bytes]:
    """Turns about one subject, a minute apart."""
    speakers = ("user", "assistant")
    return [row(TOPIC.format(200 + n), n, speakers[n % 2]) for n in range(start, start + count)]


def made(store: Store) -> list[Episode]:
    """The episodes in their order."""
    by_previous = {each.previous: each for each in state_of(store).episodes.values()}
    found: list[Episode] = []
    while (following := by_previous.get(found[-1].id if found else None)) is not None:
        found.append(following)
    assert len(found) == len(by_previous)
    return found


END = row("", 900, type="end")


def test_the_cap_falls_at_the_same_place_over_calls(tmp_path: Path) -> None:
    whole = new_store(tmp_path / "whole")
    pipe(whole, *gauge(30), END)
    assert made(whole)[1].continues is not None
    for cut in (1, 24, 25, 26, 27, 29):
        store = new_store(tmp_path / f"cut-{cut}")
        for rows in (gauge(cut), gauge(30 - cut, cut), [END]):
            pipe(store, *rows)
        same(state_of(store), state_of(whole))


def test_an_end_mark_closes_even_one_turn(store: Store) -> None:
    pipe(store, row("Remember the milk.", 0), END)
    (episode,) = made(store)
    assert [turn.text for turn in episode.turns] == ["Remember the milk."]
    assert not state_of(store).waiting


def test_a_turn_that_is_in_an_episode_leaves_the_inbox(store: Store) -> None:
    pipe(store, *gauge(4), END)
    pipe(store, *gauge(4), capture_only=True)  # a hook does not look into episodes
    assert len(state_of(store).waiting) == 1
    pipe(store, row("something new", 300))
    state = state_of(store)
    assert len(state.keys()) == len(set(state.keys())) == 5


def test_what_only_dates_know_comes_in_order(store: Store) -> None:
    rows = [row("a", 0, timestamp="2026-02-23"), row("b", 0, timestamp="2026-02-24"), row("c", 1)]
    pipe(store, *rows, END)
    (episode,) = made(store)
    assert (episode.start, episode.end) == ("2026-02-23", "2026-02-24T08:01:00+01:00")


def writes_of(path: Path) -> list[str]:
    """The files that the last run wrote, in their order."""
    lines = [row for _, row in logs.rows(path)[0]]
    last = [line for line in lines if line["id"] == lines[-1]["id"]]
    return [change["path"] for line in last for change in line["changes"]]


def test_every_crash_state_completes_to_the_same_bytes(tmp_path: Path) -> None:
    """Any prefix of the writes is on disk: episodes, then records, the inbox last."""
    before = new_store(tmp_path / "before")
    rows = [*gauge(30), *(row(f"The piano lesson {n} went well.", 400 + n) for n in range(6)), END]
    pipe(before, *rows, capture_only=True)
    golden = tmp_path / "golden"
    shutil.copytree(before.root, golden)
    done = layout.open_store(golden, {"CLSM_DEVICE": "pi"})
    nothing = tmp_path / "nothing.jsonl"
    nothing.write_bytes(b"")
    take(done, nothing)
    order = writes_of(done.flow / "runs.jsonl")
    kinds = [("episodes" in p, "graph" in p, "inbox" in p) for p in order]
    assert kinds == sorted(kinds, reverse=True)
    assert sum(kind[0] for kind in kinds) >= 3
    for count in range(len(order) + 1):
        state = tmp_path / f"state-{count}"
        shutil.copytree(before.root, state)
        for name in order[:count]:
            (state / name).parent.mkdir(parents=True, exist_ok=True)
            if (golden / name).exists():
                shutil.copy(golden / name, state / name)
            else:
                (state / name).unlink()
        store = layout.open_store(state, {"CLSM_DEVICE": "pi"})
        take(store, nothing)
        assert bytes_of(store) == bytes_of(done), f"{count} of {len(order)} writes"
