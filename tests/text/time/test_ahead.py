"""The day ahead that a text names: with a verb or without, with the month or only its number."""

from datetime import date

import pytest

from clsm_cli.text.time.ahead import day_ahead

FRIDAY = date(2026, 10, 23)


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("Dentist on 4 November, 8:50.", "2026-11-04"),
        ("Dentist on 4 November.", "2026-11-04"),
        ("The price list has slipped, go-live is 16 November now. Fine by me.", "2026-11-16"),
        ("Aoife's last day is 13 November.", "2026-11-13"),
        ("Mum's birthday on the 24th", "2026-10-24"),
        ("Mum's birthday: 6 November", "2026-11-06"),
        ("Physio, 2 Nov, 10:00", "2026-11-02"),
        ("Podiatrist: Tue 23 March", "2027-03-23"),
        ("Jo's wedding: 14 November, Leeds", "2026-11-14"),
        ("Train to London 29 Oct 07:15, coach B", "2026-10-29"),
        ("Dinner on Saturday the 31st", "2026-10-31"),
        ("I'm off until Saturday the 7th", "2026-11-07"),
        ("back sunday night the 15th", "2026-11-15"),
        ("Invoices are due on the 20th.", "2026-11-20"),
        ("Rent review 1 January", "2027-01-01"),
        ("So it is the other boat, 11-13 November. Three people.", "2026-11-11"),
        ("Jo comes to York on 5 and 6 November to help.", "2026-11-05"),
        ("Ilse has night shifts from the 26th till the 30th so I do the kids", "2026-10-26"),
        ("Henny is away till the 29th by the way", "2026-10-29"),
        ("Dinner moved from 4 November to 6 November.", "2026-11-06"),
        ("Ada cannot do Tuesday; talk moved to Thu 5 Nov 10:00", "2026-11-05"),
    ],
)
def test_what_is_planned(text: str, day: str) -> None:
    assert day_ahead(text, FRIDAY) == day


@pytest.mark.parametrize(
    "text",
    [
        "Podiatrist: Wed. 23 March",  # of 2022
        "The accident happened on 4 November.",
        "We spoke on Tuesday the 13th",
        "Dinner on Tuesday the 31st",  # a Saturday
        "Bill paid on 2 November",
        "The deadline for the grant was 5 November.",
        "The exhibition of Vermeer ran until 6 November.",
        "Based on the report of 2 November.",
        "Maybe dinner on 4 November",
        "Can you do 4 November?",
        "The party is no longer on 4 November.",
        "Sprint 12 ended 20 October",
        "Handover: 20 March",
        "Call with Helen on Tuesday",
        "Standup every Monday at 9.",
        "Car service on the 10th",  # nearer behind
        "Tom paid on the 28th",
        "The key transfer isnt on the 26th any more",
        "Rent is due by the 2nd of every month",
        "The sails from the 26th are torn, the canvas of the 19th-century ones is not",
        "A desk on the 4th floor, of the 19th century",
        "Leap day: 29 February",
        "We were in York from 5 to 6 November.",
        "Report for November 2026",
    ],
)
def test_what_is_over_open_or_of_another_day(text: str) -> None:
    assert day_ahead(text, FRIDAY) is None
