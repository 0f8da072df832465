"""The adviser of a run: a language model or a file of answers.

It never sees tool output or web pages. Over an endpoint, each episode is one packet, answered at once; the
checks are the same as for a file (``adviser_proposals``).
"""

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from datetime import tzinfo
from itertools import chain
from typing import Any

from clsm_cli.consolidation import adviser_packet
from clsm_cli.consolidation.adviser_packet import Part
from clsm_cli.consolidation.adviser_proposals import CheckedPart, Relation
from clsm_cli.consolidation.claims import Claim
from clsm_cli.consolidation.consolidation_report import Refused, Report, Request
from clsm_cli.consolidation.edges import RelationKey
from clsm_cli.heads.judge import Meanings
from clsm_cli.integrations.llm import Llm, LlmError
from clsm_cli.model.graph import Statement
from clsm_cli.text.node_ids import node_id


class Adviser:
    """Asks the adviser, or reads its answer.

    Attributes:
        replaced: Ids of statements that it ends → the claims that replace them.
    """

    def __init__(
        self, request: Request, meanings: Meanings | None, zone: tzinfo, report: Report
    ) -> None:
        self._meanings, self._zone = meanings, zone
        self._report = report
        self._answer = request.answer
        self._unread = set(request.answer.parts if request.answer else ())
        self._llm: Llm | None = None
        self._entries: dict[str, dict[str, Any]] = {}
        self._relations: dict[str, list[tuple[str, Relation]]] = {}
        self.replaced: dict[str, Claim] = {}
        if self._answer is not None:
            self._entries = self._answer.parts
            report.is_answered = True
            report.refused += self._answer.refused
        elif request.llm.enabled:
            try:
                self._llm = Llm(request.llm, request.llm_key)
            except LlmError as error:
                self._fail(error)

    @property
    def is_available(self) -> bool:
        """Whether there is a language model or an answer to use."""
        return self._llm is not None or self._answer is not None

    def claims(
        self,
        found: Sequence[Part],
        by_rules: Sequence[Claim],
        known: Sequence[Statement],
        rows: Mapping[str, Statement],
    ) -> list[Claim]:
        """The claims of an episode, given its parts: those of the rules and those that the adviser adds.

        A claim of the rules is only removed if the adviser rewords it or drops it by its id.
        """
        if self._llm is not None:
            self._ask_about(self._llm, found, known)
        kept = list(by_rules)
        advised: list[Claim] = []
        for part in found:
            entry = self._entries.get(part.handle)
            if entry is None:
                continue
            self._unread.discard(part.handle)
            checked = CheckedPart(entry, part, rows, self._meanings, self._zone)
            self._report.refused += checked.refused
            self._report.advised += len(checked.claims) + len(checked.relations)
            self._report.dropped += len(checked.removed_drafts)
            relations = self._relations.setdefault(part.episode.id, [])
            relations += ((part.handle, each) for each in checked.relations)
            gone = {
                (each.turn, each.text) for each in part.drafts if each.id in checked.removed_drafts
            }
            kept = [e for e in kept if e.kind == "task" or (e.sources[0], e.text) not in gone]
            advised += checked.claims
            self.replaced |= checked.replaced
        return kept + advised

    def relations(
        self, episodes: Iterable[str], node_of: Callable[[str], str], nodes: Container[str]
    ) -> dict[RelationKey, set[str]]:
        """Relations that the adviser found in episodes, of two nodes: relation → turns."""
        found: dict[RelationKey, set[str]] = {}
        for handle, each in chain.from_iterable(self._relations.get(i, ()) for i in episodes):
            a, b = (node_of(node_id(name)) for name in (each.source, each.target))
            if a in nodes and b in nodes and a != b:
                found.setdefault((a, each.type, b, True), set()).update(each.turns)
            else:
                proposal = f"{each.source} {each.type} {each.target}"
                reason = "it does not name two things that the graph knows"
                self._report.refused.append(Refused(handle, proposal, reason))
                self._report.advised -= 1
        return found

    def finish(self, episodes: Container[str]) -> None:
        """Report the usage, and parts of the answer that no episode has: forgotten, or changed."""
        if self._llm is not None:
            self._report.usage = dict(self._llm.usage._asdict())
        for handle in sorted(self._unread):
            is_there = handle.partition(".")[0] in episodes
            reason = "its episode has changed since it was asked about"
            reason = reason if is_there else "this memory has no such episode"
            called = adviser_packet.one_line(handle, 80)
            self._report.refused.append(Refused(called, "all of it", reason))

    def _ask_about(self, llm: Llm, found: Sequence[Part], known: Sequence[Statement]) -> None:
        """Ask about the parts of an episode, as many at a time as fit a packet."""
        left = list(found)
        while left:
            chosen = adviser_packet.first_parts(left, adviser_packet.BUDGET) or left[:1]
            del left[: len(chosen)]
            question = adviser_packet.render_question(chosen, known)
            try:
                answer = llm.ask(adviser_packet.TASK, question, adviser_packet.SCHEMA, "answer")
            except LlmError as error:
                self._fail(error)
            else:
                self._entries |= {entry["part"]: entry for entry in answer["parts"]}

    def _fail(self, error: Exception) -> None:
        warning = f"{error}; the rules decided instead"
        if warning not in self._report.warnings:
            self._report.warnings.append(warning)
