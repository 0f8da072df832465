"""Forms in which facts about people are told: where they live, what they do, who they are to each other."""

from __future__ import annotations

from clsm_cli.text import slot_readers as read
from clsm_cli.text.slot_readers import Rule, form
from clsm_cli.text.slot_words import ADVERBS, COUNT, DAYS, END, HAVE, NAME

_PLACE = rf"(?P<v>(?:the )?{NAME}){END}"
_A = ADVERBS
_WORKPLACE = rf"(?P<v>(?:the |an? )?{NAME}|(?:the|an?|our|my|her|his|their) [a-z-]{{2,20}}(?: [a-z-]{{2,20}}){{0,2}}){END}"
_PROFESSION = (
    r"(?:(?!great|good|bad|amazing|big|real|true|first|born|natural|keen|huge|better|wonderful|fantastic|talented)[a-z-]{2,20} ){0,3}?(?:[a-z]{2,20}(?:ologist|ographer|ician|ectrician|eer|eeper)|accountant|actor|actress|"
    r"analyst|architect|artist|attorney|author|baker|banker|barber|barista|bookkeeper|builder|butcher|"
    r"carpenter|cashier|chef|chemist|clerk|coach|consultant|cook|counselor|counsellor|dancer|dentist|"
    r"designer|developer|director|doctor|driver|editor|electrician|engineer|farmer|firefighter|fisherman|"
    r"florist|gardener|hairdresser|historian|instructor|interpreter|janitor|journalist|judge|lawyer|lecturer|"
    r"librarian|limnologist|manager|mechanic|midwife|musician|nurse|optician|painter|paramedic|pastor|"
    r"pharmacist|photographer|physicist|physiotherapist|pilot|plumber|policeman|policewoman|principal|"
    r"producer|professor|programmer|psychiatrist|psychologist|realtor|receptionist|recruiter|researcher|"
    r"sailor|salesman|scientist|sculptor|secretary|skipper|social worker|soldier|student|surgeon|surveyor|"
    r"tailor|teacher|therapist|trader|translator|tutor|vet|veterinarian|waiter|waitress|welder|writer)"
)
_LANGUAGES = (
    r"(?:Arabic|Bengali|Bulgarian|Catalan|Chinese|Croatian|Czech|Danish|Dutch|English|Estonian|Farsi|Finnish|French|"
    r"Frisian|Gaelic|German|Greek|Hebrew|Hindi|Hungarian|Irish|Italian|Japanese|Korean|Latin|Latvian|Lithuanian|"
    r"Mandarin|Norwegian|Persian|Polish|Portuguese|Romanian|Russian|Serbian|Slovak|Spanish|Swahili|Swedish|"
    r"Tagalog|Tamil|Thai|Turkish|Ukrainian|Urdu|Vietnamese|Welsh)"
)

RULES: tuple[Rule, ...] = (
    Rule(
        "residence",
        form(
            rf"(?:lives?|(?:is|are|am) {_A}living|resides?|{HAVE}lived|{HAVE}been living) {_A}in "
            rf"{_PLACE}"
        ),
        read.name,
        "person",
    ),
    Rule(
        "residence",
        form(rf"(?:used to live|used to be living) in {_PLACE}"),
        read.name,
        "person",
        is_ended=True,
    ),
    Rule(
        "residence",
        form(
            r"(?:moved|relocated|has moved|is moving back) (?:back |over |out |away |here |house |"
            rf"up |down )?(?:from (?P<w>{NAME}) )?(?:back |over )?to {_PLACE}"
        ),
        read.name,
        "person",
        is_change=True,
    ),
    Rule(
        "residence",
        form(rf"settled (?:down )?in {_PLACE}"),
        read.name,
        "person",
        is_change=True,
    ),
    Rule(
        "origin",
        form(rf"(?:is|am|are) (?:originally |actually )?from {_PLACE}"),
        read.name,
        "person",
    ),
    Rule(
        "origin",
        form(rf"(?:comes?) (?:originally )?from {_PLACE}"),
        read.name,
        "person",
    ),
    Rule(
        "employer",
        form(
            rf"(?:works?|(?:is|am|are) {_A}working|{HAVE}worked|{HAVE}been working) {_A}(?:for|at) "
            rf"{_WORKPLACE}"
        ),
        read.short,
        "person",
    ),
    Rule(
        "employer",
        form(
            rf"(?:(?:got|found|landed|took|accepted) (?:a|an|the|my) (?:[a-z-]{{2,15}} "
            rf"){{0,3}}(?:job|position|role|internship)|started (?:work|working|a new job|my new job|"
            rf"her new job|his new job)) (?:at|with) {_WORKPLACE}"
        ),
        read.short,
        "person",
        is_change=True,
    ),
    Rule(
        "occupation",
        form(
            rf"(?:works?|(?:is|am|are) {_A}(?:working|employed)|{HAVE}been working|got (?:a|my) "
            rf"(?:new )?job|started (?:working|work|a new job)|"
            rf"(?:found|landed|took|{HAVE}(?:found|landed|taken)) (?:work|a (?:new )?(?:job|position|post))) {_A}as (?:an?|the) "
            rf"(?P<v>[a-z-]{{2,20}}(?: [a-z-]{{2,20}}){{0,3}}){END}"
        ),
        read.short,
        "person",
    ),
    Rule(
        "occupation",
        form(
            rf"(?:is|am) {_A}(?:an? )?(?P<v>{_PROFESSION})(?=[.,;:!?)-]|$| (?:at|in|by|for|and|from|"
            r"now|with|who|of)\b)"
        ),
        read.short,
        "person",
    ),
    Rule(
        "occupation",
        form(
            rf"{HAVE}?(?:became|become) an? (?P<v>{_PROFESSION})(?=[.,;:!?)-]|$| (?:at|in|by|for|and|"
            r"from|now|with|who|of|on|since|last|this|yesterday|today)\b)"
        ),
        read.short,
        "person",
        is_change=True,
    ),
    Rule(
        "employer",
        form(
            rf"(?:lost|left|quit) (?:my|his|her|their|the) (?:[a-z]{{2,15}} )?job at {_WORKPLACE}"
        ),
        read.short,
        "person",
        is_change=True,
        is_ended=True,
    ),
    Rule(
        "occupation",
        form(
            rf"(?:lost|left|quit) (?:my|his|her|their|the) (?:[a-z]{{2,15}} )?job as an? "
            rf"(?P<v>[a-z-]{{2,20}}(?: [a-z-]{{2,20}}){{0,2}}){END}"
        ),
        read.short,
        "person",
        is_change=True,
        is_ended=True,
    ),
    Rule(
        "occupation",
        form(
            r"(?:has |have )?(?P<v>retired)(?=[.,;!]|$| (?:in|on|last|this|from|at|after)\b)(?! "
            r"from (?:use|service))"
        ),
        read.word,
        "person",
        is_change=True,
    ),
    Rule(
        "age",
        form(
            rf"(?:is|am) {_A}(?P<v>{COUNT})(?: years old| years of age)?(?=[.,;!)](?!\d)|$| (?:since|"
            r"today|for|now|and (?:an?|has|is|lives|works))\b)"
        ),
        read.age,
        "person",
    ),
    Rule(
        "age",
        form(rf"(?:is|are) {_A}(?P<v>{COUNT}) years old\b"),
        read.age,
        "any",
    ),
    Rule(
        "age",
        form(
            r"(?:turned|turns|has turned|have turned|will turn|is turning|am turning) "
            rf"(?P<v>{COUNT})(?! (?:percent|%|degrees|times|of|pages))(?=[.,;!)]|$| (?:on|in|last|"
            r"this|next|today|yesterday|tomorrow|since|and|years)\b)"
        ),
        read.age,
        "person",
        is_change=True,
    ),
    Rule(
        "birthday",
        form(r"birthday is (?:on |celebrated on )?(?P<v>.{3,30})"),
        read.birthday,
        "none",
    ),
    Rule(
        "birthday",
        form(r"was born on (?:the )?(?P<v>.{3,30})"),
        read.birthday,
        "person",
    ),
    Rule(
        "marital status",
        form(
            rf"(?:is|am|are) {_A}(?P<v>married|engaged|divorced|widowed|a widow|a widower)(?=[.,;!)]|"
            r"$| (?:to|since|now|for|and)\b)"
        ),
        read.word,
        "person",
    ),
    Rule(
        "marital status",
        form(r"got (?P<v>married|engaged|divorced)\b"),
        read.word,
        "person",
        is_change=True,
    ),
    Rule(
        "partner",
        form(rf"(?:is|am|are|got) {_A}(?:married|engaged) to (?P<v>{NAME}){END}"),
        read.name,
        "person",
    ),
    Rule(
        "language",
        form(rf"(?:speaks?|is fluent in|am fluent in) {_A}(?:fluent )?(?P<v>{_LANGUAGES})\b"),
        read.name,
        "person",
        is_single=False,
    ),
    Rule(
        "workdays",
        form(
            rf"days (?:at|in) (?:the )?(?P<q>{NAME})(?: (?:office|school|shop|lab|site|campus|clinic|"
            rf"hospital))? (?:are|is) (?:now )?(?:on )?(?P<v>{DAYS})"
        ),
        read.days,
        "none",
    ),
    Rule(
        "workdays",
        form(
            rf"(?P<v>{DAYS}) (?:are|is) (?:now )?(?P<s>her|his|their|my|{NAME}['’]s) (?:office |"
            rf"work(?:ing)? |teaching )?days?(?: at (?:the )?(?P<q>{NAME})| in (?:the "
            rf")?(?P<p>{NAME}))?"
        ),
        read.days,
        "none",
    ),
    Rule(
        "workdays",
        form(
            r"(?:office|work|working|teaching) days (?:(?:are|is) (?:now )?(?:on )?|(?:have |has "
            rf")?(?:changed|moved) (?:from (?P<w>{DAYS}) )?to )(?P<v>{DAYS})"
        ),
        read.days,
        "none",
    ),
    Rule(
        "workdays",
        form(rf"is (?:now )?(?:in|at) the (?P<q>{NAME}) office on (?P<v>{DAYS})"),
        read.days,
        "person",
    ),
    Rule(
        "workdays",
        form(rf"(?P<q>{NAME}) office on (?P<v>{DAYS})"),
        read.days,
        "none",
    ),
    Rule(
        "workdays",
        form(
            rf"works? (?:at|in|from) (?:the )?(?P<q>{NAME})(?: office)? (?:now )?on (?P<v>{DAYS})"
        ),
        read.days,
        "person",
    ),
)
"""In the order in which they are tried."""
