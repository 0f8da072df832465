"""A week of three agents on one memory: ``cd tests && python -m end_to_end.week``.

Every five minutes a heartbeat reads what is going on; some turns a day each agent, at once, recalls
before a turn, runs ``clsm`` itself, and has the turn written down after it, as the OpenClaw plugin
does; OpenClaw's transcripts are written beside it, and every night ``clsm schedule run --catch-up``
reads them again, consolidates and decays. Real processes, and a clock that is told to them. Some
turns are never written down by a hook, as if the gateway had been killed: the night brings them.
"""

import argparse
import json
import random
import sys
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from processes import Cli, environment
from scheduling import in_forks

from clsm_cli.embedding import download, weights
from clsm_cli.store import episode_files, inbox
from clsm_cli.store.layout import open_store

BEGIN = datetime(2026, 3, 2, 7, 0, tzinfo=UTC)
STEP = timedelta(minutes=5)
HEARTBEATS = 288
AGENTS = ("main", "research", "home")
LOST = 10
"""One turn in so many is written down by no hook."""
_WHO = ("Mara", "Yusuf", "Lotte", "Henk", "Noor", "Tomas", "Priya", "Corrie")
_WHAT = (
    "moved the meeting about {thing} to the {day}th",
    "wants {thing} to be ready by the {day}th",
    "paid {number} euro for {thing}",
    "found {thing} in the shed after {number} days",
    "no longer looks after {thing}, it costs {number} hours a week",
)
_THINGS = ("the gauge", "the barge", "the lantern", "the quiz", "the backup", "the essay")


@dataclass
class Agent:
    """One of them: its transcript, and what it has said so far."""

    name: str
    folder: Path
    random: random.Random
    said: list[tuple[str, str]] = field(default_factory=list)
    calls: int = 0

    @property
    def session(self) -> str:
        return f"session-{self.name}"

    def turn(self, at: datetime) -> tuple[str, str]:
        """What a person tells it, and what it answers; never the same twice."""
        fact = self.random.choice(_WHAT).format(
            thing=self.random.choice(_THINGS),
            day=self.random.randint(4, 28),
            number=self.random.randint(2, 900),
        )
        asked = f"{self.random.choice(_WHO)} {fact}, as of {at:%A %H:%M}."
        return asked, f"Noted for {self.name} at {at:%d %B %H:%M}."

    def write(self, rows: list[dict[str, Any]]) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        path = self.folder / f"{self.session}.jsonl"
        with path.open("a") as out:
            if out.tell() == 0:
                out.write(json.dumps({"type": "session", "version": 3, "id": self.session}) + "\n")
            for row in rows:
                out.write(json.dumps({"type": "message", "message": row}) + "\n")


@dataclass
class Week:
    """What is simulated, and what was counted."""

    cli: Cli
    turns: int
    agents: list[Agent]
    heartbeats: int = 0
    sizes: list[int] = field(default_factory=list)
    told: list[int] = field(default_factory=list)

    def day(self, number: int, heartbeats: int, pool: ThreadPoolExecutor) -> None:
        """One day, and the night behind it."""
        begin = BEGIN + timedelta(days=number)
        at = {round((n + 1) * heartbeats / (self.turns + 1)) for n in range(self.turns)}
        for beat in range(heartbeats):
            now = begin + beat * STEP
            read = ("context", "--format", "prompt", "--budget", "300")
            self.cli.ok(*read, "--now", f"{now:%FT%TZ}")
            self.heartbeats += 1
            if beat in at:
                list(pool.map(lambda agent, now=now: self._speak(agent, now), self.agents))
        night = (begin + timedelta(days=1)).replace(hour=3, minute=30)
        done = self.cli.ok("schedule", "run", "--catch-up", "--json", "--now", f"{night:%FT%TZ}")
        assert [step["code"] for step in done.json["steps"]] == [0, 0, 0], done.json
        self.sizes.append(_size(self.cli.store))
        self.told.append(sum(len(text) for agent in self.agents for _, text in agent.said))

    def _speak(self, agent: Agent, now: datetime) -> None:
        """One turn of an agent: recalled for, answered with a call of clsm, written down."""
        asked, answered = agent.turn(now)
        options = ("--gate", "--format", "prompt", "--budget", "500", "--now", f"{now:%FT%TZ}")
        block = self.cli.ok("recall", *options, "--", asked).out
        agent.calls += 1
        call = f"call_{agent.calls}"
        stamp = int(now.timestamp() * 1000)
        rows: list[dict[str, Any]] = [
            {"role": "user", "content": f"{block}\n{asked}" if block else asked},
            {"role": "assistant", "content": [{"type": "toolCall", "id": call, "name": "exec",
                                               "arguments": {"command": "clsm recall the gauge"}}]},
            {"role": "toolResult", "toolCallId": call, "toolName": "exec",
             "content": [{"type": "text", "text": block or "1. notes"}]},
            {"role": "assistant", "content": [{"type": "text", "text": answered}]},
        ]  # fmt: skip
        rows = [{**row, "timestamp": stamp + 1000 * place} for place, row in enumerate(rows)]
        agent.write(rows)
        agent.said += [("user", asked), ("assistant", answered)]
        if agent.random.randrange(LOST):
            told = "".join(json.dumps(row) + "\n" for row in rows).encode()
            capture = ("--capture", "--format", "openclaw", "--session", agent.session)
            self.cli.ok("ingest", *capture, "--", "-", stdin=told)

    def wrong(self) -> list[str]:
        kept = Counter(self._kept())
        said = Counter(
            (agent.session, speaker, text) for agent in self.agents for speaker, text in agent.said
        )
        found = [f"lost: {turn}" for turn in said - kept]
        found += [f"twice, or never said: {turn}" for turn in kept - said]
        lines = Counter(self._statements())
        found += [f"the same memory twice: {line}" for line, count in lines.items() if count > 1]
        return found

    def growth(self) -> float:
        """Bytes of the store a character said on the last day, against the first days."""
        half = max(1, len(self.sizes) // 2)
        early = self.sizes[half - 1] / self.told[half - 1]
        late = (self.sizes[-1] - self.sizes[half - 1]) / (self.told[-1] - self.told[half - 1] or 1)
        return late / early

    def _kept(self) -> list[tuple[str, str, str]]:
        store = open_store(self.cli.store, dict(self.cli.environment))
        turns = [
            (episode.session or "", turn.speaker, turn.text)
            for flow in store.flows()
            for path in episode_files.files(flow)
            for episode in [episode_files.read(path)]
            for turn in episode.turns
        ]
        waiting = [item for path in inbox.files(store.inbox) for item in inbox.read(path).turns]
        return turns + [(item.session, item.turn.speaker, item.turn.text) for item in waiting]

    def _statements(self) -> list[str]:
        streams = ("identity", "projects", "tasks")
        paths = [path for stream in streams for path in self.cli.store.glob(f"{stream}/*.md")]
        lines = [line for path in paths for line in path.read_text().splitlines()]
        return [line.strip() for line in lines if line.startswith("- ")]


def simulate(folder: Path, model: Path, *, days: int, heartbeats: int, turns: int) -> Week:
    """Live through some days.

    Args:
        folder: Of the home and the memory.
        model: The folder of the embedding model.
        days: How many.
        heartbeats: Of a day.
        turns: Of each agent a day.
    """
    desk = folder / "home" / "desk"
    desk.mkdir(parents=True)
    values = {**environment(folder / "home", model), "TZ": "UTC"}
    cli = in_forks(Cli(desk, {**values, "CLSM_STORE": str(desk / "memory")}))
    cli.ok("init")
    agents = [
        Agent(
            name, folder / "home" / ".openclaw" / "agents" / name / "sessions", random.Random(name)
        )
        for name in AGENTS
    ]
    week = Week(cli, turns, agents)
    with ThreadPoolExecutor(len(agents)) as pool:
        for number in range(days):
            week.day(number, heartbeats, pool)
    return week


def _size(store: Path) -> int:
    """Bytes of what is kept; not of what can be worked out again."""
    paths = [path for path in store.rglob("*") if path.is_file() and ".clsm" not in path.parts]
    return sum(path.stat().st_size for path in paths)


def main() -> int:
    """A whole week, told in a line each day."""
    parser = argparse.ArgumentParser(description=__doc__, prog="python -m end_to_end.week")
    parser.add_argument("--days", type=int, default=7)
    parser.add_argument("--heartbeats", type=int, default=HEARTBEATS)
    parser.add_argument("--turns", type=int, default=12)
    given = parser.parse_args()
    model = weights.default_folder()
    download.install(model)
    with tempfile.TemporaryDirectory(prefix="week-") as scratch:
        week = simulate(Path(scratch), model, **vars(given))
        wrong = week.wrong()
        for number, (size, told) in enumerate(zip(week.sizes, week.told, strict=True), 1):
            sys.stdout.write(f"day {number}: {told:,} characters said, {size:,} bytes kept\n")
    said = sum(len(agent.said) for agent in week.agents)
    sys.stdout.write(
        f"{week.heartbeats:,} heartbeats, {len(week.sizes)} nights, {len(AGENTS)} agents, {said:,}"
        f" messages said: {len(wrong)} lost, twice or taken from clsm itself; growth in the second"
        f" half {week.growth():.2f} of that in the first\n"
    )
    sys.stdout.writelines(f"  {text}\n" for text in wrong[:20])
    return min(1, len(wrong))


if __name__ == "__main__":
    sys.exit(main())
