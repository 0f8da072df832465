"""Look at a store: every check, in the order of the page, each for itself."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING

from clsm_cli.errors import ClsmError
from clsm_cli.health import (
    clear,
    digests,
    echoes,
    episode_files,
    files,
    git_state,
    index_state,
    loglines,
    moves,
    records,
    references,
    surroundings,
    topic_files,
)
from clsm_cli.health import held as reading
from clsm_cli.health.codes import found
from clsm_cli.health.finding import SEVERITIES
from clsm_cli.ingestion.report import utc
from clsm_cli.records import NamedTuple

if TYPE_CHECKING:
    from datetime import datetime

    from clsm_cli.health.finding import Finding
    from clsm_cli.health.held import Held
    from clsm_cli.store.layout import Store


class Around(NamedTuple):
    """What a check may know besides the store.

    Attributes:
        now: Time of the run, with offset.
        variables: The environment.
        has_model: Whether the model is looked at; hashing its 90 MB takes a tenth of a second.
        jobs: Command line of the nightly job by who starts it.
        fault: Why the settings of this machine cannot be used; "" where they can.
    """

    now: datetime
    variables: Mapping[str, str]
    has_model: bool = True
    jobs: Mapping[str, Sequence[str]] = MappingProxyType({})
    fault: str = ""


Check = Callable[["Held", Around], list["Finding"]]

CHECKS: Mapping[str, Check] = {
    "places": lambda held, _: files.places(held),
    "modes": lambda held, _: files.modes(held),
    "contents": lambda held, _: files.contents(held),
    "lines": lambda held, _: records.lines(held),
    "order": lambda held, _: records.order(held),
    "ids": lambda held, _: records.ids(held),
    "logs": lambda held, _: loglines.lines(held),
    "inboxes": lambda held, _: loglines.boxes(held),
    "names": lambda held, _: moves.misplaced(held),
    "episodes": lambda held, _: episode_files.whole(held),
    "turns twice": lambda held, _: episode_files.twice(held),
    "topics": lambda held, _: topic_files.whole(held),
    "hand edits": lambda held, around: topic_files.settled(held, utc(around.now)),
    "edges": lambda held, _: references.edges(held),
    "sources": lambda held, _: references.sources(held),
    "mentions": lambda held, _: references.mentions(held),
    "episode records": lambda held, _: references.episodes(held),
    "tombstones": lambda held, _: references.tombstones(held),
    "digests": lambda held, _: digests.changed(held),
    "begun": lambda held, _: digests.begun(held),
    "preimages": lambda held, _: digests.preimages(held),
    "index": lambda held, _: index_state.index(held),
    "briefing": lambda held, _: index_state.prepared(held),
    "settings": lambda held, _: surroundings.settings(held),
    "environment": lambda held, around: surroundings.environment(held, around.variables),
    "machine": lambda _, a: [found("machine-settings", "", a.fault)] if a.fault else [],
    "model": lambda _, around: surroundings.model() if around.has_model else [],
    "disk": lambda held, _: surroundings.disk(held),
    "lock": lambda held, _: surroundings.lock(held),
    "git": lambda held, around: git_state.findings(held.store, around.now),
    "nights": lambda held, around: surroundings.nights(held, around.now),
    "schedule": lambda _, around: surroundings.schedule(around.jobs),
    "echoes": lambda held, _: echoes.self_ingested(held),
    "secrets": lambda held, _: clear.in_clear(held),
}


def look(store: Store, around: Around, checks: Mapping[str, Check] = CHECKS) -> list[Finding]:
    """Everything that is to be said of a store, worst first, then by path.

    Nothing is written and no lock is taken.

    Args:
        store: Where.
        around: Time and environment.
        checks: By name; all of them but in a test of the others.
    """
    return looked(reading.read(store), around, checks)


def looked(held: Held, around: Around, checks: Mapping[str, Check] = CHECKS) -> list[Finding]:
    """The same of a store that was read."""
    findings: list[Finding] = []
    for name, check in checks.items():
        try:
            findings += check(held, around)
        except (ClsmError, OSError, sqlite3.Error) as error:  # one bad file hides no other
            findings.append(found("check-failed", "", f"{name}: {error}"))
    return sorted(dict.fromkeys(findings), key=_order)


def _order(finding: Finding) -> tuple[int, str, int, str, str]:
    place = SEVERITIES.index(finding.severity)
    return (place, finding.path, finding.line or 0, finding.code, finding.reason)
