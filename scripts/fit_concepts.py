"""Fit which concepts belong to a question (``clsm_cli/scoring/relevance.py``), and tell what that is worth.

One logistic regression over all concepts that something in a question speaks for. A set counts as the
square root of its questions, so that LoCoMo's many do not decide alone; all figures are of sets that had
no part in the fit: LoCoMo is left out whole, the sample, and each workspace.

    python -m scripts.fit_concepts --work DIR --locomo DIR --sets DIR

``--sets`` is a folder of labelled memories, as ``scripts/make_sets.py workspaces`` makes it.
"""

from __future__ import annotations

import argparse
from collections import Counter
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from clsm_cli.commands import engine as engines
from clsm_cli.commands.evaluate import open_engine
from clsm_cli.config import RecallSettings
from clsm_cli.evaluation import benches
from clsm_cli.evaluation.compare import cluster_interval
from clsm_cli.evaluation.dataset import label_keys
from clsm_cli.evaluation.loaders import locomo, own_memory
from clsm_cli.evaluation.stores import StoreFactory
from clsm_cli.retrieval import concepts
from clsm_cli.retrieval.recall import retrieve_passages
from clsm_cli.scoring import relevance
from clsm_cli.scoring.relevance import ConceptEvidence
from clsm_cli.store.index.opening import open_index
from scripts.fitting import logistic

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from clsm_cli.evaluation.dataset import Dataset
    from clsm_cli.retrieval.dense_search import Engine

    Floats = NDArray[np.float64]

ROOT = Path(__file__).parents[1]
MOST = 10
BETAS, SHIPPED_BETA = (1.0, 1.5, 2.0, 3.0), RecallSettings().concept_beta
SHIPPED = (*relevance.WEIGHTS, relevance.BIAS)
"""Weights of the evidence in its order, then the bias."""


class ScoredNode(NamedTuple):
    """A node with evidence that a question is about it."""

    id: str
    evidence: ConceptEvidence
    is_named: bool


def returned_nodes(
    weighed: Sequence[ScoredNode], weights: Sequence[float], most: int, beta: float
) -> list[str]:
    """What is returned under some weights (the bias last): the likeliest nodes, cut as recall does."""
    fitted, bias = ConceptEvidence(*weights[:-1]), weights[-1]
    found = sorted(
        (
            -relevance.concept_probability(each.evidence, fitted, bias, is_named=each.is_named),
            each.id,
        )
        for each in weighed
    )
    return [node for _, node in found[: relevance.cut_size([-p for p, _ in found], most, beta)]]


class Asked(NamedTuple):
    """A question: the concepts that something speaks for, and which labels each of them is.

    Attributes:
        case: The memory that it is put to.
        labels: How many there are.
        found: Of each concept the numbers of the labels that name it.
    """

    group: str
    case: str
    category: str
    labels: int
    weighed: list[ScoredNode]
    found: list[set[int]]


def ask(group: str, dataset: Dataset, factory: StoreFactory, engine: Engine) -> Iterator[Asked]:
    """All questions of a set that have labelled concepts."""
    for bench in benches.make_benches(dataset, factory, engine):
        with open_index(bench.store, factory.embedder) as opened:
            settings = bench.store.settings.recall
            for query in bench.case.queries:
                if query.negative or not query.concepts:
                    continue
                asked = bench.query(query)
                _, ranked = retrieve_passages(opened.index, asked, engine, settings)
                weighed = concepts.score_concepts(
                    opened.index, query.text, ranked.candidates, ranked.cosines
                )
                found = []
                for each in weighed:
                    names = {*label_keys((each.node.id, each.node.label, *each.node.aliases))}
                    labels = enumerate(query.concepts)
                    found.append({at for at, label in labels if not names.isdisjoint(label)})
                rows = [
                    ScoredNode(each.node.id, each.evidence, each.seed is not None)
                    for each in weighed
                ]
                case, count = bench.case.name, len(query.concepts)
                yield Asked(group, case, query.category, count, rows, found)


def weights(asked: Sequence[Asked]) -> list[float]:
    """The weights and the bias that some questions teach."""
    sizes = Counter(each.group for each in asked)
    table = [row.evidence for each in asked for row in each.weighed]
    labels = [float(bool(found)) for each in asked for found in each.found]
    counts = [sizes[each.group] ** -0.5 for each in asked for _ in each.weighed]
    scaled = np.asarray(counts) * len(counts) / sum(counts)
    found = logistic(np.asarray(table, np.float64), np.asarray(labels), scaled)
    return [float(weight) for weight in found]


def judged(each: Asked, fitted: Sequence[float], beta: float) -> tuple[float, float]:
    """F1 of what is returned, and 1 if any label is among it."""
    returned = returned_nodes(each.weighed, fitted, MOST, beta)
    at = {row.id: place for place, row in enumerate(each.weighed)}
    left: set[int] = set()
    right = 0
    for node in returned:
        new = sorted(each.found[at[node]] - left)
        right += bool(new)
        left.update(new[:1])
    if not right:
        return 0.0, 0.0
    precision, recall = right / len(returned), right / each.labels
    return 2 * precision * recall / (precision + recall), 1.0


def report(asked: Sequence[Asked]) -> Iterator[str]:
    """The weights, and what they are worth on what is left out."""
    fields = (*relevance.ConceptEvidence._fields, "bias")
    for name, weight in zip(fields, weights(asked), strict=True):
        yield f"    {name}={weight:.2f},"
    groups = list(dict.fromkeys(each.group for each in asked))
    left_out = {name: weights([each for each in asked if each.group != name]) for name in groups}
    for title, fitted in (("left out", left_out), ("shipped", dict.fromkeys(groups, SHIPPED))):
        for beta in BETAS:
            cells = []
            for name in groups:
                own = [judged(each, fitted[name], beta) for each in asked if each.group == name]
                f1, covered = np.mean(own, axis=0) * 100
                cells.append((name, f1, covered))
            mean = np.mean([(f1, covered) for _, f1, covered in cells], axis=0)
            told = "  ".join(f"{name} {f1:.1f}/{covered:.0f}" for name, f1, covered in cells)
            yield f"{title}, beta {beta}: F1/covered {mean[0]:.1f}/{mean[1]:.0f}  {told}"


OF_NODES = ("meaning", "common")
"""The evidence of a node by itself; the rest is of passages that mention it."""


def without_edges(asked: Sequence[Asked]) -> list[Asked]:
    """The questions as if no passage led to a concept."""

    def alone(row: ScoredNode) -> ScoredNode:
        kept = {name: getattr(row.evidence, name) for name in OF_NODES}
        return row._replace(evidence=ConceptEvidence(*[0.0] * len(row.evidence))._replace(**kept))

    return [each._replace(weighed=[alone(row) for row in each.weighed]) for each in asked]


def ablation(asked: Sequence[Asked]) -> Iterator[str]:
    """What the edges between passages and concepts are worth: F1 with and without them, each set left out.

    Both are fitted anew on the other sets; points have an interval of 95 % (bootstrap by memory).
    """
    ours, theirs = _left_out(asked), _left_out(without_edges(asked))
    sets = {group: {group} for group in dict.fromkeys(each.group for each in asked)}
    sets["workspaces"] = sets.keys() - {"sample", "locomo"}
    places = {
        name: [at for at, each in enumerate(asked) if each.group in chosen]
        for name, chosen in sets.items()
    }
    places["multi-hop"] = [at for at, each in enumerate(asked) if each.category == "multi-hop"]
    for name, rows in places.items():
        gained = ours[rows] - theirs[rows]
        low, high = cluster_interval(gained.tolist(), [asked[at].case for at in rows], seed=0)
        means = (ours[rows].mean(), theirs[rows].mean(), gained.mean(), low, high)
        told = "{:.1f} without edges {:.1f}, {:+.1f} [{:.1f}, {:.1f}]"
        yield f"{name} ({len(rows)}): F1 {told.format(*(100 * each for each in means))}"


def _left_out(asked: Sequence[Asked]) -> Floats:
    """F1 of each question, under weights of the other sets."""
    groups = {each.group for each in asked}
    fitted = {name: weights([each for each in asked if each.group != name]) for name in groups}
    return np.array([judged(each, fitted[each.group], SHIPPED_BETA)[0] for each in asked])


def main() -> None:
    """Ask, fit, tell."""
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("work", "locomo", "sets"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    given = parser.parse_args()
    factory = StoreFactory(given.work, engines.embedder(), lambda *_: None)
    engine = open_engine()
    folders = [ROOT / "fixtures" / "sample", *sorted(given.sets.iterdir())]
    sets = {folder.name: own_memory.load(folder) for folder in folders}
    sets["locomo"] = locomo.load_nodes(given.locomo)
    asked = [one for name, each in sets.items() for one in ask(name, each, factory, engine)]
    for line in chain(report(asked), ablation(asked)):
        print(line)


if __name__ == "__main__":
    main()
