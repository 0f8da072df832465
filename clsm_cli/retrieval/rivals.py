"""Items that answer as well as others but count for less: they stand below them.

Much that answers a question in its own words is not what is true: a page that a tool printed, a
rumour, what was so before. Words and meaning cannot tell it from the truth, so its score alone does
not decide. Where something that stands answers as well, such an item yields to it, and comes right
below; where nothing does, it keeps its place.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from clsm_cli.text import factuality, tokens

if TYPE_CHECKING:
    from collections.abc import Sequence

    from clsm_cli.config import RecallSettings
    from clsm_cli.retrieval.question import Question
    from clsm_cli.retrieval.ranking import Candidate
    from clsm_cli.store.index.passages import Passage

import os
LIKE = float(os.environ.get("LIKE", ".4"))
COVER = float(os.environ.get("COVER", ".5"))
SURE = float(os.environ.get("SURE", ".6"))
USE = os.environ.get("USE", "tuo")
UNTRUSTED = frozenset({"tool", "web"})
STEP = 1e-6
GATE = float(os.environ.get("GATE", ".5"))


def ordered(question, pairs, settings):
    items = [_Item(question, *pair) for pair in pairs]
    value = factuality.asks_what_is(question.text)
    present = "o" in USE and value and not question.periods and factuality.asks_present(question.text)
    terms = frozenset(question.terms)
    for each in items:
        each.unreal = None
    def unreal(it):
        if it.unreal is None:
            it.unreal = "u" in USE and value and it.candidate.evidence.coverage >= GATE and not factuality.tells(it.passage.text, terms)
        return it.unreal
    def low(it):
        return ("t" in USE and it.passage.trust in UNTRUSTED) or unreal(it)
    # outdated
    standing=[it for it in items if not low(it)]
    for a in items: a.over=[]
    if present:
        for a in standing:
            if a.candidate.evidence.coverage < GATE: continue
            for b in standing:
                if a is not b and b.when > a.when and not b.candidate.traits.is_question and b.passage.kind!="gist" and a.passage.kind!="gist" and b.well(a, .8, .8) and _like(a.passage.text,b.passage.text)>=LIKE and b.candidate.signals.participant==a.candidate.signals.participant:
                    a.over.append(b)
    top=[it for it in standing if not it.over and not it.candidate.traits.is_question]
    out=[]
    for a in items:
        if a.over:
            rivals=[b for b in a.over if not b.over]
        elif low(a):
            rivals=[b for b in top if b.well(a, SURE, COVER)]
        else: rivals=[]
        if os.environ.get("DBG"):
            if rivals and min(b.candidate.score for b in rivals)<a.candidate.score: print("YIELD", question.text,"|",a.passage.text[:100],"|", [b.passage.text[:60] for b in rivals][:3], len(rivals))
        s=min([a.candidate.score, *(b.candidate.score - STEP for b in rivals)])
        out.append((a.candidate._replace(score=s),a.passage))
    return out


class _Item:
    def __init__(self, question, candidate, passage):
        self.candidate=candidate; self.passage=passage
        self.when=passage.time or ""
    def well(self, other, sure, cover):
        e,o=self.candidate,other.candidate
        return e.signals.participant>=o.signals.participant and e.confidence>=sure*o.confidence and e.evidence.coverage>=cover*o.evidence.coverage

@cache
def _terms(t): return frozenset(tokens.stems(t))
def _like(a,b):
    a,b=_terms(a),_terms(b)
    return 2*len(a&b)/((len(a)+len(b)) or 1)
