"""``clsm consolidate`` as people and cron meet it."""

import json
from typing import Any

import pytest
from in_process import InProcess
from processes import Cli
from small_store import row

from clsm_cli.consolidation import claims
from clsm_cli.errors import StaleError
from clsm_cli.model.episodes import Episode
from clsm_cli.store import layout

NOW = ("--now", "2026-03-01T12:00:00+01:00")


def tell(cli: Cli, *texts: str) -> None:
    """Each in a conversation of its own."""
    rows = [row(text, session=f"chat-{n}", speaker="Ilse") for n, text in enumerate(texts)]
    cli.ok("ingest", "-q", "-", *NOW, stdin="".join(rows).encode())


def pages(cli: Cli) -> str:
    """All that stands in topic files."""
    found = (path for name in ("identity", "projects") for path in (cli.store / name).glob("*.md"))
    return "".join(path.read_text("utf-8", "replace") for path in found)


BRIAN, NINA = "My brother Brian lives in Haarlem.", "My sister Nina is a goat vet in Leeds."


def test_a_file_that_cannot_be_read_stops_nothing(cli: Cli) -> None:
    tell(cli, BRIAN)
    (cli.store / "identity" / "people.md").write_bytes(b"\xff\xfe: [\n- {")
    done = cli.ok("consolidate", *NOW)
    assert "consolidated 1 episode" in done.out
    assert "Haarlem" in pages(cli)


def test_a_failing_rule_stops_no_other_text(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """The rule that fails is put in: each that was ever found is mended."""
    tell(cli, BRIAN, NINA)

    def failing(episode: Episode, *rest: Any) -> list[claims.Claim]:
        if "goat" in episode.turns[0].text:
            raise ZeroDivisionError("no vet")
        return found(episode, *rest)

    found = claims.episode_claims
    with monkeypatch.context() as patch:
        patch.setattr(claims, "episode_claims", failing)
        done = InProcess("consolidate", NOW[1]).run(layout.open_store(cli.store, {}), "--json")
    assert done.exit_code == 0, done.exception
    told = json.loads(done.stdout)
    assert told["episodes"] == {"pending": 2, "consolidated": 1}
    ((path, how),) = told["unread"].items()
    assert path.endswith(".md")
    assert how.startswith("ZeroDivisionError in ")
    assert how.endswith("no vet")
    assert f"{path}: clsm itself failed on this text" in done.stderr
    assert "Haarlem" in pages(cli)
    assert "goat vet" in cli.ok("recall", "goat").out
    assert "no vet" in cli.ok("status", *NOW).out
    late = cli("status", "--check", "--now", "2026-03-09T12:00:00+01:00")
    assert late.code == StaleError.exit_code
    assert "no vet" in late.err
    mended = cli.ok("consolidate", "--json", *NOW).json
    assert (mended["episodes"], mended["unread"]) == ({"pending": 1, "consolidated": 1}, {})
    assert "goat vet" in pages(cli)
    cli.ok("status", "--check", *NOW)


def test_since_is_a_time(cli: Cli) -> None:
    rows = [row(BRIAN, session=at, timestamp=f"2026-02-10T{at}:00:00+01:00") for at in ("09", "20")]
    cli.ok("ingest", "-q", "-", *NOW, stdin="".join(rows).encode())
    late = cli.ok("consolidate", "--dry-run", "--since", "2026-02-10T18:00", *NOW)
    assert "would consolidate 1 episode" in late.out
