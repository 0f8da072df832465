"""Noun phrases without marks: what may be a term, if it comes up again and again.

A shallow grammar without a tagger (in the manner of Justeson and Katz, "Technical terminology",
1995): a phrase holds content words only, and ends before a function word, a plain verb or a mark.
What recurs is for the caller to count.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from clsm_cli.text.names import NO_NAMES
from clsm_cli.text.tokens import STOP_WORDS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_LONGEST = 4
"""Words of a phrase."""
_LONGEST_TITLE = 8
_RARE = 9
"""Letters from which a single word looks like a term."""

_FUNCTION_WORDS = """
absolutely across actually afterwards against ago almost alone along already although always among
amongst another anybody anyone anything anyway anywhere apart around away back beforehand behind
beside besides between beyond bye cannot centimeters centimetres cheers cm congrats definitely
degrees despite dollars dunno eight either eleven else enough etc euro euros even ever every
everybody everyone everything everywhere except feet fifty first five forty four gb gonna goodbye
gotta haha half hello hence hey hi however hugs hundred hz inches indeed inside instead kb kg
kilometers kilometres km kudos least less let lets like lol many may maybe mb meanwhile meters
metres mg might miles millimeters millimetres million milliseconds minus ml mm much must near
neither never nine nobody nothing nowhere often oh ok okay one onto outside past per percent perhaps
please plus pm pounds quite rather regarding roughly seven several shall since six sixty somebody
someone something sometimes somewhere soon still tb ten thank thanks therefore thirty though
thousand three thrice throughout thus till today together tomorrow tonight totally toward towards
twelve twenty twice two underneath unless upon usually versus via vs wanna whether whoa whose within
without woah wow yeah yesterday yet
"""
_VERB_STEMS = """
accept add agree allow answer appear apply arrive ask bake beat become begin believe belong bring
build buy call care carry catch change check choose clean close come complain consider contain
continue cook cost count create cross decide deliver depend describe die disappear discover do draw
drink drive drop eat end enjoy enter expect explain fail fall feel fetch fill find finish fit fix
follow forget get give go grow hang happen hate have hear help hold hope include inherit insist join
keep kill knock know laugh lay lead leak learn leave let lie like listen live look lose love make
manage matter meet mention miss motivate move need notice offer open order own pay pick prefer
prepare pretend prove pull push put reach read realise realize receive recommend refuse remain
remember remind remove repeat reply require return ring rise run save say see seem sell send set
share show shut sing sit sleep smell smile sound speak spend stand start stay stop suffer suggest
suppose take talk teach tell tend thank think throw touch travel treat try turn understand use visit
wait wake walk want wash watch wear win wish work worry write
"""
_PAST = """
arose ate became been began blew bought broke broken brought built came caught chose did died done
drank drawn drew drove eaten fell felt flew forgot fought found gave given gone got gotten grew had
heard held hid hung kept knew known led left lent lost made means meant met paid ran rang risen rode
rose said sang sank sat saw seen sent shone shook shot shown slept sold sought spent spoke stood
stuck swam swept swore taken taught thought threw thrown told took understood went withdrawn woke
won wore worn wound written wrote
"""
_BARE = """
become begin believe belong bring buy carry choose come consider contain decide depend describe
discover eat enjoy enter expect explain feel find follow forget get give go happen hate have hear
include insist join keep know learn leave let listen live lose make manage meet mention need prefer
prepare pretend prove put reach realise realize receive recommend refuse remain remember remind
remove require say see seem sell send sit speak spend stay suggest suppose take teach tell tend
think throw try understand wait want wear win
"""
_TIMES = """
afternoon april august autumn birthday century date day decade december earlier evening february
friday future hour january july june later march midnight minute moment monday month morning night
noon november o'clock october past period present saturday season seconds september spring summer
sunday thursday time tuesday wednesday week weekend while winter year
"""
_GENERIC_HEADS = """
adventure advice amount answer area attempt back beginning bit bottom bunch care case chance change
choice conversation copy couple course deal difference dream effort end example experience eye face
fact family feeling form friend front fun goal group guy half hand head heart help hope hour idea
issue job journey kid kind left level life line list lives look lot love luck man matter memory men
message middle mind minute moment name news note number one opportunity order others page pair
paragraph part passion people person piece place plan point problem question reason rest result
right section sense sentence set side sign someone sort spot step story stuff support thing thought
top trouble turn type use value version view way woman women word work world
"""
_LOOSE_WORDS = """
able additional alive amazing awesome bad beautiful best better big bigger busy certain clear cold
common cool cozy crazy creative current cute dead dear delicious different difficult double early
easy empty entire exciting extra false famous fantastic fast favorite favourite fifth final former
fourth free fresh full fun funny further general giant glad good gorgeous great happy hard high
higher hot huge important incredible interesting large larger last late latest little local long
longer lovely low lower main meaningful nearby negative new newer next nice normal old older only
ordinary other own perfect poor positive possible precious pretty previous proud quick quiet ready
real recent respective rich right sad same separate several short shorter similar simple single slow
small smaller sorry special strong super sure sweet tasty third tiny total tough true unique usual
valuable warm weak weird well-known whole wonderful worse worst wrong young
"""
_EVERYDAY = """
achievement afternoon apartment assistant attention breakfast celebration challenge collection
committee community condition confidence confident connection creation definition description
development different difficulty direction discussion education electricity encouragement
environment equipment excellent excitement explanation expression government importance important
improvement influence information inspiration instruction instrument interview invitation knowledge
literature management motivation neighbour neighbourhood paragraph performance permission photograph
possibility potential presentation principle production protection recommend recommendation
reference relationship requirement resources responsibility restaurant significant situation
specification struggle suggestion technique tradition treatment
"""
_SAME_PLURALS = """
alias always atlas axes bases bias calves canvas chaos clothes cosmos crossroads ethos gallows gas
glasses halves headquarters hooves jeans knives leaves lens lives loaves means news overseas pajamas
pathos perhaps pyjamas scarves scissors selves series shelves species stairs thieves trousers wives
wolves
"""
_PLURALS_IN_E = """
avalanches backaches brownies caches calories cookies foodies headaches hippies hoodies moustaches
movies niches rookies selfies smoothies toothaches zombies
"""
_PLURALS_IN_O = frozenset(["potatoes", "tomatoes", "heroes", "echoes", "volcanoes", "mosquitoes"])
_STEMS = frozenset(_VERB_STEMS.split())
_OUTSIDE = STOP_WORDS.union(
    _FUNCTION_WORDS.split(),
    _PAST.split(),
    *({stem + "s", stem + "es", stem.removesuffix("y") + "ies"} for stem in _STEMS),
)
_BARE_VERBS = frozenset(_BARE.split())
_TIME = frozenset(_TIMES.split())
_GENERIC = frozenset(_GENERIC_HEADS.split())
_LOOSE = frozenset(_LOOSE_WORDS.split())
_PLAIN = frozenset(_EVERYDAY.split())
_NO_NOUN = ("ed", "er", "ing", "ate", "ise", "ize", "ous", "ful", "able", "ible", "ive", "ish", "ic", "ical", "less", "free")  # fmt: skip
"""Ends of verbs and adjectives; a noun among them needs a second word."""
_UNCERTAIN = frozenset(_SAME_PLURALS.split())
_IN_E = frozenset(_PLURALS_IN_E.split())
_DETERMINERS = frozenset(["the", "a", "an", "my", "your", "his", "her", "its", "our", "their", "this", "that", "these", "those"])  # fmt: skip
_ARTICLES = frozenset(["the", "a", "an"])
_INSIDE = _ARTICLES | {"and", "in", "of", "to", "for", "on", "with"}
"""Words without a capital inside a title."""
_HONORIFICS = frozenset(["dr", "mr", "mrs", "ms", "mx", "prof", "st", "rev", "capt", "sgt"])
_NO_TERM = re.compile(r"\d|[^'\u2019]{1,40}['\u2019]|(?:twen|thir|for|fif|six|seven|eigh|nine)ty-")
_VERBAL = re.compile(r"ly$|...ed$|^mean$")
_LEADS = _ARTICLES | _HONORIFICS

_HIDDEN = re.compile(
    r"^ {0,3}(?:```|~~~)[^\n]*\n[\s\S]*?(?:^ {0,3}(?:```|~~~)[ \t]*$|\Z)|`[^`\n]{1,200}`"
    r"|\b[a-z]{2,10}://[^\s<>()\[\]]+|\[\[[^\[\]\n]{1,300}\]\]",
    re.MULTILINE,
)
"""Code, addresses and links: no prose, or found by their marks."""
_WORD = re.compile(r"[^\W_](?:[\w-]*[^\W_])?(?:['\u2019][^\W_]{1,3}(?!\w))?")
_OWNER = re.compile(r"['\u2019][sS]$")


class _Word(NamedTuple):
    start: int
    end: int  # without a possessive
    text: str
    low: str
    joined: bool  # by a blank to the word before it
    first: bool  # of its sentence
    named: bool  # behind a determiner or an owner
    owner: bool

    @property
    def capital(self) -> bool:
        return self.text[0].isupper()


def noun_phrases(text: str) -> list[tuple[int, int, str]]:
    """Return start, end and form of the phrases of a text that may be terms, in order.

    A phrase of three or four words comes with its ends of two and more words, as one of them may be
    the term; a plural comes with its singular. A single word comes only if it looks like a term.

    >>> [phrase for _, _, phrase in noun_phrases("Ilse's tax return lay on the old clock key.")]
    ['tax return', 'clock key']
    """
    words = _words(text)
    found: set[tuple[int, int, str]] = set()
    for run in _runs(words):
        for start in range(max(0, len(run) - _LONGEST), len(run) - 1):
            found.update(_found(text, run[start:]))
        for word in run:
            if _is_rare(word):
                found.update(_found(text, [word]))
    for run in _titles(words):
        start, end = run[0].start, run[-1].end
        found.add((start, end, " ".join(text[start:end].split())))
    return sorted(found)


def _words(text: str) -> list[_Word]:
    plain = _HIDDEN.sub(lambda match: "|" * len(match.group()), text)
    words: list[_Word] = []
    end = 0
    for match in _WORD.finditer(plain):
        word, start = match.group(), match.start()
        owner = _OWNER.search(word)
        bare = word[: owner.start()] if owner else word
        gap = plain[end:start]
        titled = gap == ". " and words[-1].low in _HONORIFICS
        first = not titled and (not words or any(mark in gap for mark in ".!?:\n"))
        named = bool(words) and (words[-1].owner or words[-1].low in _DETERMINERS | _LOOSE)
        joined = titled or gap in {" ", "\n"}
        span = (start, start + len(bare))
        words.append(_Word(*span, bare, bare.lower(), joined, first, named, owner is not None))
        end = match.end()
    return words


def _runs(words: Sequence[_Word]) -> Iterator[Sequence[_Word]]:
    """Yield runs of content words, without loose words before and verbs behind."""
    run: list[_Word] = []
    for word in words:
        if run and (not word.joined or _is_end(word)):
            yield from _trimmed(run)
            run = []
        if word.owner:
            yield from _trimmed([*run, word])
            run = []
        elif not _is_outside(word) and (run or word.low not in _BARE_VERBS):
            run.append(word)
    yield from _trimmed(run)


def _is_outside(word: _Word) -> bool:
    """Whether no phrase holds the word."""
    return word.low in _OUTSIDE or _NO_TERM.match(word.low) is not None


def _is_end(word: _Word) -> bool:
    verb = word.low in _BARE_VERBS or _VERBAL.search(word.low) is not None
    return verb or _is_outside(word)


def _trimmed(run: Sequence[_Word]) -> Iterator[Sequence[_Word]]:
    while run and _is_loose(run):
        run = run[1:]
    if run and not _is_dull(run[-1]) and not _is_told(run):
        yield run


def _is_loose(run: Sequence[_Word]) -> bool:
    """Whether the first word of a run is none of a term's."""
    low = run[0].low
    if low in _LOOSE or low in _TIME or low.endswith("ly"):
        return True
    if len(run) == 1:
        return False
    if low.endswith("ed"):  # "cited Hardin", "started writing"
        return run[1].capital or run[1].low.endswith("ing")
    # "Watching films" and "help dancers" do something; "a camping trip" is one.
    return not run[0].named and (low.endswith("ing") or low in _STEMS)


def _is_told(run: Sequence[_Word]) -> bool:
    """Whether it looks like a name and its verb: "Mara fears"."""
    named = all(word.capital and not word.first for word in run[:-1])
    return len(run) > 1 and named and singular(run[-1].text) != run[-1].text


def _is_dull(head: _Word) -> bool:
    """Whether a head says nothing about which thing is meant."""
    kinds = {head.low, singular(head.low)}
    dull = any(kind in _TIME or kind in _GENERIC or kind in _LOOSE for kind in kinds)
    return dull or len(head.low) < 3 or not head.text[-1].isalnum() or head.text in NO_NAMES


def _is_rare(word: _Word) -> bool:
    """Whether a word alone looks like a term: a long one, or one with a digit or a mark inside."""
    if "_" in word.text or any(map(str.isdigit, word.text)):
        return word.text[0].isalpha()
    kinds = {word.low, singular(word.low)}
    plain = any(kind in _PLAIN or kind.endswith(_NO_NOUN) for kind in kinds)
    return not word.capital and len(word.low) >= _RARE and not plain


def _found(text: str, words: Sequence[_Word]) -> Iterator[tuple[int, int, str]]:
    """Yield the phrase without the capital of a sentence's first word, and with its head singular."""
    start, end = words[0].start, words[-1].end
    surface = " ".join(text[start:end].split())
    if words[0].first and words[0].text[1:].islower():
        surface = surface[0].lower() + surface[1:]
    *before, head = surface.split(" ")
    for form in dict.fromkeys([head, singular(head)]):
        yield start, end, " ".join([*before, form])


def singular(noun: str) -> str:
    """Return a common noun without its plural ending, where that is sure.

    >>> [singular(noun) for noun in ("tails", "memories", "boxes", "corpus", "glass", "James")]
    ['tail', 'memory', 'box', 'corpus', 'glass', 'James']
    """
    if not noun.islower() or not noun.isalpha() or len(noun) < 4 or noun[-1] != "s":
        return noun
    if noun in _UNCERTAIN or noun.endswith(("ss", "us", "is", "ics", "yses", "eses")):
        return noun
    if noun in _IN_E:
        return noun[:-1]
    if noun.endswith("ies") and len(noun) > 5:
        return noun[:-3] + "y"
    longer = noun.endswith(("ches", "shes", "xes", "sses")) or noun in _PLURALS_IN_O
    return noun[:-2] if longer else noun[:-1]


def _titles(words: Sequence[_Word]) -> Iterator[Sequence[_Word]]:
    """Yield names of several words that small words, an owner or a title hold together.

    "Reasons and Persons", "The Steward's Problem", "Dr. Bakker".
    """
    run: list[_Word] = []
    for word in words:
        if run and word.joined and (word.capital or word.low in _INSIDE):
            run.append(word)
        else:
            yield from _whole(run)
            run = [word] if word.capital else []
    yield from _whole(run)


def _whole(run: Sequence[_Word]) -> Iterator[Sequence[_Word]]:
    """Yield a run that is a title, without what does not belong to it at its ends."""
    while run and not run[-1].capital:
        run = run[:-1]
    while run and (
        not run[0].capital or (run[0].text in NO_NAMES - {"I"} and run[0].low not in _LEADS)
    ):
        run = run[1:]
    large = [word for word in run if word.low not in _INSIDE]
    if len(large) < 2 or len(run) > _LONGEST_TITLE or any(word.low in _TIME for word in large):
        return
    if run[-1].text == "I" or (run[0].first and run[1].low in {"to", "for", "on", "with"}):
        return
    body = run[1:-1] if run[0].low in _ARTICLES else run[:-1]
    if run[0].low in _HONORIFICS or any(word.owner or word.low in _INSIDE for word in body):
        yield run
