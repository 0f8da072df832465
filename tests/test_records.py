"""Named tuples behave as those of ``typing``."""

from __future__ import annotations

import copy
import pickle
import typing
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clsm_cli.startup import records


class Ours(records.NamedTuple):
    """A pair."""

    a: int
    b: str = "x"

    @property
    def both(self) -> str:
        return f"{self.a}{self.b}"

    @classmethod
    def of(cls, a: int) -> Ours:
        return cls(a, b="of")


class Theirs(typing.NamedTuple):
    """A pair."""

    a: int
    b: str = "x"


def _outcome(make: Callable[[], Any]) -> Any:
    try:
        return tuple(make())
    except (TypeError, ValueError) as error:
        return type(error)


names = st.dictionaries(st.sampled_from(["a", "b", "c"]), st.integers(), max_size=3)


@given(st.lists(st.integers(), max_size=3), names)
def test_made_changed_and_refused_alike(values: list[int], named: dict[str, int]) -> None:
    ours: Any = Ours
    theirs: Any = Theirs
    for kind in ("new", "make", "replace"):
        found = []
        for each in (ours, theirs):
            calls = {
                "new": lambda each=each: each(*values, **named),
                "make": lambda each=each: each._make(values),
                "replace": lambda each=each: each(1)._replace(**named),
            }
            found.append(_outcome(calls[kind]))
        assert found[0] == found[1], kind


def test_looks_alike() -> None:
    ours: Any = Ours(1, "y")
    theirs: Any = Theirs(1, "y")
    assert ours == theirs == (1, "y")
    assert hash(ours) == hash(theirs)
    assert repr(ours) == repr(theirs).replace("Theirs", "Ours")
    assert (ours.a, ours.b) == (theirs.a, theirs.b)
    assert ours._asdict() == theirs._asdict()
    for name in ("_fields", "_field_defaults", "__match_args__", "__slots__", "__doc__"):
        assert getattr(Ours, name) == getattr(Theirs, name), name
    assert (Ours.__module__, Ours.__annotations__) == (__name__, {"a": "int", "b": "str"})


def test_what_is_in_the_body_stays() -> None:
    assert Ours.of(2).both == "2of"
    assert Ours(3).both == "3x"


def test_copies_and_pickles_are_equal() -> None:
    pair = Ours(1, "y")
    for other in (copy.deepcopy(pair), pickle.loads(pickle.dumps(pair))):
        assert (other, type(other)) == (pair, Ours)


def test_a_field_cannot_be_set() -> None:
    pair: Any = Ours(1)
    with pytest.raises(AttributeError):
        pair.a = 2
    with pytest.raises(AttributeError):
        pair.c = 2
