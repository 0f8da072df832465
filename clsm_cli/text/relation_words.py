"""Word classes that the grammar of relations reads, and the forms of verbs."""

from __future__ import annotations

from functools import cache
from typing import Literal

Form = Literal["base", "third", "past", "participle", "ing"]


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


PREPOSITIONS = _words(
    "of with to for in by from at near about on into over under between without than against through "
    "across behind beside inside outside onto upon via during around along toward towards within"
)
"""A noun phrase after one of these is no subject."""

CONJUNCTIONS = _words(
    "and or but because so when while where that which who whom whose if unless although though since "
    "after before until as then yet nor whether how why what once except"
)
"""Words between clauses."""

DETERMINERS = _words("the a an my our his her their its your this that these those some another")
"""Words that open a noun phrase."""

_PRONOUNS = _words("i he she they we you it me him them us your yours")
BE = _words("am is are was were be been being 'm 're 's")
"""Forms of *to be*."""

HAVE = _words("have has had 've 's having")
"""Forms of *to have*."""

MODALS = _words("will would can could shall should may might must 'll 'd wo ca ought need")
"""Auxiliaries of what is not, or not yet, so."""

NEGATIONS = _words(
    "not n't never no hardly barely almost nearly neither without rarely seldom nobody none nor"
)
"""Words that undo a statement."""

UNREAL = _words(
    "if unless whether wish wishes wished imagine suppose supposed pretend pretended dream dreamed "
    "dreamt claims claimed believes believed thinks thought hope hopes hoped perhaps maybe supposedly "
    "allegedly rumour rumor think guess bet says said told"
)
"""Words that make what follows a condition, a wish or hearsay."""

ADVERBS = _words(
    "also just even still already always often usually sometimes once ever both all soon now then "
    "again too really actually recently finally absolutely totally definitely truly simply mostly "
    "first only so kinda currently originally later regularly eventually currently together"
)
"""Words that may stand between subject and verb."""

BLOCKS = PREPOSITIONS | CONJUNCTIONS | _PRONOUNS | BE | HAVE | MODALS | NEGATIONS | {"to", "let"}
"""Words that end a noun phrase."""

AFTERWARDS = (
    PREPOSITIONS
    | CONJUNCTIONS
    | ADVERBS
    | _words(
        "yesterday today tonight tomorrow last this next every each earlier ago recently myself himself "
        "herself themselves ourselves instead very much well back a the my our his her their out up "
        "alone there here better best most more"
    )
)
"""Words that may stand behind a noun phrase."""

HEADS = _words(
    "class classes course courses trip trips workshop workshops lesson lessons session sessions group "
    "groups club clubs event events show competition race tournament game games project projects team "
    "camp retreat studio events activities activity book books scene"
)
"""Nouns that keep the meaning of the noun before them: *pottery class*."""

EVENTS = _words(
    "workshop conference concert class course festival meeting meetup party wedding race marathon "
    "tournament competition parade ceremony event seminar show exhibition exhibit fair retreat camp "
    "gala fundraiser group club match game lesson session gathering reunion picnic convention webinar "
    "interview symposium meetings events classes lessons workshops concerts protest rally march run"
)
"""Nouns of what one takes part in."""

ACTIVITIES = _words(
    "hike walk run trip swim ride picnic yoga pottery adventure jog drive climb cruise safari tour date "
    "vacation holiday roadtrip hunt expedition retreat tennis chess football soccer basketball golf"
)
"""Nouns of what one does; so are nouns in -ing."""

PLACES = _words(
    "museum park beach lake river mountains mountain forest woods zoo cafe café restaurant gallery "
    "library church school university market mall store shop cinema theater theatre hospital gym farm "
    "island desert canyon coast city town village bridge castle garden shelter center centre shed "
    "aquarium station airport stadium campground countryside waterfall bookstore bakery harbour harbor"
)
"""Nouns of where one goes."""

OWNED = _words(
    "cat dog kitten puppy pet cats dogs pets bird parrot rabbit hamster horse fish turtle snake lizard "
    "car bike bicycle motorcycle van truck boat house apartment flat cabin garden piano guitar violin "
    "drum drums clarinet flute ukulele camera laptop computer phone telescope collection aquarium shed"
)
"""Nouns of what one can be said to own when one has it."""

NEVER_OWNED = _words(
    "offers ideas jobs tickets messages letter reply answer surprise raise result results promotion job chance idea feeling time fun blast look break call email offer degree lot message "
    "news advice feedback response support help award scholarship opportunity glimpse sense"
)
"""Nouns that one gets without owning them."""

LIGHT = _words(
    "putting getting making doing going having being trying thinking looking feeling working keeping "
    "taking giving coming waiting saying talking using wondering dreaming caring worrying learning hoping planning wanting meaning"
)
"""Forms in -ing that name no activity by themselves."""

NEVER_DONE = _words(
    "hand hands share best progress friend friends sense way ways time times part mistake mistakes "
    "difference effort decision decisions choice plan plans move connection connections luck thing "
    "things lot bit day week year stuff one ones people something money impact memories team journey point contact money sense living"
)
"""Nouns that make an idiom of the verb before them: *made progress*, *tried my hand*."""


_IRREGULAR = """
be is,'s was,were been being
have has had had having
do does did done doing
go goes went gone going
like likes liked liked liking
read reads read read reading
reread rereads reread reread rereading
re-read re-reads re-read re-read re-reading
write writes wrote written writing
begin begins began begun beginning
take takes took taken taking
win wins won won winning
fly flies flew flown flying
drive drives drove driven driving
grow grows grew grown growing
stand stands stood stood standing
lie lies lay lain lying
hang hangs hung hung hanging
sit sits sat sat sitting
lead leads led led leading
build builds built built building
buy buys bought bought buying
get gets got gotten,got getting
know knows knew known knowing
meet meets met met meeting
draw draws drew drawn drawing
sew sews sewed sewn,sewed sewing
teach teaches taught taught teaching
learn learns learned,learnt learned,learnt learning
make makes made made making
run runs ran run running
feel feels felt felt feeling
mean means meant meant meaning
enrol enrols enrolled enrolled enrolling
spend spends spent spent spending
come comes came come coming
plant plants planted planted planting
"""
_DOUBLED = _words("knit")


def inflect(verb: str) -> list[tuple[str, Form]]:
    """Return the forms of a verb, each with what it is.

    >>> inflect("try")
    [('try', 'base'), ('tries', 'third'), ('tried', 'past'), ('tried', 'participle'), ('trying', 'ing')]
    """
    kinds: tuple[Form, ...] = ("base", "third", "past", "participle", "ing")
    listed = _irregular().get(verb) or _regular(verb)
    found = [
        (word, form) for form, words in zip(kinds, listed, strict=True) for word in words.split(",")
    ]
    if verb == "be":
        found += [(word, "base") for word in ("am", "are", "'m", "'re")]
    return found


@cache
def _irregular() -> dict[str, list[str]]:
    return {line.split()[0]: line.split() for line in _IRREGULAR.strip().splitlines()}


def _regular(verb: str) -> list[str]:
    """Inflect a regular verb: base, third person, past, participle, -ing."""
    if verb.endswith("y") and verb[-2] not in "aeiou":
        return [verb, f"{verb[:-1]}ies", f"{verb[:-1]}ied", f"{verb[:-1]}ied", f"{verb}ing"]
    third = f"{verb}es" if verb.endswith(("s", "sh", "ch", "x", "z")) else f"{verb}s"
    stem = verb + verb[-1] if verb in _DOUBLED else verb.removesuffix("e")
    return [verb, third, f"{stem}ed", f"{stem}ed", f"{stem}ing"]
