"""Random lives in which strangers speak too: what they said is never believed, whoever else said what.

``CLSM_EXAMPLES=1000 pytest tests/properties/test_taint.py`` for the long run. Two devices share one
store; people, the agent, tools and pages tell much the same in turn; then the store sleeps, is
corrected, fades, forgets and takes back. Every name that only a stranger used is marked, so that it
is known wherever it comes out.
"""

import json
import os
import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from ingesting import embedder, new_store, opened, take
from sleeping import sleep
from strategies import examples
from tables import column

from clsm_cli.consolidation import claims
from clsm_cli.consolidation.statement_selection import UnitScores
from clsm_cli.curation.correction import correct
from clsm_cli.errors import BadInputError, RefusedError
from clsm_cli.forgetting import clean_writing, erasure, selection
from clsm_cli.forgetting.archiving import decay
from clsm_cli.forgetting.run_reversal import undo
from clsm_cli.forgetting.selection import ForgetRequest
from clsm_cli.model.episodes import TRUST_ROLE, EpisodeRecord, lowest_trust
from clsm_cli.model.graph import Edge, Node, Statement
from clsm_cli.model.trust import TRUST_ORDER, UNTRUSTED
from clsm_cli.retrieval import briefing
from clsm_cli.store.layout import Store

DEVICES = ("desk", "pi")
MARK = "zorvex"
"""Part of every name that only strangers use."""
OWN = ("Heron", "Lantern", "Willow")
STRANGE = ("Zorvexa", "Zorvexine")
SHAPES = column(__file__, "shapes")
SPEAKERS = ("user", "assistant", "tool", "web")
TOOLS = {"tool": "exec", "web": "web_fetch"}
NOTES = {
    "USER.md": "",
    "MEMORY.md": "",
    "page.md": "---\ntrust: web\n---\n",
    "out.md": "---\ntrust: tool\n---\n",
}


class Taint(RuleBasedStateMachine):
    """A store that two devices write, told by friends and strangers."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(mkdtemp(prefix="clsm-"))
        self.now = datetime(2026, 3, 1, 12, tzinfo=UTC)
        self.stores: dict[str, Store] = {}
        self.number = 0

    def teardown(self) -> None:
        shutil.rmtree(self.folder)

    @initialize()
    def begin(self) -> None:
        root = self.folder / "memory"
        new_store(root)
        for device in DEVICES:
            self.stores[device] = opened(root, device)

    @rule(
        device=st.sampled_from(DEVICES),
        said=st.lists(
            st.tuples(
                st.sampled_from(SPEAKERS),
                st.sampled_from(SHAPES),
                st.sampled_from((*OWN, *STRANGE)),
            ),
            min_size=1,
            max_size=4,
        ),
    )
    def tell(self, device: str, said: list[tuple[str, str, str]]) -> None:
        """A conversation with tools; only strangers use a strange name."""
        self.number += 1
        rows: list[dict[str, Any]] = []
        for speaker, shape, name in said:
            is_strange = speaker in TOOLS
            known = name if is_strange or name in OWN else OWN[0]
            row = {"session": f"s{self.number}", "time": self._tick(minutes=1)}
            row |= {"text": shape.format(name=known), "role": "tool" if is_strange else speaker}
            call = {"tool": {"name": TOOLS[speaker], "input": "{}"}} if is_strange else {}
            rows.append(row | call | ({"speaker": "Mara"} if speaker == "user" else {}))
        rows.append({"session": f"s{self.number}", "end": True, "time": self._tick()})
        data = "".join(json.dumps(row) + "\n" for row in rows).encode()
        take(self.stores[device], stdin=data, now=self._tick())

    @rule(
        device=st.sampled_from(DEVICES),
        note=st.sampled_from(sorted(NOTES)),
        shape=st.sampled_from(SHAPES),
        name=st.sampled_from((*OWN, *STRANGE)),
    )
    def write(self, device: str, note: str, shape: str, name: str) -> None:
        """A note of a person, of the agent, or a page that was kept."""
        known = name if NOTES[note] or name in OWN else OWN[0]
        folder = self.folder / "notes"
        folder.mkdir(exist_ok=True)
        text = f"{NOTES[note]}# {known}\n\n- {shape.format(name=known)}\n"
        (folder / note).write_text(text, encoding="utf-8")
        take(self.stores[device], folder / note, now=self._tick())

    @rule(device=st.sampled_from(DEVICES), rebuild=st.booleans())
    def consolidate(self, device: str, *, rebuild: bool) -> None:
        sleep(self.stores[device], self._tick(), allow_loss=True, rebuild=rebuild)

    @rule(device=st.sampled_from(DEVICES), data=st.data())
    def put_right(self, device: str, data: Any) -> None:
        """A person says what is true instead."""
        store = self.stores[device]
        rows = [i for i, row in sorted(self._statements().items()) if row.is_current]
        if rows:
            wanted, said = data.draw(st.sampled_from(rows)), "Mara lives in Heron Street."
            try:
                correct(store, wanted, said, self._moment(), lambda _: None)
            except BadInputError:
                return  # a gist, for one, is not corrected

    @rule(device=st.sampled_from(DEVICES), redo=st.booleans())
    def take_back(self, device: str, *, redo: bool) -> None:
        try:
            undo(self.stores[device], None, self._moment(), lambda _: None, redo=redo)
        except (BadInputError, RefusedError):
            return

    @rule(device=st.sampled_from(DEVICES), days=st.integers(1, 900))
    def fade(self, device: str, days: int) -> None:
        self.now += timedelta(days)
        decay(self.stores[device], self._moment(), explicit=True)

    @rule(device=st.sampled_from(DEVICES), data=st.data())
    def lose(self, device: str, data: Any) -> None:
        """Forget a conversation."""
        held = selection.read_store(self.stores[device], self._tick()).turns
        if held:
            session = data.draw(st.sampled_from(sorted({t.session for t in held.values()})))
            now = self._moment()
            wanted = ForgetRequest(session=session)
            planned = erasure.plan(self.stores[device], wanted, now, embedder(), lambda *_: None)
            assert planned is not None
            clean_writing.apply(self.stores[device], planned, now, embedder())

    @invariant()
    def nothing_strange_is_believed(self) -> None:
        if not self.stores:
            return
        store = self.stores["desk"]
        held = selection.read_store(store, self.now.isoformat())
        trust = {key: told.turn.trust for key, told in held.turns.items()}
        strange = {key for key, whose in trust.items() if whose in UNTRUSTED}
        for row in held.statements.values():
            assert MARK not in repr(row).lower(), row
            known = [trust[key] for key in row.sources if key in trust]
            if not row.pinned and known:  # a person may pin what they like
                assert row.trust not in ("user", "agent") or not strange & {*row.sources}, row
                assert lowest_trust([row.trust, *known]) == row.trust, row
            if row.stream == "identity":
                assert not strange & {*row.sources}, row
        for record in held.records.values():
            if isinstance(record, (Node, Edge)):
                assert MARK not in repr(record).lower(), record
                assert not strange & {*record.sources}, record
            if isinstance(record, EpisodeRecord) and record.stage == "consolidated":
                assert not strange & {k for keys in record.mentions.values() for k in keys}, record
                assert not strange & {q.answered_by for q in record.open_questions}, record
        for path in (
            p for s in ("identity", "projects", "tasks") for p in (store.root / s).rglob("*")
        ):
            assert path.is_dir() or MARK not in path.read_text(encoding="utf-8").lower(), path

    @invariant()
    def no_session_begins_with_it(self) -> None:
        if self.stores:
            found = briefing.brief(self.stores["desk"], self.now, 20_000)
            read = [item.text for section in found.sections for item in section.items]
            assert not [text for text in read if MARK in text.lower()]

    def _statements(self) -> dict[str, Statement]:
        return selection.read_store(self.stores["desk"], self.now.isoformat()).statements

    def _moment(self) -> datetime:
        self._tick()
        return self.now

    def _tick(self, minutes: int = 360) -> str:
        self.now += timedelta(minutes=minutes)
        return self.now.isoformat()


TestTaint = Taint.TestCase
TestTaint.settings = settings(
    examples(4), max_examples=int(os.environ.get("CLSM_EXAMPLES", "4")), stateful_step_count=10
)


def test_a_night_that_believes_everybody_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """Positive control: a page counts as what the agent wrote."""
    monkeypatch.setitem(TRUST_ROLE, "web", "assistant")
    monkeypatch.setattr(claims, "TRUSTED", TRUST_ORDER)
    monkeypatch.setattr(UnitScores, "verdict", lambda *_: "kept")
    machine = Taint()
    try:
        machine.begin()
        machine.write("desk", "page.md", SHAPES[0], STRANGE[0])
        machine.nothing_strange_is_believed()
        machine.consolidate("desk", rebuild=False)
        with pytest.raises(AssertionError, match="Zorvexa Lane"):
            machine.nothing_strange_is_believed()
    finally:
        machine.teardown()
