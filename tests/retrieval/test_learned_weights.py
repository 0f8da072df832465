"""What is said of recalls is kept once, and the weights learn from it."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ingesting import new_store, scratch
from sample_store import NOW, ask
from strategies import examples

from clsm_cli.errors import BadInputError, LockedError
from clsm_cli.retrieval.answer import Memory, Why
from clsm_cli.retrieval.feedback_log import READ, folded, give
from clsm_cli.retrieval.learned_weights import FILE, leading, learnt, tuned
from clsm_cli.retrieval.signals import Signals
from clsm_cli.store import atomic, logs
from clsm_cli.store.lock import locked

if TYPE_CHECKING:
    from pathlib import Path

    from clsm_cli.retrieval.answer import Answer
    from clsm_cli.store.layout import Store

MOMENT = datetime.fromisoformat(NOW)
EXACT = (
    "Hardin",
    "SD card",
    "signal shed lathe",
    "the heron",
    "backup restic NAS",
    "Herbert Simon",
)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return new_store(tmp_path / "memory")


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
        (Why(bm25=1.0, maxsim=0.9), Why(bm25=0.5, maxsim=1.26), "bm25"),
        (Why(bm25=1.0, maxsim=1.0), Why(bm25=0.5, maxsim=1.4), "maxsim"),
        (Why(maxsim=0.3, question=1.0), Why(maxsim=0.42, question=-0.3), "maxsim"),
        (Why(episode=0.4, context=0.4), Why(episode=0.1, context=0.1), "context"),
        (Why(question=1.0), Why(question=-0.3), ""),
        (Why(), Why(), ""),
    ],
)
def test_the_signal_that_led(why: Why, shares: Why, expected: str) -> None:
    memory = Memory("m", "passage", "", "flow", 1.0, 1.0, 1, "user", "", (), why, shares)
    assert leading(memory) == expected


def test_without_feedback_nothing_is_learnt(store: Store) -> None:
    assert learnt(store, MOMENT) is None
    assert learnt(store, MOMENT, seed="x") is None
    settings = store.settings.recall
    assert tuned(settings, None) is settings


def test_ten_judgements_are_enough(store: Store) -> None:
    for count in range(9):
        judged(store, f"r-{count}", a="bm25")
    assert learnt(store, MOMENT) is None
    judged(store, "r-9", a="")  # nobody knows what led to it
    assert learnt(store, MOMENT) is None
    judged(store, "r-10", not_a="maxsim")
    found = learnt(store, MOMENT)
    assert found is not None
    assert found["bm25"] == pytest.approx((1.2 + 9) / (2.2 + 9) / (1.2 / 2.2))
    assert found["maxsim"] == pytest.approx(2 / 4 / (2 / 3))
    assert {found[name] for name in Signals._fields if name not in ("bm25", "maxsim")} == {1.0}
    faded = learnt(store, after(7))
    assert faded is not None
    assert faded["bm25"] == pytest.approx((1.2 + 4.5) / (2.2 + 4.5) / (1.2 / 2.2))


def test_a_draw_is_that_of_its_seed(store: Store) -> None:
    for count in range(10):
        judged(store, f"r-{count}", a="bm25", not_b="maxsim")
    draws = [learnt(store, MOMENT, seed) for seed in ("a", "b", "a", 1, 1)]
    assert draws[0] == draws[2] != draws[1]
    assert draws[3] == draws[4]
    assert learnt(store, MOMENT) == learnt(store, MOMENT) != draws[0]


def test_only_the_end_of_a_long_log_is_read(store: Store) -> None:
    for count in range(300):
        judged(store, f"r-{count:012}", a="bm25")
    path = store.flow / FILE
    assert path.stat().st_size > READ
    found = folded([path])
    assert 100 < len(found) < 300
    assert {count for count, _ in found} == {
        f"r-{count:012}" for count in range(300 - len(found), 300)
    }


def test_damaged_lines_are_passed_over(store: Store) -> None:
    path = store.flow / FILE
    judged(store, "r-1", a="bm25")
    for line in (b'{"recall": "r-2', b"[]", b'{"recall": 3}', b'{"recall": "r", "at": "soon"}'):
        atomic.append(path, line)
    judged(store, "r-4", at="2026-02-24T08:00:00", a="bm25")  # no offset
    judged(store, "r-5", a="bm25")
    assert {recall for recall, _ in folded([path])} == {"r-1", "r-5"}
    other = store.root / "flow" / "pc" / FILE
    other.parent.mkdir()
    other.symlink_to(path)
    assert folded([other]) == {}


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
            given_items = {
                f"{'' if good else 'not_'}{item}": "bm25" for item, good in items.items()
            }
            judged(store, recall, f"2026-02-24T0{hour}:00:00Z", device, **given_items)
            expected |= {(recall, item): good for item, good in items.items()}
        found = folded(flow / FILE for flow in store.flows() if (flow / FILE).exists())
        assert {key: each.is_good for key, each in found.items()} == expected


def test_a_feedback_is_one_line_of_ids(store: Store) -> None:
    recalled(store, "r-3a9c12d08e41", "0a53", "91ab", "5fe6", led=("bm25", "", "date"))
    done = give(store, "r-3a9c", ["91ab", "0a53"], ["5fe6"], MOMENT)
    assert [each.led for each in (*done.good, *done.bad)] == ["bm25", "", "date"]
    (row,) = (row for _, row in logs.rows(store.flow / FILE)[0])
    assert logs.parse_feedback(row) == logs.Feedback(
        "r-3a9c12d08e41",
        "2026-02-25T07:00:00Z",
        good=("0a53", "91ab"),
        bad=("5fe6",),
        good_led=("bm25", ""),
        bad_led=("date",),
    )
    ((_, ledger),) = logs.rows(store.flow / "runs.jsonl")[0]
    assert (ledger["id"], ledger["command"]) == (done.run, "feedback")


def test_what_was_said_before_is_known(store: Store) -> None:
    recalled(store, "r-3a9c12d08e41", "0a53", "91ab", led=("bm25", "bm25"))
    first = give(store, "r-3a9c12d08e41", ["0a53", "91ab"], [], MOMENT)
    before = (store.flow / FILE).read_bytes()
    again = give(store, "r-3a9c12d08e41", ["0a53"], [], after(1))
    assert (first.is_new, again.is_new, again.run) == (True, False, None)
    planned = give(store, "r-3a9c12d08e41", [], ["0a53"], after(1), dry_run=True)
    assert (planned.is_new, planned.run) == (True, None)
    assert (store.flow / FILE).read_bytes() == before
    assert give(store, "r-3a9c12d08e41", [], ["0a53"], after(1)).run
    kept = folded([store.flow / FILE])
    assert {item: each.is_good for (_, item), each in kept.items()} == {"0a53": False, "91ab": True}


def test_an_old_recall_may_be_judged_and_teaches_nothing(store: Store) -> None:
    atomic.append(
        store.root / "flow" / "pc" / "activation.jsonl",
        b'{"recall": "r-3a9c12d08e41", "at": "2026-02-24", "ids": ["0a53"], "uses": 1}',
    )
    assert [each.led for each in give(store, "r-3a9c12d08e41", ["0a53"], [], MOMENT).good] == [""]


@pytest.mark.parametrize(
    ("recall", "good", "bad", "reason"),
    [
        ("r-000000000000", ["0a53"], [], "no recall with that id is known; use the recall_id"),
        ("", ["0a53"], [], "no recall with that id is known"),
        ("r-", ["0a53"], [], "no recall with that id is known"),
        ("r-3a9", ["0a53"], [], r"several recalls begin so \(r-3a9c12d08e41, r-3a9d00000000\)"),
        ("r-3a9c", ["0a54"], [], "0a54: was not returned by r-3a9c12d08e41; give one of: 0a53c1,"),
        ("r-3a9c", [], [""], "was not returned"),
        ("r-3a9c", ["0a5"], [], "several ids of r-3a9c12d08e41 begin so"),
        ("r-3a9c", ["77"], [], "77: was not returned"),
        ("r-3a9c", ["0a53c1"], ["0a53c"], "0a53c1: is named as good and as bad"),
    ],
)
def test_what_cannot_be_judged(
    store: Store, recall: str, good: list[str], bad: list[str], reason: str
) -> None:
    recalled(store, "r-3a9c12d08e41", "0a53c1", "0a5e77", "778899")
    recalled(store, "r-3a9d00000000", "0a53c1")
    atomic.append(store.flow / "activation.jsonl", b'{"recall": ["r-3a9c"], "at": 1, "ids": [2]}')
    with pytest.raises(BadInputError, match=reason):
        give(store, recall, good, bad, MOMENT)
    assert not (store.flow / FILE).exists()


def test_another_writer_is_waited_for(store: Store) -> None:
    recalled(store, "r-3a9c12d08e41", "0a53")
    hasty = store.settings.store._replace(lock_wait=0.1)
    store = store._replace(settings=store.settings._replace(store=hasty))
    with locked(store.root, 0), pytest.raises(LockedError):
        give(store, "r-3a9c12d08e41", ["0a53"], [], MOMENT)


def remember(store: Store, answer: Answer) -> list[str]:
    """What a recall leaves behind; the ids of the items that their words led to."""
    ids = tuple(memory.id for memory in answer.memories)
    led = tuple(map(leading, answer.memories))
    recalled(store, answer.recall_id, *ids, led=led)
    return [item for item, signal in zip(ids, led, strict=True) if signal == "bm25"]


def test_accepted_words_weigh_more(sample: Store) -> None:
    before = {query: ask(sample, query) for query in EXACT}
    accepted = 0
    for number, query in enumerate([*EXACT, *EXACT, *EXACT]):
        answer = ask(sample, query)._replace(recall_id=f"r-{number:012}")
        if by_words := remember(sample, answer):
            accepted += len(by_words)
            weights = give(sample, answer.recall_id, by_words, [], MOMENT).weights
            assert (weights is not None) == (accepted >= 10)
    assert accepted >= 15
    found = learnt(sample, MOMENT)
    assert found is not None
    factor = found["bm25"]
    assert factor == pytest.approx((1.2 + accepted) / (2.2 + accepted) / (1.2 / 2.2))
    assert {found[name] for name in Signals._fields if name != "bm25"} == {1.0}
    (sample.flow / FILE).unlink()
    settings = sample.settings._replace(recall=tuned(sample.settings.recall, found))
    for query, old in before.items():
        shares = {memory.id: memory.shares for memory in old.memories}
        for memory in ask(sample._replace(settings=settings), query).memories:
            if memory.id in shares:
                # Which passages are the best, and lead to others, follows from the weights.
                expected = shares[memory.id]._replace(
                    bm25=shares[memory.id].bm25 * factor, graph=memory.shares.graph
                )
                assert memory.shares == pytest.approx(expected, abs=2e-4)
