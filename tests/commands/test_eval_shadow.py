"""``clsm eval shadow`` as a stranger meets it."""

from processes import Cli
from small_store import row as turn

NIGHT = ("--now", "2026-02-26T03:00:00+01:00")

TALKS = "".join(
    turn(text, session=session, role=role, speaker=role, timestamp=f"2026-02-{time}:00+01:00")
    for session, role, time, text in (
        ("one", "user", "24T08:00", "I lent the brass sextant to Ottoline."),
        ("one", "assistant", "24T08:01", "Noted: Ottoline, brass sextant."),
        ("two", "user", "25T08:00", "Where did my sextant go?"),
        ("two", "assistant", "25T08:01", "You lent it to Ottoline. Brass!"),
    )
)


def test_two_days_beside_a_file(cli: Cli) -> None:
    (cli.folder / "SOUL.md").write_text("- I am Sedge.\n- Silence until the kettle has boiled.\n")
    (cli.folder / "talks.jsonl").write_text(TALKS, encoding="utf-8")
    cli.ok("ingest", "-q", "talks.jsonl", "--now", "2026-02-25T22:00:00+01:00")
    asked = ("eval", "shadow", "--static", "SOUL.md", *NIGHT)
    assert "2 sessions in shadow mode" in cli.ok(*asked).out
    found = cli.ok(*asked, "--json").json
    assert found["schema"] == "clsm.eval-shadow/5"
    assert [row["at"][:10] for row in found["rows"]] == ["2026-02-24", "2026-02-25"]
    assert found["compared"] == 2
    late = cli.ok(*asked, "--json", "--since", "2026-02-25").json
    assert [row["at"][:10] for row in late["rows"]] == ["2026-02-25"]
    assert cli("eval", "shadow", "--static", " ").code == 2
