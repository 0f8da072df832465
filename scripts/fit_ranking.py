"""Fit the weights of recall's signals (``clsm_cli/config.py``), and tell what they are worth elsewhere.

    python -m scripts.fit_ranking --work DIR --locomo DIR

Single passages are ranked by Σ weight · signal with the shipped weights and with weights fitted on the
*other* conversations, each with all signals and with those of what is said alone; what ``recall`` makes of
a ranking, windows and statements, is left out. The fit maximises the likelihood of the evidence, not
recall@10.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from clsm_cli.commands import engine as engines
from clsm_cli.commands.evaluate import open_engine
from clsm_cli.evaluation import benches
from clsm_cli.evaluation.loaders import locomo
from clsm_cli.evaluation.stores import StoreFactory
from clsm_cli.retrieval.answer import Signals
from clsm_cli.retrieval.ranking import signal_weights
from clsm_cli.retrieval.recall import retrieve_passages
from clsm_cli.store.index.opening import open_index

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from clsm_cli.evaluation.benches import Bench

    Floats = NDArray[np.float64]
    Sample = tuple[Floats, Sequence[int]]
    """The candidates of one question, float64 [candidates, signals], and the places of the gold ones."""

SIGNALS: tuple[str, ...] = Signals._fields
NOT_CONTENT = ("participant", "date", "temporal", "question")
"""Signals that look at who, when and the form of a sentence, not at what it says."""


class Asked(NamedTuple):
    """A question: its candidates, the turn of each, and the turns that answer it."""

    signals: Floats
    turns: tuple[str, ...]
    gold: tuple[str, ...]

    def sample(self) -> Sample:
        """What weights can be fitted to, if any candidate is gold."""
        return self.signals, [at for at, turn in enumerate(self.turns) if turn in self.gold]

    def recall(self, weights: Floats, k: int = 10) -> float:
        """Share of the gold among the first turns; a turn stands where its best part does."""
        order = np.argsort(-(self.signals @ weights), kind="stable").tolist()
        first = list(dict.fromkeys(self.turns[at] for at in order))[:k]
        return sum(turn in first for turn in self.gold) / len(self.gold)


def ask(bench: Bench) -> Iterator[Asked]:
    """The candidates of all questions of a conversation that have an answer, in order of time."""
    settings = bench.raw.settings.recall
    with open_index(bench.raw, bench.factory.embedder) as opened:
        for query in bench.case.queries:
            if query.negative:
                continue
            asked = bench.query(query)
            _, ranked = retrieve_passages(opened.index, asked, bench.engine, settings)
            signals = {each.row: each.signals for each in ranked.candidates}
            passages = opened.index.passages(list(signals))
            rows = sorted(signals, key=lambda row: (passages[row].time or "", passages[row].id))
            yield Asked(
                np.array([signals[row] for row in rows], np.float64).reshape(-1, len(SIGNALS)),
                tuple(passages[row].foreign_id or passages[row].key for row in rows),
                query.gold,
            )


RIDGE = 1e-3
"""Pull of the weights to 0 per question; keeps a signal that never varies from having any weight."""
STEPS = 30
"""Newton steps at most; about eight are needed."""


def fit(samples: Sequence[Sample], frozen: Sequence[int] = ()) -> Floats:
    """The weights w, float64 [signals], under which gold candidates are likeliest to be chosen.

    Each question is a choice among its candidates x_i, p_i = exp(w·x_i) / Σ_j exp(w·x_j), and

        L(w) = Σ_questions mean_gold log p_g − ½ · ridge · questions · |w|²

    is concave, so Newton's method finds its one maximum whatever the start (McFadden 1974; as a
    ranking loss, ListNet's top-one likelihood, Cao et al. 2007). Its gradient is Σ (x̄_gold − E_p x),
    its Hessian −Σ Cov_p(x); exponents are shifted by their maximum.

    >>> steep = np.array([[1.0, 0.0], [0.0, 0.0]]), (0,)
    >>> weights = fit([steep] * 10)
    >>> bool(weights[0] > 1), float(weights[1])
    (True, 0.0)
    """
    width = samples[0][0].shape[1]
    free = [at for at in range(width) if at not in frozen]
    sizes = np.array([len(signals) for signals, _ in samples])
    table = np.concatenate([signals[:, free] for signals, _ in samples])
    gold = np.stack([signals[list(places)][:, free].mean(axis=0) for signals, places in samples])
    starts, owner = np.cumsum(sizes) - sizes, np.repeat(np.arange(len(samples)), sizes)
    ridge = RIDGE * len(samples)

    def look(weights: Floats) -> tuple[float, Floats, Floats]:
        """L, its gradient, and its Hessian negated."""
        scores = table @ weights
        highest = np.maximum.reduceat(scores, starts)
        shares = np.exp(scores - highest[owner])
        totals = np.add.reduceat(shares, starts)
        value = (gold @ weights - np.log(totals) - highest).sum() - ridge / 2 * (weights @ weights)
        weighted = table * (shares / totals[owner])[:, None]
        means = np.add.reduceat(weighted, starts)
        curvature = weighted.T @ table - means.T @ means + ridge * np.eye(len(free))
        return float(value), (gold - means).sum(axis=0) - ridge * weights, curvature

    weights = np.zeros(len(free))
    for _ in range(STEPS):
        value, gradient, curvature = look(weights)
        step = np.linalg.solve(curvature, gradient)
        while look(weights + step)[0] < value and np.abs(step).max() > 1e-9:
            step /= 2
        weights = weights + step
        if np.abs(step).max() < 1e-6:
            break
    found = np.zeros(width)
    found[free] = weights
    return found


def report(asked: dict[str, list[Asked]], shipped: Floats) -> Iterator[str]:
    """Recall@10 of each conversation under each kind of weights, then weights fitted on all."""
    samples = {
        name: [s for each in those if len((s := each.sample())[1])] for name, those in asked.items()
    }
    content = [at for at, name in enumerate(SIGNALS) if name in NOT_CONTENT]
    unused = [at for at, weight in enumerate(shipped) if not weight]
    for title, frozen in (("all signals", unused), ("content", sorted({*unused, *content}))):
        kept = np.array([at not in frozen for at in range(len(SIGNALS))])
        for name, those in asked.items():
            others = [each for other, found in samples.items() if other != name for each in found]
            if not others:
                continue
            weights = shipped * kept, fit(others, frozen)
            before, after = (np.mean([each.recall(w) for each in those]) for w in weights)
            yield f"{title}, {name}: shipped {100 * before:.1f}, refitted {100 * after:.1f}"
        whole = fit([each for found in samples.values() for each in found], frozen)
        named = zip(SIGNALS, whole, strict=True)
        yield f"{title}: {', '.join(f'{signal} {weight:.2f}' for signal, weight in named)}"


def main() -> None:
    """Ask, fit, tell."""
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("work", "locomo"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    given = parser.parse_args()
    factory = StoreFactory(given.work, engines.embedder(), lambda *_: None)
    made = benches.make_benches(locomo.as_published(given.locomo), factory, open_engine())
    shipped = np.array(signal_weights(made[0].raw.settings.recall))
    for line in report({bench.case.name: list(ask(bench)) for bench in made}, shipped):
        print(line)


if __name__ == "__main__":
    main()
