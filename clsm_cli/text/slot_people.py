"""Forms in which facts about people are told."""

from __future__ import annotations

import re

from clsm_cli.text import slot_readers as read
from clsm_cli.text.slot_readers import Rule
from clsm_cli.text.slot_words import ADVERBS, BE, COUNT, DAYS, END, HAVE, MARK, NAME, NOUN, WORDS

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
_PLAYED = (
    r"(?:piano|guitar|violin|cello|flute|clarinet|drums|saxophone|trumpet|ukulele|bass|harp|oboe|banjo|accordion|"
    r"organ|viola|trombone|harmonica|keyboard|chess|tennis|football|soccer|basketball|volleyball|baseball|hockey|golf|"
    r"cricket|rugby|badminton|squash|bridge|poker|table tennis|ping pong|video games|board games)"
)
_ANIMAL = r"(?:dog|cat|puppy|pup|kitten|parrot|rabbit|hamster|horse|guinea pig|pet|bird|snake|turtle|fish|pony|goldfish)"
_DRINK = r"(?:coffee|tea|green tea|herbal tea|decaf|alcohol|wine|beer|soda|milk|espresso|sugar|meat|dairy|gluten|smoking|cigarettes|caffeine|chocolate|bread)"
_PART_OF_DAY = r"(?:morning|breakfast|lunch|dinner|supper|evening|bedtime|weekend|nightly|daily)"


def _rule(pattern: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w)(?:{pattern})")


RULES: tuple[Rule, ...] = (
    Rule("residence", _rule(rf"(?:lives?|(?:is|are|am) {_A}living|resides?|{HAVE}lived|{HAVE}been living) {_A}in {_PLACE}"), read.name, "person"),
    Rule("residence", _rule(rf"(?:used to live|used to be living) in {_PLACE}"), read.name, "person", is_ended=True),
    Rule("residence", _rule(rf"(?:moved|relocated|has moved|is moving back) (?:back |over |out |away |here |house |up |down )?(?:from (?P<w>{NAME}) )?(?:back |over )?to {_PLACE}"), read.name, "person", is_change=True),
    Rule("origin", _rule(rf"(?:is|am|are) (?:originally |actually )?from {_PLACE}"), read.name, "person"),
    Rule("origin", _rule(rf"(?:comes?) (?:originally )?from {_PLACE}"), read.name, "person"),
    Rule("employer", _rule(rf"(?:works?|(?:is|am|are) {_A}working|{HAVE}worked|{HAVE}been working) {_A}(?:for|at) {_WORKPLACE}"), read.short, "person"),
    Rule("employer", _rule(rf"(?:(?:got|found|landed|took|accepted) (?:a|an|the|my) (?:[a-z-]{{2,15}} ){{0,3}}(?:job|position|role|internship)|started (?:work|working|a new job|my new job|her new job|his new job)) (?:at|with) {_WORKPLACE}"), read.short, "person", is_change=True),
    Rule("occupation", _rule(rf"(?:works?|(?:is|am|are) {_A}(?:working|employed)|{HAVE}been working|got (?:a|my) (?:new )?job|started (?:working|work|a new job)) {_A}as (?:an?|the) (?P<v>[a-z-]{{2,20}}(?: [a-z-]{{2,20}}){{0,3}}){END}"), read.short, "person"),
    Rule("occupation", _rule(rf"(?:is|am) {_A}an? (?P<v>{_PROFESSION})(?=[.,;:!?)-]|$| (?:at|in|by|for|and|from|now|with|who|of)\b)"), read.short, "person"),
    Rule("occupation", _rule(rf"{HAVE}?(?:became|become) an? (?P<v>{_PROFESSION})(?=[.,;:!?)-]|$| (?:at|in|by|for|and|from|now|with|who|of)\b)"), read.short, "person", is_change=True),
    Rule("employer", _rule(rf"(?:lost|left|quit) (?:my|his|her|their|the) (?:[a-z]{{2,15}} )?job at {_WORKPLACE}"), read.short, "person", is_change=True, is_ended=True),
    Rule("occupation", _rule(rf"(?:lost|left|quit) (?:my|his|her|their|the) (?:[a-z]{{2,15}} )?job as an? (?P<v>[a-z-]{{2,20}}(?: [a-z-]{{2,20}}){{0,2}}){END}"), read.short, "person", is_change=True, is_ended=True),
    Rule("occupation", _rule(r"(?:has |have )?(?P<v>retired)(?=[.,;!]|$| (?:in|on|last|this|from|at|after)\b)(?! from (?:use|service))"), read.word, "person", is_change=True),
    Rule("age", _rule(rf"(?:is|am) {_A}(?P<v>{COUNT})(?: years old| years of age)?(?=[.,;!)](?!\d)|$| (?:since|today|for|now|and (?:an?|has|is|lives|works))\b)"), read.age, "person"),
    Rule("age", _rule(rf"(?:is|are) {_A}(?P<v>{COUNT}) years old\b"), read.age, "any"),
    Rule("age", _rule(rf"(?:turned|turns|has turned|have turned|will turn|is turning|am turning) (?P<v>{COUNT})(?! (?:percent|%|degrees|times|of|pages))(?=[.,;!)]|$| (?:on|in|last|this|next|today|yesterday|tomorrow|since|and|years)\b)"), read.age, "person", is_change=True),
    Rule("birthday", _rule(r"birthday is (?:on |celebrated on )?(?P<v>.{3,30})"), read.due, "none"),
    Rule("birthday", _rule(r"was born on (?:the )?(?P<v>.{3,30})"), read.due, "person"),
    Rule("marital status", _rule(rf"(?:is|am|are) {_A}(?P<v>married|engaged|divorced|widowed|a widow|a widower)(?=[.,;!)]|$| (?:to|since|now|for|and)\b)"), read.word, "person"),
    Rule("marital status", _rule(r"got (?P<v>married|engaged|divorced)\b"), read.word, "person", is_change=True),
    Rule("partner", _rule(rf"(?:is|am|are|got) {_A}(?:married|engaged) to (?P<v>{NAME}){END}"), read.name, "person"),
    Rule("language", _rule(rf"(?:speaks?|is fluent in|am fluent in) {_A}(?:fluent )?(?P<v>{_LANGUAGES})\b"), read.name, "person", is_single=False),
    Rule("allergic to", _rule(rf"(?:is|am|are) (?:[a-z]{{2,12}} ){{0,2}}allergic to (?P<v>[a-z-]{{2,20}}(?: (?!as\b|and\b)[a-z-]{{2,20}})?(?:(?:, [a-z-]{{2,20}}){{0,4}},? (?:and|or) [a-z-]{{2,20}})?){END}"), read.allergen, "person", is_single=False),
    Rule("allergic to", _rule(rf"(?:has|have) an? (?:[a-z]{{3,10}} )?(?P<v>(?!food|skin|bad|severe|mild)[a-z]{{3,15}}) allergy\b"), read.short, "person", is_single=False),
    Rule("likes", _rule(rf"{_A}(?:likes?|loves?|enjoys?|adores?) {_A}(?P<v>{WORDS}){END}"), read.liked, "person", is_single=False),
    Rule("dislikes", _rule(rf"{_A}(?:dislikes?|hates?|can not stand|can not bear) (?P<v>{WORDS}){END}"), read.liked, "person", is_single=False),
    Rule("prefers", _rule(rf"{_A}prefers? (?P<v>[\w' -]{{2,40}}?)(?= (?:to|over)\b|[.,;!)]|$)"), read.short, "person", is_single=False),
    Rule("owns", _rule(rf"{_A}owns? (?P<v>{NOUN}){END}"), read.short, "person", is_single=False),
    Rule("owns", _rule(rf"{HAVE}?adopted (?P<v>(?:an?|this|another) (?:[a-z-]{{2,15}} ){{0,3}}{_ANIMAL}(?: (?:named|called) {NAME})?){END}"), read.short, "person", is_single=False, is_change=True),
    Rule("owns", _rule(rf"(?:has|have|got|bought) (?:got )?(?P<v>(?:an?|another|two|three) (?:[a-z-]{{2,15}} ){{0,2}}(?:{_ANIMAL}s?|car|boat|motorbike|bike|bicycle|house|camper|van)(?: (?:named|called) {NAME})?){END}"), read.short, "person", is_single=False),
    Rule("reads", _rule(rf"(?:(?:is|am|are) {_A}reading|read|started(?: reading)?|finished(?: reading)?|{HAVE}read|{HAVE}been reading) (?P<v>{MARK})(?= by\b|[.,;!)]|$| (?:and|last|this|today|yesterday|again|on|for)\b)"), read.name, "person", is_single=False),
    Rule("plays", _rule(rf"{_A}(?:plays?|(?:is|am|are) {_A}(?:learning (?:how )?(?:to play )?|playing )|started (?:learning |playing )(?:how to play |to play )?|{HAVE}started learning (?:how )?to play |{HAVE}been playing|{HAVE}played) (?:the )?(?P<v>{_PLAYED})\b"), read.word, "person", is_single=False),
    Rule("visited", _rule(rf"(?:visited|{HAVE}visited|went (?:back )?to|{HAVE}been to|travell?ed to|flew to|(?:took|went on|had) a (?:[a-z]{{2,10}} )?trip to) {_PLACE}"), read.name, "person", is_single=False, is_change=True),
    Rule("member of", _rule(rf"(?:joined|{HAVE}joined|(?:is|am|are) {_A}(?:a member of|part of)|belongs? to) (?P<v>(?:an?|the|our|my) {WORDS}){END}"), read.short, "person", is_single=False),
    Rule("email", _rule(r"[Ee]?-?mail (?:address )?is (?:now )?(?P<v>[\w.+-]{1,64}@[\w-]{1,64}(?:\.[\w-]{1,20}){1,3})"), read.text, "none"),
    Rule("phone", _rule(r"(?:phone|telephone|mobile|cell)(?: number)? is (?:now )?(?P<v>\+?\d[\d /-]{5,18}\d)"), read.text, "none"),
    Rule("favourite", _rule(rf"favou?rite (?P<q>[a-z]{{3,15}}(?: [a-z]{{3,15}})?) is (?P<v>{MARK}|{NAME}|[a-z]{{3,15}}(?: [a-z]{{3,15}})?){END}"), read.liked, "none", is_single=False),
    Rule("diet", _rule(rf"(?:is|am|became|went|{HAVE}become) {_A}(?:an? )?(?P<v>vegetarian|vegan|pescatarian|teetotal|lactose[ -]intolerant|gluten[ -]free|diabetic)(?=[.,;!)]|$| (?:and|now|since|for)\b)"), read.word, "person", is_single=False),
    Rule("favourite", _rule(rf"(?P<v>{MARK}|{NAME}) is (?P<s>my|our|his|her|{NAME}['’]s) favou?rite (?P<q>[a-z]{{3,15}}){END}"), read.liked, "none", is_single=False),
    Rule("diet", _rule(rf"(?:{HAVE}?(?:quit|stopped)) (?P<v>smoking|drinking)(?=[.,;!)]|$| (?:in|on|last|since|today|yesterday|and)\b)"), read.word, "person", is_single=False, is_change=True, is_ended=True),
    Rule("diet", _rule(rf"{_A}drinks? {_A}(?P<v>{_DRINK})\b"), read.word, "person", is_single=False),
    Rule("diet", _rule(rf"(?:{HAVE}?(?:given up|gave up|quit|stopped (?:drinking|eating))) (?P<v>{_DRINK})\b"), read.word, "person", is_single=False, is_change=True, is_ended=True),
    Rule("habit", _rule(rf"(?P<q>{_PART_OF_DAY})(?: drink| routine| tea| coffee| snack| meal)? (?:is|was) (?:always |usually |now )?(?P<v>{WORDS}){END}"), read.short, "none"),
    Rule("workdays", _rule(rf"days (?:at|in) (?:the )?(?P<q>{NAME})(?: (?:office|school|shop|lab|site|campus|clinic|hospital))? (?:are|is) (?:now )?(?:on )?(?P<v>{DAYS})"), read.days, "none"),
    Rule("workdays", _rule(rf"(?P<v>{DAYS}) (?:are|is) (?:now )?(?P<s>her|his|their|my|{NAME}['’]s) (?:office |work(?:ing)? |teaching )?days?(?: at (?:the )?(?P<q>{NAME})| in (?:the )?(?P<p>{NAME}))?"), read.days, "none"),
    Rule("workdays", _rule(rf"(?:office|work|working|teaching) days (?:are|is) (?:now )?(?:on )?(?P<v>{DAYS})"), read.days, "none"),
    Rule("workdays", _rule(rf"works? (?:at|in|from) (?:the )?(?P<q>{NAME})(?: office)? (?:now )?on (?P<v>{DAYS})"), read.days, "person"),
)  # fmt: skip
"""Rules about people."""
