"""What a preset found as memories and concepts, in the form of every answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clsm_cli.retrieval.answer import Concept, Memory, Source, Why
from clsm_cli.retrieval.items import source
from clsm_cli.scoring import confidence
from clsm_cli.text import tokens

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from clsm_cli.evaluation.presets.channels import View
    from clsm_cli.evaluation.presets.library import Library, Unit


def memories(view: View, found: Sequence[tuple[Unit, float]], raw: int) -> list[Memory]:
    """Units as memories, in their order.

    A score is the share of the best score of the same kind of list; the confidence is the cosine,
    as no published system has one. The kind of a turn is passage, as everywhere.

    Args:
        view: The query.
        found: With their scores.
        raw: How many of the first episodes carry their turns.
    """
    most = max((score for _, score in found), default=0.0) or 1.0
    listed = []
    for unit, score in found:
        text = unit.text
        if unit.kind == "episode" and raw > 0:
            raw -= 1
            text = f"{text}\n\n{view.library.raw(unit.rows)}"
        share = round(max(0.0, min(1.0, score / most)), 4)
        why = Why(graph=share) if unit.kind == "node" else Why(maxsim=_near(view, unit))
        listed.append(
            Memory(
                id=unit.id,
                kind="passage" if unit.kind == "turn" else unit.kind,
                text=text,
                stream=unit.stream,
                score=share,
                confidence=_near(view, unit),
                tokens=tokens.count_tokens(text),
                trust=unit.trust,
                session=unit.session,
                sources=_sources(view.library, unit),
                why=why,
                shares=why,
            )
        )
    return listed


def concepts(view: View, found: Sequence[Unit], limit: int) -> tuple[Concept, ...]:
    """The nodes that were found; else those that what was found mentions, by the best that does.

    Of the nodes of one unit those come first that more of its passages mention.
    """
    library = view.library
    if any(unit.kind == "node" for unit in found):
        return tuple(_reached(view, unit) for unit in found[:limit])
    ranked: dict[str, float] = {}
    for rank, unit in enumerate(found, 1):
        mentioned = library.mentioned(unit)
        for node in sorted(mentioned, key=lambda each: (-mentioned[each], each)):
            ranked.setdefault(node, 1 / rank)
    return tuple(
        _concept(library, node, activation, None, (node,))
        for node, activation in list(ranked.items())[:limit]
    )


def _reached(view: View, unit: Unit) -> Concept:
    """A node with the way that its activation came."""
    from clsm_cli.scoring.activation import path

    library = view.library
    number = library.numbers[unit.id]
    way = tuple(library.nodes[each].id for each in path(view.reached, number))
    seed = view.seeds.get(number)
    activation = view.reached[number].activation
    return _concept(library, unit.id, activation, seed[1] if seed else None, way)


def _concept(
    library: Library, node: str, activation: float, seed: str | None, path: tuple[str, ...]
) -> Concept:
    row = library.nodes[library.numbers[node]]
    return Concept(
        id=row.id,
        label=row.label,
        aliases=row.aliases,
        kind=row.kind,
        stream=row.stream,
        activation=round(activation, 4),
        seed=seed,
        path=path,
    )


def _near(view: View, unit: Unit) -> float:
    return round(confidence.capped(view.cosine(unit)), 4)


def _sources(library: Library, unit: Unit) -> tuple[Source, ...]:
    """Where a unit stands, then the turns that it rests on; one entry a file, at least one."""
    own = _of_rows(library, unit.rows)
    rested = _of_rows(library, (row for key in unit.keys for row in library.rows_of.get(key, ())))
    nowhere = Source(f"{unit.stream}/graph", 0, 0, (), unit.time)
    return tuple(dict.fromkeys((*own, *rested))) or (nowhere,)


def _of_rows(library: Library, rows: Iterable[int]) -> list[Source]:
    by_path: dict[str, list[int]] = {}
    for row in rows:
        by_path.setdefault(library.passages[row].path, []).append(row)
    listed = []
    for there in by_path.values():
        found = [library.passages[row] for row in there]
        listed.append(source(library.index, found, found[0]))
    return listed
