"""What the tools and resources of ``clsm mcp`` do: the use cases of the commands, without Typer.

Each gives the JSON object of the command's ``--json`` and the text that a model reads. Recalled text
is sealed (``text.fence``): it is data, and ingest knows it again when it comes back.
"""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING, Any

from clsm_cli.commands import (
    advise,
    engine,
    fence_key,
    render_context,
    render_history,
    render_prompt,
    render_recall,
    run_context,
    run_recall,
)
from clsm_cli.commands.engine import QueryEngine
from clsm_cli.commands.feedback import given_lines, given_mapping
from clsm_cli.commands.history import view_of
from clsm_cli.commands.note import noted_lines, noted_mapping
from clsm_cli.commands.render_consolidate import consolidate_lines, consolidate_mapping
from clsm_cli.commands.runtime import UsageError, chosen_store, current_time
from clsm_cli.commands.show import found_lines, found_mapping
from clsm_cli.config import MAX_MESSAGE
from clsm_cli.consolidation import asking, proposals
from clsm_cli.consolidation.packet import BUDGET
from clsm_cli.consolidation.report import Request
from clsm_cli.errors import BadInputError
from clsm_cli.model.ids import digest
from clsm_cli.records import NamedTuple
from clsm_cli.text.fence import seal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from clsm_cli.commands.output import Printer
    from clsm_cli.inspection.streams import Entry
    from clsm_cli.model.graph import Statement
    from clsm_cli.model.streams import Stream

_BOXES = {"open": "[ ] ", "done": "[x] ", "blocked": "[!] "}


class Told(NamedTuple):
    """An answer.

    Attributes:
        mapping: The JSON object that the command prints with ``--json``.
        text: What a model reads.
    """

    mapping: dict[str, Any]
    text: str


class WarmEngine(QueryEngine):
    """A query engine that stays open once it could be opened."""

    def __init__(self) -> None:
        super().__init__()
        self._is_open = False

    def open(self) -> None:
        """Load the model, once; see ``QueryEngine.open``."""
        if not self._is_open:
            super().open()
            self._is_open = True


class Calls:
    """One store, asked again and again.

    The store is opened anew for every call, since another process may write to it, or remove it, at
    any time. Only the model stays; one question at a time uses it.

    Args:
        store: As ``--store`` has it.
        printer: Told warnings.
    """

    def __init__(self, store: str | None, printer: Printer) -> None:
        self._store = store
        self._printer = printer
        self._engine = WarmEngine()
        self._one_at_a_time = Lock()

    def recall(self, options: run_recall.Options) -> Told:
        """Find what is held about something; see ``clsm recall``."""
        options = options._replace(store=self._store)
        with self._one_at_a_time:
            found = run_recall.answer(options, self._printer, self._engine)
        mapping = render_recall.answer_mapping(found)
        if not found.answered:
            return Told(mapping, run_recall.why_empty(found))
        return Told(mapping, "\n".join(render_prompt.prompt_lines(found, self._key())))

    def context(self, options: run_context.Options) -> Told:
        """What to read at the start; see ``clsm context``."""
        options = options._replace(store=self._store)
        with self._one_at_a_time:
            found = run_context.briefing(options, self._printer, self._engine)
        mapping = render_context.context_mapping(found)
        if found.is_empty:
            return Told(mapping, run_context.why_empty(found))
        return Told(mapping, "\n".join(render_context.prompt_lines(found, self._key())))

    def show(self, wanted: str) -> Told:
        """One thing by its id; see ``clsm show``."""
        from clsm_cli.inspection.lookup import look_up

        store = chosen_store(self._store)
        found = look_up(store, wanted)
        return Told(found_mapping(found), self.sealed(list(found_lines(found, store.zone))))

    def history(self, names: Sequence[str], as_of: str | None, known_at: str | None) -> Told:
        """Every version of what is held; see ``clsm history``."""
        from clsm_cli.inspection import history

        if not names or not all(map(str.strip, names)):
            raise UsageError("--subjects", "is empty; name what you want to know of")
        store = chosen_store(self._store)
        view = view_of(current_time(None, store.zone), store.zone, as_of, known_at)
        found = history.history(store, list(names), view)
        mapping = render_history.mapping(found, view)
        lines = render_history.lines(found, store.zone)
        return Told(mapping, self.sealed(lines) if lines else "nothing is held of it")

    def note(self, text: str) -> Told:
        """Remember one thing; see ``clsm note``. It is the agent that says it."""
        from clsm_cli.ingestion.note import write_note

        if len(text.encode()) > MAX_MESSAGE:
            reason = f"is longer than {MAX_MESSAGE} bytes"
            raise BadInputError("the note", reason, "write down what matters of it")
        store = chosen_store(self._store)
        key = fence_key.reader(self._printer.warn)
        now = current_time(None, store.zone)
        noted = write_note(store, text, now, by="agent", fence_key=key)
        masked = [f"{count} masked ({kind})" for kind, count in sorted(noted.masked.items())]
        lines = [*noted_lines(noted, dry_run=False), *masked]
        return Told(noted_mapping(noted, dry_run=False), "\n".join(lines))

    def feedback(self, recall: str, good: Sequence[str], bad: Sequence[str]) -> Told:
        """Say which items were good; see ``clsm feedback``."""
        from clsm_cli.retrieval import judgements

        if not good and not bad:
            raise UsageError("--good", "name at least one item, in good or in bad")
        store = chosen_store(self._store)
        done = judgements.give(store, recall, good, bad, current_time(None, store.zone))
        lines = given_lines(done, dry_run=False)
        return Told(given_mapping(done, dry_run=False), "\n".join(lines))

    def packet(self, budget: int | None) -> Told:
        """What an adviser may answer; see ``clsm consolidate --ask``."""
        store = chosen_store(self._store)
        request = Request(now=current_time(None, store.zone))
        with self._one_at_a_time:
            found = asking.ask(
                store, request, budget or BUDGET, engine.embedder(), self._printer.progress
            )
        return Told(advise.mapping(found), found.text or advise.told(found))

    def answer(self, value: Any) -> Told:
        """Take an adviser's answer; see ``clsm consolidate --answer``."""
        from clsm_cli.consolidation.consolidate import consolidate
        from clsm_cli.retrieval import briefing

        answer = proposals.of_value(value, "the answer")
        store = chosen_store(self._store)
        request = Request(now=current_time(None, store.zone), answer=answer)
        with self._one_at_a_time:
            report = consolidate(store, request, engine.embedder(), self._printer.progress)
            briefing.prepare(store)
        self._printer.warn_all(report.warnings)
        lines = consolidate_lines(report, verbose=False)
        return Told(consolidate_mapping(report), "\n".join(lines))

    def entries(self) -> list[Entry]:
        """What can be read whole."""
        from clsm_cli.inspection import streams

        return streams.entries(chosen_store(self._store))

    def topic(self, stream: Stream, name: str) -> str:
        """What holds now of a topic, sealed."""
        from clsm_cli.inspection import streams

        found = streams.topic(chosen_store(self._store), stream, name)
        return self.sealed([f"# {name}", *map(_statement_line, found)])

    def sealed(self, lines: Sequence[str]) -> str:
        """Lines as a block that is known again; a title, too, is something that was said."""
        body = [render_prompt.ABOUT, *lines]
        return "\n".join(seal(f"s-{digest(*body)}", body, self._key()))

    def _key(self) -> bytes | None:
        return fence_key.obtain(self._printer.warn)


def _statement_line(statement: Statement) -> str:
    """Trust, since when, and the sentence; what a tool or a page said is quoted."""
    mark = "" if statement.trust in render_prompt.TRUSTED else "> "
    since = (statement.valid_from or statement.recorded_at or "undated")[:10]
    text = " ".join(statement.text.split())
    box = _BOXES.get(statement.state or "", "")
    due = f" (due {statement.due})" if statement.due else ""
    return f"- (trust {statement.trust}, {since}, {statement.id}) {mark}{box}{text}{due}"
