"""How much a whole sentence is worth keeping: what it holds against what will not matter any more."""

from __future__ import annotations

import re

from clsm_cli.text.cues import decisions
from clsm_cli.text.gate import finite_verbs, tokens
from clsm_cli.text.gate_words import PAST, REGULAR_PASTS, words
from clsm_cli.text.names import NO_NAMES

_MONTH = (
    r"(?:January|February|March|April|May|June|July|August|September|October|November|December)"
)
_DAY = r"(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days?"
_NUMBER = re.compile(
    r"(?<![\d:])\d[\d.,]*(?![\d:])|\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|"
    r"(?:twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)(?:-\w+)?|hundred|thousand|million)\b"
)
_UNIT = re.compile(
    r"\d\s?(?:%|cm|mm|km|m|kg|g|mg|ml|l|kWh|kW|W|MB|GB|TB|ms|s|min|minutes?|hours?|days?|weeks?|months?|years?|euros?|dollars?|pounds?|degrees?|miles?|pages?|files?|times)\b"
    r"|[€$£]\d"
)
_DATE = re.compile(
    rf"\b(?:\d{{4}}-\d\d-\d\d|{_MONTH}\b|{_DAY}\b|\d{{1,2}}:\d\d\b|in\s(?:19|20)\d\d\b|yesterday\b|"
    r"(?:last|next)\s(?:year|month|week|summer|winter|spring|autumn|fall|night|weekend|Mon|Tues|Wed|Thurs|Fri|Sat|Sun)\b|"
    r"(?:days?|weeks?|months?|years?)\sago\b|Easter\b|Christmas\b)"
)
_CHANGE = re.compile(
    rf"\b(?:from\s(?:now|today|tomorrow)|as\sof|no\slonger|any\smore|anymore|instead\sof|went\slive|goes\slive|"
    rf"(?:since|until|till|due\s(?:on|by|back))\s(?:today|yesterday|now|then|last|mid|the\s(?:end|\d)|{_DAY}|{_MONTH}|\d|[A-Z])|"
    r"(?:moved|switched|renewed|changed|replaced|postponed|cancelled|canceled)\s(?:to|from|by|until|with)|paused|blocked|back-ordered|switched\soff|retired|given\sup|gave\sup|died)",
    re.IGNORECASE,
)
_RULE = re.compile(
    r"\b(?:must|never|always|from\snow\son|from\stoday|starting\s(?:today|now|from)|only\sif|whenever|nightly|daily|weekly|monthly|yearly|hourly|(?:every|each)\s(?:day|week|month|night|morning|\d+|first|second|year|time)|"
    r"prefers?|(?:would\s)?(?:sooner|rather)|insists?|rule|convention|agreed|decided|promised|refuses|dislikes?|hates?|(?:cannot|can't)\sstand|allowed|forbidden|required|requires|has\sto|have\sto)\b",
    re.IGNORECASE,
)
_CAUSE = re.compile(
    r"\b(?:because|since\s(?:he|she|it|they|the|we|I|[A-Z])|so\sthat|caused|due\sto|comes?\sfrom|came\sfrom|in\sorder\sto|the\sreason|failed|fails|"
    r"solved|fixed|works?\sby)\b"
)
_TRAIT = re.compile(
    r"\b(?:is|are|am|(?<!I\s)was|were)\s(?:an?|the|our|my|[A-Z][\w-]+['’]s|his|her|their|known\sas|born|married|allergic|afraid|based|located|due|in\scharge|responsible|from|vegan|vegetarian|scheduled|divorced|"
    r"engaged|single|keen|passionate|divided|made\sof|\d+)\b"
    r"|\b(?:lives|lived|works|worked|owns|owned|studies|studied|teaches|taught|speaks|plays|collects|grew\sup|married|adopted|inherited|belongs|measures|drinks|eats|loves|likes|enjoys|keeps|runs|uses|"
    r"contains|consists|prefers|dislikes|hates|wants|gains|goes\sto|(?:is|are)\son\s(?=\d|[A-Z])|(?:has|have)\s(?:an?|one|two|three|four|five|no|my|his|her|their|always|never)|(?:is|are)\sinto|(?:cannot|can't)\sstand|eats?\sno)\b"
    r"|\b(?:I|[Ww]e)\s(?:live|work|own|keep|run|use|prefer)\b"
)
_NAMING = re.compile(
    r"\b(?:(?:is|are|was|were)\s(?:now\s)?(?:called|named)|stands\sfor|is\sshort\sfor|is\sthe\s\w+\sof|is\snot\san?)\b"
)
_EVENT = re.compile(
    r"\b(?:bought|sold|built|made|painted|wrote|visited|met|joined|started|began|finished|won|lost|broke|found|received|learned|learnt|"
    r"signed\sup|opened|closed|moved|arrived|came|went|took|gave|offered|invited|renewed|restored|corrected|installed|replaced|repaired|released|deployed|"
    r"passed|graduated|applied|travelled|traveled|hiked|ran|attended|hosted|performed|played|recorded|published|planted|cooked|baked|hired|launched|created|designed|organi[sz]ed|volunteered|tested|"
    r"measured|weighed|ordered|drew|proved|caught|raised|quit|confirmed|mounted|hung|adopted|contacted|mentors?|celebrated|roasted|answered|peaked|(?:was|were|been)\s(?:asked|offered|invited|promoted|fired|hired|accepted|chosen)|planning\sto|looking\sinto|working\son|training\sfor|trying\sout)\b"
)
_OF_THE_TALK = re.compile(
    r"\A(?:The|This|That|These|Those)\s(?!user\b|assistant\b)[a-z][^A-Z\d]*\Z"
)
"""A definite thing, and no name or number by which somebody else could tell which one."""
_ACTIVE = re.compile(
    r"\b(?:is|are|has\sbeen|have\sbeen|am|'m|'ve\sbeen)\s(?:now\s|also\s|still\s|currently\s|actually\s)?(?!going|being|having|feeling|getting|doing|looking\sforward)\w+ing\b"
    r"|\b(?:is|are|am)\sgoing\sto\s(?!keep|stay|be\b|try|do\b)|\b(?:used\sto|learned\sto|decided\sto|signed\sup|bought|sold|goal\sis|dream\sis|favou?rite)\b"
)
_INNER = words(
    "felt thought hoped wanted loved liked seemed wished knew appreciated enjoyed needed hated believed said"
)
_KIN = re.compile(
    r"\b(?:mother|father|mum|mom|dad|parents?|sisters?|brothers?|sons?|daughters?|kids?|children|wife|husband|partner|girlfriend|boyfriend|fianc[eé]e?|aunt|uncle|cousins?|niece|nephew|grand(?:mother|father|ma|pa)|"
    r"neighbou?r|boss|colleague|coach|mentor|landlord|dogs?|cats?|pupp(?:y|ies)|kittens?|turtles?|pets?)\b",
    re.IGNORECASE,
)
_MOOD = re.compile(
    r"\b(?:happy|glad|excited|exciting|thrilled|sad|tired|proud|grateful|thankful|stoked|pumped|amazing|awesome|wonderful|great|incredible|nice|cool|lovely|fun|inspired|inspiring|special|important|meaningful|overwhelmed|nervous|"
    r"blessed|fulfilling|rewarding|awful|annoyed|upset|hopeful|motivated|motivates?|lucky|beautiful|gorgeous|journey|vibes?|awe|feelings?|feels?|felt|reminds?|reminder|best|joy|happiness|acceptance|courage|strength|inspiration|"
    r"positive|hopeful|(?:make|making)\s(?:it|things|that)\shappen|keep\son|pushing\sforward|looking\s(?:up|ahead)|full\spotential|elated|progress|reali[sz]e|thanks|other\sstuff|freedom|memories|energy|difference|impact|growth|powerful|empowering|give\sup|giving\sup|quit|keep\sgoing|keep\spushing|worth\sit|pay\soff|paying\soff|determin\w+|opportunit\w+|dreams|challenges?|passion\w*|connection|calming|peaceful|so\smuch)\b",
    re.IGNORECASE,
)
_OPINION = re.compile(
    r"\b(?:I|we|who)\s(?:really\s|do\s|also\s|just\s|still\s|only\s)?(?:think|thought|believe|guess|hope|wish|suppose|bet|wonder|mean|feel|felt|imagine|appreciate|agree|know\sthat|understand|notice|noted?|like\sthe)\b"
    r"|\b(?:thinks|believes|guesses|hopes|wishes|appreciates|agrees|wonders|knows)\b"
    r"|\b(?:perhaps|maybe|probably|seems?|seemed|apparently|might|somehow|as\sif|as\sthough|would(?!\s(?:sooner|rather))|should\slike|supposed|in\sa\ssense|of\scourse|looks\slike|it\sis\slike|could\sbe)\b",
    re.IGNORECASE,
)
_TALK = re.compile(r"\b(?:should|would|could|might)\shave\b|\b(?:I|we)\s(?:said|told|asked|replied|answered|reported|admitted|pointed\sout|looked|counted)\b|\b(?:told|asked|showed)\sme\b|\b(?:said|replied|asked|wants?\sto\sknow|wanted\sto\sknow|(?:wants|tried|need|needs)\sto\sknow|wrote|writes|found\sout|telephoned|laughed|smiled|nodded)\b")  # fmt: skip
_SHOWN = re.compile(r"\b(?:(?:love|like|enjoy|want)s?|enjoying)\s(?:all\s)?(?:the|how|that)\b")
_MOODY = re.compile(
    r"\b(?:is|am|are|was|were|'s|'m|feels?|felt)\s(?:really\s|so\s|truly\s|super\s|very\s|just\s|feeling\s|too\s|all\s)?(?:happy|glad|excited|thrilled|sad|tired|proud|grateful|thankful|"
    r"stoked|pumped|nervous|blessed|lucky|hopeful|motivated|upset|busy|bored|looking\sforward|content|sure|ready|free|doing\s(?:great|well|good|okay|fine))\b"
)
_VAGUE = re.compile(r"\b(?:something|things?|stuff|somewhere|(?:someone|somebody)(?!\sto|\swho)|everything|anything|lots?\sof|so\smuch|sort\sof|kind\sof|way|moment|today|tonight|this\smorning|for\sonce|this\stime|again|in\sthe\s(?:morning|afternoon|evening)|the\s(?:first|second|third|fourth|other|same)\s\w+(?=[.,;])|for\ssome\stime)\b", re.IGNORECASE)  # fmt: skip
_WORD = re.compile(r"[^\W\d_][\w'’-]*")
_CONTENT = re.compile(r"\b[a-z][\w-]{4,}\b")


def worth(
    text: str,
    *,
    names: int,
    is_subject_named: bool,
    is_rule: bool = False,
    is_told: bool = False,
) -> float:
    """A number from 0 to 1 for a plain, whole sentence.

    Half of it is about what can be looked up later (who, when, how much), half about whether the
    sentence tells what somebody is, has, does, decided or must do. Moods and opinions take from it.

    Args:
        text: as it would stand in memory.
        names: how many names, titles and marked terms it holds, its speaker not counted.
        is_subject_named: whether its subject is one of them, or its speaker.
        is_rule: whether it stands as a rule.
        is_told: whether somebody tells it in a chat: what he did and does is news then, where in a
            note every sentence does.

    >>> worth("Ann Hart keeps forty hives in Leeds.", names=2, is_subject_named=True) > 0.5
    True
    >>> worth("It was a good day.", names=0, is_subject_named=False) < 0.3
    True
    """
    is_dated = _has(_DATE, text)
    score = 0.05 + 0.2 * is_subject_named + 0.1 * min(names, 2)
    score += (
        0.1 * _has(_NUMBER, text)
        + 0.1 * (len(_DATE.findall(text)) > 1)
        + 0.1 * _has(_UNIT, text)
        + 0.1 * is_dated
    )
    score += 0.45 * is_rule + 0.15 * _has(_RULE, text) + 0.2 * _has(_CHANGE, text)
    score += 0.2 * bool(decisions(text)) + 0.15 * _has(_CAUSE, text)
    score += 0.25 * (_has(_TRAIT, text) or _has(_NAMING, text)) + 0.1 * _has(_NAMING, text)
    score += (0.15 if is_told or is_dated else 0.1) * _has(_EVENT, text) + 0.08 * _has(_KIN, text)
    if is_told and is_subject_named:
        score += 0.2 * (_has(_ACTIVE, text) or _tells_of_past(text))
        score += 0.05 + 0.1 * (len(_CONTENT.findall(text)) > 3)
    elif is_told:
        score -= 0.15 * (names == 0 and not _has(_NUMBER, text))
    score -= 0.2 * min(2, len(_OPINION.findall(text))) + 0.1 * min(3, len(_MOOD.findall(text)))
    score -= 0.25 * _has(_MOODY, text) + 0.2 * (_has(_SHOWN, text) and not names)
    score -= 0.08 * min(2, len(_VAGUE.findall(text))) + 0.2 * _has(_TALK, text)
    score -= 0.2 * (_has(_OF_THE_TALK, text) and not names and not is_rule)
    length = len(_WORD.findall(text))
    score -= (
        0.2 * (length < 4)
        + 0.1 * (length > 45)
        + 0.1 * (not _CONTENT.search(text) and not _NUMBER.search(text))
    )
    return round(min(1.0, max(0.0, score)), 3)


def _tells_of_past(text: str) -> bool:
    """Whether the first verb says what somebody did, and not what he felt."""
    said = tokens(text)
    verbs = finite_verbs(said)[:1]
    return any(said[verb].lower() in (PAST | REGULAR_PASTS | {"did"}) - _INNER for verb in verbs)


def _has(pattern: re.Pattern[str], text: str) -> bool:
    return pattern.search(text) is not None


def is_name(word: str) -> bool:
    """Whether a capitalised word names something by itself.

    >>> is_name("Ann"), is_name("Perhaps")
    (True, False)
    """
    return word[:1].isupper() and word not in NO_NAMES
