"""Which of the four streams a statement belongs to.

A stream is chosen by what the sentence does: who somebody is (identity), how something is built,
used or decided (projects), what is to be done by when (tasks); all else is what happened (flow).
Each table gives points, the largest sum wins, and a tie goes to the first of the order below.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from clsm_cli.model.streams import Stream

_MONTH = (
    r"(?:January|February|March|April|May|June|July|August|September|October|November|December)"
)
_DAY = r"(?:Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday)"
_WHEN = rf"(?:{_DAY}|{_MONTH}|\d{{1,2}}|\d{{4}}-\d\d-\d\d|mid|the\s(?:end|\d)|next|tomorrow|Easter|Christmas|noon)"
_KIN = (
    r"(?:mother|father|mum|mom|dad|parents|sister|brother|son|daughter|kids|children|wife|husband|partner|girlfriend|"
    r"boyfriend|fianc[eé]e?|aunt|uncle|cousin|niece|nephew|grandmother|grandfather|grandma|grandpa|neighbou?r|"
    r"landlord|friend|widow|widower|twin|colleague|boss)"
)
_TRADE = (
    r"(?:engineer|doctor|nurse|teacher|baker|vet|lawyer|writer|editor|author|skipper|bookkeeper|accountant|designer|developer|"
    r"programmer|manager|student|professor|scientist|researcher|artist|musician|driver|carpenter|plumber|chef|cook|farmer|"
    r"counsell?or|agent|architect|pilot|dentist|therapist|coach|librarian|journalist|mechanic|[a-z]{3,12}(?:ologist|grapher|ician))"
)

_IDENTITY: tuple[tuple[float, str], ...] = (
    (2.0, rf"\b(?:is|are|was|am|remains|became)\s(?:[\w'’.-]{{1,20}}\s){{0,4}}(?:{_KIN}|{_TRADE})s?\b"),
    (1.5, rf"\b(?:has|have)\s(?:an?|one|two|three|four|five|six|no)\s(?:[\w-]{{1,20}}\s){{0,2}}{_KIN}s?\b"),
    (1.2, rf"^[A-Z][\w'’-]{{0,30}}(?:\s[A-Z][\w'’-]{{0,30}})?:\s(?:[\w'’,-]{{1,20}}\s){{0,5}}(?:{_KIN}|{_TRADE})\b"),
    (2.0, r"\b(?:allerg\w+|intolerant|vegan|vegetarian|diabet\w+|asthma\w*|migraines?|thyroid|left-handed|colou?r-?blind|deaf|pregnant|pronouns?|birthday|born\s(?:in|on)|diagnos\w+|afraid\sof|phobia)\b"),
    (1.8, r"\b(?:prefers?|dislikes?|hates?|loves?|likes?|enjoys?|adores?|detests?|cannot\sstand|can['’]t\sstand|favou?rite|fond\sof|fan\sof|given\sup|gave\sup|eats\sno|drinks\sno|does\snot\s(?:eat|drink|like|want)|would\s(?:sooner|rather))\b"),
    (1.6, r"\b(?:lives|lived|live|grew\sup|comes\sfrom|speaks|studies|studied|works\s(?:at|as|for|in)|is\sfrom|moved\s(?:to|from)|wants\sto\s(?:be|become)|dreams?\sof|retired|widow(?:er)?|married|divorced|engaged\sto|turned|years\sold|aged)\b"),
    (1.6, r"\b(?:wants?|insists?\son|asks\sfor|expects?)\s(?!to\b)"),
    (1.4, r"^(?:never|always|no|nothing|do\snot|don['’]t|until|before)\b.{0,120}\b(?:wake|say|said|says|send|message|messages|call|speak|talk|tell|ask|interrupt|write|out\sin|keep\sstill|eight|nine)\b"),
    (1.4, r"\bI\s(?:am|may|say|keep|hold|live|would|never|always|do\snot|must|speak|cannot)\b"),
    (2.0, rf"^(?:[A-Z][\w'’ -]{{0,40}}['’]s\s)?(?:[Nn]ame|[Tt]ime\s?zone|[Pp]ronouns|{_KIN}|[Pp]artner|[Dd]iet|[Ll]anguages?):\s"),
    (1.0, r"\b(?:my\sname|my\shuman|office\sdays?|shares\sthe\shouse|key\s(?:to|is)|owns?|collects?|plays\sthe|religious|shy|believes)\b"),
    (1.2, r"^The\suser\s(?:is|has|likes|loves|prefers|wants|lives|works|speaks|eats)\b|^The\suser(?:'s|: \")"),
)  # fmt: skip
_PROJECTS: tuple[tuple[float, str], ...] = (
    (2.0, r"^(?:Decision|Convention):\s"),
    (1.6, r"\b(?:version|server|service|backup|database|script|code|repo(?:sitory)?|branch|deploy\w*|release\w*|API|app|bot|sensor|gauge|drive|disk|model|index|pipeline|config\w*|schema|cron|timer|module|package|library|framework|test\s(?:suite|passed|succeeded)|restore|password|port|network|router|tunnel|gateway|firmware|Docker|Python|SQLite|Postgres\w*|Linux|GPU|website|domain|hosting|heartbeat\w*)\b"),
    (1.4, r"\b(?:essay|chapter|newsletter|draft|manuscript|book\sclub|reading\sclub|club|project|system|tool|prototype|plan|design|architecture|workshop|studio|shop|store|campaign|course|experiment|account|budget|garden|kitchen\srenovation)\b"),
    (1.6, r"\b(?:decided|agreed|settled\son|chose|switched\s(?:to|from|off|on)|replaced|migrat\w+|instead\sof|convention|from\snow\son|went\slive|is\slive|goes\sto|is\scalled|is\snamed|successor|paused|runs\s(?:on|from|in)|failed\sbecause|uses?|stores?|is\s(?:built|made|written|divided|stored|based))\b"),
    (1.0, r"\b(?:every|each)\s(?:\d+\s)?(?:minutes?|hours?|night|nightly|commit|release|pass|trade|reply|replies|run|build)\b|\b\w+_\w+\b|\b\d+(?:\.\d+)?\s?%|\bv\d"),
    (0.8, r"\b(?:because|so\sthat|comes\sfrom|caused\sby|fixed|error|bug|threads?|node|log|questions|answered\s\d+|meets\son|trades?)\b"),
)  # fmt: skip
_TASKS: tuple[tuple[float, str], ...] = (
    (-4.0, r"^(?:Decision|Rule|Convention|The\suser):\s"),
    (3.0, r"^(?:to\s?do|task|reminder|deadline)\b|^(?:order|ask|call|ring|buy|get|write|send|test|check|book|make|fix|finish|return|renew|prepare|compare|move|pay|mail|email|schedule|submit|update|review|clean|pick\sup|remind|find|draft|mount|read|tell|print|plan|cancel|sign|file|register|apply|order|pack|repair|replace|arrange|invite|visit|post|fetch|collect|water|backup|back\sup)\s(?!is\b|was\b|has\b)"),
    (2.6, r"\b(?:due|blocked|overdue|deadline|renewed|postponed)\s?(?:on|by|until|till|at|is|for|moved)?\b"),
    (2.2, r"\b(?:appointment|test\sresult|check-?up|to\s?do|still\s(?:to\sbe|has\sto|have\sto|needs?)|needs\sto\sbe|has\sto\sbe|must\sbe\s(?:done|sent|paid|returned)|remains\sto|waiting\sfor|waits\s(?:for|until)|back-ordered|outstanding|is\smissing|not\syet)\b"),
    (2.0, rf"\b(?:by|until|before|no\slater\sthan)\s{_WHEN}\b|\bat\sthe\slatest\b|\bnext\s(?:\w+\s)?(?:test|appointment|meeting|visit|exam|week|month)\b"),
    (1.5, rf"\b(?:first|last|second)\s{_DAY}\sof\s(?:each|every|the)\smonth|\bwill\s(?:have\sto|need\sto|be\son)\b|\bhas\sa\s(?:place|slot|table)\b|\bis\son\s{_DAY}\s\d"),
    (2.0, r"^(?:A|One|New|Conclusion|Quiz|Letter|Birthday)\b[^.]{0,60}\b(?:for|of)\b(?![^.]*\b(?:is|was|has|had|came|went|are|were|gains|means|believes)\b)"),
)  # fmt: skip
_FLOW: tuple[tuple[float, str], ...] = (
    (1.4, r"\b(?:peaked|died|lost|broke|came|went|arrived|found|lay|saw|met|visited|travell?ed|celebrated|laughed|walked|brought|gave|took|told|said|wrote|asked|weighed|happened|attended|joined|won|hiked|camped|ran|invited|showed|read|painted|had\sno|was\sasked|bought|sold|baked|cooked|watched|rang|fell|stood|started|finished|counted|given)\b"),
    (0.8, r"\b(?:yesterday|today|last\s(?:week|night|year|month|weekend|summer)|this\smorning|ago|in\sthe\s(?:morning|afternoon|evening)|at\s\d{1,2}:\d\d)\b"),
    (1.2, r"\b(?:storm|peak|rain|snow|holiday|trip|party|concert|walk|hike|parade|festival|wedding|funeral|electricity|power\scut|outage)\b"),
    (1.3, r"\b(?:is\sthe\s\w+\sproblem|defect|paradox|whoever|people\swho|law|theory|filter|says\sthat|argues|describes|calls|asks)\b"),
)  # fmt: skip
_TABLES: tuple[tuple[Stream, tuple[tuple[float, str], ...]], ...] = (
    ("tasks", _TASKS),
    ("identity", _IDENTITY),
    ("projects", _PROJECTS),
    ("flow", _FLOW),
)


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    """A pattern; a name has its capital, so only they are read with regard to case."""
    return re.compile(pattern, 0 if "[A-Z]" in pattern else re.IGNORECASE)


def stream_of(sentence: str, *, is_task: bool = False) -> Stream:
    """The stream of a plain statement.

    Args:
        sentence: as it stands in memory.
        is_task: whether it is known to be something to do.

    >>> stream_of("Ann is allergic to nuts."), stream_of("The permit is due on 3 May.")
    ('identity', 'tasks')
    >>> stream_of("The backup runs on the new server."), stream_of("Ann visited Rome last week.")
    ('projects', 'flow')
    """
    if is_task:
        return "tasks"
    best: Stream = "flow"
    most = 0.0
    for stream, table in _TABLES:
        points = sum(weight for weight, pattern in table if _compiled(pattern).search(sentence))
        if points > most:
            best, most = stream, points
    return best
