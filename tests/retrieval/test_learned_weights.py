"""What is said of recalls is kept once, and the weights learn from it."""

import json
from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ingesting import new_store, scratch
from sample_store import NOW
from strategies import examples
from tables import table

from clsm_cli.errors import BadInputError
from clsm_cli.retrieval.answer import Memory, Signals
from clsm_cli.retrieval.learned_weights import (
    FILE,
    READ_BYTES,
    latest_judgements,
    leading_signal,
    learn_multipliers,
    record_feedback,
)
from clsm_cli.store import atomic, logs
from clsm_cli.store.layout import Store

MOMENT = datetime.fromisoformat(NOW)


def recalled(store: Store, recall: str, *ids: str, led: tuple[str, ...] = ()) -> None:
    line = logs.Activation(recall, NOW, ids, led)
    atomic.append(store.flow / "activation.jsonl", logs.render(line))


def judged(store: Store, recall: str, at: str = NOW, device: str = "pi", **said: str) -> None:
    """A line as another run, or another machine, wrote it: id → the signal that led to it."""
    good = {item: led for item, led in said.items() if not item.startswith("not_")}
    bad = {item.removeprefix("not_"): led for item, led in said.items() if item not in good}
    line = logs.Feedback(recall, at, *map(tuple, (good, bad, good.values(), bad.values())))
    atomic.append(store.root / "flow" / device / FILE, logs.render(line))


def after(days: float) -> datetime:
    return MOMENT + timedelta(days=days)


@pytest.mark.parametrize(
    ("why", "shares", "expected"),
    [
        (Signals(bm25=1.0, maxsim=0.9), Signals(bm25=0.5, maxsim=1.26), "bm25"),
        (Signals(bm25=1.0, maxsim=1.0), Signals(bm25=0.5, maxsim=1.4), "maxsim"),
        (Signals(maxsim=0.3, question=1.0), Signals(maxsim=0.42, question=-0.3), "maxsim"),
        (Signals(episode=0.4, context=0.4), Signals(episode=0.1, context=0.1), "context"),
        (Signals(question=1.0), Signals(question=-0.3), ""),
        (Signals(), Signals(), ""),
    ],
)
def test_the_signal_that_led(why: Signals, shares: Signals, expected: str) -> None:
    memory = Memory("m", "passage", "", "flow", 1.0, 1.0, 1, "user", "", (), why, shares)
    assert leading_signal(memory) == expected


def test_ten_judgements_are_enough(store: Store) -> None:
    for count in range(9):
        judged(store, f"r-{count}", a="bm25")
    assert learn_multipliers(store, MOMENT) is None
    judged(store, "r-9", a="")  # nobody knows what led to it
    assert learn_multipliers(store, MOMENT) is None
    judged(store, "r-10", not_a="maxsim")
    found = learn_multipliers(store, MOMENT)
    assert found is not None
    assert found["bm25"] == pytest.approx((1.2 + 9) / (2.2 + 9) / (1.2 / 2.2))
    assert found["maxsim"] == pytest.approx(2 / 4 / (2 / 3))
    assert {found[name] for name in Signals._fields if name not in ("bm25", "maxsim")} == {1.0}
    faded = learn_multipliers(store, after(7))
    assert faded is not None
    assert faded["bm25"] == pytest.approx((1.2 + 4.5) / (2.2 + 4.5) / (1.2 / 2.2))


def test_only_the_end_of_a_long_log_is_read(store: Store) -> None:
    for count in range(300):
        judged(store, f"r-{count:012}", a="bm25")
    path = store.flow / FILE
    assert path.stat().st_size > READ_BYTES
    found = latest_judgements([path])
    assert 100 < len(found) < 300
    last = range(300 - len(found), 300)
    assert {count for count, _ in found} == {f"r-{count:012}" for count in last}


said = st.lists(
    st.tuples(
        st.sampled_from(["r-1", "r-2"]),
        st.sampled_from(["pi", "pc"]),
        st.integers(0, 3),
        st.dictionaries(st.sampled_from("abc"), st.booleans(), min_size=1),
    ),
    max_size=8,
)


@examples(100)
@given(lines=said)
def test_the_last_word_on_an_item_counts(
    lines: list[tuple[str, str, int, dict[str, bool]]],
) -> None:
    lines = sorted(lines, key=lambda line: (line[2], line[1] == "pi"))  # as folders are read
    with scratch() as folder:
        store = new_store(folder / "memory")
        expected: dict[tuple[str, str], bool] = {}
        for recall, device, hour, items in lines:
            told = {f"{'' if good else 'not_'}{item}": "bm25" for item, good in items.items()}
            judged(store, recall, f"2026-02-24T0{hour}:00:00Z", device, **told)
            expected |= {(recall, item): good for item, good in items.items()}
        found = latest_judgements(flow / FILE for flow in store.flows() if (flow / FILE).exists())
        assert {key: each.is_good for key, each in found.items()} == expected


def test_what_was_said_before_is_known(store: Store) -> None:
    recalled(store, "r-3a9c12d08e41", "0a53", "91ab", led=("bm25", "bm25"))
    first = record_feedback(store, "r-3a9c12d08e41", ["0a53", "91ab"], [], MOMENT)
    before = (store.flow / FILE).read_bytes()
    again = record_feedback(store, "r-3a9c12d08e41", ["0a53"], [], after(1))
    assert (first.is_new, again.is_new, again.run) == (True, False, None)
    planned = record_feedback(store, "r-3a9c12d08e41", [], ["0a53"], after(1), dry_run=True)
    assert (planned.is_new, planned.run) == (True, None)
    assert (store.flow / FILE).read_bytes() == before
    assert record_feedback(store, "r-3a9c12d08e41", [], ["0a53"], after(1)).run
    kept = latest_judgements([store.flow / FILE])
    assert {item: each.is_good for (_, item), each in kept.items()} == {"0a53": False, "91ab": True}


def test_an_old_recall_may_be_judged_and_teaches_nothing(store: Store) -> None:
    atomic.append(
        store.root / "flow" / "pc" / "activation.jsonl",
        b'{"recall": "r-3a9c12d08e41", "at": "2026-02-24", "ids": ["0a53"], "uses": 1}',
    )
    (judgement,) = record_feedback(store, "r-3a9c12d08e41", ["0a53"], [], MOMENT).good
    assert judgement.led == ""


@pytest.mark.parametrize(("recall", "good", "bad", "reason"), table(__file__, "not judged"))
def test_what_cannot_be_judged(store: Store, recall: str, good: str, bad: str, reason: str) -> None:
    recalled(store, "r-3a9c12d08e41", "0a53c1", "0a53e7", "778899")
    recalled(store, "r-3a9d00000000", "0a53c1")
    atomic.append(store.flow / "activation.jsonl", b'{"recall": ["r-3a9c"], "at": 1, "ids": [2]}')
    with pytest.raises(BadInputError, match=reason):
        record_feedback(store, recall, json.loads(good), json.loads(bad), MOMENT)
    assert not (store.flow / FILE).exists()
