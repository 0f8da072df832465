"""Forms in which likes, belongings, diets, habits and visits are told."""

from __future__ import annotations

from clsm_cli.text import slot_readers as read
from clsm_cli.text.slot_readers import Rule, form
from clsm_cli.text.slot_words import ADVERBS, END, HAVE, MARK, NAME, NOUN, WORDS

_PLACE = rf"(?P<v>(?:the )?{NAME}){END}"
_A = ADVERBS
_PLAYED = (
    r"(?:piano|guitar|violin|cello|flute|clarinet|drums|saxophone|trumpet|ukulele|bass|harp|oboe|banjo|accordion|"
    r"organ|viola|trombone|harmonica|keyboard|chess|tennis|football|soccer|basketball|volleyball|baseball|hockey|golf|"
    r"cricket|rugby|badminton|squash|bridge|poker|table tennis|ping pong|video games|board games)"
)
_ANIMAL = r"(?:dog|cat|puppy|pup|kitten|parrot|rabbit|hamster|horse|guinea pig|pet|bird|snake|turtle|fish|pony|goldfish)"
_DRINK = r"(?:coffee|tea|green tea|herbal tea|decaf|alcohol|wine|beer|soda|milk|espresso|sugar|meat|dairy|gluten|smoking|cigarettes|caffeine|chocolate|bread)"
_PART_OF_DAY = r"(?:morning|breakfast|lunch|dinner|supper|evening|bedtime|weekend|nightly|daily)"

RULES: tuple[Rule, ...] = (
    Rule(
        "allergic to",
        form(
            rf"(?:is|am|are) (?:[a-z]{{2,12}} ){{0,2}}allergic to (?P<v>[a-z-]{{2,20}}(?: (?!as\b|"
            rf"and\b)[a-z-]{{2,20}})?(?:(?:, [a-z-]{{2,20}}){{0,4}},? (?:and|or) "
            rf"[a-z-]{{2,20}})?){END}"
        ),
        read.allergen,
        "person",
        is_single=False,
    ),
    Rule(
        "allergic to",
        form(
            r"(?:has|have) an? (?:[a-z]{3,10} )?(?P<v>(?!food|skin|bad|severe|mild)[a-z]{3,15}) "
            r"allergy\b"
        ),
        read.short,
        "person",
        is_single=False,
    ),
    Rule(
        "likes",
        form(rf"{_A}(?:likes?|loves?|enjoys?|adores?) {_A}(?P<v>{WORDS}){END}"),
        read.liked,
        "person",
        is_single=False,
    ),
    Rule(
        "dislikes",
        form(rf"{_A}(?:dislikes?|hates?|can not stand|can not bear) (?P<v>{WORDS}){END}"),
        read.liked,
        "person",
        is_single=False,
    ),
    Rule(
        "prefers",
        form(rf"{_A}prefers? (?P<v>[\w' -]{{2,40}}?)(?= (?:to|over)\b|[.,;!)]|$)"),
        read.short,
        "person",
        is_single=False,
    ),
    Rule(
        "owns",
        form(rf"{_A}owns? (?P<v>{NOUN}){END}"),
        read.short,
        "person",
        is_single=False,
    ),
    Rule(
        "owns",
        form(
            rf"{HAVE}?adopted (?P<v>(?:an?|this|another) (?:[a-z-]{{2,15}} ){{0,3}}{_ANIMAL}(?: "
            rf"(?:named|called) {NAME})?){END}"
        ),
        read.short,
        "person",
        is_single=False,
        is_change=True,
    ),
    Rule(
        "owns",
        form(
            rf"(?:has|have|got|bought) (?:got )?(?P<v>(?:an?|another|two|three) (?:[a-z-]{{2,15}} "
            rf"){{0,2}}(?:{_ANIMAL}s?|car|boat|motorbike|bike|bicycle|house|camper|van)(?: (?:named|"
            rf"called) {NAME})?){END}"
        ),
        read.short,
        "person",
        is_single=False,
    ),
    Rule(
        "reads",
        form(
            rf"(?:(?:is|am|are) {_A}reading|read|started(?: reading)?|finished(?: reading)?|"
            rf"{HAVE}read|{HAVE}been reading) (?P<v>{MARK})(?= by\b|[.,;!)]|$| (?:and|last|this|"
            r"today|yesterday|again|on|for)\b)"
        ),
        read.name,
        "person",
        is_single=False,
    ),
    Rule(
        "plays",
        form(
            rf"{_A}(?:plays?|(?:is|am|are) {_A}(?:learning (?:how )?(?:to play )?|playing )|started "
            rf"(?:learning |playing )(?:how to play |to play )?|{HAVE}started learning (?:how )?to "
            rf"play |{HAVE}been playing|{HAVE}played) (?:the )?(?P<v>{_PLAYED})\b"
        ),
        read.word,
        "person",
        is_single=False,
    ),
    Rule(
        "visited",
        form(
            rf"(?:visited|{HAVE}visited|went (?:back )?to|{HAVE}been to|travell?ed to|flew to|"
            rf"(?:took|went on|had) a (?:[a-z]{{2,10}} )?trip to) {_PLACE}"
        ),
        read.name,
        "person",
        is_single=False,
        is_change=True,
    ),
    Rule(
        "member of",
        form(
            rf"(?:joined|{HAVE}joined|(?:is|am|are) {_A}(?:a member of|part of)|belongs? to) "
            rf"(?P<v>(?:an?|the|our|my) {WORDS}){END}"
        ),
        read.short,
        "person",
        is_single=False,
    ),
    Rule(
        "favourite",
        form(
            rf"favou?rite (?P<q>[a-z]{{3,15}}(?: [a-z]{{3,15}})?) is (?P<v>{MARK}|{NAME}|"
            rf"[a-z]{{3,15}}(?: [a-z]{{3,15}})?){END}"
        ),
        read.liked,
        "none",
        is_single=False,
    ),
    Rule(
        "diet",
        form(
            rf"(?:is|am|became|went|{HAVE}become) {_A}(?:an? )?(?P<v>vegetarian|vegan|pescatarian|"
            r"teetotal|lactose[ -]intolerant|gluten[ -]free|diabetic)(?=[.,;!)]|$| (?:and|now|since|"
            r"for)\b)"
        ),
        read.word,
        "person",
        is_single=False,
    ),
    Rule(
        "favourite",
        form(
            rf"(?P<v>{MARK}|{NAME}) is (?P<s>my|our|his|her|{NAME}['’]s) favou?rite "
            rf"(?P<q>[a-z]{{3,15}}){END}"
        ),
        read.liked,
        "none",
        is_single=False,
    ),
    Rule(
        "diet",
        form(
            rf"(?:{HAVE}?(?:quit|stopped)) (?P<v>smoking|drinking)(?=[.,;!)]|$| (?:in|on|last|since|"
            r"today|yesterday|and)\b)"
        ),
        read.word,
        "person",
        is_single=False,
        is_change=True,
        is_ended=True,
    ),
    Rule(
        "diet",
        form(rf"{_A}drinks? {_A}(?P<v>{_DRINK})\b"),
        read.word,
        "person",
        is_single=False,
    ),
    Rule(
        "diet",
        form(
            rf"(?:{HAVE}?(?:given up|gave up|quit|stopped (?:drinking|eating))) (?P<v>{_DRINK})\b"
        ),
        read.word,
        "person",
        is_single=False,
        is_change=True,
        is_ended=True,
    ),
    Rule(
        "habit",
        form(
            rf"(?P<q>{_PART_OF_DAY})(?: drink| routine| tea| coffee| snack| meal)? (?:is|was) "
            rf"(?:always |usually |now )?(?P<v>{WORDS}){END}"
        ),
        read.short,
        "none",
    ),
)
"""In the order in which they are tried."""
