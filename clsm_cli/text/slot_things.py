"""Forms in which it is told where a thing is, where it goes, and in what state it is."""

from __future__ import annotations

import re

from clsm_cli.text import slot_readers as read
from clsm_cli.text.slot_readers import Rule, form
from clsm_cli.text.slot_words import (
    ADVERBS,
    BE,
    DATA,
    DAYS,
    END,
    GATHERINGS,
    HAVE,
    MARK,
    NAME,
    NOUN,
)

_A = ADVERBS
_STATUS = (
    r"(?:paused|blocked|live|switched off|turned off|shut down|disabled|enabled|closed|cancell?ed|retired|"
    r"suspended|archived|deprecated|offline|online|on hold|out of order|out of service|decommissioned|discontinued|"
    r"completed|resolved|merged|deployed|postponed|abandoned|back-ordered|sold out|in production|in maintenance|"
    r"in review|in beta|done|finished|broken|dead|switched on|turned on|in service|in shadow mode|frozen|approved|rejected)"
)
_AFTER = r"(?! by default)(?=[.,;:!?)\"]|$| (?:and|but|until|since|as of|today|now|again|at|on|in|by|for|because|after|from|last|yesterday|due|with|till)\b)"
_PLACED = r"(?:kept|stored|moored|parked|located|berthed|docked|anchored|filed|installed|mounted|buried|housed|hidden|stowed)"
_FURNITURE = (
    r"(?:drawer|shelf|cupboard|box|jar|attic|cellar|basement|garage|shed|closet|cabinet|fridge|freezer|safe|bag|desk|"
    r"wall|bookcase|pantry|warehouse|rack|folder|hallway|hall|loft|storage|barn|greenhouse|garden|cloud|vault|tin|case|"
    r"kitchen|office|bathroom|bedroom|lobby|archive|library|harbour|harbor|car park|porch|balcony|roof|locker)"
)
_SPOT = rf"(?P<v>{NOUN}){END}"

RULES: tuple[Rule, ...] = (
    Rule(
        "status",
        form(rf"(?:{BE}|stays? |remains? )(?P<v>{_STATUS}){_AFTER}"),
        read.word,
        "thing",
        is_change=True,
    ),
    Rule(
        "status",
        form(rf"{BE}(?P<v>down|off)(?=[.;]|$| (?:since|until|again)\b)"),
        read.word,
        "thing",
        is_change=True,
    ),
    Rule(
        "status",
        form(
            rf"(?:was|were|got) {_A}(?P<v>switched off|turned off|shut down|retired|cancell?ed|"
            r"decommissioned|discontinued|abandoned|archived|suspended|paused|disabled|postponed|"
            rf"merged|deployed|approved|rejected){_AFTER}"
        ),
        read.word,
        "thing",
        is_change=True,
    ),
    Rule(
        "status",
        form(r"(?:went|has gone|goes|is going) live\b"),
        read.fixed("live"),
        "thing",
        is_change=True,
    ),
    Rule(
        "status",
        form(
            rf"(?:{HAVE}been running|runs?|(?:is|are) {_A}running) in (?P<v>{MARK}|[a-z]{{3,15}} "
            r"mode)"
        ),
        read.short,
        "thing",
    ),
    Rule(
        "status",
        form(
            rf"(?:runs?|works?|trades?|operates?|{BE}(?:up|on|running|open|active|working|"
            r"back))(?: and running)? again\b"
        ),
        read.fixed("running"),
        "thing",
    ),
    Rule(
        "status",
        form(r"(?:resumed|has resumed)(?=[.,;]|$| (?:on|today|yesterday|at|again))"),
        read.fixed("running"),
        "thing",
        is_change=True,
    ),
    Rule(
        "location",
        re.compile(
            rf"(?:\b(?:is|are) {_A}|, ){_PLACED} (?:at|in|on|under|behind|inside|beside) {_SPOT}"
        ),
        read.short,
        "thing",
    ),
    Rule(
        "location",
        form(rf"(?:lies|lie|stands?|hangs?) {_A}(?:at|in|on|under|behind) {_SPOT}"),
        read.short,
        "thing",
    ),
    Rule(
        "location",
        form(rf"lives? {_A}(?:at|in|on|under|behind) {_SPOT}"),
        read.short,
        "object",
    ),
    Rule(
        "location",
        form(
            rf"(?:is|are) {_A}(?:at|in|on|under|behind) (?P<v>(?:the|a|our|my|her|his|their|"
            rf"{NAME}['’]s) (?:[a-z-]{{2,15}} ){{0,2}}{_FURNITURE}(?: of (?:[a-z]{{2,12}} "
            rf")?[a-z]{{3,15}})?){END}"
        ),
        read.short,
        "thing",
    ),
    Rule(
        "location",
        form(
            rf"{HAVE}?moved (?P<s>(?:the|our|my|his|her|their) (?:{MARK}|[\w'’-]{{1,25}})(?: "
            rf"(?:{MARK}|[\w'’-]{{1,25}})){{0,2}}?|{NAME}) (?:from (?P<w>{NOUN}) )?to {_SPOT}"
        ),
        read.short,
        "none",
        is_change=True,
    ),
    Rule(
        "location",
        form(rf"{HAVE}?(?:been )?moved (?:from (?P<w>{NOUN}) )?to {_SPOT}"),
        read.short,
        "object",
        is_change=True,
    ),
    Rule(
        "venue",
        form(
            rf"(?:meets?|gathers?|rehearses?|practises?|trains?|sings?|plays?|(?:is|are) {_A}held|"
            rf"takes? place) {_A}(?:as usual )?(?:on {DAYS} "
            rf")?(?:at|in) {_SPOT}"
        ),
        read.short,
        "thing",
        nouns=GATHERINGS,
    ),
    Rule(
        "venue",
        form(
            rf"met (?:as usual|as always) (?:at|in) {_SPOT}|met (?:at|in) (?P<u>{NOUN}),? as "
            r"(?:usual|always)"
        ),
        read.venue,
        "thing",
        nouns=GATHERINGS,
    ),
    Rule(
        "venue",
        form(rf"(?:is|are) {_A}(?:on )?{DAYS},? (?:at|in) {_SPOT}"),
        read.short,
        "thing",
        nouns=GATHERINGS,
    ),
    Rule(
        "venue",
        form(rf"(?:moved|has moved|moves) (?:from (?P<w>{NOUN}) )?to {_SPOT}"),
        read.short,
        "thing",
        is_change=True,
        nouns=GATHERINGS,
    ),
    Rule(
        "target",
        form(
            rf"(?:goes|go|{HAVE}gone|{HAVE}been going|(?:is|are) {_A}(?:going|sent|written|saved|stored|copied|synced|deployed|pushed|"
            r"uploaded|backed up|hosted|kept|mirrored)|syncs?|deploys?|backs up|lives?|points?) "
            rf"{_A}(?:to|on|in|at|onto|into) (?P<v>{NOUN})(?: and not (?:to |on "
            rf")?(?P<w>{NAME}))?{END}"
        ),
        read.short,
        "thing",
        nouns=DATA,
    ),
    Rule(
        "venue",
        form(
            rf"(?:is|are) {_A}at (?P<v>{NOUN}|{NAME}['’]s)(?= (?:from now on|now|every|on {DAYS}))"
        ),
        read.short,
        "thing",
        nouns=GATHERINGS,
    ),
    Rule(
        "target",
        form(r"(?:has|have) nowhere to (?:go|be)\b"),
        read.fixed("none"),
        "thing",
        nouns=DATA,
    ),
    Rule(
        "target",
        form(rf"{HAVE}?(?:been )?(?:moved|migrated) (?:from (?P<w>{NOUN}) )?to (?P<v>{NOUN}){END}"),
        read.short,
        "thing",
        is_change=True,
        nouns=DATA,
    ),
    Rule(
        "target",
        form(
            r"(?:is |goes |go )?(?:every (?:night|day|hour|week)|nightly|daily|hourly|weekly) to "
            rf"(?P<v>{NOUN}){END}"
        ),
        read.short,
        "thing",
        nouns=DATA,
    ),
)
"""In the order in which they are tried."""
