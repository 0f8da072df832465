"""Results of ``clsm eval``: the kept runs, the same with hostile names, and one with nothing in it."""

from __future__ import annotations

from dataclasses import replace

from benchmarks import evaluation
from clsm_cli.evaluation.result import ProbeResult, Result, SetResult, SystemResult, Verdict

SCRIPT = "<script>alert(1)</script>"
HOSTILE = f"{SCRIPT} | **b** [x](http://e.example) \x1b[31m \u202e `c` \"q\" 'q' &amp; é 漢字 🙂"


def full() -> Result:
    """A set with concepts, one with evidence alone, and probes."""
    kept = evaluation.load()
    sets = (*kept["memory"].sets, *kept["locomo"].sets)
    return replace(kept["memory"], sets=sets, probes=kept["probes"].probes)


def hostile() -> Result:
    """Names that try to be something else, and systems with long names."""
    result = full()
    found = result.sets[1]
    long = [replace(found.systems[1], name=f"a system with a very long name {n}") for n in range(9)]
    bad = replace(found.systems[0], name=HOSTILE)
    bad.groups["category"][HOSTILE] = bad.figures
    mixed = replace(
        found,
        name=HOSTILE,
        kind=HOSTILE,
        notes=(HOSTILE, "x" * 300),
        systems=(*found.systems, bad, *long),
        pairs=tuple(replace(each, against=HOSTILE) for each in found.pairs),
    )
    probe = ProbeResult(HOSTILE, HOSTILE, HOSTILE, (Verdict(HOSTILE, False, {HOSTILE: 1.0}),))
    machine = {HOSTILE: HOSTILE}
    return replace(result, command=HOSTILE, machine=machine, sets=(mixed,), probes=(probe,))


def bare() -> Result:
    """A set of one system that has no figures at all."""
    nothing = SystemResult("clsm", {"recall@10": None}, {}, {})
    found = SetResult(
        kind="own",
        name="queries.yaml",
        digest="ab" * 32,
        unit="quote",
        headline="recall@10",
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
    return replace(full(), sets=(found,), probes=())
