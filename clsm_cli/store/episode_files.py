"""Episode files: front matter with one line per field and turn, then the complete text of the turns.

clsm never changes an episode file. A person may read, grep and even correct it: the text under a
turn's heading takes precedence.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, get_args

from clsm_cli.errors import DamagedStoreError
from clsm_cli.model.clocks import utc_text
from clsm_cli.model.episodes import Episode, Role, ToolCall, Turn, lowest_trust
from clsm_cli.model.ids import digest, is_id
from clsm_cli.model.trust import Trust
from clsm_cli.store import atomic, front_matter
from clsm_cli.store.jsonlines import LineError, dump, load
from clsm_cli.store.layout import Store, is_conflict_copy
from clsm_cli.store.logs import is_forgotten
from clsm_cli.text.terminal import replace_lone

MAX_EPISODE = 64 << 20  # bytes of an episode file: 25 turns of at most 1 MiB, escaped
_MAX_REWRITTEN = 1 << 20  # bytes of front matter that a person's YAML tool has rewritten
_KEY = re.compile(r"[0-9a-f]{12}")
_MARK = re.compile(r"\\*### .*\^[0-9a-f]{12}\Z")
_ROLES = get_args(Role)
_TRUSTS = get_args(Trust)


def file_of(episode: Episode, flow: Path) -> Path:
    """The path of an episode: ``episodes/<year>/<month>/<time>-<id>.md`` (UTC)."""
    begins = stamp(_instant(episode.start or episode.recorded_at))
    return flow / "episodes" / begins[:4] / begins[4:6] / f"{begins}-{episode.id}.md"


def stamp(when: datetime) -> str:
    """The time that begins the name of an episode's file, in UTC."""
    return utc_text(when).replace("-", "").replace(":", "")


def _instant(time: str) -> datetime:
    when = datetime.fromisoformat(time)
    try:
        return when.astimezone(UTC) if when.tzinfo else when.replace(tzinfo=UTC)
    except OverflowError:  # the first or last hours of the calendar
        return when.replace(tzinfo=UTC)


def turn_mapping(turn: Turn) -> dict[str, Any]:
    """A turn as a JSON mapping, without its text and without default values."""
    mapping: dict[str, Any] = {"key": turn.key, "speaker": turn.speaker, "role": turn.role}
    optional: dict[str, Any] = {
        "time": turn.time,
        "path": turn.path,
        "origin": turn.origin or None,
        "lines": [turn.line_start, turn.line_end],
        "id": turn.foreign_id,
        "trust": turn.trust,
        "heading": list(turn.heading) or None,
        "tool": None
        if turn.tool is None
        else {"name": turn.tool.name}
        | ({} if turn.tool.input is None else {"input": turn.tool.input})
        | ({"error": True} if turn.tool.error else {}),
    }
    return mapping | {key: value for key, value in optional.items() if value is not None}


def parse_turn(mapping: dict[str, Any], text: str) -> Turn:
    """Parse a turn from a mapping and its text."""
    try:
        lines = mapping.get("lines") or [0, 0]
        tool = mapping.get("tool")
        heading = mapping.get("heading") or []
        if not isinstance(heading, list):
            raise TypeError("heading must be a list")
        turn = Turn(
            key=str(mapping["key"]),
            speaker=str(mapping.get("speaker", "")),
            role=mapping.get("role", "user"),
            text=text,
            time=_optional_text(mapping, "time"),
            path=str(mapping.get("path", "-")),
            origin=str(mapping.get("origin", "")),
            line_start=int(lines[0]),
            line_end=int(lines[1]),
            foreign_id=_optional_text(mapping, "id"),
            trust=mapping.get("trust", "user"),
            heading=tuple(str(title) for title in heading),
            tool=None
            if tool is None
            else ToolCall(
                str(tool["name"]), _optional_text(tool, "input"), bool(tool.get("error"))
            ),
        )
    except (LookupError, TypeError, ValueError, OverflowError, AttributeError) as error:
        raise LineError(f"describes no turn ({type(error).__name__}: {error})") from None
    if _KEY.fullmatch(turn.key) is None:
        raise LineError(f"describes a turn whose key is not 12 hex digits ({turn.key[:80]!r})")
    if turn.role not in _ROLES or turn.trust not in _TRUSTS:
        raise LineError(f"describes a turn of unknown role or trust ({turn.role}, {turn.trust})")
    return turn


def _optional_text(mapping: dict[str, Any], name: str) -> str | None:
    value = mapping.get(name)
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, (int, float)):  # an id or a year in YAML that a person wrote
        return str(value)
    raise TypeError(f"{name} must be text")


def render(episode: Episode) -> bytes:
    """Render an episode file."""
    head: dict[str, Any] = {
        "id": episode.id,
        "session": episode.session,
        "start": episode.start,
        "end": episode.end,
        "recorded_at": episode.recorded_at,
        "participants": list(episode.participants),
        "trust": episode.trust,
        "document": episode.document,
        "previous": episode.previous,
        "continues": episode.continues,
        "capped": episode.capped or None,
    }
    rows = [turn_mapping(turn) for turn in episode.turns]
    if each := _shared(rows):
        head["each"] = each
        rows = [{key: row[key] for key in row if key not in each} for row in rows]
    lines = [f"{key}: {dump(value)}" for key, value in head.items() if value is not None]
    lines.append("turns:")
    lines += [f"- {dump(row)}" for row in rows]
    body = [f"{_heading(turn)}\n{_escape(turn.text)}\n" for turn in episode.turns]
    text = "---\n" + "\n".join(lines) + "\n---\n\n" + "\n".join(body)
    return replace_lone(text).encode()


def _shared(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """What several turns have in common, such as the path and trust of a note's blocks."""
    first, *others = rows
    return {
        key: value
        for key, value in first.items()
        if others and key != "key" and all(row.get(key) == value for row in others)
    }


def _heading(turn: Turn) -> str:
    words = [turn.speaker or " › ".join(turn.heading), (turn.time or "")[:16].replace("T", " ")]
    label = " · ".join(re.sub(r"[\x00-\x1f\x7f-\x9f\u2028\u2029^]", " ", w) for w in words if w)
    return f"### {label} ^{turn.key}".replace("###  ^", "### ^")


def _escape(text: str) -> str:
    if "### " not in text:
        return text
    return "\n".join("\\" + ln if _MARK.match(ln) else ln for ln in text.split("\n"))


def parse(data: bytes, path: Path) -> Episode:
    """Parse an episode file.

    Raises:
        DamagedStoreError: It is not valid; names the line if known.
    """
    text = data.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace")
    if text.startswith("---\r\n"):  # rewritten by an editor; otherwise a CRLF belongs to a turn
        text = text.replace("\r\n", "\n")
    try:
        raw, body, _ = front_matter.split(text, MAX_EPISODE)
        if raw is None:
            raise LineError("has no front matter (line 1)")
        head, rows = _parse_head(raw)
        texts = _parse_body(body)
        each = head.get("each") or {}
        if not isinstance(each, dict):
            raise LineError("has an 'each' that is no mapping")
        turns = tuple(parse_turn(each | row, texts.get(str(row.get("key")), "")) for row in rows)
        if not turns:
            raise LineError("has no turns")
        if not is_id(head["id"]):
            raise LineError("has an id that is none")
        if not isinstance(head.get("participants", []), list | None):
            raise LineError("has 'participants' that are no list")
        return Episode(
            id=head["id"],
            session=str(head["session"]),
            turns=turns,
            recorded_at=str(head["recorded_at"]),
            start=_optional_text(head, "start"),
            end=_optional_text(head, "end"),
            participants=tuple(str(name) for name in head.get("participants") or ()),
            trust=head.get("trust", "user") if head.get("trust") in _TRUSTS else "web",
            document=head.get("document"),
            previous=head.get("previous"),
            continues=head.get("continues"),
            capped=head.get("capped") is True,
        )
    except (LineError, TypeError) as error:
        raise DamagedStoreError(path, None, str(error)) from None
    except KeyError as error:
        raise DamagedStoreError(path, 1, f"front matter lacks {error}") from None


def _parse_head(raw: str) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Parse fields and rows of turns: clsm's own one-line form, or YAML that a person rewrote."""
    own, _, rows = raw.partition("turns:\n")
    lines = rows.removesuffix("\n").split("\n")
    if rows and all(line.startswith("- {") for line in lines):
        return front_matter.parse(own), [load(line[2:]) for line in lines]
    head = front_matter.parse(raw, _MAX_REWRITTEN)
    turns = head.get("turns")
    if not isinstance(turns, list) or not all(isinstance(row, dict) for row in turns):
        raise LineError("has front matter without a list of turns")
    return head, turns


def _parse_body(body: str) -> dict[str, str]:
    texts: dict[str, list[str]] = {}
    current: list[str] | None = None
    for line in body.split("\n"):
        if line.startswith("### ") and _MARK.match(line):
            current = texts.setdefault(line[-12:], [])
        elif current is not None:
            current.append(line[1:] if line.startswith("\\") and _MARK.match(line) else line)
    return {
        key: "\n".join(lines[:-1] if lines and not lines[-1] else lines)
        for key, lines in texts.items()
    }


def without_forgotten(episode: Episode, forgotten: frozenset[str]) -> Episode | None:
    """An episode without forgotten turns; None if it is forgotten itself or no turn is left.

    A forget leaves no such episode, but one may come from a clone that segmented on its own.
    """
    if not forgotten:
        return episode
    turns = tuple(turn for turn in episode.turns if not is_forgotten(turn.key, forgotten))
    if not turns or is_forgotten(episode.id, forgotten):
        return None
    if len(turns) == len(episode.turns):
        return episode
    return _with_turns(episode, turns)


def without_turns(episode: Episode, gone: Collection[str]) -> Episode | None:
    """An episode without some turns, under a new id; None if no turn is left.

    The id is ``e-`` + H("episode", key of the first remaining turn, old id).
    """
    turns = tuple(turn for turn in episode.turns if turn.key not in gone)
    if not turns:
        return None
    new_id = f"e-{digest('episode', turns[0].key, episode.id)}"
    return replace(_with_turns(episode, turns), id=new_id)


def _with_turns(episode: Episode, turns: tuple[Turn, ...]) -> Episode:
    times = sorted(turn.time for turn in turns if turn.time is not None)
    speakers = {turn.speaker for turn in turns}
    return replace(
        episode,
        turns=turns,
        start=times[0] if times else None,
        end=times[-1] if times else None,
        participants=tuple(name for name in episode.participants if name in speakers),
        trust=lowest_trust([turn.trust for turn in turns]),
    )


def files(flow: Path) -> Iterator[Path]:
    """The episode files of a flow folder, in order of year, month and name."""
    for folder, names, found in os.walk(flow / "episodes"):
        names.sort()
        for name in sorted(found):
            if name.endswith(".md") and name[0] != "." and not is_conflict_copy(name):
                yield Path(folder, name)


def all_files(store: Store) -> Iterator[Path]:
    """The episode files of all machines."""
    return (path for flow in store.flows() for path in files(flow))


def readable(store: Store) -> Iterator[tuple[Path, Episode]]:
    """The readable episodes of all machines with their files; the index reports the others."""
    for path in all_files(store):
        try:
            episode = read(path)
        except DamagedStoreError:
            continue
        yield path, episode


def read(path: Path) -> Episode:
    """Read an episode file; DamagedStoreError if it is missing or not valid."""
    data = atomic.read(path, MAX_EPISODE)
    if data is None:
        raise DamagedStoreError(path, None, "is missing")
    return parse(data, path)
