"""Other names that a text itself gives to a thing.

Only explicit forms count: an acronym in brackets, "also known as", "or … for short", a link with its
own wording, a code with its meaning behind a comma. Apposition alone ("Priya, the editor") tells
a role, which is shared by many, and is no name.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from clsm_cli.text import mentions, names
from clsm_cli.text.mentions import Mention
from clsm_cli.text.tokens import STOP_WORDS

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence


class Stated(NamedTuple):
    """Two names of one thing, and where the text says so.

    Attributes:
        name: What it is called elsewhere: the full name, the target of a link, the title.
        alias: The other name.
        start: First character of the statement.
        end: The character after its last.
    """

    name: str
    alias: str
    start: int
    end: int


_HOW = r"(?:also|sometimes|usually|often|better|formerly|previously|otherwise|commonly) "
_SAID = r"(?:known as|nicknamed|a\.k\.a\.|aka|alias)"
_WHO = r"(?:we|they|I|you|everyone|everybody|people|friends|locals)"
_QUOTE = "[\"\u201c']?"
# "A box called Margaret" names a box, not Margaret; in "I met Ilse, called Brian" someone rang him.
# So "called" needs an adverb or a bracket, and the others at least a comma.
_CALLED = re.compile(
    rf"(?:(?:, | \()(?:{_HOW})?{_SAID}|(?:,? {_HOW}| \()(?:called|named)|,? {_HOW}{_SAID}"
    rf"| (?:a\.k\.a\.|aka|alias)) {_QUOTE}"
    rf"|, (?:who|whom|which|that) {_WHO} (?:all )?calls? {_QUOTE}"
    rf"|(?::|;|,) {_WHO} (?:all )?calls? (?:him|her|it|them) {_QUOTE}"
    rf"|(?: is|,) short for {_QUOTE}"
)
_OR = re.compile(rf",? \(?or(?: just| simply)? {_QUOTE}")
_FOR_SHORT = re.compile(r"[\"\u201d']?,? for short\b")
_OPENING = re.compile(r"(?:\A|[.!?\n]\s?)([^\W\d_][\w-]{2,40})")
_WORK = re.compile(
    r"(?<!\w)([^\W\d_][\w-]{1,40}(?: [^\W\d_][\w-]{1,40}){0,2})['\u2019]s? (book|novel|novella|memoir|biography|"
    r"essay|paper|article|thesis|report|play|poem|film|album|song|podcast),? (?:called |titled |entitled )?"
    r"[\"\u201c]?\Z"
)
_WORK_BEFORE = 160
"""Characters before a title in which its author stands."""
_TRIGGER = re.compile(
    r"known as|called|\bcalls? |nicknamed|a\.k\.a\.|\baka\b|\balias\b|short for|for short"
    r"|['\u2019]s? (?:book|nov|memoir|biog|essay|paper|article|thesis|report|play|poem|film|album|song|podc)"
)
_LINK = re.compile(r"\[\[([^\[\]\n|#]{1,200})(?:#[^\[\]\n|]{0,200})?\|([^\[\]\n]{1,80})\]\]")
_ACRONYM = re.compile(r"[*\"\u201d\]]{0,4} \(([^\W\d_][^\W_]{1,7})\)")
_BEFORE = 160
"""Characters before an acronym in which its words stand."""
_BEFORE_WORD = re.compile(r"[^\W_][\w'\u2019]*")
_SMALL = frozenset(["a", "an", "and", "as", "at", "by", "for", "from", "in", "of", "on", "the", "to", "with"])  # fmt: skip
_CODE = re.compile(r"(?<![\w-])([^\W\d_]{1,8}-?\d[\w.-]{0,15}), the ((?:[^\W\d_]{2,30} ){0,2}[^\W\d_]{2,30})(?=[,.;:)!?\n]|\Z)")  # fmt: skip

_HONORIFIC_WORDS = """
aunt auntie brother capt captain coach colonel cousin dame dr father frau grandma grandpa granny
herr judge lady lord madame major monsieur mr mrs ms mx nurse officer oma oom opa pastor prof
professor rabbi rev sergeant sir sister tante uncle
"""
_HONORIFICS = frozenset(_HONORIFIC_WORDS.split())
_GIVEN_NAMES = """
aaron abdul abigail adam adele adrian agnes ahmed aisha akira alan albert alejandro alex alexander
alexandra alfred ali alice alicia allison amanda amelia amina amir amit amy ana anders andrea
andreas andrew andy angela anita anja ann anna anne annie anthony antoine anton antonio ariel arjun
arthur ashley astrid audrey barbara beatrice ben benjamin bernard bernd beth betty bjorn björn boris
brandon brenda brent brian bruce bruno bryan carla carlos carmen caroline catherine cecilia charles
charlie charlotte chen chiara chloe chris christina christine christoph christopher claire clara
claudia colin connor craig cynthia daniel daniela david deborah debra deepak dennis derek diana
diane diego dieter dmitri dominic donald donna dorothy douglas dylan eduardo edward eileen eleanor
elena elias elinor elisa elisabeth eliza elizabeth ella ellen ellie emil emily emma emmanuel enrique
eric erik erin esther ethan eugene eva evan evelyn fatima felix fernando fiona florence francesca
francesco francis francisco frank françois frederick freya friedrich gabriel gareth gary george
gerald gerard giovanni giulia gloria gordon graham greg gregory greta guido gustav hanna hannah hans
harold harriet harry hassan heidi heinrich helen helena helga henri henrik henry herbert hiroshi
howard hugh hugo ian ibrahim igor ilse ines ingrid irene isaac isabel isabella ivan ivana jacob
jacques jake james jamie jan jane janet janice jason javier jean jeff jeffrey jennifer jeremy
jessica jill jim joan joanna joe joel joerg johan johann johannes john jon jonathan jorge josef
joseph josephine joshua juan judith judy julia julian julie julius jun justin jürgen karen karin
karl kate katherine kathleen kathryn katie katrin keith kelly ken kenji kenneth kerstin kevin khalid
kim klaus kristen kumar kurt kyle lars laura lauren laurence lea leah lee leila lena leo leon
leonard liam lily linda lisa lorenzo louis louise lucas lucia lucy luigi luis luke lydia magnus
malik manuel marc marcel marco marcus marek margaret maria marie marina mario marion marjorie markus
marta martha martin martina mary matilda matteo matthew matthias maureen max maya megan mei-lin
melanie melissa michael michel michelle miguel mike mikhail milan miriam mohamed mohammed monica
monika muhammad mustafa nadia nancy naomi natalia natalie natasha nathan neil nicholas nick nicola
nicolas nicole nigel nikhil nikolai nils nina noah noor nora norman olga oliver olivia omar oscar
otto owen pablo pamela patricia patrick paul paula pauline pedro peter petra philip philippe phillip
pierre piotr priya rachel rafael raj rajesh ralph ramon raymond rebecca renate ricardo richard rita
robert roberto roger roland roman ronald rosa rosemary ruth ryan sabine sally sam samantha samuel
sandra sanjay sara sarah scott sean sebastian sergei sharon shirley silvia simon simone sofia sonia
sophia sophie stan stefan stefanie stella stephanie stephen steve steven stuart susan susanne sven
sylvia takashi tamara tania tanya tara ted teresa theo theodore theresa thomas tim timothy tina
tobias todd tom tomas tony tracy ulrich ursula valentina vanessa vera veronica victor victoria
vincent vladimir walter wanda wei wendy werner wilhelm william wolfgang xavier yan yasmin yuki yuri
yusuf yvonne zoe
"""
_GIVEN = frozenset(_GIVEN_NAMES.split())
"""First names, so that a name of two words is known for a person's."""
_NO_PERSON_WORDS = """
academy agency airport alliance and app army art association award awards bakery bank bar bay beach
board book books bridge building bureau cafe café camp canal castle cathedral center centre
challenge championship channel chapel church cinema city clinic club coast code coffee college
company conference council country county court criterion cup day desert drive effect equation fair
farm festival film foundation fund gallery garden gardens group hall hill hospital hotel house index
institute island journal lake lane law league library machine magazine marathon market memorial
method mill mine monument mount mountain museum music network news number orchestra palace park
party pass peninsula pier place plan plaza pond port press prize problem program project protocol
quay race radio region relations restaurant ridge river road room route school sea series server
shop show song square stadium station store story street studio studios syndrome team temple test
theater theatre theorem times tower town trail tree trust tunnel university valley village war water
way zoo america
"""
_NO_PERSON = frozenset(_NO_PERSON_WORDS.split())
"""Words of names that are no person's ("Charlotte Street")."""
_NAMES_TOO = """
amber angel april art august autumn baker banks bell bill bishop black bob brook brown bush butler
carol case cash chance chase chip church clay cliff cook cooper crystal daisy dale dawn day dean
drew duke earl faith fern field fields fisher forest fox frank gardener ginger glen gold grace grant
gray green grey guy harry hazel heath heather hill holly hope hunter iris ivy jack jade jay jean
jewel josh joy king knight lake lance lane laurel lily little long love mark marsh mason max meadows
melody mercy miles miller moon nick noble norm olive opal page park patience pearl peg penny pepper
pierce piper potter price rain ray reed rice rich river rivers rob robin rocky rose ruby rusty sage
sandy sharp short sky small smith snow star sterling stone storm strong sue summer sweet swift
tailor tanner turner victor viola violet wade walker wall waters weaver west white willow wise wolf
wood woods woody young
"""
WORDS = STOP_WORDS.union(map(str.lower, names.NO_NAMES), _NAMES_TOO.split())
"""Words that may be names as well."""
_PART = re.compile(r"[^\W\d_][^\W\d_]*(?:[-'\u2019][^\W\d_]+)?\.?")
_PARTICLES = frozenset(["van", "von", "der", "den", "de", "del", "della", "da", "di", "du", "la", "le", "al", "bin", "ibn"])  # fmt: skip


def short_names(full: str, first_names: Collection[str] = ()) -> list[str]:
    """Return the first and last name of a person's full name; of a titled one the name behind it.

    Only what begins with a known first name or a title is taken for a person: "Boston Marathon" and
    "Docker Compose" are built the same. A last name that is a first name too stands for anybody.

    Args:
        full: a name.
        first_names: people that are known otherwise.

    >>> [short_names(full) for full in ("Brian Okafor", "Aunt Corrie", "Docker Compose")]
    [['Brian', 'Okafor'], ['Corrie'], []]
    """
    words = full.split()
    titled = len(words) > 1 and words[0].rstrip(".").lower() in _HONORIFICS
    words = words[1:] if titled else words
    given = bool(words) and (words[0].lower() in _GIVEN or words[0] in first_names)
    if not 2 - titled <= len(words) <= 4 or not (titled or given):
        return []
    if not all(word in _PARTICLES or _is_personal(word) for word in words):
        return []
    last = [] if len(words) > 1 and words[-1].lower() in _GIVEN else words[-1:]
    return [word for word in dict.fromkeys([words[0], *last]) if len(word) > 2]


def _is_personal(word: str) -> bool:
    shaped = word[0].isupper() and word[1:2] in {"", ".", word[1:2].lower()}
    return shaped and word.lower() not in _NO_PERSON and _PART.fullmatch(word) is not None


def stated(text: str) -> list[Stated]:
    """Return what a text says are two names of one thing, in order.

    >>> [(each.name, each.alias) for each in stated("He read Gödel, Escher, Bach (GEB).")]
    [('Gödel, Escher, Bach', 'GEB')]
    >>> stated("Priya, the editor, called Lotte.")
    []
    """
    found = [*_links(text), *_acronyms(text), *_codes(text)]
    if _TRIGGER.search(text):
        found += _between(text)
    return sorted({each for each in found if _key(each.name) != _key(each.alias)}, key=_place)


def _place(each: Stated) -> tuple[int, int, str, str]:
    return each.start, each.end, each.name, each.alias


def _key(name: str) -> str:
    return " ".join(re.findall(r"\w+", name.casefold()))


def _between(text: str) -> Iterator[Stated]:
    """Yield pairs of neighbouring names of which the words between, or behind, say that they are one."""
    marked = mentions.find(text)
    named = sorted([*marked, *_openings(text, marked)])
    for first, second in pairwise(named):
        gap = text[first.end : second.start]
        if _CALLED.fullmatch(gap):
            pair = (
                (second.label, first.label) if "short for" in gap else (first.label, second.label)
            )
            yield Stated(*pair, first.start, second.end)
        elif _OR.fullmatch(gap) and (behind := _FOR_SHORT.match(text, second.end)):
            yield Stated(first.label, second.label, first.start, behind.end())
    for title in marked:
        if title.kind in {"title", "link"}:
            before = max(0, title.start - _WORK_BEFORE)
            work = _WORK.search(text[before : title.start])
            if work and work.group(1)[0].isupper():
                owner = [word for word in work.group(1).split() if word[0].isupper()]
                alias = f"{' '.join(owner)}'s {work.group(2)}"
                yield Stated(title.label, alias, before + work.start(), title.end)


def _openings(text: str, marked: Sequence[Mention]) -> Iterator[Mention]:
    """Yield the first words of sentences that may be names, as a capital says nothing there."""
    starts = {each.start for each in marked}
    for match in _OPENING.finditer(text):
        word = match.group(1)
        if match.start(1) not in starts and word[0].isupper() and word not in names.NO_NAMES:
            yield Mention(*match.span(1), word, "name")


def _links(text: str) -> Iterator[Stated]:
    """Yield the wording of links that is a name: short, and no description ("my old friend")."""
    for match in _LINK.finditer(text):
        target = " ".join(match.group(1).rsplit("/", 1)[-1].removesuffix(".md").split())
        shown = " ".join(match.group(2).strip('*_`" ').split())
        words = shown.split()
        if not target or not words or len(words) > 4:
            continue
        named = any(word[0].isupper() or word[0].isdigit() for word in words)
        described = any(word.lower() in STOP_WORDS for word in words)
        of_a_name = any(c.isupper() for c in target)
        if named or not (described or of_a_name):
            yield Stated(target, shown, *match.span())


def _acronyms(text: str) -> Iterator[Stated]:
    """Yield names with their initials in brackets behind them (Schwartz and Hearst 2003, strictly)."""
    for match in _ACRONYM.finditer(text):
        short = match.group(1)
        letters = short[:-1] if short[-1] == "s" else short
        if not letters.isupper():
            continue
        words = list(_BEFORE_WORD.finditer(text, max(0, match.start() - _BEFORE), match.start()))
        if not words or words[-1].end() != match.start():
            continue
        start = _spelled(words, letters.lower())
        if start is not None and "\n\n" not in text[start : match.start()]:
            name = " ".join(text[start : match.start()].split())
            yield Stated(name, letters, start, match.end())


def _spelled(words: Sequence[re.Match[str]], letters: str) -> int | None:
    """Where the words begin whose initials are ``letters``; small words may be passed over."""
    left = len(letters)
    for word in reversed(words):
        low = word.group().lower()
        if low[0] == letters[left - 1]:
            left -= 1
        elif low not in _SMALL:
            return None
        if left == 0:
            return word.start()
    return None


def _codes(text: str) -> Iterator[Stated]:
    """Yield codes with what they stand for: "SL-12, the valve chatter"."""
    for match in _CODE.finditer(text):
        words = match.group(2).split()
        if not any(word.lower() in STOP_WORDS for word in words):
            yield Stated(match.group(1), match.group(2), *match.span())
