"""The kind of a named thing, by votes of the words around its mentions."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

KINDS: tuple[str, ...] = (
    "person", "animal", "organisation", "project", "book", "reading", "place", "infrastructure",
    "tool", "event", "task", "activity", "concept",
)  # fmt: skip
"""All kinds; of equal votes the first counts."""

_ENOUGH = 0.9  # votes
_WINDOW = 60  # characters each side

_KIN = (
    "sister|brother|mother|father|mom|mum|dad|daughter|son|wife|husband|partner|girlfriend|boyfriend|"
    "cousin|niece|nephew|aunt|uncle|grandmother|grandfather|friend|neighbou?r|colleague|boss|mentor"
)
_JOB = (
    "baker|doctor|nurse|teacher|engineer|editor|skipper|bookkeeper|lawyer|writer|author|artist|painter|"
    "philosopher|economist|scientist|manager|designer|developer|student|professor|landlord|"
    "landlady|vet|dentist|therapist|counsel+or|singer|plumber|carpenter|driver|chef|coach"
)
_SPEECH = (
    "says?|said|asks?|asked|wrote|writes|thinks|thought|told|tells|wants|wanted|laughed|laughs|smiled|"
    "knew|knows|replied|replies|answered|promised|offered|insisted|remembers?|remembered|argues|argued|"
    "believes|believed|explained|explains|suggested|suggests|noticed|loves|loved|likes|liked|agreed|"
    "recommends|recommended|brought|came|went|sat|stood|called|telephoned|rang|bought|doubts|doubted|"
    "complained|decided|hopes|visited|invited|taught|spoke|looked|read|offers|drew|begins|gives|put|lives"
)
_HEADS: dict[str, str] = {
    "place": (
        "shed café cafe park bridge street river museum beach lake city town village island "
        "house church station square road harbour harbor quay library school restaurant hotel "
        "forest mountain room kitchen cellar attic canal shop market bakery bay "
        "valley airport office lake mount mt avenue garage"
    ),
    "infrastructure": (
        "drive card box server router sensor disk cable probe nas timer gateway tunnel "
        "cluster machine laptop pi gauge board printer switch host network frame camera "
        "battery ssd usb"
    ),
    "tool": (
        "library framework index bot script app cli plugin editor compiler database api "
        "engine browser bell"
    ),
    "event": (
        "storm party meeting conference wedding festival outage post-mortem retrospective ceremony "
        "funeral birthday election concert flood parade incident easter christmas "
        "race workshop exhibition"
    ),
    "task": (
        "test permit todo return renewal application appointment chore errand refactoring migration"
    ),
    "organisation": (
        "club board company team inc ltd gmbh university committee council foundation "
        "institute society department agency association newsletter magazine group corp "
        "hospital"
    ),
    "project": ("project campaign initiative prototype rewrite"),
    "reading": ("paper essay article story poem report thesis"),
    "concept": (
        "theory law principle effect problem curve criterion paradox bias loop rate ratio mode "
        "delay flow speed model method rule hypothesis theorem pattern strategy metric"
    ),
}
"""Last words of names, by what such names are."""

_NAME = r"[A-Z][a-zé'\u2019-]+"


def _rows(rows: tuple[tuple[str, float, str], ...]) -> list[tuple[str, float, re.Pattern[str]]]:
    return [(kind, weight, re.compile(pattern, re.IGNORECASE)) for kind, weight, pattern in rows]


# Of what stands directly before a mention …
_BEFORE = _rows((
    ("person", 1.5, rf"\b(?:{_KIN}|{_JOB}),? (?:called |named )?$"),
    ("person", 1.5, r"\b(?:I am|I['\u2019]m|my name is|introduce|introduced|Auntie|Uncle|met) $"),
    ("person", 2.0, r"\b(?:Mr|Mrs|Ms|Dr|Prof|aunt|uncle)\.? $"),
    ("person", 0.8, r"(?:\b(?:said|says|asked|told|asks|thank|thanks|dear|hi|hey|invited|according to)|^>) $"),
        ("person", 0.5, r"\b(?:with|by|quote|cites?|cited) $"),
    ("animal", 2.5, r"\b(?:cat|dog|kitten|puppy|horse|parrot|pet|hamster|rabbit)s?,? (?:called |named )?$"),
    ("book", 1.0, r"\b(?:book|novel|chapters? of|copy of|author of),? (?:called )?$"),
    ("book", 0.7, r"\b(?:read|reads|reading|finished|reread)\W{1,3}$"),
    ("reading", 2.0, r"\b(?:paper|essay|article|short story|poem|story|report|pages of)\b[^.]{0,25}\W$"),
    ("project", 1.2, r"\b(?:project|working on|works on|work on|version of|release of) (?:the )?$"),
    ("place", 1.5, r"\b(?:lives? in|living in|moved? to|moving to|born in|trip to|travell?ed to|flew to|visit(?:ed|ing)?|barge|walked to|back from) $"),
    ("place", 0.5, r"\b(?:in|at|to|near|across|from) (?:the )?$"),
    ("organisation", 1.2, r"\b(?:works? (?:at|for)|working (?:at|for)|joined|hired by|editor of|employed by|newsletter|magazine) (?:the )?$"),
    ("tool", 1.2, r"\b(?:using|use|uses|installed?|run by|runs on|over|via|written in|switched to|upgraded|powered by|into) (?:an? )?$"),
    ("infrastructure", 0.8, r"\b(?:on|onto|plugged into|mounted|rebooted|boots? from) (?:the |an? |our |my )?$"),
    ("event", 1.0, r"\b(?:during|since|until|attended|before|after) (?:the )?$"),
    ("task", 1.2, r"\[[ x]\] $"),
    ("activity", 1.2, r"\b(?:went|go|going|enjoys?|tried|love|loves|started|into|practi[cs]ing|took up) $"),
    ("concept", 0.5, r"\b(?:of|calls? (?:it|that|this)|called|the idea of|notion of|about|term) (?:the )?$"),
))  # fmt: skip

# … and directly behind it.
_BEHIND = _rows((
    ("person", 1.5, rf"^['\u2019]s (?:[a-z]+ )?(?:{_KIN}|birthday|voice|face|hand|idea|mail|essay|paper|law|theorem|theory|razor|sense|question|answer|advice|words|rule|chapter|book|house)\b"),
    ("person", 1.2, rf"^(?:, who)? (?:(?:who|has|had|also|then|just|once|never|always|only) ){{0,2}}(?:{_SPEECH})\b"),
    ("person", 1.0, r"^,? (?:who|whose|himself|herself)\b"),
    ("person", 1.5, rf"^(?: is|:|,| was)(?: (?:a|an|the|my|our|his|her|{_NAME}['\u2019]s))?(?: (?!(?:and|where|who|which|but|with)\b)[\w-]+){{0,3}} (?:{_KIN}|{_JOB})\b(?=[,.;:)]| (?:of|on|at|next|from|for|in|and|who)\b|$)"),
    ("person", 1.2, r"^(?: and I\b|: [\"\u201c])"),
    ("animal", 2.5, r"^(?:,| is|:)(?: (?:a|an|the|my|our|his|her))?(?: [\w-]+){0,2} (?:cat|dog|kitten|puppy|horse|parrot|rabbit)\b"),
    ("book", 1.2, r"^\W{0,3} ?\(?(?:by [A-Z]|chapter \d|, chapter)"),
    ("place", 0.8, r"^ (?:street|quay|station|office)\b"),
    ("project", 1.0, r"^(?: project\b| (?:is|was) (?:due|live|shipped|finished|paused|switched off|running|released)\b)"),
    ("project", 0.6, r"^ (?:answered|trades|does not|cannot|failed|lost|shows|misses|keeps)\b"),
    ("infrastructure", 1.0, r"^ (?:arrived|died|rebooted|is full|failed|boots|came back|was mounted|stops)\b"),
    ("tool", 1.0, r"^ (?:command|backup|table|library|repository|version|repo|package|plugin|binary|config)\b"),
    ("event", 1.0, r"^ (?:took place|happened|on \d|last (?:week|month|year)|came at|is expected|was on)\b"),
    ("task", 0.8, r"^(?:: (?:blocked|waits|done|open|drafted)| (?:is|was) (?:blocked|open|pending|overdue))"),
    ("organisation", 1.0, r"^ (?:met|meets|announced|hired|members?|meeting|employs)\b"),
    ("concept", 0.8, r"^(?:\W{0,4} ?\([A-Z]| (?:is|means|asks|gives|says) (?:that|the|a|an|what|how)\b)"),
))  # fmt: skip

_LAST = {word: kind for kind, heads in _HEADS.items() for word in heads.split()}


def kind_votes(text: str, start: int, end: int, label: str, marked: str) -> list[tuple[str, float]]:
    """Return what one mention says about the kind of the named thing: kinds and weights.

    Args:
        text: the whole turn.
        start: first character of the mention, marks included.
        end: the character after its last.
        label: its name without marks.
        marked: how it is marked: link, tag, title, code, name, activity or phrase.

    >>> kind_votes("I met my sister Ann.", 16, 19, "Ann", "name")
    [('person', 1.5), ('person', 0.1)]
    """
    before = re.sub(r"[*_`\[\"]{1,4}$", "", text[max(0, start - _WINDOW) : start])
    behind = re.sub(r"^[*_`\]\"]{1,4}", "", text[end : end + _WINDOW])
    capital = label[:1].isupper()
    votes = [(kind, weight) for kind, weight, pattern in _BEFORE if pattern.search(before)]
    votes += [(kind, weight) for kind, weight, pattern in _BEHIND if pattern.search(behind)]
    if not capital:
        votes = [each for each in votes if each[0] not in {"person", "animal"}]
    elif marked in {"title", "code"}:
        votes = [(k, w * 0.4 if k in {"person", "animal"} else w) for k, w in votes]
    return votes + _looks(label, marked)


_MARKED = {"title": ("book", 1.5), "code": ("tool", 1.0), "activity": ("activity", 2.0)}


def _looks(label: str, marked: str) -> list[tuple[str, float]]:
    """Return what the name itself and its mark say."""
    words = label.split()
    capital = label[:1].isupper()
    last = words[-1].lower().strip("._-") if words else ""
    votes: list[tuple[str, float]] = []
    first = words[0].lower() if capital and len(words) > 1 else ""
    kind = _LAST.get(last) or _LAST.get(last.removesuffix("s")) or _LAST.get(first)
    if marked == "title":
        kind = None  # a title may end in any word
    if kind:
        votes.append((kind, 1.5))
    if marked in _MARKED and (marked != "title" or len(words) > 1):
        votes.append(_MARKED[marked])
    if re.match(r"(?:Dr|Mr|Mrs|Ms|Prof|Aunt|Uncle|Sir|Lady)\b\.? [A-Z]", label):
        votes.append(("person", 3.0))
    elif (
        marked in {"name", "link"}
        and not kind
        and re.fullmatch(rf"{_NAME}(?: {_NAME}){{0,2}}", label)
    ):
        votes.append(("person", 0.1 if len(words) == 1 else 0.5 if marked == "link" else 0.3))
    if "_" in label or re.search(r"[a-z][A-Z]|\d", label):
        votes.append(("tool", 0.15))
    if last.endswith("ing") and len(words) == 1 and not capital:
        votes.append(("activity", 0.5))
    if not capital and not kind and "_" not in label:
        votes.append(("concept", 0.6))
    return votes


def kind_of(votes: Mapping[str, float]) -> str:
    """Return the kind with most votes; "concept" without enough of them.

    Args:
        votes: summed weights by kind.

    >>> kind_of({"person": 2.0, "place": 1.0}), kind_of({"place": 0.2})
    ('person', 'concept')
    """
    total = sum(votes.values())
    best = max(KINDS, key=lambda kind: votes.get(kind, 0.0))
    if votes.get(best, 0.0) < _ENOUGH or votes.get(best, 0.0) < 0.3 * total:
        return "concept"
    return best
