"""Vectors here are synthetic: an axis for each subject plus noise (cosines about .6 and 0).

``test_acceptance`` and ``test_segment`` cut real text with the real model.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import examples

from clsm_cli.config import BoundarySettings
from clsm_cli.ingestion.boundaries import (
    ClosedEpisode,
    Segment,
    TurnFeatures,
    group_turns,
    peak_surprise,
    split_episodes,
)
from clsm_cli.model.episodes import Role

DEFAULT = BoundarySettings()
MORNING = datetime(2026, 2, 24, 8, 0, tzinfo=UTC)

WORDS = {
    "a": "the apple tree in our orchard bears sweet red apple fruit",
    "b": "my car brake squeals and the garage wants new brake discs",
    "c": "flights to lisbon for the spring holiday and a hotel there",
    "d": "practise the cello suite slowly with bow and metronome",
}


@cache
def vector(topic: str, seed: int) -> np.ndarray[Any, Any]:
    random = np.random.default_rng(seed)
    v = random.normal(0.0, 0.8 / np.sqrt(64), 64)
    v[ord(topic) - ord("a")] += 1.0
    unit: np.ndarray[Any, Any] = (v / np.linalg.norm(v)).astype(np.float32)
    return unit


def beat(
    topic: str,
    at: int = 0,
    *,
    role: Role = "user",
    time: datetime | None = None,
    text: str | None = None,
) -> TurnFeatures:
    """A turn about a subject; ``at`` varies noise and words."""
    words = WORDS[topic].split()
    said = " ".join(words[(at * 3 + k) % len(words)] for k in range(6)) if text is None else text
    return TurnFeatures(said, role, time, vector(topic, at))


def chat(topics: str, start: datetime | None = None, minutes: float = 1.0) -> list[TurnFeatures]:
    times = [start and start + timedelta(minutes=minutes * i) for i in range(len(topics))]
    return [beat(topic, i, time=times[i]) for i, topic in enumerate(topics)]


def lengths(cuts: Sequence[ClosedEpisode]) -> list[int]:
    return [each.length for each in cuts]


def whole(
    tail: Sequence[TurnFeatures], settings: BoundarySettings = DEFAULT
) -> list[ClosedEpisode]:
    return split_episodes(tail, ended=True, settings=settings)


# The three laws of split invariance, and that nothing is lost.
TEXTS = [
    *WORDS.values(),
    "Yes!",
    "",
    "👍",
    "By the way, the garage called.",
    "What about the brake discs?",
    "Thanks, bye!",
    "Good night",
]
beats = st.builds(
    lambda topic, seed, role, text: TurnFeatures(text, role, None, vector(topic, seed)),
    topic=st.sampled_from("aaab"),
    seed=st.integers(0, 5),
    role=st.sampled_from(["user", "assistant", "user", "assistant", "tool", "system"]),
    text=st.sampled_from(TEXTS),
)
gaps = st.sampled_from([None, 0, 1, 1, 1, 2, 10, 45, 90, -30, 300, 1500])
settings_drawn = st.builds(
    DEFAULT._replace,
    confidence=st.sampled_from([0.3, 0.5, 0.7, 0.7, 1.0]),
    max_turns=st.sampled_from([3, 6, 10, 25]),
    min_turns=st.integers(0, 3),
    gamma=st.sampled_from([0.0, 1.0, 3.0]),
    window=st.sampled_from([0, 4, 16]),
    refine=st.integers(0, 3),
)


@st.composite
def tails(draw: st.DrawFn) -> list[TurnFeatures]:
    """Turns about subjects that come in runs, with random roles, texts and silences."""
    found: list[TurnFeatures] = []
    clock = MORNING
    for run in draw(st.lists(st.lists(beats, min_size=1, max_size=9), max_size=6)):
        subject = draw(st.sampled_from("abcd"))
        for each in run:
            gap = draw(gaps)
            clock += timedelta(minutes=gap or 0)
            v = vector(subject, len(found))
            time = None if gap is None else clock
            found.append(replace(each, time=time, vector=v))
    return found


@given(tails(), settings_drawn, st.data())
@examples(200)
def test_any_split_over_calls_gives_the_same_episodes(
    tail: list[TurnFeatures], settings: BoundarySettings, data: st.DataObject
) -> None:
    found: list[ClosedEpisode] = []
    opened: list[TurnFeatures] = []
    left = list(tail)
    while left:
        n = data.draw(st.integers(1, 12))
        opened, left = opened + left[:n], left[n:]
        final = split_episodes(opened, ended=False, settings=settings)
        found += final
        opened = opened[sum(lengths(final)) :]
    assert found + split_episodes(opened, ended=True, settings=settings) == whole(tail, settings)


@given(tails(), settings_drawn)
@examples(200)
def test_nothing_is_lost_and_no_part_is_too_short_or_too_long(
    tail: list[TurnFeatures], settings: BoundarySettings
) -> None:
    cuts = whole(tail, settings)
    assert sum(lengths(cuts)) == len(tail)
    least = max(1, settings.min_turns)
    start, walled = 0, True
    for each in cuts:
        part = tail[start : start + each.length]
        assert part
        assert start == 0 or part[0].role != "tool"
        said = sum(b.role != "tool" for b in part)
        wall = Segment(group_turns(tail[start:]), settings).certain_gap() == len(group_turns(part))
        wall = wall or start + each.length == len(tail)
        assert said <= max(settings.max_turns, least)
        if 2 * least <= settings.max_turns:
            assert said >= least or (walled and wall)
        start, walled = start + each.length, wall


# What must be a boundary, and what must not.


def test_a_new_day_is_a_new_episode_at_once() -> None:
    talk = chat("aaaaaa", MORNING)
    next_day = beat("a", 7, time=MORNING + timedelta(days=1), text="Good morning")
    assert lengths(split_episodes([*talk, next_day], ended=False, settings=DEFAULT)) == [6]
    assert lengths(whole([*talk, next_day])) == [6, 1]


def test_the_working_of_tools_is_no_silence() -> None:
    times = [MORNING + timedelta(hours=h) for h in (0, 3, 6)]
    talk = [beat("a", 0, time=times[0]), beat("a", 1, role="tool", time=times[1])]
    assert lengths(whole([*talk, beat("a", 2, time=times[2])])) == [3]


def test_dates_are_compared_on_one_calendar() -> None:
    auckland = timezone(timedelta(hours=13))
    before = MORNING.replace(hour=10, minute=50)
    now = (before + timedelta(minutes=35)).astimezone(auckland)  # past midnight there
    assert lengths(whole([beat("a", time=before), beat("a", 1, time=now)])) == [1, 1]
    same = (before - timedelta(hours=3)).astimezone(auckland)
    later = before - timedelta(hours=2, minutes=25)
    assert lengths(whole([beat("a", time=same), beat("a", 1, time=later)])) == [2]


@pytest.mark.parametrize("other", ["b", "c", "d"])
@pytest.mark.parametrize("before", [6, 9, 14])
def test_a_change_of_subject_is_found_and_gamma_3_removes_it(other: str, before: int) -> None:
    talk = chat("a" * before + other * 7)
    assert lengths(whole(talk)) == [before, 7]
    assert lengths(whole(talk, DEFAULT._replace(gamma=3.0))) == [before + 7]


def test_a_boundary_placed_late_is_moved_by_modularity() -> None:
    # The first turn of the new subject is as short as it gets, so the signs come one turn late.
    talk = chat("aaaaaaaabbbbbbb")
    talk[8] = replace(talk[8], text="...")
    assert lengths(whole(talk, DEFAULT._replace(refine=0)))[0] == 9
    assert lengths(whole(talk))[0] == 8


def test_a_marker_with_a_change_of_subject_fires_without_surprise() -> None:
    talk = chat("aaaaaabbbbbb")
    talk[6] = replace(talk[6], text="By the way, " + talk[6].text)
    assert lengths(whole(talk, DEFAULT._replace(gamma=9.0))) == [6, 6]


@pytest.mark.parametrize(
    ("last", "first", "names"),
    [
        ("Thanks, bye!", "Good morning, did you sleep?", {"closing", "marker"}),
        ("Good night, talk to you tomorrow.", "Anyway, the orchard.", {"closing", "marker"}),
        ("Oh really?", "Red apple", set()),
        ("I wish I could see you", "It is a good morning for it", {"closing"}),
    ],
)
def test_signs_of_words(last: str, first: str, names: set[str]) -> None:
    talk = chat("aaaaaa")
    talk[2], talk[3] = replace(talk[2], text=last), replace(talk[3], text=first)
    signs = Segment(group_turns(talk), DEFAULT).signs[3]
    assert signs.keys() & {"closing", "marker"} == names


def test_a_lone_turn_on_another_subject_makes_no_episode() -> None:
    assert lengths(whole(chat("aaaaaaaabaaaaaaa"))) == [16]
    assert lengths(whole(chat("aaaaaaaab"))) == [9]


def test_tool_turns_stay_with_the_turn_before_them() -> None:
    talk = chat("aaaaaa") + [beat("b", 6)] + [beat("d", k, role="tool") for k in range(3)]
    talk += [beat("b", k) for k in range(7, 14)]
    assert lengths(whole(talk)) == [6, 11]
    tools = [beat("d", k, role="tool") for k in range(40)]
    assert lengths(whole([*talk[:6], *tools, *talk[6:]])) == [46, 11]
    assert lengths(whole(tools)) == [40]
    assert split_episodes(tools, ended=False, settings=DEFAULT) == []
    assert lengths(whole([*tools, *talk[:6]])) == [46]


def test_peak_surprise_sees_the_break_and_not_the_flat_talk() -> None:
    talk = chat("a" * 10 + "b" * 6)
    surprise = peak_surprise(talk[:10], talk[10:], DEFAULT)
    assert surprise > 2.0
    assert peak_surprise(talk[:5], talk[5:10], DEFAULT) < surprise
    assert peak_surprise([], talk[:1], DEFAULT) == 0.0
    assert peak_surprise(talk, [], DEFAULT) == 0.0
