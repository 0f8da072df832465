"""Signs do not tell whether a passage answers, so the best are read with the question."""

from pathlib import Path

import pytest
from sample_store import ask
from tables import table

from clsm_cli.errors import ModelMissingError
from clsm_cli.heads import answer_head
from clsm_cli.heads.answer_head import answer_probability
from clsm_cli.store.layout import Store


@pytest.mark.parametrize(("question", "passage", "is_answer"), table(__file__, "about the same"))
def test_what_is_only_about_the_same_thing_is_no_answer(
    question: str, passage: str, is_answer: str
) -> None:
    assert (answer_probability(question, passage) > 0.5) == (is_answer == "yes")


QUESTION = "what is the defect of a mind that delegates"
UNSURE = "who wrote the bad poem"
"""By signs alone it is neither hopeless nor sure."""


def test_reading_decides_whether_an_unsure_question_is_answered(
    sample: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: dict[float, int] = {}
    for chance in (0.0001, 0.9999):
        monkeypatch.setattr(answer_head, "answer_probability", lambda _, __, c=chance: c)
        told[chance] = len(ask(sample, UNSURE).memories)
    assert told[0.0001] == 0 < told[0.9999]


def test_nothing_is_read_after_an_answer_and_the_rest_gains_nothing_by_it(
    sample: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str] = []

    def answer(_: str, passage: str) -> float:
        read.append(passage)
        return 0.99

    monkeypatch.setattr(answer_head, "answer_probability", lost)
    signs = {each.id: each.confidence for each in ask(sample, QUESTION, min_score=0).memories}
    monkeypatch.setattr(answer_head, "answer_probability", answer)
    items = ask(sample, QUESTION, min_score=0).memories
    first, *rest = sorted(items, key=lambda each: -each.confidence)
    assert len(read) == 1
    assert first.confidence > signs[first.id]
    assert all(each.confidence <= signs[each.id] for each in rest)


def lost(_: str, __: str) -> float:
    raise ModelMissingError(Path("model"))


def test_cues_and_questions_of_a_day_are_not_read(
    sample: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(_: str, passage: str) -> float:
        raise AssertionError(passage)

    monkeypatch.setattr(answer_head, "answer_probability", never)
    for query in ("delegation defect", "what happened on 12 February 2026"):
        assert ask(sample, query).memories


def test_a_model_that_is_lost_meanwhile_leaves_the_signs(
    sample: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(answer_head, "answer_probability", lost)
    assert ask(sample, UNSURE).query == UNSURE
