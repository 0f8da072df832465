"""``clsm ingest --openclaw`` as its user runs it: from cron, at once."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from openclaw_state import database_of, talk, write_rows
from processes import Cli

from clsm_cli.store import cursors, layout


def test_two_at_once_take_every_turn_in_once(cli: Cli, tmp_path: Path) -> None:
    for number in range(8):
        write_rows(database_of(tmp_path), f"s{number}", talk(f"s{number}"))
    words = ("ingest", "--openclaw", str(tmp_path), "--capture", "--json")
    with ThreadPoolExecutor(2) as pool:
        done = list(pool.map(lambda _: cli.ok(*words).json, range(2)))
    assert sum(each["added"] for one in done for each in one["files"]) == 32
    store = layout.open_store(cli.store, {})
    inside = cursors.load_cursors(store)
    assert sorted(len(places) for places in inside.values()) == [8]
