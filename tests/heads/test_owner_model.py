"""The owner's decisions: what they add, what is unlike them, and that they fit."""

import math

import numpy as np
import pytest

from clsm_cli.heads.owner_model import (
    DOCUMENT_VARIANCE,
    MEANING_VARIANCE,
    OWNER_VARIANCE,
    Decision,
    Owner,
    logit,
)

AXES = np.eye(4)


def decided(
    name: str, axis: int, *, is_kept: bool, document: str = "", chance: float = 0.5
) -> Decision:
    return Decision(name, name, document, AXES[axis], chance, is_kept)


def test_without_decisions_nothing_changes() -> None:
    owner = Owner()
    assert owner.chance(0.4321, AXES[0], "a") == 0.4321
    assert owner.contributions(AXES[0], "a") == []


def test_a_decision_moves_what_is_like_it_and_hardly_what_is_not() -> None:
    owner = Owner([decided("f-1", 0, is_kept=False, document="log.md")])
    alike, same_file, unlike = (
        owner.chance(0.6, AXES[axis], document)
        for axis, document in ((0, ""), (1, "log.md"), (1, "other.md"))
    )
    assert alike < same_file < unlike < 0.6
    assert unlike > 0.55


def test_one_decision_is_the_mode_of_its_posterior() -> None:
    """With one observation the weight w solves w = y - 1 / (1 + exp(-(prior + k w)))."""
    (only,) = [decided("f-1", 0, is_kept=True, document="a", chance=0.3)]
    ((share, told),) = Owner([only]).contributions(AXES[0], "a")
    assert told is only
    kernel = MEANING_VARIANCE + DOCUMENT_VARIANCE + OWNER_VARIANCE
    weight = share / kernel
    assert weight == pytest.approx(1 - 1 / (1 + math.exp(-(logit(0.3) + share))), abs=1e-6)


def test_what_the_head_knew_teaches_little() -> None:
    known, new = (Owner([decided("f-1", 0, is_kept=True, chance=c)]) for c in (0.97, 0.1))
    assert known.chance(0.5, AXES[0], "") < new.chance(0.5, AXES[0], "")


def test_shares_add_up_and_name_the_strongest_first() -> None:
    strongest = decided("f-2", 1, is_kept=True, document="a")
    owner = Owner([decided("f-1", 0, is_kept=False), strongest, decided("f-3", 2, is_kept=True)])
    shares = owner.contributions(AXES[1], "a")
    assert shares[0][1] is strongest
    total = sum(share for share, _ in shares)
    assert logit(owner.chance(0.5, AXES[1], "a")) == pytest.approx(total, abs=1e-3)
