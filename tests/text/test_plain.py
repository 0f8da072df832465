import pytest
from tables import table

from clsm_cli.text.plain import to_plain


@pytest.mark.parametrize(("text", "expected"), table(__file__, "marks"))
def test_marks(text: str, expected: str) -> None:
    assert to_plain(text) == expected
