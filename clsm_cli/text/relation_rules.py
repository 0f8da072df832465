"""The grammar of relations: which verb, with what after it, says which relation.

The tables are read by ``relations``: what follows a verb, and what may stand between two named
things. Words and marks are lower-case, with a blank behind each; marks of Markdown are left out.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Literal

from clsm_cli.records import NamedTuple
from clsm_cli.text.relation_words import inflect

if TYPE_CHECKING:
    from clsm_cli.text.relation_words import Form

Target = Literal[
    "any",
    "thing",
    "person",
    "title",
    "place",
    "event",
    "activity",
    "owned",
    "project",
    "role",
    "known",
]


class VerbRule(NamedTuple):
    """A relation that a verb states between its subject and its object.

    Attributes:
        type: name of the relation.
        verbs: base forms, blank-separated.
        follow: regular expression of the words between the verb and its object, each with a blank
            behind it.
        target: what the object has to be.
        personal: whether the subject has to be a person.
        directed: whether the order of the ends matters.
        reverse: whether the relation runs from the object to the subject.
    """

    type: str
    verbs: str
    follow: str = ""
    target: Target = "thing"
    personal: bool = True
    directed: bool = True
    reverse: bool = False


class PairRule(NamedTuple):
    """A relation stated by what stands between two named things, and behind the second.

    Attributes:
        type: name of the relation.
        between: regular expression of all words and marks between the two.
        behind: regular expression of the words behind the second.
        source: what the first has to be.
        target: what the second has to be.
        directed: whether the order of the ends matters.
        reverse: whether the relation runs from the second to the first.
    """

    type: str
    between: str
    behind: str = ""
    source: Target = "any"
    target: Target = "any"
    directed: bool = True
    reverse: bool = False


KIN = (
    "(?:sister|brother|mother|father|mom|mum|dad|daughter|son|wife|husband|partner|girlfriend|boyfriend|"
    "fianc[eé]e?|cousin|niece|nephew|aunt|uncle|grandmother|grandfather|grandma|grandpa|granddaughter|"
    "grandson|friend|neighbou?r|colleague|coworker|co-worker|roommate|flatmate|landlord|landlady|boss|"
    "mentor|manager|supervisor|doctor|assistant|tutor|trainer|teacher|student|coach|twin|spouse|godmother|godfather|human|widow|widower|mate|buddy)"
)
"""One person as seen from another."""

_PET = (
    "(?:guinea pig|cat|dog|kitten|puppy|pet|horse|parrot|rabbit|hamster|turtle|boat|car|pup|bunny)"
)
_LINK = r"(?:(?:is|was|'s|,|:|\(|—|–|-)(?: (?:also|now|still|both))*)"
_ADJ = r"(?:(?!of\b|and\b|not\b|no\b)[\w-]+ ){0,2}"
_DET = "(?:(?:the|a|an|my|our|his|her|their|its|this|that|some) )?"
_WORK = "(?:book|novel|essay|paper|poem|story|article|memoir|biography|report|thesis|song|play)"
_PLURAL_KIN = (
    "(?:best |old |close |good |next-door )*(?:friends|siblings|sisters|brothers|married|colleagues|"
    "neighbou?rs|cousins|twins|partners|engaged|roommates|a couple)"
)

_SOME = r"(?:(?:some|a|an|my|our|the|another|a new|a bit of|a little|a lot of) )?"
_PLACE = "(?:in|at|on|near|by|under|behind|above|below|beside) "
_VERY = "(?:(?:so|very|really|a bit|pretty|super|incredibly|just|always|still|quite|also) ){0,2}"
_DOING = (
    "(?:(?:playing|doing|making|reading|watching|going|eating|drinking|cooking|baking|"
    "listening to|practicing|practising|to go|to play|to read|to eat|to do) )?"
)
_KEPT = "(?:moored|located|based|situated|housed|installed|mounted|stored|kept|parked|hosted) "

PAIR_RULES: tuple[PairRule, ...] = (
    PairRule("personal", rf"'s {_ADJ}{KIN}(?: is| was| named| called)?", r"(?!'s)(?:$|[.,;:!)]|\w)", "person", "person", False),
    PairRule("personal", rf"'s {_ADJ}{KIN} ,", ",", "person", "person", False),
    PairRule("personal", _LINK, rf"'s {_ADJ}{KIN}\b(?! 's)", "person", "person", False),
    PairRule("personal", rf"{_LINK} (?:'s )?{_DET}{_ADJ}{KIN} (?:of|to)", "(?!'s)", "person", "person", False),
    PairRule("personal", "and", f"(?:are|were|got) {_PLURAL_KIN}", "person", "person", False),
    PairRule("owns", f"'s {_ADJ}{_PET}(?: ,)?(?: (?:named|called))?", "(?!'s)", "person", "person"),
    PairRule("owns", _LINK, f"'s {_ADJ}{_PET}\\b", "any", "person", True, True),
    PairRule("wrote", f"'s {_ADJ}{_WORK}(?: on [a-z]+)?(?: ,| called| titled)?", "", "person", "title"),
    PairRule("wrote", r"(?:, )?(?:is |was )?(?:written )?by(?: [a-z]+){0,2}", "(?!'s|@)", "title", "person", True, True),
    PairRule("prefers", r"(?:is|are|was|'s) (?:definitely |probably |still )?(?:one of )?", r"'s (?:[a-z-]+ )?favou?rite", "thing", "person", True, True),
    PairRule("prefers", f"'s (?:[a-z-]+ )?favou?rite (?:[a-z]+ ){{0,3}}(?:is|are|was|'s|has always been) (?:definitely |probably |still )?{_DET}", "(?!'s)", "person", "thing"),
    PairRule("likes", "(?:is|are|was|'s|has been|has always been) (?:really |always |definitely |truly |also )?", r"'s (?:[a-z]+ )?(?:passion|hobby|hobbies|escape|therapy|haven|outlet)\b", "thing", "person", True, True),
    PairRule("likes", f"'s (?:[a-z]+ )?(?:(?:passion|love|enthusiasm) (?:for|of)|(?:hobby|passion) is) {_DOING}", "(?!'s)", "person", "thing"),
    PairRule("semantic", r"\(", r"\) :", "thing", "person", False),
    PairRule("semantic", r"(?:,|\()? ?(?:is |was )?(?:called|named|nicknamed|named after|called after)(?: the)?", "(?!'s)", "thing", "any", False),
    PairRule("wrote", _LINK, rf"'s {_ADJ}{_WORK}\b", "title", "person", True, True),
    PairRule("wrote", ",", r"\)", "person", "title"),
    PairRule("project", "(?:is |was )?(?:led|maintained|edited|founded|built|designed|developed|created) by", "(?!'s)", "thing", "person", True, True),
    PairRule("wrote", rf"{_LINK} (?:the )?author of {_DET}", "(?!'s)", "person", "thing"),
    PairRule("owns", rf"{_LINK} (?:the )?(?:proud )?owner of {_DET}", "(?!'s)", "person", "thing"),
    PairRule("project", rf"{_LINK} (?:the )?(?:lead |chief )?(?:editor|lead|leader|maintainer|founder|manager|director|head) of {_DET}", "(?!'s)", "person", "thing"),
    PairRule("works_on", rf"{_LINK} (?:the )?(?:skipper|captain|pilot|keeper|curator) of {_DET}{_ADJ}", "(?!'s)", "person", "thing"),
    PairRule("caused", r"(?:(?:is|was|were|are) )?(?:probably )?(?:caused by|due to|explained by|the result of|triggered by) " + _DET, "(?!'s)", "thing", "thing", True, True),
    PairRule("caused", rf"(?:is|was|were|are) (?:[a-z]+ )?because of {_DET}", "(?!'s)", "thing", "thing", True, True),
    PairRule("part_of", rf"(?:,|\() (?:a|the|one) {_ADJ}(?:chapter|part|section|module|component) (?:of|in) {_DET}", "(?!'s)", "thing", "thing"),
    PairRule("located_at", f"(?:met|meets|gathers|gathered) (?:up )?(?:at|in) {_DET}", "(?!'s)", "thing", "place"),
    PairRule("replaces", rf"{_LINK} (?:the |a )?(?:successor|replacement|heir) (?:of|to|for) {_DET}", "(?!'s)", "thing", "thing"),
    PairRule("replaces", f"(?:is|was|were|has been|got) replaced (?:by|with) {_DET}", "(?!'s)", "thing", "thing", True, True),
    PairRule("semantic", r"(?:,|\() (?:also |sometimes |better )?(?:called|known as|aka)(?: the)?", "(?!'s)", "thing", "thing", False),
    PairRule("semantic", rf"is (?:the|a) (?!part|chapter|section|module|component|piece|owner|author|kind|type|result|cause)[a-z]+ of {_DET}", "(?!'s)", "thing", "thing"),
    PairRule("before", f"(?:(?:is|was|came|happened|took place) )?(?:right |just |the day )?before {_DET}", "(?!'s)", "event", "event"),
    PairRule("after", f"(?:(?:is|was|came|happened|took place) )?(?:right |just |the day )?after {_DET}", "(?!'s)", "event", "event"),
)  # fmt: skip
"""Relations between two neighbouring named things; the first that fits counts."""

VERB_RULES: tuple[VerbRule, ...] = (
    # What one feels.
    VerbRule("likes", "love like enjoy adore", _DOING, "any"),
    VerbRule("likes", "get", "(?:really )?into (?=@)", "thing"),
    VerbRule("likes", "be", f"{_VERY}(?:(?:a|an) (?:big |huge |great )?(?:fan|lover|enthusiast) of|into|fond of|passionate about|in love with|crazy about) {_DOING}", "any"),
    VerbRule("dislikes", "hate dislike detest loathe", _DOING, "any"),
    VerbRule("prefers", "prefer", _DOING, "any"),
    VerbRule("emotional", "be feel", f"{_VERY}(?:afraid of|scared of|terrified of|frightened of|proud of|ashamed of|jealous of|worried about|nervous about|anxious about|concerned about|excited about|stoked about|thrilled about|happy about|happy with|grateful for|thankful for|angry with|angry at|obsessed with)", "any"),
    VerbRule("emotional", "miss fear mourn", "", "any"),
    VerbRule("emotional", "worry", "about ", "any"),
    # What one reads and writes.
    VerbRule("reading", "read reread re-read", _SOME, "title"),
    VerbRule("reading", "finish start begin", "(?:reading )?", "title"),
    VerbRule("wrote", "have", rf"(?:a|an) {_ADJ}{_WORK}(?: (?:from|of) [0-9]{{4}})?(?: ,| called)? ", "title"),
    VerbRule("wrote", "write author publish", "", "thing"),
    # Where one goes and what one takes part in.
    VerbRule("participated_in", "attend join", "", "thing"),
    VerbRule("participated_in", "take participate compete perform play enroll enrol", "(?:part )?(?:in|at) ", "thing"),
    VerbRule("participated_in", "sign", "up for ", "thing"),
    VerbRule("participated_in", "volunteer", "(?:at|for|with) ", "thing"),
    VerbRule("participated_in", "be", "(?:a |an |the )?(?:active |proud |new )?(?:member|part) of ", "thing"),
    VerbRule("participated_in", "go be", "to ", "event"),
    VerbRule("participated_in", "win", "", "event"),
    VerbRule("participated_in", "have", "(?:a|an|our|my|some|another) ", "event"),
    VerbRule("visited", "spend", "(?:[a-z]+ ){1,4}?(?:at|in) ", "place"),
    VerbRule("visited", "get come return be", "(?:just )?back from (?:visiting |(?:a|my|our) trip to )?", "place"),
    VerbRule("did", "spend", "(?:(?:the|a|my|our|some|all|whole|day|days|afternoon|morning|weekend|evening|time|week|hours) ){1,4}", "activity"),
    VerbRule("visited", "visit explore tour", "", "thing"),
    VerbRule("visited", "go travel fly drive sail cycle hike walk head", "(?:back |down |up |over |out )?to ", "place"),
    VerbRule("visited", "be", "to ", "place"),
    VerbRule("visited", "take go", "(?:on )?(?:a|an|our|my) (?:[a-z]+ )?(?:trip|tour|vacation|holiday) to ", "place"),
    VerbRule("visited", "take", "(?:the|my|our|his|her) (?:@ 's )?[a-z]+ to ", "place"),
    VerbRule("did", "go", r"(?:for (?:a|an|my|our) |on (?:a|an|my|our) |out )?", "activity"),
    # Where things are.
    VerbRule("located_at", "live reside dwell settle stay", f"(?:alone |together |now )?{_PLACE}", "thing", personal=False),
    VerbRule("located_at", "grow", "up in ", "place"),
    VerbRule("located_at", "stand lie hang sit", _PLACE, "thing", personal=False),
    VerbRule("located_at", "be", f"{_KEPT}{_PLACE}", "thing", personal=False),
    VerbRule("located_at", "be", "(?:now |still )?(?:in|at) ", "place", personal=False),
    VerbRule("located_at", "move relocate", "(?:back |out |over )?(?:to|into) ", "place", personal=False),
    # Work.
    VerbRule("works_at", "work intern", "(?:[a-z]+ )?(?:at|for) ", "thing"),
    VerbRule("works_on", "work", "(?:hard |together )?on ", "thing"),
    VerbRule("project", "lead maintain edit manage cofound establish audit supervise coordinate curate moderate", ""),
    VerbRule("project", "build develop launch design create", "", "project"),
    VerbRule("uses", "use", "", "thing", personal=False),
    VerbRule("uses", "depend", "on ", "thing", personal=False),
    VerbRule("uses", "switch migrate", "(?:from (?:@|[a-z0-9.-]+) to|over to|to) ", "thing", personal=False),
    VerbRule("uses", "rely run", "(?:on|from) ", "thing", personal=False),
    # What one has.
    VerbRule("owns", "own buy purchase inherit adopt", "", "thing"),
    VerbRule("owns", "get", "(?:myself |ourselves )?(?:a|an|some|two|three) (?:brand )?new ", "thing"),
    VerbRule("owns", "get have adopt", f"(?:a|an|another|one|two) (?:[a-z]+ )?{_PET}s? (?:named|called) ", "any"),
    VerbRule("owns", "get have", "(?:got )?(?:a|an|two|three|four|my|our|one) ", "owned"),
    # Whom one knows.
    VerbRule("personal", "marry", "", "person", directed=False),
    VerbRule("personal", "be", f"(?:married to|engaged to|{_VERY}(?:good |best |close )?friends with) ", "person", directed=False),
    VerbRule("knows", "know meet befriend", "", "person", directed=False),
    # What one does.
    VerbRule("did", "do", "(?=@|(?:a|an|the|my|our|some|this|these|those|another|more) )", "thing"),
    VerbRule("did", "try practice practise play paint draw bake cook build create plant sew knit design compose perform climb teach study learn organize organise host celebrate photograph watch make record run complete finish start", _SOME, "thing"),
    VerbRule("did", "start begin keep", "(?:playing|doing|learning|practicing|practising|taking) (?:the |some )?", "thing"),
    VerbRule("did", "take", "(?:up|a|an|some|my|our) ", "activity"),
    VerbRule("did", "sign", "up for ", "thing"),
    # What things are to one another.
    VerbRule("caused", "cause trigger provoke", "", personal=False),
    VerbRule("caused", "lead", "to ", personal=False),
    VerbRule("caused", "result", "in ", personal=False),
    VerbRule("replaces", "replace supersede", "", personal=False),
    VerbRule("part_of", "belong", "to ", personal=False),
    VerbRule("part_of", "be", f"(?:a |an |the |one )?{_ADJ}(?:part|chapter|section|module|component) of ", personal=False),
    VerbRule("part_of", "contain include", "", personal=False, reverse=True),
    VerbRule("part_of", "consist", "of ", personal=False, reverse=True),
    VerbRule("semantic", "mean resemble", "", personal=False),
    VerbRule("semantic", "be", "(?:(?:a|an) (?:[a-z]+ )?(?:kind|type|form|sort|variant|version|example|case|name) of|(?:very |rather |much |a bit |only |really |just )*(?:like|similar to|related to|the same as|the opposite of|short for|another word for)) ", personal=False),
    VerbRule("semantic", "be", "(?:also )?(?:called|named|known as) ", personal=False),
    VerbRule("project", "be", "due (?:on|at|by) ", personal=False),
    VerbRule("identity", "be", "(?:still )?(?:a|an) ", "role"),
    VerbRule("semantic", "be", "(?:a|an|the|another) ", "known", personal=False),
)  # fmt: skip
"""Relations by verb; of the rules of a verb the first whose words and object fit counts."""


@cache
def verb_forms() -> dict[str, frozenset[tuple[str, Form]]]:
    """Return the verbs of the rules by form: what a word may be a form of.

    >>> sorted(verb_forms()["went"])
    [('go', 'past')]
    """
    found: dict[str, set[tuple[str, Form]]] = {}
    for verb in sorted({verb for rule in VERB_RULES for verb in rule.verbs.split()}):
        for word, form in inflect(verb):
            found.setdefault(word, set()).add((verb, form))
    return {word: frozenset(forms) for word, forms in found.items()}


@cache
def rules_of(verb: str) -> tuple[tuple[VerbRule, re.Pattern[str]], ...]:
    """Return the rules of a verb in order, each with the pattern of what follows."""
    return tuple(
        (rule, re.compile(rule.follow)) for rule in VERB_RULES if verb in rule.verbs.split()
    )


@cache
def pair_rules() -> tuple[tuple[PairRule, re.Pattern[str], re.Pattern[str]], ...]:
    """Return the rules of pairs in order, each with its two patterns."""
    return tuple(
        (rule, re.compile(f"(?:{rule.between}) ?"), re.compile(rule.behind)) for rule in PAIR_RULES
    )
