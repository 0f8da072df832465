"""Files under a wrong name, and where they may go: onto a free place, or one that is left too."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clsm_cli.health.codes import found
from clsm_cli.health.places import device_of
from clsm_cli.model.ids import file_name_of
from clsm_cli.store import episodes, front_matter
from clsm_cli.store.jsonlines import LineError
from clsm_cli.store.layout import ASIDE

if TYPE_CHECKING:
    from clsm_cli.health.finding import Finding
    from clsm_cli.health.held import Held


def misplaced(held: Held) -> list[Finding]:
    """Files that belong elsewhere by what they hold."""
    going = moves(held)
    return [
        found("misplaced", path, f"belongs to {home}", mends=path in going)
        for path, home in sorted(_odd(held).items())
    ]


def moves(held: Held) -> dict[str, str]:
    """Path of each file that can go where it belongs → that place."""
    odd = _odd(held)
    going = {path: home for path, home in odd.items() if list(odd.values()).count(home) == 1}
    while True:
        left = {p: h for p, h in going.items() if h not in held.files or h in going}
        if left == going:
            return going
        going = left


def _odd(held: Held) -> dict[str, str]:
    homes = {path: home_of(held, path) for path in (*held.episodes, *held.topics, *held.boxes)}
    return {path: home for path, home in homes.items() if home is not None and home != path}


def home_of(held: Held, path: str) -> str | None:
    """The name that a file should have; None where that is not certain."""
    if path in held.episodes:
        return _of_episode(held, path)
    if path in held.topics:
        home = _of_topic(held, path)
        is_swap = home in held.topics and home != path and _of_topic(held, str(home)) == path
        return home if is_swap else None  # else a person may have renamed it
    box = held.boxes[path]
    sessions = {item.session for item in (*box.items, *box.calls)}
    if len(sessions) != 1 or box.problems:
        return None
    folder, _, name = path.rpartition("/")
    stem = file_name_of(sessions.pop())
    return path if name.startswith(stem + ASIDE) else f"{folder}/{stem}.jsonl"


def _of_episode(held: Held, path: str) -> str | None:
    episode = held.episodes[path]
    if episode is None:
        return None
    flow = held.store.root / "flow" / (device_of(path) or held.store.device)
    try:
        return episodes.file_of(episode, flow).relative_to(held.store.root).as_posix()
    except ValueError:  # its start is no time
        return None


def _of_topic(held: Held, path: str) -> str | None:
    """The place that its front matter names."""
    try:
        raw, _, _ = front_matter.split("\n".join(held.topics[path].lines))
        head = front_matter.parse(raw) if raw is not None else {}
    except LineError:
        return None
    stream, topic = head.get("stream"), head.get("topic")
    return f"{stream}/{topic}.md" if stream and topic else None
