"""Forms in which it is told what a system uses, where it runs and what it is called."""

from __future__ import annotations

from clsm_cli.text import slot_readers as read
from clsm_cli.text.slot_readers import Rule, form
from clsm_cli.text.slot_words import ADVERBS, END, HAVE, MARK, NAME, NOUN

_A = ADVERBS
_SOFTWARE = rf"(?:{MARK}|{NAME}|[a-z][a-z0-9+.-]{{1,20}}(?: [a-z][a-z0-9+.-]{{1,20}})?)"

RULES: tuple[Rule, ...] = (
    Rule(
        "runs on",
        form(rf"(?:runs?|running|boots?) {_A}(?:from|on|off) (?P<v>{NOUN}){END}"),
        read.short,
        "thing",
    ),
    Rule(
        "uses",
        form(
            rf"(?:uses?|(?:is|are|am) {_A}using) {_A}(?P<v>{MARK}|{NAME}) (?:for|as) (?:(?:its|the|"
            rf"our|my|his|her|their|an?|all) )?(?P<q>[a-z-]{{3,20}}(?: [a-z-]{{3,20}})?){END}"
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
            rf"(?:switched|migrated|changed(?: over)?|converted) (?:back )?from (?P<w>{_SOFTWARE}) "
            rf"to (?P<v>{_SOFTWARE}){END}"
        ),
        read.short,
        is_single=False,
        is_change=True,
    ),
    Rule(
        "uses",
        form(rf"{HAVE}?replaced (?P<w>{MARK}|{NAME}) (?:with|by) (?P<v>{MARK}|{NAME}){END}"),
        read.name,
        is_single=False,
        is_change=True,
    ),
    Rule(
        "uses",
        form(rf"(?:switched|migrated) (?:over |back )?to (?P<v>{MARK}|{NAME}){END}"),
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
