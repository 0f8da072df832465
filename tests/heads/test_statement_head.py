"""What the shipped head says of sentences, as they would stand in memory."""

import pytest
from tables import table

from clsm_cli.heads.statement_head import TALK, TRANSCRIPT, VERDICTS, place_of, verdicts

PLACES = {
    "note": place_of("memory/2026-03-09.md", ("9 March 2026",)),
    "memory": place_of("MEMORY.md", ()),
    "talk": TALK,
    "transcript": TRANSCRIPT,
}


@pytest.mark.parametrize(("expected", "place", "statement"), table(__file__, "verdicts"))
def test_what_is_worth_keeping_is_told_from_rest(expected: str, place: str, statement: str) -> None:
    [found] = verdicts([(statement, PLACES[place])])
    assert VERDICTS[found.index(max(found))] == expected
    assert sum(found) == pytest.approx(1, abs=1e-3)
