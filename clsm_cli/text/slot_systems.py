"""Forms in which it is told what a system uses, where it runs, who looks after it, what it is called."""

from __future__ import annotations

from clsm_cli.text import slot_readers as read
from clsm_cli.text.slot_owned import CARED, WHO
from clsm_cli.text.slot_readers import Rule, form
from clsm_cli.text.slot_words import ADVERBS, BE, END, HAVE, MARK, NAME, NOUN

_A = ADVERBS
_SOFTWARE = rf"(?:{MARK}|{NAME}|[a-z][a-z0-9+.-]{{1,20}}(?: [a-z][a-z0-9+.-]{{1,20}})?)"
_PURPOSE = r" (?:for|as) (?:(?:its|the|our|my|his|her|their|an?|all) )?(?P<q>[a-z-]{3,20}(?: [a-z-]{3,20})?)"
RULES: tuple[Rule, ...] = (
    Rule(
        "owner",
        form(
            rf"{WHO} (?:{BE}(?:responsible for|in charge of|(?:the )?(?:new )?(?:owner|maintainer|keeper|lead|leader|head|chair) of)|"
            rf"{_A}(?:looks after|maintains|manages|leads|heads|chairs|takes care of)) {CARED}{END}"
        ),
        read.name,
        "none",
    ),
    Rule(
        "owner",
        form(
            rf"{WHO} (?:{HAVE}taken over|took over|takes over|{HAVE}inherited) {CARED}(?: from "
            rf"(?P<w>{NAME}))?{END}"
        ),
        read.name,
        "none",
        is_change=True,
    ),
    Rule(
        "owner",
        form(
            rf"(?:{_A}belongs {_A}to|{BE}(?:owned|maintained|managed|led|headed|chaired|run|looked after) by|"
            rf"{BE}in the (?:care|hands) of) {WHO}{END}"
        ),
        read.name,
        "thing",
    ),
    Rule(
        "owner",
        form(rf"{HAVE}?(?:been |was )?handed (?:over )?(?:from (?P<w>{NAME}) )?to {WHO}{END}"),
        read.name,
        "thing",
        is_change=True,
    ),
    Rule(
        "owner",
        form(rf"(?:[Oo]wner|[Ll]ead|[Ll]eader|[Hh]ead|[Cc]hair) of {CARED} is {_A}{WHO}{END}"),
        read.name,
        "none",
    ),
    Rule(
        "runs on",
        form(rf"(?:runs?|running|boots?) {_A}(?:from|on|off) (?P<v>{NOUN}){END}"),
        read.short,
        "thing",
    ),
    Rule(
        "uses",
        form(
            rf"(?:uses?|(?:is|are|am) {_A}using) {_A}(?P<v>{MARK}|{NAME})(?: (?:instead of|and not) "
            rf"(?P<w>{MARK}|{NAME}))?{_PURPOSE}{END}"
        ),
        read.name,
    ),
    Rule(
        "uses",
        form(rf"(?:uses?|(?:is|are|am) {_A}using) {_A}(?P<v>{MARK}|{NAME}){END}"),
        read.name,
        is_single=False,
    ),
    Rule(
        "uses",
        form(
            rf"(?:switched|migrated|moved|changed(?: over)?|converted) (?:back )?from "
            rf"(?P<w>{_SOFTWARE}) to (?P<v>{_SOFTWARE})(?:{_PURPOSE})?{END}"
        ),
        read.short,
        is_single=False,
        is_change=True,
    ),
    Rule(
        "uses",
        form(
            rf"{HAVE}?replaced (?P<w>{MARK}|{NAME}) (?:with|by) (?P<v>{MARK}|{NAME})"
            rf"(?:{_PURPOSE})?{END}"
        ),
        read.name,
        is_single=False,
        is_change=True,
    ),
    Rule(
        "uses",
        form(rf"(?:switched|migrated) (?:over |back )?to (?P<v>{MARK}|{NAME})(?:{_PURPOSE})?{END}"),
        read.name,
        is_single=False,
        is_change=True,
    ),
    Rule(
        "name",
        form(
            rf"(?:(?:is|are|was) {_A}(?:called|named)|name is|(?:was|has been|is|got) {_A}renamed(?: "
            rf"from (?P<w>{NAME}))?(?: to| as)?) (?P<v>{NAME}){END}"
        ),
        read.name,
        "any",
    ),
)
"""In the order in which they are tried."""
