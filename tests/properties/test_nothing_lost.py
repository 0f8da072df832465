"""Nothing is lost by segmentation, and nothing changes by ingesting again."""

from collections import Counter

from conversations import Event, conversations, generic, openclaw
from hypothesis import given
from ingesting import new_store, scratch, state_of, take, unchanged
from strategies import examples


def spoken(events: list[Event]) -> Counter[tuple[str, str]]:
    """Session and text of the turns that must be somewhere; one instant makes equal words one."""
    timed: set[tuple[str, str, str, str | None]] = set()
    found: Counter[tuple[str, str]] = Counter()
    for each in events:
        if each.kind not in {"said", "tool"}:
            continue
        speaker = each.speaker if each.kind == "said" else "tool"
        mark = (each.session, speaker, each.text, each.stamp)
        if not each.is_untimed and mark in timed:
            continue
        timed.add(mark)
        found[each.session, each.text] += 1
    return found


@examples(120)
@given(conversations())
def test_episodes_and_inbox_are_the_input_and_ingesting_again_changes_no_byte(
    events: list[Event],
) -> None:
    with scratch() as folder:
        store = new_store(folder / "memory")
        path = folder / "chat.jsonl"
        path.write_bytes(b"".join(row for each in events for row in generic(each)))
        report = take(store, path)
        state = state_of(store)
        held = Counter(
            (episode.session, turn.text)
            for episode in state.episodes.values()
            for turn in episode.turns
        )
        expected = spoken(events)
        assert held <= expected
        waiting = [turn for box in state.waiting.values() for turn in box]
        assert held.total() + len(waiting) == expected.total() == report.sources[0].added
        texts = Counter(text for _, text in held.elements())
        texts += Counter(getattr(turn, "text", "") for turn in waiting)
        assert texts == Counter(text for _, text in expected.elements())
        assert len(set(state.keys())) == len(state.keys())
        assert report.open_turns == len(waiting)
        episodes = state.episodes
        assert all(e.previous is None or e.previous in episodes for e in episodes.values())
        assert set(episodes) <= set(state.records)
        one = folder / "one.jsonl"
        one.write_bytes(b"".join(row for e in events if e.session == "main" for row in openclaw(e)))
        take(store, one, session="other")
        with unchanged(store.root):
            take(store, path, now="2026-03-02T09:00:00+01:00")
            take(store, one, session="other", now="2026-03-02T09:00:00+01:00")
