"""Whether a person typed a whole English sentence or an order, and not a value alone: a shallow grammar.

Word classes of English: verbs in their finite forms, determiners, prepositions, adverbs.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def words(text: str) -> frozenset[str]:
    """The words of a list in one string."""
    return frozenset(text.split())


_BASES = """
accept achieve act add adjust admire admit adopt advise afford agree aim allow amount announce answer
apologise apologize appear apply appoint appreciate approve argue arrange arrive ask assume attach
attend avoid bake base beat become begin behave believe belong bend bet bind bite bleed block blow boil
book borrow bother bounce break breathe breed bring build burn bury buy call camp cancel care carry cast
catch cause celebrate change charge chase chat check choose claim clean clear climb close coach collect
combine come commit compare complain complete confirm connect consider consist contain continue
contribute control convert convince cook cope copy correct correlate cost count cover crash create cross
cry cure cut cycle dance deal decide declare define delay delete deliver demand deny depend deploy
describe deserve design destroy develop die dig disagree disappear discover discuss dislike divide do
double doubt download draft drain draw dream dress drift drink drive drop dry earn eat edit emphasise
encourage end enjoy enter erode escape establish exercise exist expect expire explain explore export
express extend face fail fall fear feed feel fetch fight figure fill find finish fit fix float flow fly
focus follow forbid forget forgive form freeze gain gather get give go grow guard guess guide handle
hang happen hate have hear help hide hike hire hit hold hope host hug hurt identify ignore imagine
import improve include increase inherit insist inspire install intend introduce invent invest invite
involve join jump keep kill kiss knit knock know lack land last laugh launch lay lead lean learn leave
lend let lie lift light like limit link listen live load lock look lose love lower maintain make manage
mark marry mean measure meet melt mend mention merge miss mistake mix monitor mount move name need
notice obey observe obtain occur offer open operate order own pack paint park participate pass pause
pay perform persuade pick plan plant play point post pour practice practise praise pray prefer prepare
present press prevent print produce promise promote protect prove provide publish pull push put quit
quote raise reach react read realise realize receive recommend record recover reduce refer refuse
regret reject relate relax release rely remain remember remind remove renew rent repair repeat replace
reply report represent request require rescue reserve resign resist respect respond rest restart
restore result retire return reveal review ride ring rise risk roast rule run save say scan schedule
score search see seek seem sell send separate serve set settle sew shake share shine ship shoot show
shrink shut sign sing sink sit skate ski sleep slip smell smile smoke snow solve sound speak spell spend
spill split spoil spread stand start state stay steal stick stop store strike struggle study submit
succeed suffer suggest suit supply support suppose surf surround survive suspect swear sweep swim swing
switch take talk taste teach tear tell tend test thank think threaten throw tie touch track trade train
translate travel treat trust try turn type underline understand update upgrade upload use vary
visit volunteer vote wait wake walk want warn wash waste watch water wear weigh win wind wipe wish wonder
work worry write yield drift nod grind swallow trigger crash consume expose extract parse compile
render block merge mirror backup sync rotate skip retry encrypt index map cache log fetch host route
expire fork clone commit pin tag deprecate migrate refactor override inject validate enable disable rain flood bark purr hum ache freeze thaw bloom ripen rust leak creak squeak roar whistle blink flash
loop stream poll sync scrape crawl query sort filter format lint benchmark profile monitor alert notify email text
commute jog garden sketch photograph blog vlog mentor tutor coach babysit foster breed sew weave carve sculpt brew
donate fundraise campaign demonstrate protest lobby invest budget owe lease mortgage insure tax audit bill charge
graduate enrol enroll major specialise specialize research investigate analyse analyze diagnose treat heal vaccinate
chair head found sponsor host moderate translate interpret narrate illustrate edit proofread typeset bind ship
resemble equal exceed total weigh range differ matter count suffice fit hurt itch snore sneeze cough
"""
_IRREGULAR = """
be was were been; become became become; begin began begun; bend bent bent; bet bet bet; bind bound bound; bite bit bitten;
bleed bled bled; blow blew blown; break broke broken; breed bred bred; bring brought brought; build built
built; burn burnt burnt; buy bought bought; cast cast cast; catch caught caught; choose chose chosen;
come came come; cost cost cost; cut cut cut; deal dealt dealt; dig dug dug; do did done; draw drew drawn;
dream dreamt dreamt; drink drank drunk; drive drove driven; eat ate eaten; fall fell fallen; feed fed fed;
feel felt felt; fight fought fought; find found found; fly flew flown; forbid forbade forbidden; forget
forgot forgotten; forgive forgave forgiven; freeze froze frozen; get got gotten; give gave given; go went
gone; grind ground ground; grow grew grown; hang hung hung; have had had; hear heard heard; hide hid hidden;
hit hit hit; hold held held; hurt hurt hurt; keep kept kept; know knew known; lay laid laid; lead led led;
lean leant leant; learn learnt learnt; leave left left; lend lent lent; let let let; lie lay lain; light lit
lit; lose lost lost; make made made; mean meant meant; meet met met; mistake mistook mistaken; pay paid
paid; prove proved proven; put put put; quit quit quit; read read read; ride rode ridden; ring rang rung;
rise rose risen; run ran run; say said said; see saw seen; seek sought sought; sell sold sold; send sent
sent; set set set; sew sewed sewn; shake shook shaken; shine shone shone; shoot shot shot; show showed
shown; shrink shrank shrunk; shut shut shut; sing sang sung; sink sank sunk; sit sat sat; sleep slept
slept; smell smelt smelt; speak spoke spoken; spell spelt spelt; spend spent spent; spill spilt spilt;
split split split; spoil spoilt spoilt; spread spread spread; stand stood stood; steal stole stolen; stick
stuck stuck; strike struck struck; swear swore sworn; sweep swept swept; swim swam swum; swing swung swung;
take took taken; teach taught taught; tear tore torn; tell told told; think thought thought; throw threw
thrown; understand understood understood; wake woke woken; wear wore worn; win won won; wind wound wound;
write wrote written; override overrode overridden; beat beat beaten
"""
_ROWS = [row.split() for row in _IRREGULAR.split(";")]
BASES = words(_BASES) | {"be"}
"""Verbs in the form of a command."""
SAME_PAST = frozenset(row[0] for row in _ROWS if row[0] == row[1])
"""Verbs whose past looks like the base."""
PARTICIPLES = frozenset(row[-1] for row in _ROWS if row[-1] != row[1])
"""Forms that are no verb of a sentence without "have" or "be"."""
PAST = frozenset(form for row in _ROWS for form in row[1:-1]) - SAME_PAST
"""Irregular forms of the past."""
_DOUBLED = words("plan stop drop commit admit occur prefer refer regret chat drag fit grab hug knit nod pin rob rub ship skip slip step tag tap trim trip tug wrap tip map log")  # fmt: skip


def third(base: str) -> str:
    """The third person of a verb.

    >>> third("watch"), third("carry"), third("play"), third("have")
    ('watches', 'carries', 'plays', 'has')
    """
    if base in {"be", "have"}:
        return {"be": "is", "have": "has"}[base]
    if base.endswith(("s", "sh", "ch", "x", "z", "o")):
        return base + "es"
    return base[:-1] + "ies" if base[-1] == "y" and base[-2] not in "aeiou" else base + "s"


def _regular_past(base: str) -> str:
    if base.endswith("e"):
        return base + "d"
    if base[-1] == "y" and base[-2] not in "aeiou":
        return base[:-1] + "ied"
    return base + (base[-1] if base in _DOUBLED else "") + "ed"


THIRDS = frozenset(third(base) for base in BASES - {"be", "have"})
"""Third persons, without "is" and "has"."""
REGULAR_PASTS = frozenset(_regular_past(base) for base in BASES - {row[0] for row in _ROWS})
"""Forms in -ed: past or participle."""
BE = words("am is are was were isn't aren't wasn't weren't")
"""Finite forms of *be*."""
HAVE = words("have has had haven't hasn't hadn't")
"""Finite forms of *have*."""
MODALS = words(
    "will would can could shall should may might must cannot can't won't wouldn't couldn't shouldn't "
    "mustn't needn't do does did don't doesn't didn't"
)
"""Auxiliaries before a base form."""
AUXILIARIES = BE | HAVE | MODALS
"""Verbs that are always finite."""
DETERMINERS = words(
    "a an the my your his her its our their this that these those every each some any no two three four "
    "five six seven eight nine ten both several many few more most all another other such what which"
)
"""Words before a noun."""
PREPOSITIONS = words(
    "of in on at by for with from to into onto about above across after against along among around "
    "before behind below beneath beside between beyond despite down during except inside like near off "
    "out outside over past per since than through throughout toward towards under until up upon via "
    "within without as"
)
"""Words that a noun phrase follows."""
SUBORDINATORS = words("when if because since after before while although though as until unless once whenever wherever")  # fmt: skip
"""Words that open a clause which cannot stand alone."""
ADVERBS = words(
    "also always never often sometimes usually just only still already really actually even now then "
    "soon ever once again too all both mostly currently finally recently almost probably certainly "
    "definitely not rarely seldom regularly generally typically absolutely totally truly simply"
)
"""Words that may stand between subject and verb."""
PERSONAL = words("i you he she it we they who that which people everyone everybody nobody someone somebody everything nothing something anyone")  # fmt: skip
"""Pronouns that may be a subject."""


_TOKEN = re.compile(r"[^\W_](?:[\w'’.&/+-]*\w)?|\w|[,;:()\u2013\u2014]")
_QUOTED = re.compile(r"\"[^\"\n]{0,400}\"|\u201c[^\u201c\u201d\n]{0,400}\u201d")


def unquoted(text: str) -> str:
    """``text`` with each quotation as an ellipsis between its marks, so that its words do not count.

    >>> unquoted('She said "I am late" twice.')
    'She said "\u2026" twice.'
    """
    return _QUOTED.sub('"\u2026"', text)


def tokens(text: str) -> list[str]:
    """The words and inner marks of a text.

    >>> tokens("Ann's cat, e.g., isn't 3.8 kg.")
    ["Ann's", 'cat', ',', 'e.g', ',', "isn't", '3.8', 'kg']
    """
    return _TOKEN.findall(text.replace("\u2019", "'"))


def finite_verbs(words: Sequence[str]) -> list[int]:
    """Places of the words that can only be read as finite verbs with a subject before them.

    >>> finite_verbs(tokens("Ann keeps bees and was late")), finite_verbs(tokens("Two bees by the door"))
    ([1, 4], [])
    """
    low = [word.lower() for word in words]
    return [place for place in range(len(low)) if _is_finite(low, place)]


_WITH_SUBJECT = words("it's he's she's that's there's who's what's he'd she'd i'd we'd they'd")
_CONTRACTED = ("'m", "'re", "'ve", "'ll")
_NO_SUBJECT = (
    DETERMINERS - words("this that which both all some many each what such few more most no")
    | PREPOSITIONS
    | AUXILIARIES
    | {"to", "it's", "he's", "she's"}
)
"""Words that a verb does not follow as its subject."""
_PLURAL_PERSONS = words("i we you they who people")


def _is_finite(low: Sequence[str], place: int) -> bool:
    word = low[place]
    if word.endswith(_CONTRACTED) or word in _WITH_SUBJECT:
        return True
    before = low[place - 1] if place else "to"
    if before == "to" or word in AUXILIARIES:
        return before != "to"
    if before in {",", "("} and word not in PAST | THIRDS:
        return False
    subject_at = _skipped(low, place - 1)
    subject = low[subject_at]
    if subject in _NO_SUBJECT or subject.endswith(_CONTRACTED):
        return False
    following = low[place + 1] if place + 1 < len(low) else ""
    if word in REGULAR_PASTS or (word.endswith("ed") and len(word) > 4):
        return following != "by" and subject not in DETERMINERS
    return word in PAST or _is_present(low, word, subject_at, following)


def _skipped(low: Sequence[str], place: int) -> int:
    """The place of the last word up to ``place`` that is no adverb."""
    while place > 0 and (low[place] in ADVERBS or low[place].endswith("ly")):
        place -= 1
    return place


def _is_present(low: Sequence[str], word: str, subject_at: int, following: str) -> bool:
    """Whether a form of the present agrees with the word before it."""
    subject = low[subject_at]
    if word in THIRDS:
        noun = subject in DETERMINERS and following in {"", "of", "and", ",", ";"}
        return subject not in _PLURAL_PERSONS - {"who"} and not noun
    if word in SAME_PAST and subject in {"he", "she", "it"}:
        return True
    plural = subject.endswith("s") and not subject.endswith(("ss", "'s", "us", "is"))
    pair = (
        subject_at > 1 and low[subject_at - 1] == "and" and low[subject_at - 2] not in PREPOSITIONS
    )
    return word in BASES and (subject in _PLURAL_PERSONS or plural or pair)


def is_command(words: Sequence[str]) -> bool:
    """Whether a sentence tells somebody to do something.

    >>> is_command(["Never", "wake", "me"]), is_command(["Work", "is", "late"])
    (True, False)
    """
    low = [word.lower() for word in words[:7]] + [""] * 5
    place = 0
    if low[0] == "from" and low[1] in {"now", "today", "here"}:
        low = low[2 + (low[2] in {"on", ","}) :]
    while low[place] in {"please", "always", "never", "just", "only", "also"}:
        place += 1
    if low[place] == "don't" or low[place : place + 2] == ["do", "not"]:
        place += 1 if low[place] == "don't" else 2
        return low[place + (low[place] == "ever")] in BASES
    if low[place] not in BASES or words[0][1:2].isupper():
        return False
    following = low[place + 1]
    if following in BASES and low[place + 2] in {"", ","}:
        return False  # "Restore test, second attempt"
    return following not in AUXILIARIES | {"of"} and following not in THIRDS | {
        ",",
        ":",
    }


_FRAGMENT = re.compile(
    r"^(?:whether|which|who|whose|whom|that|than|because of|including|such as|like|with|without|as well as|"
    r"or|nor|not|no|yes|and then|to)\b(?!\s(?:one|matter))",
    re.IGNORECASE,
)
_MEASURED = re.compile(
    r"(?!Minus|Plus|About|Only|Over|Under|Above|Below|At|In|On|By|For|From|Until|After|Some|Nearly|Almost|Every|All)[A-Z][\w-]{1,30}:?\s\d[\d.,]{0,8}\s?(?:%|cm|mm|km|m|kg|g|mg|ml|l|degrees|euros?|hours?|minutes?)\b"
)
"""A measurement without a verb: "Rex 4.4 kg in May"."""
_TIMES = words(
    "today yesterday noon midnight then now last this next monday tuesday wednesday thursday friday saturday sunday january "
    "february march april may june july august september october november december"
)
_NO_START = PAST | REGULAR_PASTS | PARTICIPLES | words("been being gotta gonna wanna")
"""Forms that begin a sentence only in a phrase before its subject: "Built in 1911, the clock …"."""
_PHRASE = re.compile(r"\w+\s(?:by|in|at|on|from|with|as|for)\s[^,]{1,60},\s")
_RELATIVE = frozenset(
    {"who", "which", "that", "what", "how", "where", "why", "whoever", "whatever"}
)


def is_whole(text: str) -> bool:
    """Whether a plain text has a subject and a finite verb outside its subordinate clauses.

    >>> is_whole("Ann keeps bees."), is_whole("A cat that sleeps."), is_whole("When Ann sleeps.")
    (True, False, False)
    """
    words = tokens(unquoted(text))
    found = finite_verbs(words)
    if _MEASURED.match(text):
        return True
    if not found or (
        _FRAGMENT.match(text) and not re.match(r"(?:no|not)\s\w+\s", text, re.IGNORECASE)
    ):
        return False
    low = [word.lower() for word in words]
    if low[0] in _NO_START and not _PHRASE.match(text):
        return False
    own = [place for place in found if not _is_relative(low, place)]
    needed = 2 if low[0] in SUBORDINATORS and _opens_clause(low, found) else 1
    return len(own) >= needed


def _opens_clause(low: Sequence[str], found: Sequence[int]) -> bool:
    """Whether a first word such as "since" opens a clause, and not a phrase: "Since May, Ann is …"."""
    if low[0] not in PREPOSITIONS:
        return True
    comma = low.index(",") if "," in low else 0
    is_phrase = low[1] in _TIMES or low[1][:1].isdigit() or found[0] > 3
    return any(place < comma for place in found) or not (comma or is_phrase)


def _is_relative(low: Sequence[str], place: int) -> bool:
    before = _skipped(low, place - 1)
    if low[before] in {"who", "which", "whose", "that"} and before > 0:
        return low[before] != "that" or low[before - 1] not in {",", ";", ":"}
    # "what I meant", "a box he built": a pronoun right behind a noun or a relative word.
    return before > 0 and low[before - 1] in _RELATIVE and (before > 1 or low[before] in PERSONAL)
