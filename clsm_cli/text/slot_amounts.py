"""Forms in which amounts, settings and versions are told."""

from __future__ import annotations

from clsm_cli.text import slot_readers as read
from clsm_cli.text.slot_readers import Rule, form
from clsm_cli.text.slot_words import ADVERBS, COUNT, END, MARK, NAME

_A = ADVERBS
_MEDICINE = r"(?P<q>[A-Za-z][a-z-]{3,25})"
_DOSE_UNIT = r"(?P<unit>mg|mcg|µg|ug|g|ml|mL|IU|units|tablets?|pills?|capsules?|drops|puffs)"
_OFTEN = (
    r"(?P<often>(?:once|twice|thrice|[\w-]{1,8} times)(?: an?| per| each| every)? (?:day|week|month|daily|night|morning)|daily|nightly|weekly|"
    r"every (?:day|morning|evening|night|(?:other|second) day|\d{1,2} hours)|morning and evening|each day|in the morning|at night|at bedtime)"
)
_AMOUNT = r"\d[\d.,]{0,10}(?<=\d)(?: ?(?:%|°C|°F|°|(?!to\b|on\b|and\b|for\b|since\b|from\b)[a-zA-Z]{1,10}))?"
_VERSION = r"v?\d{1,4}(?:\.\d{1,4}){1,3}(?:-?(?:rc|beta|alpha)\.?\d{0,2})?"
_MONEY = r"(?:(?:[$£€]|EUR |USD |GBP )\d[\d.,]{0,12}(?<=\d)(?:k|K|M)?|\d[\d.,]{0,12}(?<=\d) ?(?:euros?|dollars|pounds|EUR|USD|GBP|€|CHF))(?: (?:a|per) (?:month|year|week|day|night|hour|person|seat|user|kilo|kg))?"
_FEE = rf"(?:(?:[Mm]y|[Oo]ur|{NAME}['’]s) )?(?:[a-z]{{3,15}} )?(?:[Rr]ent|fee|salary|subscription|premium|budget|allowance|deposit|wage|tuition)"

RULES: tuple[Rule, ...] = (
    Rule(
        "dose",
        form(
            rf"{_MEDICINE},? (?:is |at |of |now |tablets? )?(?:{_A})(?P<n>{COUNT}) ?{_DOSE_UNIT},? "
            rf"{_OFTEN}"
        ),
        read.dose,
        "none",
    ),
    Rule(
        "dose",
        form(
            rf"(?:raised|lowered|reduced|increased|cut|halved|doubled) (?:the )?{_MEDICINE} (?:dose "
            rf")?(?:from [\w. ]{{2,30}}? )?to (?P<n>{COUNT}) ?{_DOSE_UNIT},? {_OFTEN}"
        ),
        read.dose,
        "none",
        is_change=True,
    ),
    Rule(
        "dose",
        form(rf"(?P<n>{COUNT}) ?{_DOSE_UNIT} (?:of )?{_MEDICINE},? {_OFTEN}"),
        read.dose,
        "none",
    ),
    Rule(
        "dose",
        form(
            rf"{_MEDICINE} (?:dose )?(?:goes|went|has gone|is|was|has been|will be) (?:now )?(?:down|"
            r"up|reduced|raised|increased|lowered|halved|doubled|cut|changed)? ?(?:from "
            rf"[\w. ]{{2,30}}? )?to (?P<n>{COUNT}) ?{_DOSE_UNIT},? {_OFTEN}"
        ),
        read.dose,
        "none",
        is_change=True,
    ),
    Rule(
        "rate",
        form(
            rf"for (?P<s>{MARK}|{NAME}),? (?:(?:from today|from now on|now|it is) )?(?P<n>{COUNT}) "
            rf"?(?P<unit>%|percent) (?:of (?:the|its|my|our) [a-z]{{3,15}} )?per "
            rf"(?P<q>[a-z]{{3,12}})(?: (?:instead of|in place of) (?P<w>{COUNT}))?"
        ),
        read.rate,
        "none",
    ),
    Rule(
        "rate",
        form(
            r"(?:risks?|pays?|charges?|takes?|uses?|earns?|yields?|costs?|stakes?|bets?|trades?|at|"
            rf"is) (?:[a-z ]{{0,20}},? ?at )?(?:about |only |just |now )?(?P<n>{COUNT}) ?(?P<unit>%|"
            rf"percent) (?:of (?:the|its|my|our) [a-z]{{3,15}} )?(?:risk )?per "
            rf"(?P<q>[a-z]{{3,12}})\b(?: (?:instead of|in place of) (?P<w>{COUNT}))?"
        ),
        read.rate,
        "thing",
    ),
    Rule(
        "version",
        form(
            rf"(?:upgraded|updated|bumped|migrated) (?P<s>(?:the |our |my )?(?:{MARK}|{NAME}|"
            rf"[a-z][a-z0-9-]{{1,20}})) (?:from (?:version )?(?P<w>{_VERSION}) )?to (?:version "
            rf")?(?P<v>{_VERSION})(?![\w.]*\d)"
        ),
        read.text,
        "none",
        is_change=True,
    ),
    Rule(
        "version",
        form(
            r"(?:(?:is|was|has been) (?:now )?(?:upgraded|updated|bumped)|went|moved|has moved) "
            rf"(?:from (?:version )?(?P<w>{_VERSION}) )?to (?:version )?(?P<v>{_VERSION})(?![\w.]*\d)"
        ),
        read.text,
        "thing",
        is_change=True,
    ),
    Rule(
        "version",
        form(
            rf"(?:is|runs|running|are) {_A}(?:(?:at|on) )?(?:version )?(?P<v>(?:(?<=version "
            rf")|v){_VERSION.removeprefix('v?')})"
        ),
        read.text,
        "thing",
    ),
    Rule(
        "price",
        form(rf"costs? {_A}(?P<v>{_MONEY})"),
        read.text,
        "thing",
    ),
    Rule(
        "price",
        form(rf"(?P<s>{_FEE}) is {_A}(?P<v>{_MONEY})"),
        read.text,
        "none",
    ),
    Rule(
        "price",
        form(rf"[Pp]rice (?:for|of) (?P<s>(?:the )?[\w' -]{{2,30}}?) is {_A}(?P<v>{_MONEY})"),
        read.text,
        "none",
    ),
    Rule(
        "price",
        form(
            rf"(?P<s>{_FEE}) (?:now )?(?:rises?|rose|goes up|went up|goes down|went down|drops?|"
            rf"dropped|falls|fell|(?:(?:is|was|has been|will be) {_A})?(?:raised|lowered|reduced|"
            rf"increased|cut|changed)) (?:from (?P<w>{_MONEY}) )?to (?P<v>{_MONEY})"
        ),
        read.text,
        "none",
        is_change=True,
    ),
    Rule(
        "setting",
        form(
            r"(?:changed|raised|lowered|reduced|increased|bumped|turned (?:up|down)|cut|halved|doubled|"
            rf"set) (?P<s>(?:the|our|its|my) (?:{MARK}|[\w'’-]{{1,25}})(?: [\w'’-]{{1,25}}){{0,3}}?) "
            rf"(?:from (?P<w>{_AMOUNT}) )?to (?P<v>{_AMOUNT}){END}"
        ),
        read.text,
        "none",
        is_change=True,
    ),
    Rule(
        "setting",
        form(
            r"(?:has |have )?(?:changed|went (?:up|down)|gone (?:up|down)|rose|risen|dropped|fell|goes "
            rf"(?:up|down)|rises|drops) from (?P<w>{_AMOUNT}) to (?P<v>{_AMOUNT}){END}"
        ),
        read.text,
        "thing",
        is_change=True,
    ),
    Rule(
        "setting",
        form(
            rf"(?:is|are|was|were|has been|have been) {_A}(?:set|raised|lowered|reduced|increased|"
            r"turned up|turned down|limited|capped|changed|cut|halved|doubled) (?:from "
            rf"(?P<w>\d[\d.,]{{0,10}}(?: ?[%°\w]{{1,10}})?) )?(?:to|at) (?P<v>{_AMOUNT}){END}"
        ),
        read.text,
        "thing",
        is_change=True,
    ),
    Rule(
        "setting",
        form(rf"(?:is|are) {_A}(?P<v>{_AMOUNT}){END}"),
        read.text,
        "thing",
        nouns=frozenset(
            {
                "limit",
                "threshold",
                "quota",
                "timeout",
                "budget",
                "capacity",
                "maximum",
                "minimum",
                "cap",
                "retention",
                "code",
                "temperature",
                "setpoint",
                "level",
                "volume",
                "delay",
                "ttl",
                "resolution",
            }
        ),
    ),
    Rule(
        "port",
        form(
            r"(?:is|listens?|runs?|serves?|answers?|moved|has moved|works) (?:now )?(?:on|at|to) "
            r"port (?P<v>\d{2,5})\b"
        ),
        read.text,
        "thing",
    ),
    Rule(
        "weight",
        form(rf"weighs? {_A}(?P<n>{COUNT}) ?(?P<unit>kg|kilos?|kilograms?|lbs?|pounds|g|grams)\b"),
        read.measure,
        "any",
    ),
    Rule(
        "size",
        form(
            rf"(?:is|are) {_A}(?P<n>{COUNT}) ?(?P<unit>cm|mm|m|metres|meters|feet|foot|inches|km) "
            r"(?P<q>tall|long|wide|high|deep)\b"
        ),
        read.measure,
        "any",
    ),
    Rule(
        "score",
        form(
            rf"(?:scored?|answered|got|has|passed) (?P<n>{COUNT}) (?:out of|of)(?: the)? "
            rf"(?P<of>{COUNT})(?=[.,;!)]|$| (?:in|on|right|correct|properly|questions|points)\b)"
        ),
        read.score,
        "any",
        is_single=False,
    ),
)
"""In the order in which they are tried."""
