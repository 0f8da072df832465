"""Forms in which facts about things, projects and arrangements are told."""

from __future__ import annotations

import re

from clsm_cli.text import slot_readers as read
from clsm_cli.text.slot_readers import Rule
from clsm_cli.text.slot_words import ADVERBS, BE, COUNT, DATA, DAYS, END, GATHERINGS, HAVE, MARK, NAME, NOUN

_A = ADVERBS
_STATUS = (
    r"(?:paused|blocked|live|switched off|turned off|shut down|disabled|enabled|closed|cancell?ed|retired|"
    r"suspended|archived|deprecated|offline|online|on hold|out of order|out of service|decommissioned|discontinued|"
    r"completed|resolved|merged|deployed|postponed|abandoned|back-ordered|sold out|in production|in maintenance|"
    r"in review|in beta|done|finished|broken|dead|switched on|turned on|in use|in service|in shadow mode|frozen|approved|rejected)"
)
_AFTER = r"(?=[.,;:!?)\"]|$| (?:and|but|until|since|as of|today|now|again|at|on|in|by|for|because|after|from|last|yesterday|due|with|till)\b)"
_UNIT = r"(?P<unit>seconds?|secs?|minutes?|mins?|hours?|hrs?|days?|weeks?|months?)"
_REPEATS = (
    r"(?:comes?|came|knocks?|runs?|fires?|polls?|syncs?|repeats?|updates?|beats?|wakes?(?: up)?|checks?(?: in)?|triggers?|"
    r"executes?|refreshes|refresh|rotates?|happens?|rings?|ticks?|pings?|reports?|saves?|starts?|measures?|takes place|"
    r"is (?:sent|written|taken|made|done|read|measured|run|polled|checked|synced|saved|fed|watered|cleaned|emptied))"
)
_PLACED = r"(?:kept|stored|moored|parked|located|berthed|docked|anchored|filed|installed|mounted|buried|housed|hidden|stowed)"
_FURNITURE = (
    r"(?:drawer|shelf|cupboard|box|jar|attic|cellar|basement|garage|shed|closet|cabinet|fridge|freezer|safe|bag|desk|"
    r"wall|bookcase|pantry|warehouse|rack|folder|hallway|hall|loft|storage|barn|greenhouse|garden|cloud|vault|tin|case|"
    r"kitchen|office|bathroom|bedroom|lobby|archive|library|harbour|harbor|car park|porch|balcony|roof|locker)"
)
_SPOT = rf"(?P<v>{NOUN}){END}"
_MEDICINE = r"(?P<q>[A-Za-z][a-z-]{3,25})"
_DOSE_UNIT = r"(?P<unit>mg|mcg|µg|ug|g|ml|mL|IU|units|tablets?|pills?|capsules?|drops|puffs)"
_OFTEN = (
    r"(?P<often>(?:once|twice|thrice|[\w-]{1,8} times)(?: an?| per| each| every)? (?:day|week|month|daily|night|morning)|daily|nightly|weekly|"
    r"every (?:day|morning|evening|night|(?:other|second) day|\d{1,2} hours)|morning and evening|each day|in the morning|at night|at bedtime)"
)
_VERSION = r"v?\d{1,4}(?:\.\d{1,4}){1,3}(?:-?(?:rc|beta|alpha)\.?\d{0,2})?"
_MONEY = r"(?:(?:[$£€]|EUR |USD |GBP )\d[\d.,]{0,12}(?<=\d)(?:k|K|M)?|\d[\d.,]{0,12}(?<=\d) ?(?:euros?|dollars|pounds|EUR|USD|GBP|€|CHF))(?: (?:a|per) (?:month|year|week|day|night|hour|person|seat|user|kilo|kg))?"
_FEE = rf"(?:(?:[Mm]y|[Oo]ur|{NAME}['’]s) )?(?:[a-z]{{3,15}} )?(?:[Rr]ent|fee|salary|subscription|premium|budget|allowance|deposit|wage|tuition)"
_SOFTWARE = rf"(?:{MARK}|{NAME}|[a-z][a-z0-9+.-]{{1,20}}(?: [a-z][a-z0-9+.-]{{1,20}})?)"


def _rule(pattern: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w)(?:{pattern})")


RULES: tuple[Rule, ...] = (
    Rule("due", _rule(rf"{BE}due (?:back )?(?:again )?(?:on |by |at )?(?P<v>.{{3,60}})"), read.due),
    Rule("due", _rule(r"(?:[Dd]eadline|[Dd]ue date) (?:for|of) (?P<s>.{2,50}?) (?:is|is now|has been moved to|was moved to|moves to|moved to) (?:on )?(?P<v>.{3,40})"), read.due, "none"),
    Rule("due", _rule(r"(?:deadline|due date) (?:is|is now|moves to|has moved to) (?:on )?(?P<v>.{3,40})"), read.due, "none"),
    Rule("due", _rule(rf"(?:{HAVE}|was |were |is |got )(?:been )?(?:now )?(?:renewed|extended|postponed|delayed|put off|pushed(?: back)?|moved) (?:again )?(?:from (?P<w>[\w ]{{1,20}}?) )?(?:until|till|to|by) (?P<v>.{{3,40}})"), read.due, "thing", is_change=False),
    Rule("due", _rule(r"(?:must|has to|have to|needs to) be (?:[a-z]{3,12} )?(?:finished|done|submitted|delivered|returned|ready|paid|in|handed in|sent) (?:by|before|until|on) (?P<v>.{3,40})"), read.due, "thing"),
    Rule("appointment", _rule(rf"(?:an|the|next|her|his|my|another|our) appointment with (?P<q>(?:the )?{NAME}|the [a-z]{{3,15}}) (?:is )?(?:on|at|for) (?P<v>.{{3,40}})"), read.appointment, "any"),
    Rule("appointment", _rule(r"(?:next|another) (?P<q>(?:[a-z]{2,15} )?(?:test|check-?up|appointment|exam|interview|surgery|scan|meeting|session|treatment|inspection)) (?:is |will be )?(?:in [\w ]{3,15}, )?on (?P<v>.{3,40})"), read.appointment, "none"),
    Rule("appointment", _rule(r"(?P<q>flight|interview|exam|surgery|operation|wedding|appointment|check-up|hearing|inspection|delivery) (?:is|is now|will be|has been moved to|was moved to|moved to) (?:on )?(?P<v>.{3,40})"), read.appointment, "none"),
    Rule("expires", _rule(r"(?:expires?|ends|runs out) on (?P<v>.{3,40})"), read.due, "thing"),
    Rule("interval", _rule(rf"{_A}{_REPEATS} {_A}(?:every|each|once every|once an?|once each) (?:(?P<n>{COUNT}) )?{_UNIT}(?: (?:instead|in place) of (?:every )?(?P<w>{COUNT})(?: (?P<wunit>[a-z]{{3,8}}))?)?(?=[.,;:!?)]|$| (?:and|since|now|from|instead|by|which|that|until|today|again|so|at|for)\b)"), read.interval, "thing"),
    Rule("interval", _rule(rf"{_A}(?:checks?|polls?|reads?|syncs?|measures?|sends?|writes?|backs up|saves?|rotates?|refreshes|waters?|feeds?|cleans?|empties) (?:the |its |my |our )?(?P<q>[a-z]{{3,15}}(?: [a-z]{{3,15}})?) every (?:(?P<n>{COUNT}) )?{_UNIT}(?: (?:instead|in place) of (?:every )?(?P<w>{COUNT})(?: (?P<wunit>[a-z]{{3,8}}))?)?(?=[.,;:!?)]|$| (?:and|since|now|from|by|which|until|today|again|so|at)\b)"), read.interval, "thing"),
    Rule("interval", _rule(rf"(?P<s>{MARK}) every (?P<n>{COUNT}) {_UNIT}"), read.interval, "none"),
    Rule("interval", _rule(rf"is {_A}every (?:(?P<n>{COUNT}) )?{_UNIT}(?=[.,;!)]|$| since\b)"), read.interval, "thing"),
    Rule("dose", _rule(rf"{_MEDICINE},? (?:is |at |of |now |tablets? )?(?:{_A})(?P<n>{COUNT}) ?{_DOSE_UNIT},? {_OFTEN}"), read.dose, "none"),
    Rule("dose", _rule(rf"(?P<n>{COUNT}) ?{_DOSE_UNIT} (?:of )?{_MEDICINE},? {_OFTEN}"), read.dose, "none"),
    Rule("dose", _rule(rf"{_MEDICINE} (?:dose )?(?:goes|went|has gone|is|was|has been|will be) (?:now )?(?:down|up|reduced|raised|increased|lowered|halved|doubled|cut|changed)? ?(?:from [\w. ]{{2,30}}? )?to (?P<n>{COUNT}) ?{_DOSE_UNIT},? {_OFTEN}"), read.dose, "none", is_change=True),
    Rule("rate", _rule(rf"for (?P<s>{MARK}|{NAME}),? (?:(?:from today|from now on|now|it is) )?(?P<n>{COUNT}) ?(?P<unit>%|percent) (?:of (?:the|its|my|our) [a-z]{{3,15}} )?per (?P<q>[a-z]{{3,12}})(?: (?:instead of|in place of) (?P<w>{COUNT}))?"), read.rate, "none"),
    Rule("rate", _rule(rf"(?:risks?|pays?|charges?|takes?|uses?|earns?|yields?|costs?|stakes?|bets?|trades?|at|is) (?:[a-z ]{{0,20}},? ?at )?(?:about |only |just |now )?(?P<n>{COUNT}) ?(?P<unit>%|percent) (?:of (?:the|its|my|our) [a-z]{{3,15}} )?(?:risk )?per (?P<q>[a-z]{{3,12}})\b(?: (?:instead of|in place of) (?P<w>{COUNT}))?"), read.rate, "thing"),
    Rule("status", _rule(rf"(?:{BE}|stays? |remains? )(?P<v>{_STATUS}){_AFTER}"), read.word, "thing", is_change=True),
    Rule("status", _rule(rf"{BE}(?P<v>down|off)(?=[.;]|$| (?:since|until|again)\b)"), read.word, "thing", is_change=True),
    Rule("status", _rule(rf"(?:was|were|got) {_A}(?P<v>switched off|turned off|shut down|retired|cancell?ed|decommissioned|discontinued|abandoned|archived|suspended|paused|disabled|postponed|merged|deployed|approved|rejected){_AFTER}"), read.word, "thing", is_change=True),
    Rule("status", _rule(r"(?:went|has gone|goes|is going) live\b"), read.fixed("live"), "thing", is_change=True),
    Rule("status", _rule(rf"(?:{HAVE}been running|runs?|(?:is|are) {_A}running) in (?P<v>{MARK}|[a-z]{{3,15}} mode)"), read.short, "thing"),
    Rule("status", _rule(rf"(?:runs?|works?|trades?|operates?|(?:is|are) {_A}(?:up|running|open|active|working|back))(?: and running)? again\b"), read.fixed("running"), "thing"),
    Rule("status", _rule(r"(?:resumed|has resumed)(?=[.,;]|$| (?:on|today|yesterday|at|again))"), read.fixed("running"), "thing", is_change=True),
    Rule("location", re.compile(rf"(?:\b(?:is|are) {_A}|, ){_PLACED} (?:at|in|on|under|behind|inside|beside) {_SPOT}"), read.short, "thing"),
    Rule("location", _rule(rf"(?:lies|lie|stands?|hangs?) {_A}(?:at|in|on|under|behind) {_SPOT}"), read.short, "thing"),
    Rule("location", _rule(rf"lives? {_A}(?:at|in|on|under|behind) {_SPOT}"), read.short, "object"),
    Rule("location", _rule(rf"(?:is|are) {_A}(?:at|in|on|under|behind) (?P<v>(?:the|a|our|my|her|his|their|{NAME}['’]s) (?:[a-z-]{{2,15}} ){{0,2}}{_FURNITURE}(?: of (?:[a-z]{{2,12}} )?[a-z]{{3,15}})?){END}"), read.short, "thing"),
    Rule("location", _rule(rf"{HAVE}?moved (?P<s>(?:the|our|my|his|her|their) (?:{MARK}|[\w'’-]{{1,25}})(?: (?:{MARK}|[\w'’-]{{1,25}})){{0,2}}?|{NAME}) (?:from (?P<w>{NOUN}) )?to {_SPOT}"), read.short, "none", is_change=True),
    Rule("location", _rule(rf"{HAVE}?(?:been )?moved (?:from (?P<w>{NOUN}) )?to {_SPOT}"), read.short, "object", is_change=True),
    Rule("venue", _rule(rf"(?:meets?|gathers?|(?:is|are) {_A}held|takes? place) {_A}(?:as usual )?(?:on {DAYS} )?(?:at|in) {_SPOT}"), read.short, "thing", nouns=GATHERINGS),
    Rule("venue", _rule(rf"met (?:as usual|as always) (?:at|in) {_SPOT}|met (?:at|in) (?P<u>{NOUN}),? as (?:usual|always)"), read.venue, "thing", nouns=GATHERINGS),
    Rule("venue", _rule(rf"(?:is|are) {_A}(?:on )?{DAYS},? (?:at|in) {_SPOT}"), read.short, "thing", nouns=GATHERINGS),
    Rule("venue", _rule(rf"(?:moved|has moved|moves) (?:from (?P<w>{NOUN}) )?to {_SPOT}"), read.short, "thing", is_change=True, nouns=GATHERINGS),
    Rule("target", _rule(rf"(?:goes|go|(?:is|are) {_A}(?:sent|written|saved|stored|copied|synced|deployed|pushed|uploaded|backed up|hosted|kept|mirrored)|syncs?|deploys?|backs up|lives?|points?) {_A}(?:to|on|in|at|onto|into) (?P<v>{NOUN})(?: and not (?:to |on )?(?P<w>{NAME}))?{END}"), read.short, "thing", nouns=DATA),
    Rule("target", _rule(rf"(?:has|have) nowhere to (?:go|be)\b"), read.fixed("none"), "thing", nouns=DATA),
    Rule("runs on", _rule(rf"(?:runs?|running|boots?) {_A}(?:from|on|off) (?P<v>{NOUN}){END}"), read.short, "thing"),
    Rule("uses", _rule(rf"(?:uses?|(?:is|are|am) {_A}using) {_A}(?P<v>{MARK}|{NAME}) (?:for|as) (?:(?:its|the|our|my|his|her|their|an?|all) )?(?P<q>[a-z-]{{3,20}}(?: [a-z-]{{3,20}})?){END}"), read.name),
    Rule("uses", _rule(rf"(?:uses?|(?:is|are|am) {_A}using) {_A}(?P<v>{MARK}|{NAME}){END}"), read.name, is_single=False),
    Rule("uses", _rule(rf"(?:switched|migrated|changed(?: over)?|converted) (?:back )?from (?P<w>{_SOFTWARE}) to (?P<v>{_SOFTWARE}){END}"), read.short, is_single=False, is_change=True),
    Rule("uses", _rule(rf"(?:switched|migrated) (?:over |back )?to (?P<v>{MARK}|{NAME}){END}"), read.name, is_single=False, is_change=True),
    Rule("name", _rule(rf"(?:(?:is|are|was) {_A}(?:called|named)|name is|(?:was|has been|is|got) {_A}renamed(?: to| as)?) (?P<v>{NAME}){END}"), read.name, "any"),
    Rule("version", _rule(rf"(?:upgraded|updated|bumped|migrated) (?P<s>(?:the |our |my )?(?:{MARK}|{NAME}|[a-z][a-z0-9-]{{1,20}})) (?:from (?:version )?(?P<w>{_VERSION}) )?to (?:version )?(?P<v>{_VERSION})(?![\w.]*\d)"), read.text, "none", is_change=True),
    Rule("version", _rule(rf"(?:(?:is|was|has been) (?:now )?(?:upgraded|updated|bumped)|went|moved|has moved) (?:from (?:version )?(?P<w>{_VERSION}) )?to (?:version )?(?P<v>{_VERSION})(?![\w.]*\d)"), read.text, "thing", is_change=True),
    Rule("version", _rule(rf"(?:is|runs|running|are) {_A}(?:now )?(?:at|on)?(?: version| v)? ?(?P<v>(?:(?<=version )|v){_VERSION.removeprefix('v?')})"), read.text, "thing"),
    Rule("price", _rule(rf"costs? {_A}(?P<v>{_MONEY})"), read.text, "thing"),
    Rule("price", _rule(rf"(?P<s>{_FEE}) is {_A}(?P<v>{_MONEY})"), read.text, "none"),
    Rule("price", _rule(rf"[Pp]rice (?:for|of) (?P<s>(?:the )?[\w' -]{{2,30}}?) is {_A}(?P<v>{_MONEY})"), read.text, "none"),
    Rule("price", _rule(rf"(?P<s>{_FEE}) (?:now )?(?:rises?|rose|goes up|went up|goes down|went down|drops?|dropped|falls|fell|(?:(?:is|was|has been|will be) {_A})?(?:raised|lowered|reduced|increased|cut|changed)) (?:from (?P<w>{_MONEY}) )?to (?P<v>{_MONEY})"), read.text, "none", is_change=True),
    Rule("setting", _rule(rf"(?:is|are|was|were|has been|have been) {_A}(?:set|raised|lowered|reduced|increased|turned up|turned down|limited|capped|changed|cut|halved|doubled) (?:from (?P<w>\d[\d.,]{{0,10}}(?: ?[%°\w]{{1,10}})?) )?(?:to|at) (?P<v>(?:\d[\d.,]{{0,10}}(?<=\d)(?: ?(?:%|°C|°F|°|[a-zA-Z]{{1,10}}))?)){END}"), read.text, "thing", is_change=True),
    Rule("port", _rule(r"(?:is|listens?|runs?|serves?|answers?|moved|has moved|works) (?:now )?(?:on|at|to) port (?P<v>\d{2,5})\b"), read.text, "thing"),
    Rule("time", _rule(rf"(?:is|are|starts?|begins?) {_A}at (?P<v>\d{{1,2}}(?:[:.]\d\d)?(?: ?[ap]\.?m\.?| o'clock)?)(?=[.,;!)]|$| (?:now|from now on|instead|sharp|every|on {DAYS})\b)(?!,? (?:today|tomorrow|tonight))"), read.clock, "thing", nouns=GATHERINGS),
    Rule("time", _rule(rf"(?:is |was |has been |has )?(?:now )?(?:moved|moves|shifted|shifts) (?:from (?P<w>\d{{1,2}}[:.]\d\d) )?to (?P<v>\d{{1,2}}[:.]\d\d(?: ?[ap]\.?m\.?)?)(?!,? (?:today|tomorrow|tonight))"), read.clock, "thing", is_change=True, nouns=GATHERINGS),
    Rule("weight", _rule(rf"weighs? {_A}(?P<n>{COUNT}) ?(?P<unit>kg|kilos?|kilograms?|lbs?|pounds|g|grams)\b"), read.measure, "any"),
    Rule("size", _rule(rf"(?:is|are) {_A}(?P<n>{COUNT}) ?(?P<unit>cm|mm|m|metres|meters|feet|foot|inches|km) (?P<q>tall|long|wide|high|deep)\b"), read.measure, "any"),
    Rule("score", _rule(rf"(?:scored?|answered|got|has|passed) (?P<n>{COUNT}) (?:out of|of)(?: the)? (?P<of>{COUNT})(?=[.,;!)]|$| (?:in|on|right|correct|properly|questions|points)\b)"), read.score, "any", is_single=False),
    Rule("rule", _rule(r"(?:[Dd]o not|[Nn]ever) (?:speak|talk|write|message|ping|disturb|notify|wake|call|say anything)(?: to)?(?: me| her| him| us| anyone| anybody| [A-Z]\w{1,20})? (?:before|until) (?P<v>[^.,;!?\"]{3,40})"), read.quiet, "none"),
    Rule("rule", _rule(r"(?P<q>[Nn]othing (?:before|after)|[Nn]o [a-z]{3,15} (?:before|after)) (?P<v>[^.,;!?\"]{3,40})"), read.quiet, "none"),
)  # fmt: skip
"""Rules about things."""
