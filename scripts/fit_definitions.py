"""Fit the head that says whether a sentence defines a thing (``heads/definition_head.py``).

    python -m scripts.fit_definitions COPIES STORES

``fixtures/questions/defined`` has names of public workspaces with the lines that say what each is. COPIES has
the checkouts (``scripts/join_labels.py``), STORES a store of each at ``owner+name``; missing ones are made, as
``benchmarks.strangers`` makes them. Every sentence with a name is a candidate. A name is a choice among its
candidates (``fit_ranking.fit``), and a slope and bias make a probability of its score. It prints the weights, how often the best candidate and one of the best three define the name, with its workspace left out and with
single features taken away, and the same for the first mention.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from ruamel.yaml import YAML

from benchmarks.starts import store_of
from benchmarks.strangers import QUESTIONS, plain
from clsm_cli.commands import engine
from clsm_cli.heads.definition_head import Form, definitions
from clsm_cli.store import layout
from clsm_cli.store.index import evidence_queries
from clsm_cli.store.index.opening import open_index
from scripts.fit_ranking import fit
from scripts.fitting import logistic

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from clsm_cli.store.index.evidence_queries import SourceTurn

    Floats = NDArray[np.float64]

SHORT = 8
"""Characters of plain text up to which a sentence says nothing."""


class Named(NamedTuple):
    """A name, with the form of each sentence that has it, and which of them say what it is."""

    workspace: str
    name: str
    forms: Floats
    defines: NDArray[np.bool_]


def examples(copies: Path, stores: Path) -> Iterator[Named]:
    """The names of all workspaces."""
    for file in sorted((QUESTIONS / "defined").glob("*.yaml")):
        yield from named(copies, stores, YAML(typ="safe").load(file))


def named(copies: Path, stores: Path, told: Mapping[str, Any]) -> Iterator[Named]:
    """The names of a workspace; those without a candidate that defines them are left out."""
    folder = copies / told["memory"].replace("/", "+", 1)
    place = store_of(copies, stores, told["memory"], f"{told['day']}T07:00:00Z")
    with open_index(layout.open_store(place, {}), engine.embedder()) as opened:
        connection = opened.index.connection
        episodes = [str(row[0]) for row in connection.execute("SELECT id FROM episodes")]
        turns = evidence_queries.turns_in_episodes(connection, episodes)
        sections = {key for _, key in evidence_queries.section_openings(connection)}
    for row in told["defined"]:
        lines = [_line(folder, place) for place in row["evidence"]]
        found = [
            (form, _is_one_of(text, lines))
            for key, turn in turns.items()
            if turn.is_current
            for form, text in _candidates(turn, row["name"], opens=key in sections)
        ]
        defines = np.array([is_one for _, is_one in found], bool)
        if defines.any():
            forms = np.array([form for form, _ in found], np.float64)
            yield Named(told["memory"], row["name"], forms, defines)


def _line(folder: Path, place: str) -> str:
    name, _, number = place.rpartition(":")
    return plain((folder / name).read_text("utf-8").split("\n")[int(number) - 1])


def _candidates(turn: SourceTurn, name: str, *, opens: bool) -> Iterator[tuple[Form, str]]:
    dated = turn.time is not None
    for each in definitions(turn.text, name, turn.heading, is_dated=dated, opens_section=opens):
        yield each.form, plain(each.text)


def _is_one_of(text: str, lines: Sequence[str]) -> bool:
    return len(text) > SHORT and any(text in line or line in text for line in lines)


def left_out(every: Sequence[Named], columns: Sequence[int]) -> list[Floats]:
    """The scores of each name's candidates, under weights of the other workspaces."""
    fitted = {
        name: _fitted([each for each in every if each.workspace != name], columns)
        for name in {each.workspace for each in every}
    }
    return [each.forms[:, columns] @ fitted[each.workspace] for each in every]


def _fitted(every: Sequence[Named], columns: Sequence[int]) -> Floats:
    samples = [(each.forms[:, columns], np.flatnonzero(each.defines).tolist()) for each in every]
    return fit(samples)


def right(every: Sequence[Named], scores: Sequence[Floats]) -> tuple[float, float]:
    """How often the best candidate defines the name, and one of the best three."""
    orders = [np.argsort(-each, kind="stable") for each in scores]
    best, of_three = (
        [each.defines[order[:size]].any() for each, order in zip(every, orders, strict=True)]
        for size in (1, 3)
    )
    return float(np.mean(best)), float(np.mean(of_three))


def report(every: Sequence[Named]) -> Iterator[str]:
    """The weights, and what they are worth."""
    columns = range(len(Form._fields))
    weights = _fitted(every, columns)
    scores = np.concatenate([each.forms @ weights for each in every])
    defines = np.concatenate([each.defines for each in every]).astype(np.float64)
    counts = np.concatenate([np.full(len(each.forms), 1 / len(each.forms)) for each in every])
    slope, bias = logistic(scores[:, None], defines, counts * len(counts) / len(every))
    named_weights = zip(Form._fields, slope * weights, strict=True)
    yield ", ".join(f"{name}={weight:.2f}" for name, weight in named_weights) + f"; {bias:.2f}"
    firsts = [-np.arange(len(each.forms), dtype=np.float64) for each in every]
    yield "best / of three: {:.3f} / {:.3f}, first mention".format(*right(every, firsts))
    yield "{:.3f} / {:.3f}, all features".format(*right(every, left_out(every, columns)))
    for at, name in enumerate(Form._fields):
        kept = [other for other in columns if other != at]
        best, of_three = right(every, left_out(every, kept))
        yield f"{best:.3f} / {of_three:.3f}, without {name}"


def main() -> None:
    """Gather, fit, tell."""
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("copies", "stores"):
        parser.add_argument(name, type=Path)
    given = parser.parse_args()
    for line in report([*examples(given.copies, given.stores)]):
        print(line)


if __name__ == "__main__":
    main()
