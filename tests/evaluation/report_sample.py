"""Results of ``clsm eval`` made by hand: two sets, twenty systems, two probes, hostile names.

``python tests/evaluation/report_sample.py FOLDER`` writes the pages, to look at.
"""

from __future__ import annotations

import random
from dataclasses import replace

from clsm_cli.evaluation.result import (
    SCHEMA,
    AblationResult,
    AbstentionResult,
    Figures,
    Pair,
    ProbeResult,
    QueryResult,
    Result,
    SetResult,
    SystemResult,
    Verdict,
)

SCRIPT = "<script>alert(1)</script>"
HOSTILE = f"{SCRIPT} | **b** [x](http://e.example) \x1b[31m \u202e `c` \"q\" 'q' &amp; é 漢字 🙂"
CATEGORIES = ("conceptual", "cross-domain", "personal", "project")
EVIDENCE_SYSTEMS = {
    "clsm": 0.859, "clsm ranking": 0.86, "BM25": 0.638, "MiniLM": 0.602, "RRF": 0.701,
    "fusion": 0.722, "grep": 0.41, "recency": 0.09, "static": 0.05,
}  # fmt: skip
CONCEPT_SYSTEMS = {
    "clsm": 0.61, "cls-m": 0.36, "smriti": 0.44, "cma": 0.4, "nemori": 0.42, "BM25": 0.31,
    "MiniLM": 0.29, "grep": 0.18,
}  # fmt: skip
MECHANISMS = {"MaxSim with the turn before": -0.036, "surprise": 0.002, "hard dates": 0.014}


def figures(quality: float, *, has_concepts: bool, chance: random.Random) -> Figures:
    """Plausible figures of a system around one number."""

    def near(factor: float) -> float:
        return min(1.0, max(0.0, quality * factor + chance.uniform(-0.01, 0.01)))

    found: Figures = {f"recall@{k}": near(0.5 + 0.5 * min(1, k / 10)) for k in (1, 3, 5, 10)}
    found |= {"recall@20": near(1.06), "recall@50": near(1.1), "precision@10": near(0.2)}
    found |= {"f1@10": near(0.3), "hit@10": near(1.04), "all@10": near(0.9)}
    found |= {"ndcg@10": near(0.82), "mrr": near(0.8)}
    found |= {f"tokens@{n}": near(f) for n, f in ((500, 0.93), (1000, 1.0), (2000, 1.06))}
    found |= {"tokens@4000": near(1.08), "reduced": near(0.95), "reduced2": near(1.0)}
    found |= {"relevance": near(0.3), "efficiency": 0.93, "retention": near(1.0)}
    found |= {"reach": near(0.2), "reached": None if quality < 0.1 else near(0.7)}
    if has_concepts:
        found |= {"precision": near(0.8), "recall": near(1.2), "f1": quality}
        found |= {"coverage": near(1.5), "concepts": 8.4}
    return found | {"tokens": 1234.5 * quality + 300, "ms": 3.2 + 40 * quality}


def system(
    name: str, quality: float, headline: str, chance: random.Random, *, has_concepts: bool
) -> SystemResult:
    """A system with groups."""

    def some(of: float) -> Figures:
        return figures(of, has_concepts=has_concepts, chance=chance)

    value = some(quality) | {headline: quality}
    spread = {c: min(1.0, quality + chance.uniform(-0.2, 0.12)) for c in CATEGORIES}
    return SystemResult(
        name=name,
        about=f"{name}, with the values that it ships with",
        figures=value,
        intervals={headline: (max(0.0, quality - 0.04), min(1.0, quality + 0.035))},
        groups={
            "category": {c: some(q) | {headline: max(0.0, q)} for c, q in spread.items()},
            "difficulty": {d: some(quality) for d in ("easy", "medium", "hard")},
            "case": {f"conversation {n}": some(quality) for n in (26, 30, 41)},
        },
    )


def query(
    place: int, headline: str, systems: dict[str, float], chance: random.Random
) -> QueryResult:
    """A query that some systems answer."""
    gold = chance.choice((1, 1, 2, 3))
    ranks: dict[str, tuple[int | None, ...]] = {}
    values: dict[str, Figures] = {}
    for name, quality in systems.items():
        found = [chance.random() < quality for _ in range(gold)]
        ranks[name] = tuple(chance.randint(1, 10) if each else None for each in found)
        values[name] = {headline: sum(found) / gold}
    return QueryResult(
        id=f"q{place:03}",
        case=f"conversation {chance.choice((26, 30, 41))}",
        category=CATEGORIES[place % 4],
        difficulty=("easy", "medium", "hard")[place % 3],
        gold=gold,
        values=values,
        ranks=ranks,
    )


def labelled(
    name: str,
    kind: str,
    headline: str,
    systems: dict[str, float],
    count: int,
    notes: tuple[str, ...],
) -> SetResult:
    """A set with everything that a set can have."""
    chance = random.Random(name)
    has_concepts = headline == "f1"
    rows = tuple(
        system(each, quality, headline, chance, has_concepts=has_concepts)
        for each, quality in systems.items()
    )
    first = next(iter(systems.values()))
    return SetResult(
        kind=kind,
        name=name,
        digest="3f" * 32,
        unit="turn",
        headline=headline,
        whole="the whole conversation",
        notes=notes,
        sizes={"conversations": 3, "queries": count, "turns": 12_345, "queries without answer": 9},
        stored=0.987,
        silenced=0.012,
        systems=rows,
        pairs=tuple(
            Pair(
                headline,
                each,
                group,
                first - of,
                (first - of - 0.04, first - of + 0.04),
                0.0004 + of / 9,
            )
            for each, of in list(systems.items())[1:]
            for group in ("all", "personal")
        ),
        ablation=tuple(
            AblationResult(
                mechanism=each,
                about="what it does, in a few words",
                figures=rows[0].figures | {headline: first + by},
                difference=by,
                interval=(by - 0.009, by + 0.008),
                p=0.03,
            )
            for each, by in MECHANISMS.items()
        ),
        abstention=(
            AbstentionResult("clsm", "wrong person", 40, 0.71, 0.12),
            AbstentionResult("clsm", "off topic", 20, 0.982, 0.9),
            AbstentionResult("MiniLM", "off topic", 20, 0.93, 0.0),
        ),
        queries=tuple(query(place, headline, systems, chance) for place in range(count)),
    )


def probes() -> tuple[ProbeResult, ...]:
    """Two probes."""
    lost = (
        Verdict("clsm", True, {"recall@10": 0.93, "lost": 0.03}),
        Verdict("BM25", False, {"recall@10": 0.7, "lost": 0.21}),
    )
    told = "The same questions while the store grows tenfold."
    least = "recall@10 falls by no more than five points"
    told_late = "Fifty sessions, in which an old value is named more often than the new one."
    right = (
        Verdict("clsm", False, {"right": 41, "of": 50}),
        Verdict("BM25", False, {"right": 9, "of": 50}),
    )
    return (
        ProbeResult("growth", told, least, lost),
        ProbeResult("drift", told_late, "the new value comes first", right),
    )


def result(*sets: SetResult, probed: tuple[ProbeResult, ...] = ()) -> Result:
    """A run of some sets and probes."""
    return Result(
        schema=SCHEMA,
        version="0.9.0",
        command="clsm eval run sample locomo10.json --preset all --ablate all --probe all",
        machine={
            "processor": "ARM Cortex-A76",
            "cores": "2",
            "system": "Linux 6.6",
            "python": "3.11.7",
        },
        seed=0,
        settings={"recall.k": "10"},
        sets=sets,
        probes=probed,
    )


def full() -> Result:
    """A concept set, an evidence set and probes, as people will see them."""
    notes = (
        "Conversation 26: evidence D8:6; D9:17 is written as one; read as two.",
        "Three questions without evidence are left out.",
    )
    return result(
        labelled(
            "sample", "notes", "f1", CONCEPT_SYSTEMS, 45, ("Quotes are looked for as they are.",)
        ),
        labelled("locomo10.json", "locomo", "recall@10", EVIDENCE_SYSTEMS, 200, notes),
        probed=probes(),
    )


def hostile() -> Result:
    """Names that try to be something else, and twenty systems with long names."""
    names = {"clsm": 0.5, HOSTILE: 0.6} | {
        f"a system with a very long name {n}": n / 20 for n in range(18)
    }
    found = labelled(HOSTILE, HOSTILE, "recall@10", names, 30, (HOSTILE, "x" * 300))
    category = system(HOSTILE, 0.5, "recall@10", random.Random(1), has_concepts=False)
    category.groups["category"][HOSTILE] = category.figures
    queries = tuple(replace(each, category=HOSTILE, id=HOSTILE + each.id) for each in found.queries)
    bad = ProbeResult(HOSTILE, HOSTILE, HOSTILE, (Verdict(HOSTILE, False, {HOSTILE: 1.0}),))
    mixed = replace(found, systems=(*found.systems, category), queries=queries)
    return replace(result(mixed, probed=(bad,)), command=HOSTILE, machine={HOSTILE: HOSTILE})


def bare() -> Result:
    """A set of one system that has no figures at all."""
    nothing = SystemResult("clsm", "", {"recall@10": None}, {}, {})
    found = SetResult(
        kind="own",
        name="queries.yaml",
        digest="ab" * 32,
        unit="quote",
        headline="recall@10",
        whole="the static files",
        notes=(),
        sizes={},
        stored=None,
        silenced=0.0,
        systems=(nothing,),
        pairs=(),
        ablation=(),
        abstention=(),
        queries=(),
    )
    return result(found)
