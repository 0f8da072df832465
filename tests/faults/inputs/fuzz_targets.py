"""What is fuzzed: every reader and every reading of text, as a function of bytes.

A target may raise what its reader promises to raise, and nothing else; where it has a law (what is
written is read the same, masking twice is masking once) it asserts it.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime
from functools import cache
from pathlib import Path
from typing import Any

_PATH = Path("projects/graph/3.yaml")
_NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
_DAY = date(2026, 3, 1)


def _shard(data: bytes) -> None:
    from clsm_cli.store import shards

    found = shards.fold([shards.parse(data, _PATH)]).records
    again = shards.parse(shards.render(found.values()), _PATH)
    assert not again.problems
    assert {record.id: record for record in again.records} == found


def _yaml(data: bytes) -> None:
    from clsm_cli.store import yaml_text
    from clsm_cli.store.jsonlines import LineError, dump, load

    try:
        value = yaml_text.load(data.decode(errors="replace"), 1 << 16)
    except LineError:
        return
    assert load(dump(value)) == value


def _front_matter(data: bytes) -> None:
    from clsm_cli.store import front_matter
    from clsm_cli.store.jsonlines import LineError

    text = data.decode(errors="replace")
    for each in (text, f"---\n{text}\n---\n\nbody\n"):
        try:
            raw, body, lines = front_matter.split(each)
            assert body in each
            assert lines == each.count("\n", 0, len(each) - len(body))
            front_matter.parse(raw or "")
        except LineError:
            continue


def _json(data: bytes) -> None:
    from clsm_cli.store.jsonlines import LineError, dump, load, without_surrogates

    try:
        value = without_surrogates(load(data.decode(errors="replace")))
    except LineError:
        return
    line = dump(value)
    assert "\n" not in line
    assert load(line) == value
    line.encode()


def _topic(data: bytes) -> None:
    from clsm_cli.store import topics

    topics.parse(data, Path("projects/x.md"))


def _episode(data: bytes) -> None:
    from clsm_cli.errors import DamagedStoreError
    from clsm_cli.store import episodes

    try:
        episode = episodes.parse(data, Path("e.md"))
    except DamagedStoreError:
        return
    again = episodes.parse(episodes.render(episode), Path("e.md"))
    assert [turn.key for turn in again.turns] == [turn.key for turn in episode.turns]


def _labels(data: bytes) -> None:
    from clsm_cli.errors import BadInputError
    from clsm_cli.store import labels

    try:
        labels.parse(labels.decode(data, "q.yaml"), "q.yaml")
    except BadInputError:
        return


def _ontology(data: bytes) -> None:
    from clsm_cli.store import yaml_text
    from clsm_cli.store.jsonlines import LineError
    from clsm_cli.text.tagging import OntologyError, parse

    try:
        parse(yaml_text.load(data.decode(errors="replace"), 1 << 16))
    except (LineError, OntologyError):
        return


def _markdown(data: bytes) -> None:
    from clsm_cli.ingestion import markdown
    from clsm_cli.ingestion.jsonl_rows import Problem
    from clsm_cli.ingestion.turns import Masker, turn_from_block

    found = markdown.read(data, path="memory/2026-02-24.md", zone=UTC)
    if isinstance(found, Problem):
        return
    mask = Masker()
    last = len(data.split(b"\n"))
    for block in found.blocks:
        assert 1 <= block.line_start <= block.line_end <= last
        turn_from_block(block, "x", "x", found.trust, mask).text.encode()


def _transcript(data: bytes) -> None:
    from clsm_cli.ingestion import detection, readers
    from clsm_cli.ingestion.jsonl_rows import RawTurn, Reading, bounded_lines
    from clsm_cli.ingestion.turns import Masker, turn_from_message
    from clsm_cli.store.inbox import CapturedTurn, render

    detection.detect(data)
    mask = Masker()
    for form in ("jsonl", "openclaw"):
        lines = bounded_lines(io.BytesIO(data), 4096)
        about = Reading("x", UTC, _NOW, "s")
        for raw in map(mask.mask_names, readers.items_of(form, lines, about)):
            if isinstance(raw, RawTurn):
                turn = turn_from_message(raw, "x", mask)
                assert b"\n" not in render(
                    [CapturedTurn(raw.session, turn, "2026-03-01T12:00:00Z")]
                )


def _batch(data: bytes) -> None:
    from clsm_cli.commands import recall_command

    for line in data.split(b"\n"):
        row = recall_command._row(line, 1, "x", 4000)
        row.query.encode()


def _text(data: bytes) -> str:
    from clsm_cli.ingestion.turns import clean

    return clean(data.decode(errors="replace"))


def _secrets(data: bytes) -> None:
    from clsm_cli.text.secrets import mask

    once = mask(_text(data)).text
    again = mask(once)
    assert again.text == once
    assert not again.counts


def _terminal(data: bytes) -> None:
    from clsm_cli.text.terminal import safe, safe_json

    text = data.decode("utf-8", "surrogateescape")
    for shown in (safe(text), safe_json(text)):
        assert not any(ord(c) < 0xA0 and not 31 < ord(c) < 0x7F and c not in "\n\t" for c in shown)
        shown.encode()


def _times(data: bytes) -> None:
    from clsm_cli.ingestion.timestamps import instant, normalise
    from clsm_cli.text import todo
    from clsm_cli.text.time import expressions

    text = _text(data)
    for found in (
        *expressions.find_expressions(text, _DAY),
        *expressions.find_expressions(text, _NOW, asked=True),
    ):
        assert 0 <= found.start <= found.end <= len(text)
    expressions.absolutise(text, _DAY)
    todo.todos(text, _DAY)
    told = normalise(text, UTC)
    if told:
        instant(told)
        assert normalise(told, UTC) == told


def _sentences(data: bytes) -> None:
    from clsm_cli.text import sentences

    text = _text(data)
    end = 0
    for span in sentences.split(text):
        assert end <= span.start <= span.end <= len(text)
        end = span.end


def _words(data: bytes) -> None:
    from clsm_cli.text import aliases, mentions, noun_phrases, tokens

    text = _text(data)
    tokens.stems(text)
    assert len(tokens.trim_to_tokens(text, 20)) <= len(text)
    for mention in mentions.find_mentions(text):
        assert mention
    noun_phrases.noun_phrases(text)
    aliases.stated_aliases(text)
    aliases.name_keys(text[:200])


def _claims(data: bytes) -> None:
    from clsm_cli.text import factuality, plain

    text = _text(data)
    plain.to_plain(text)
    factuality.is_so(text)


def _learnt(data: bytes) -> None:
    """What a night makes of a text, as a message and as a block of a note."""
    from clsm_cli.config import ConsolidationSettings
    from clsm_cli.consolidation import claims, statement_selection
    from clsm_cli.heads import judge
    from clsm_cli.heads.relation_head import NameSpan, pair_shape, pairs
    from clsm_cli.model.episodes import Episode, Turn
    from clsm_cli.text import mentions

    text = _text(data)
    told = "2026-03-01T12:00:00Z"
    named = [NameSpan(each.start, each.end, each.label) for each in mentions.find_mentions(text)]
    assert all(pair_shape(pair) for pair in pairs(text, named))
    for speaker, document in (("Mara", None), ("", "d-1")):
        turn = Turn("0" * 12, speaker, "user", text, told)
        episode = Episode("e-1", "s", (turn,), told, document=document)
        settings = ConsolidationSettings(worth=0.0)  # each sentence is read as if it counted
        about = judge.about_document([turn]) if document else None
        weights = statement_selection.score_units([turn], about, None)
        found = claims.episode_claims(episode, weights, {turn.key}, settings)
        assert all(claim.text for claim in found)


def _query(data: bytes) -> None:
    from clsm_cli.evaluation.presets.retrieve import question_parts
    from clsm_cli.retrieval import question, time_scope
    from clsm_cli.text import route

    text = _text(data)
    question.understand(text, (), ("Mara", "Brian"))
    time_scope.may_name_time(text)
    route.choose_route(text, has_current=True)
    question_parts(text)


@cache
def _vocabulary() -> bytes:
    from clsm_cli.embedding import weights

    return (weights.default_folder() / "vocab.txt").read_bytes()


def _pieces(data: bytes) -> None:
    from clsm_cli.startup import query_pieces

    text = data.decode(errors="replace")
    assert len(query_pieces.cut_pieces(_vocabulary(), text)) <= query_pieces.MOST_PIECES


TARGETS: Mapping[str, Callable[[bytes], Any]] = {
    "shard": _shard,
    "yaml": _yaml,
    "front_matter": _front_matter,
    "json": _json,
    "topic": _topic,
    "episode": _episode,
    "labels": _labels,
    "ontology": _ontology,
    "markdown": _markdown,
    "transcript": _transcript,
    "batch": _batch,
    "secrets": _secrets,
    "terminal": _terminal,
    "times": _times,
    "sentences": _sentences,
    "words": _words,
    "claims": _claims,
    "learnt": _learnt,
    "query": _query,
    "pieces": _pieces,
}
