"""What the weights of the signals learn from feedback; loaded by every recall, so it is small.

The credit of an item goes to the signal that led to it (Smriti, systems.md 4.7). A recall notes that
signal with the ids it returned; ``judgements`` keeps it with what a user said of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from clsm_cli.retrieval.answer import Signals

if TYPE_CHECKING:
    from datetime import datetime

    from clsm_cli.retrieval.answer import Memory
    from clsm_cli.store.layout import Store

FILE = "feedback.jsonl"
PRIORS = {"bm25": (1.2, 1.0), "maxsim": (2.0, 1.0), "context": (2.0, 1.0)}
"""Good and bad judgements that are assumed of a signal before the first (Smriti's for text and
cosine)."""
OTHER = (1.5, 1.0)
"""The same of every other signal (Smriti's for its third)."""


def leading_signal(memory: Memory) -> str:
    """The signal that led to an item: the largest positive one; "" where nothing spoke for it.

    Weights do not count, or what is heavy would earn all the credit and grow heavier; of equal ones
    the one with the larger share leads.
    """
    named = zip(memory.why._fields, memory.why, memory.shares, strict=True)
    found = [(value, share, name) for name, value, share in named if share > 0]
    return max(found, key=lambda each: each[:2], default=(0.0, 0.0, ""))[2]


def learn_multipliers(
    store: Store, now: datetime, seed: str | int | None = None
) -> dict[str, float] | None:
    """The factor for the weight of each signal; None while too few items were judged.

    With a seed it is drawn from what is believed instead of being its mean (Thompson sampling).
    """
    paths = [path for flow in store.flows() if (path := flow / FILE).exists()]
    if not paths:
        return None
    from clsm_cli.retrieval.feedback_log import latest_judgements
    from clsm_cli.scoring import thompson_sampling

    told = [
        (said.led, said.is_good, (now - said.at).total_seconds() / 86400)
        for said in latest_judgements(paths).values()
    ]
    priors = {name: thompson_sampling.Beta(*PRIORS.get(name, OTHER)) for name in Signals._fields}
    found = thompson_sampling.multipliers(priors, told, seed)
    return found if any(value != 1.0 for value in found.values()) else None
