"""Forms in which days, intervals and times of day are told."""

from __future__ import annotations

from clsm_cli.text import slot_readers as read
from clsm_cli.text.slot_readers import Rule, form
from clsm_cli.text.slot_words import ADVERBS, BE, COUNT, DAYS, GATHERINGS, HAVE, MARK, NAME, UNIT

_A = ADVERBS
_REPEATS = (
    r"(?:comes?|came|knocks?|runs?|fires?|polls?|syncs?|repeats?|updates?|beats?|wakes?(?: up)?|checks?(?: in)?|triggers?|"
    r"executes?|refreshes|refresh|rotates?|happens?|rings?|ticks?|pings?|reports?|saves?|starts?|measures?|takes place|"
    r"(?:goes|comes) out|appears?|writes?|reads?|logs?|backs up|sends?|"
    r"is (?:sent|written|taken|made|done|read|measured|run|polled|checked|synced|saved|fed|watered|cleaned|emptied))"
)

RULES: tuple[Rule, ...] = (
    Rule(
        "due",
        form(rf"{BE}due (?:back )?(?:again )?(?:on |by |at )?(?P<v>.{{3,60}})"),
        read.due,
    ),
    Rule(
        "due",
        form(
            r"(?:[Dd]eadline|[Dd]ue date) (?:for|of) (?P<s>.{2,50}?) (?:is|is now|(?:has been |was |"
            r"has )?(?:moved|moves|slipped|pushed|extended|postponed|brought forward)(?: back)?(?: "
            r"from (?P<w>[\w ]{1,20}?))? to) (?:on )?(?P<v>.{3,40})"
        ),
        read.due,
        "none",
    ),
    Rule(
        "due",
        form(r"(?:deadline|due date) (?:is|is now|moves to|has moved to) (?:on )?(?P<v>.{3,40})"),
        read.due,
        "none",
    ),
    Rule(
        "due",
        form(
            rf"(?:{HAVE}|was |were |is |got )(?:been )?(?:now )?(?:renewed|extended|postponed|"
            rf"delayed|put off|pushed(?: back)?|moved) (?:again )?(?:from (?P<w>[\w ]{{1,20}}?) "
            rf")?(?:until|till|to|by) (?P<v>.{{3,40}})"
        ),
        read.due,
        "thing",
        is_change=False,
    ),
    Rule(
        "due",
        form(
            r"(?:must|has to|have to|needs to) be (?:[a-z]{3,12} )?(?:finished|done|submitted|"
            r"delivered|returned|ready|paid|in|handed in|sent) (?:by|before|until|on) (?P<v>.{3,40})"
        ),
        read.due,
        "thing",
    ),
    Rule(
        "appointment",
        form(
            rf"(?:an|the|next|her|his|my|another|our) appointment with (?P<q>(?:the )?{NAME}|the "
            rf"[a-z]{{3,15}}) (?:(?:is )?(?:on|at|for)|(?:has been |was )?moved to|is now on) "
            rf"(?P<v>.{{3,40}})"
        ),
        read.appointment,
        "any",
    ),
    Rule(
        "appointment",
        form(
            r"(?:next|another) (?P<q>(?:[a-z]{2,15} )?(?:test|check-?up|appointment|exam|interview|"
            r"surgery|scan|meeting|session|treatment|inspection)) (?:is |will be )?(?:in "
            r"[\w ]{3,15}, )?on (?P<v>.{3,40})"
        ),
        read.appointment,
        "none",
    ),
    Rule(
        "appointment",
        form(
            r"(?P<q>(?:[a-z]{3,12} )?(?:flight|interview|exam|surgery|operation|wedding|appointment|"
            r"check-up|hearing|inspection|delivery)) (?:is|is now|will be|has been moved to|was "
            r"moved to|moved to) (?:on )?(?P<v>.{3,40})"
        ),
        read.appointment,
        "none",
    ),
    Rule(
        "expires",
        form(r"(?:expires?|ends|runs out) (?:now )?on (?P<v>.{3,40})"),
        read.due,
        "thing",
    ),
    Rule(
        "interval",
        form(
            rf"{_A}{_REPEATS} {_A}(?:every|each|once every|once an?|once each) (?:(?P<n>{COUNT}) "
            rf")?{UNIT}(?: (?:instead|in place) of (?:every )?(?P<w>{COUNT})(?: "
            rf"(?P<wunit>[a-z]{{3,8}}))?)?(?=[.,;:!?)]|$| (?:and|since|now|from|instead|by|which|"
            r"that|until|today|again|so|at|for)\b)"
        ),
        read.interval,
        "thing",
    ),
    Rule(
        "interval",
        form(
            rf"{_A}(?:backs up|[a-z]{{2,12}}s|check|poll|read|sync|send|write|save) (?:the |its |my |our "
            rf")?(?P<q>(?!and\b|at\b|on\b|to\b|of\b)[a-z]{{3,15}}(?: [a-z]{{3,15}})?) (?:once )?"
            rf"(?:every|each|once an?) (?:(?P<n>{COUNT}) )?{UNIT}(?: "
            rf"(?:instead|in place) of (?:every )?(?P<w>{COUNT})(?: "
            rf"(?P<wunit>[a-z]{{3,8}}))?)?(?=[.,;:!?)]|$| (?:and|since|now|from|by|which|until|today|"
            r"again|so|at)\b)"
        ),
        read.interval,
        "thing",
    ),
    Rule(
        "interval",
        form(rf"(?P<s>{MARK}|(?<![\w ,]){NAME}) every (?P<n>{COUNT}) {UNIT}"),
        read.interval,
        "none",
    ),
    Rule(
        "interval",
        form(rf"is {_A}every (?:(?P<n>{COUNT}) )?{UNIT}(?=[.,;!)]|$| since\b)"),
        read.interval,
        "thing",
    ),
    Rule(
        "interval",
        form(rf"(?:is|are) {_A}(?P<n>{COUNT}) {UNIT}(?=[.,;!)]|$| (?:since|now|from)\b)"),
        read.interval,
        "thing",
        nouns=frozenset({"interval", "frequency", "period", "cycle"}),
    ),
    Rule(
        "time",
        form(
            rf"(?:is|are|starts?|begins?) {_A}at (?P<v>\d{{1,2}}(?:[:.]\d\d)?(?: ?[ap]\.?m\.?| "
            rf"o'clock)?)(?=[.,;!)]|$| (?:now|from|since|as of|until|instead|sharp|every|on {DAYS})\b)(?!,? "
            r"(?:today|tomorrow|tonight))"
        ),
        read.clock,
        "thing",
        nouns=GATHERINGS,
    ),
    Rule(
        "time",
        form(
            r"(?:is |was |has been |has )?(?:now )?(?:moved|moves|shifted|shifts) (?:from "
            r"(?P<w>\d{1,2}[:.]\d\d) )?to (?P<v>\d{1,2}[:.]\d\d(?: ?[ap]\.?m\.?)?)(?!,? "
            r"(?:today|tomorrow|tonight))"
        ),
        read.clock,
        "thing",
        is_change=True,
        nouns=GATHERINGS,
    ),
    Rule(
        "rule",
        form(
            r"(?:[Dd]o not|[Nn]ever) (?:speak|talk|write|message|ping|disturb|notify|wake|call|say "
            r"anything)(?: to)?(?: me| her| him| us| anyone| anybody| [A-Z]\w{1,20})? (?:before|"
            r"until) (?P<v>[^.,;!?\"]{3,40})"
        ),
        read.quiet,
        "none",
    ),
    Rule(
        "rule",
        form(
            r"(?:I|[Ww]e) (?:keep|stay|remain|am|are) (?:still|quiet|silent) until (?P<v>[^.,;!?\"]{3,40})"
        ),
        read.quiet,
        "none",
    ),
    Rule(
        "rule",
        form(
            r"(?P<v>[^.,;!?\"]{3,40}?)(?: first)?,? and until (?:she|he|they) (?:does|do|has|have),? I "
            r"(?:keep|stay|remain|am) (?:still|quiet|silent)"
        ),
        read.quiet,
        "none",
    ),
    Rule(
        "rule",
        form(
            r"(?P<q>[Nn]othing (?:before|after)|[Nn]o [a-z]{3,15} (?:before|after)) "
            r"(?P<v>[^.,;!?\"]{3,40})"
        ),
        read.quiet,
        "none",
    ),
)
"""In the order in which they are tried."""
