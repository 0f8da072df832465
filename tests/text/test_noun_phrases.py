import pytest
from tables import column, table

from clsm_cli.text.noun_phrases import noun_phrases, singular


def _found(text: str) -> list[str]:
    return [phrase for _, _, phrase in noun_phrases(text)]


@pytest.mark.parametrize(("text", "phrases"), table(__file__, "terms"))
def test_terms(text: str, phrases: str) -> None:
    assert ", ".join(_found(text)) == phrases


def test_no_terms() -> None:
    assert [each for each in ["", *column(__file__, "no terms")] if _found(each)] == []


@pytest.mark.parametrize(("plural", "one"), table(__file__, "singular"))
def test_singular(plural: str, one: str) -> None:
    assert singular(plural) == one
