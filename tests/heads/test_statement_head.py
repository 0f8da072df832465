"""What the shipped head says of sentences, as they would stand in memory."""

import pytest

from clsm_cli.heads.statement_head import TALK, TRANSCRIPT, VERDICTS, place_of, verdicts

NOTE = place_of("memory/2026-03-09.md", ("9 March 2026",))


@pytest.mark.parametrize(
    ("expected", "statement", "place"),
    [
        ("good", "Ada prefers calls in the morning and mails in the evening.", NOTE),
        ("good", "Home: Landlord: Brian Okafor, rent 900 euros a month", place_of("MEMORY.md", ())),
        ("good", "Mara: The rent is 950 euros from May on.", TALK),
        ("junk", "Mara: He has one of those, too.", TALK),
        ("good", "The bakery's backups run every Sunday at 3.", TRANSCRIPT),
        ("junk", "The logger config is being changed now.", TRANSCRIPT),
        ("junk", "Fixed the parser: it dropped the last row of each table.", NOTE),
    ],
)
def test_what_is_worth_keeping_is_told_from_rest(expected: str, statement: str, place: str) -> None:
    [found] = verdicts([(statement, place)])
    assert VERDICTS[found.index(max(found))] == expected
    assert sum(found) == pytest.approx(1, abs=1e-3)
