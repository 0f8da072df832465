"""Patterns of preferences, conventions and corrections in an English sentence.

Each is a table of alternatives, joined into one pattern when it is first needed. They look at one
sentence after its opening words ("Well, please …") were taken off; repetitions are bounded.

Conventions that written files show: names of files and identifiers, indentation, imports.

Only counts of forms leave this module, never a word of a file, so nothing that stands in one can
become a rule.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from typing import TYPE_CHECKING

from clsm_cli.startup.records import NamedTuple
from clsm_cli.text.rule_words import ACTION

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_A = r"['\u2019]"
_NOT = rf"(?:do\snot|don{_A}?t)"
_I = r"\b(?:I|we)"
_WOULD = rf"(?:{_A}d|\swould)"
_HOW = r"(?:\s(?:really|much|strongly|generally|usually|normally|always|still|do|also|personally)){0,2}"
_LOOKS = (
    "short|long|black|white|hot|cold|brief|plain|simple|dark|light|small|big|quiet|strong|weak|raw|"
    "clean|tidy|terse|concise|spicy|sweet|rare|medium|sharp|soft|warm|early|late|flat|dry|crisp|thick|"
    "thin|strict|explicit|verbose|formal|direct|typed|sorted|grouped|numbered|unsweetened|iced|salted|"
    "toasted|grilled|printed|handwritten|separate|minimal|exact|precise|decaf|neat|straight"
)
_NOUNS = (
    r"(?:files?|file\snames|filenames|folders?|director(?:y|ies)|branch(?:es)?|commits?|commit\smessages?|(?:branch|variable|test|column|folder)\snames|tests?|"
    r"modules?|notes?|variables?|functions?|classes|identifiers?|messages?|dates?|timestamps?|docs?|"
    r"documents?|documentation|scripts?|migrations?|constants|packages?|imports?|backups?|logs?|releases?|"
    r"titles|headings|components?|endpoints?|fixtures|keys|tags|changelogs?|types|configs?|"
    r"configuration|secrets|pull\srequests?|PRs|issues?|drafts?|invoices?|reports?|photos|measurements|"
    r"readings|units|labels?|columns?|tables?|errors?|strings?)"
)
_KIND = r"(?:(?:all|our|the|every|each|new|my|any)\s)?(?:[\w-]{1,20}\s){0,2}?"

_VALUE = r"(?:[\"'\u201c\u2018`]|[$\u20ac]?\d|(?!I\b)[A-Z])"
_BASIC = r"(?:an?|the|my|our|his|her|their|in|on|at|by|from|for|with|to|via|under|two|three|four|five|six)"
_NO_CONTRAST = (
    r"(?!(?:sure|really|yet|to\s|that\b|only|just|too|so|bad|even|gonna|going|because|always|all\b|at\sall|"
    r"much|many|merely|simply|necessarily|a\s(?:fan|big|problem|bad|good)|(?:the|a)\s(?:best|least|end|only)|"
    r"in\sthe\smood|for\slong|like|as\s|until|before|unless|if|when|by\s(?:choice|chance|accident|mistake)|today|now|again|anymore))"
)
_HABIT = (
    r"(?:use|drink|eat|take|write|order|keep|put|buy|pay|wear|sign|commit|test|format|read|indent|start|"
    r"send|push|deploy|merge|check|run|log|name|work)"
)
_PAST = r"(?!.{0,60}\b(?:was|were|had|did|happened|went|came|got|said)\b)"
_ORDER = rf"(?!\w{{2,20}}\s[^.;!?]{{0,40}}\b(?:is|are|was|were|has|have|had|rose|fell|came|went)\b){ACTION}"
"""A verb at the beginning that is no noun ("Water levels are all fine")."""
_NO_LACK = (
    r"(?!\s(?:problem|rain|snow|sun|news|wind|idea|one|matter|doubt|wonder|need|chance|answer|sign|luck|change|plan|"
    r"signal|reply|response|trace|time|point|reason|money|room|way|hurry|rush|pressure|worrie|sleep|progress)s?\b)"
)
"""After "no": what is lacking, or not the matter, is no rule."""
_PREFERENCES = (
    rf"{_I}{_WOULD}?{_HOW}\sprefer\b(?!\snot\sto\s(?:say|talk))",
    r"\b(?:my|our)\s(?:strong\s|personal\s|general\s|usual\s)?preference\s(?:is|would\sbe|remains)\b",
    r"\b(?:my|our)\spreferred\s[\w-]{2,20}(?:\s[\w-]{1,20}){0,2}\s(?:is|are)\b",
    (
        rf"{_I}{_WOULD}\s(?:much\s|really\s)?(?:rather|sooner)\s(?:not\s)?(?:have|use|keep|see|get|read|write|"
        r"you|it|that\syou|be\s(?:told|asked|corrected|warned))\b(?!.{0,80}\b(?:tonight|today|right\snow)\b)"
    ),
    (
        rf"{_I}{_HOW}\s(?:like|want|take|love|need)\s(?:my|our)\s(?:[\w-]{{2,20}}\s){{1,2}}"
        rf"(?:(?:very|as|quite|nice\sand)\s)?(?:{_LOOKS})(?=[\s,.;!]|$)"
    ),
    (
        rf"{_I}{_HOW}\s(?:like|want|take)\s(?:my|our)\s(?:coffee|tea|eggs|steak|[\w-]{{2,20}}s)\s"
        r"(?:with|without|in)\s(?!the\s(?:morning|evening))"
    ),
    rf"{_I}\s(?:always|never|only)\s{_HABIT}\b(?!\s(?:to|up)\b)",
    rf"{_I}\s(?:can{_A}t|cannot|can\snot)\sstand\b|{_I}\s(?:strongly\s|really\s)?dislike\b",
    rf"^(?:always|never|only)\s(?:ever\s)?{ACTION}",
    (
        rf"\b(?:should|must|shall|please|(?:you|we)\s(?:need|have|ought|are)\sto|(?:you|agents?)\sto|you|sure\sto|may)\s"
        rf"(?:always|never|only)\s(?:ever\s)?{ACTION}"
    ),
    rf"\byou\s(?:must\snot|mustn{_A}t|should\snot|shouldn{_A}t|may\snot|are\snot\sto)\s(?:ever\s)?{ACTION}",
    r"\b(?:is|are)\s(?:off\slimits|forbidden|not\sallowed)\b",
    (
        r"\b(?:she|he|they|(?-i:[A-Z]\w{1,20})|user|owner|human|client|boss)(?:\s(?:much|strongly|generally|always|"
        r"usually|clearly|also))?\s(?:prefers|dislikes|insists\son)\b"
    ),
    rf"{_I}\s(?:want|need)\s(?:all|every|each|no)\s[^.;!?]{{2,60}}",
    (
        rf"^(?:keep|make)\s(?:your|the|all|every|my|our|answers?|replies|messages|it|them)\b[^,.;!?]{{0,40}}?\s"
        rf"(?:{_LOOKS}|shorter|briefer|under\s\d{{1,4}})\b"
    ),
    r"^(?:answer|reply|respond|speak|talk|write)\s(?:to\sme\s|back\s)?(?:only\s)?in\s(?!the\s|a\s(?:minute|bit|while))",
    r"^use\s(?!it\b|that\b|this\b|them\b|your\b|the\stime)[\w`]",
    rf"^(?:{_NOT}|never)\s(?:ever\s)?{ACTION}",
    rf"{_I}\s(?:{_NOT}|never)\swant\s(?:you|any|to\sbe)\b",
    r"^(?:use|choose|pick|take|buy|book|order|send|write|call)\s[^.;!?]{2,80}?\s(?:instead\sof|rather\sthan|in\splace\sof)\s",
    r"^(?:use|prefer)\s[^.;!?]{2,80}?(?:,\snot\s|\snot\s|\sover\s)",
    rf"^{_ORDER}\s(?:[\w-]{{1,20}}\s){{0,3}}?(?:everything|all|each|every|anything)\b",
    rf"^{_ORDER}\s[^,;.!?]{{2,60}}?(?:,|\sand)\snot\s{_NO_CONTRAST}",
    r"^stop\s(?!worrying|being|crying)\w{3,20}ing\s[\w`]|^stop\s(?:apologi[sz]|summari[sz]|interrupt|guess)ing",
    r"^no\s(?:more\s)?[\w-]{3,20}(?:\s[\w-]{2,20}){0,2},?\s(?:please|ever)\b",
    (
        r"^(?:ask|show|tell|warn|check\swith|consult|wake|call|ring|ping|notify)\s[^.;!?]{0,50}?\bbefore\s"
        r"(?:you|any|every|each|it\sgoes|\w{2,20}ing)\b|^(?:ask|tell|warn|check\swith|show)\s(?:me\s)?first\b"
    ),
    (
        r"\bI\s(?:want|need|would\slike)\sto\s(?:see|read|approve|check|know|sign|be\s(?:asked|told|warned))\s[^.;!?]{0,50}?"
        r"\b(?:before|first)\b"
    ),
    rf"^next\stime,?\s(?:please\s)?(?:{ACTION}|{_NOT}\b|leave\b)",
    rf"{_I}\s{_NOT}\s(?:eat|drink|use|wear|buy)\s(?!it\b|that\b|this\b|them\b|to\b|the\b|my\b|much|enough|too\b)\w",
    rf"\bI\s(?:hate|{_NOT}\slike)\s(?:it\s)?when\syou\b",
    r"^call\sme\s(?-i:[A-Z])",
    (
        rf"^remember,?\s(?:that\s)?(?:I(?:{_A}m|{_A}ve|\s(?:am|have|can{_A}?t|cannot|don{_A}?t|never|always|only|hate|like|prefer))|"
        rf"(?:my|our|the)\s[\w-]{{2,20}}\s(?:is|are|has|have)|(?-i:[A-Z][\w-]{{1,20}})(?:{_A}s|\sis|\shas|\scan))\b"
    ),
    r"^prefer\s[\w`]",
    r"^stick\s(?:with|to)\s(?!your|it\b|that\b|them\b|what)",
    (
        rf"^{_PAST}(?:no{_NO_LACK}|nothing|not\sa\s\w{{2,20}}|silence)\s(?:[^.,;!?]{{2,60}}\s)?"
        r"(?:before|until|unless|without)\s"
    ),
    rf"^{_PAST}no{_NO_LACK}\s(?:more\s)?[\w-]{{3,20}}(?:\s[\w-]{{2,20}}){{0,2}}\s(?:in|on|at|after|during|for)\s",
    r"^(?:from\snow\son|as\sa\srule|going\sforward|from\shere\son|in\sfuture|in\sthe\sfuture)\b[,:]?\s",
    r",\s(?:as\sa\srule|from\snow\son|always)(?:[.,!]|$)|\sfrom\snow\son[.!]?$",
    (
        rf"^(?:(?:do\s)?remember|keep\sin\smind|bear\sin\smind)(?:\s(?:that|to\s(?:always|never))\b|[:,])\s?"
        rf"(?!(?:the|that|this|one)?\s?(?:time|day|trip|night|one|summer|when|you{_A}re|you\sare|you\scan|we)\b)"
    ),
    (
        rf"^(?:when(?:ever)?|every\stime|each\stime|(?:before|after)\s(?:an?|any|each|every|you|\w{{2,20}}ing)\b)[^,.;!?]{{0,80}},\s(?:then\s)?(?:please\s)?"
        rf"(?:(?:always|never|{_NOT})\s)?{ACTION}(?!\sme\sknow)"
    ),
    r"^(?:make\ssure|be\ssure)\s(?:that\s)?(?:you\s|to\s)?(?:always|never)\b",
)
_CONVENTIONS = (
    (
        rf"(?:^|\b(?:we|I|you)\s(?:always\s|usually\s)?)(?:name|prefix|suffix|number|version|tag|label|format|indent|write|"
        rf"spell|store|keep|put|document|place)\s{_KIND}{_NOUNS}\s(?:in|as|with|by|under|like|after|at|the|on|to|"
        r"without|next|inside|alphabetically)\b"
    ),
    (
        rf"^{_KIND}{_NOUNS}\s(?:live|lives|belong|belongs|go|goes|reside|sit|sits|follow|follows|stay|stays|"
        r"(?:must\s|should\s|always\s)?(?:start|starts|begin|begins|end|ends|use|uses|have|carry)|(?:is|are|(?:should|must|(?:has|have)\sto)\sbe)\s(?:always\s"
        r"|to\sbe\s)?(?:named|written|kept|stored|placed|prefixed|suffixed|formatted|indented|"
        r"numbered|dated|sorted|put|tagged|signed|in|under)|(?:get|gets)\sa)\s"
    ),
    r"\b(?:the|our)\s(?:naming\s|coding\s|commit\s)?(?:convention|house\sstyle|style\sguide)\s(?:is|says|here|for)\b",
    rf"^we\s(?:always|only|never|{_NOT})\s(?:use|write|squash|rebase|merge|deploy|sign|commit|name|indent|format|test|tag|log)\s",
    r"^we\suse\s[^.;!?]{1,40}?(?:\s(?:here|everywhere|throughout)\b|\s(?:for|in)\s|,\snot\s|\sinstead\sof\s|\sand\snot\s)",
    r"^we\s(?:indent|format|lint|test|deploy|build|sign)\s(?:with|using|by|in|from|to|on)\s|^indentation\sis\s",
    rf"^(?:every|each|all)\s(?:[\w-]{{1,20}}\s){{0,2}}?{_NOUNS}\s(?:has|have|gets|get|needs|need|must)\s(?!been|had)",
    rf"^{_KIND}{_NOUNS}\s(?:is|are)\s(?:in\s)?(?:always\s)?(?:snake|kebab|camel|pascal|upper|lower)",
    rf"^{_KIND}{_NOUNS}\s(?:in|as|with|without|under)\s[^,;.!?]{{2,50}},?\s(?:please|everywhere)\b",
    r"^(?:naming\s)?convention\b.{0,30}:\s",
)

_ANSWER = (
    rf"(?!(?:(?:I|we)(?:{_A}(?:m|ve|d|ll|re)\b|\s(?:am|was|have|had|did|do|just|think|guess|never|can|could|"
    rf"will|know|thought)\b|\s\w{{2,6}}n{_A}t\b)|thanks?\b|thank\syou|not\s(?:yet|really|at\sall|sure|that|too|a\b|"
    rf"so|much|necessarily)|nothing\b|problem|worries|need\b|way\b|wait\b|no\b|"
    rf"(?:it|that|this){_A}s\s(?:fine|ok|okay|good|great|all|alright|not\sa|too|been|just|never|it\b)|you{_A}re\b|"
    rf"of\scourse|sorry\b|but\b|please\sdon{_A}t\sworry|one\b|seriously|really|haven{_A}t|never\s))"
)
_CORRECTIONS = (
    rf"^(?:no|nope|nah|wrong|incorrect|not\squite)\s?[,:;!\u2013\u2014-]{{1,3}}\s{_ANSWER}\S{{1,40}}\s\S",
    (
        rf"\b(?:that|this|it)(?:{_A}s|\sis|\swas)\s(?:just\s|simply\s|still\s|all\s)?(?:wrong|incorrect|not\s(?:right|"
        r"correct|true|what\sI\s(?:said|meant|asked(?:\sfor)?|wanted)))(?=[.,;:!]|\s?[\u2013\u2014-]|$)"
    ),
    (
        rf"\byou(?:{_A}ve|\shave)?\s(?:misread|misunderstood|misheard|mixed\sup|confused)\b|"
        rf"\byou(?:{_A}ve)?\s(?:got|have|had)\s(?:it|that|this|(?:the|my|his|her)\s\w{{2,20}})\s(?:wrong|backwards)"
    ),
    (
        rf"^actually,?\s(?!I\s(?:like|love|enjoy|think|am)\b)(?:[^.;!?]{{2,80}}\s(?:not|no\slonger|instead|rather\sthan)\b|"
        rf"[^.;!?]{{2,80}}n{_A}t\s|(?:it|that|this|the\s\w{{2,20}}|my\s\w{{2,20}}|[A-Z]\w{{1,20}})(?:{_A}s|\sis|\sare|\swas)\s"
        rf"(?:(?-i:{_VALUE})|on\s|at\s|called\s|spelled\s))"
    ),
    rf"^{_ORDER}\s[^.;!?]{{2,80}}\sinstead[.!]?$",
    (
        rf"^(?:it|that|this|the\s[\w -]{{2,40}}|[A-Z][\w-]{{1,20}})\s(?:should|ought\sto|was\ssupposed\sto|needs\sto)\s"
        rf"(?:have\sbeen|be|read|say)\s(?:(?-i:{_VALUE})|[^.;!?]{{1,60}}(?:,\snot\s|\sinstead\b|\srather\sthan\s))"
    ),
    (
        rf"\b(?:is|are|was|were|means?|lives?|comes?|starts?|arrives?|leaves?|opens?|closes?|runs?|spelled|called|"
        rf"named|due|{_A}s|{_A}re)\s[^,;.!?]{{1,60}}?(?:,\s|\sand\s|,\sand\s)not\s{_NO_CONTRAST}"
        rf"(?:(?-i:{_VALUE})|{_BASIC}\s|[\w-]{{2,20}}[.!]?$)[^,;!?]{{0,40}}(?:[.!,;]|$)"
    ),
    rf"\b(?:is|are|was|were|arrives?|starts?|{_A}s)\s[^,;.!?]{{0,30}}\s(?:and|but)\snot\s(?:(?-i:{_VALUE}))",
    rf"(?<!\bor\s)\bnot\s(?:{_BASIC}\s|(?-i:{_VALUE}))[^,;.!?]{{1,30}},?\sbut\s(?:rather\s)?(?:{_BASIC}\s|(?-i:{_VALUE}))",
    rf"^(?:{_NOT}|never)\s(?:ever\s)?{ACTION}\b[^.;!?]{{0,80}}\sagain\b",
    r"^not\s(?-i:[A-Z\d\"'`])[^,;!?]{0,20},\s(?:but\s)?(?-i:[A-Z\d\"'`])[^,;!?]{0,20}$",
    rf"^(?:no\s)?(?:it|that)(?:{_A}?s|\sis)\s[^,;.!?]{{1,30}}\snot\s(?:(?:the|an?|on|at|in)\s){{0,2}}(?-i:{_VALUE})",
    (
        r"^you\s(?:forgot|missed|left\sout)\s[^.;!?]{2,60}\sagain\b|"
        r"^you\skeep\s(?:forgetting|missing|using|sending|writing|calling|mixing|ignoring)\s"
    ),
    (
        rf"^actually,?\s(?:(?:we|they|I|he|she|it)(?:{_A}ve|\shave|\shas)?\s(?:moved|changed|switched|renamed|cancelled|canceled|"
        r"postponed|meant|dropped)|(?:please\s)?make\s(?:it|that|them))\s"
    ),
    rf"^I\smean\s(?-i:{_VALUE})",
    r"^(?:as\s)?I\s(?:said|meant|asked\sfor|told\syou)\s(?!(?:yes|no|hi|hello|goodbye|it|so|about|this|I)\b)\S{2,40}",
)
_TOLD = (
    r"\b(?:she|he|they|[A-Z]\w{1,20})\s(?:has\s|had\s)?corrected\sme\b|\bI\swas\scorrected\b|"
    r"\b(?:got|took|was|is)\s(?:(?:my|the|her|his|a|another)\s)(?:\w{2,12}\s){0,2}correction\b|"
    r"^\W{0,4}correct(?:ion|ed)\b.{0,30}:"
)
_SOMEBODY = r"(?:she|he|they|(?-i:[A-Z]\w{1,20}))"
_NORMATIVE = (
    rf"\b{_SOMEBODY}\s(?:only\s|just\s)?(?:wants|prefers|insists|expects)\b",
    r"(?<!\bI\s)\b(?:must|should|ought\sto|may\s(?:not|only)|you\s(?:may|can)|(?:is|are)\sto\sbe)\b(?!\shave\b)",
    rf"\bfrom\snow\son\b|\b(?:I|we|to|will|must)\s(?:never|always)\s{ACTION}",
    r"\buntil\b[^.;!?]{1,60}?\sI\s(?:keep|wait|stay|say|do|am)\b",
    r"^[\"\u201c]?(?:no|nothing|not)\s(?:[^.;!?]{2,80}\s)?(?:before|unless|until|without)\b",
    (
        rf"(?:^|:\s)[\"\u201c]?(?:{_NOT}\s|always\s|never\s|please\s){{0,2}}{ACTION}\s(?:on\s|up\s|to\s)?"
        r"(?:(?:the|an?|my|our|your|his|her|him|me|us|it|them|what|all|every|each|no|only|in|with|by)\b(?!,)|(?-i:[A-Z\d`]))"
    ),
)


@cache
def preference() -> re.Pattern[str]:
    """How the speaker wants things to be done."""
    return re.compile("|".join(_PREFERENCES), re.IGNORECASE)


@cache
def convention() -> re.Pattern[str]:
    """How things are named, written and kept."""
    return re.compile("|".join(_CONVENTIONS), re.IGNORECASE)


@cache
def correction() -> re.Pattern[str]:
    """What contradicts something that was said before."""
    return re.compile("|".join(_CORRECTIONS), re.IGNORECASE)


@cache
def told_correction() -> re.Pattern[str]:
    """In a note: the author tells that somebody corrected him."""
    return re.compile(_TOLD)


@cache
def normative() -> re.Pattern[str]:
    """In a paragraph that tells a correction: what is wanted from now on."""
    return re.compile("|".join(_NORMATIVE), re.IGNORECASE)


class Write(NamedTuple):
    """A file that was created or changed.

    Attributes:
        path: as the tool was given it.
        text: what was written: the file, or the new part of it.
        is_new: whether the whole file was written.
        key: of the turn.
    """

    path: str
    text: str
    is_new: bool
    key: str


class Style(NamedTuple):
    """A convention that files show.

    Attributes:
        text: a sentence.
        key: what it is about and which form it has, for example "indent:py:4".
        turns: keys of the turns whose writes have that form.
    """

    text: str
    key: str
    turns: tuple[str, ...]


_LANGUAGES = {
    "py": "Python", "pyi": "Python", "js": "JavaScript", "mjs": "JavaScript", "cjs": "JavaScript",
    "jsx": "JavaScript", "ts": "TypeScript", "tsx": "TypeScript", "mts": "TypeScript", "go": "Go",
    "rs": "Rust", "rb": "Ruby", "java": "Java", "kt": "Kotlin", "c": "C", "h": "C", "cpp": "C++",
    "hpp": "C++", "cs": "C#", "php": "PHP", "swift": "Swift", "sh": "Shell", "lua": "Lua",
    "md": "Markdown", "html": "HTML", "css": "CSS", "scss": "CSS", "yaml": "YAML", "yml": "YAML",
    "toml": "TOML", "json": "JSON", "sql": "SQL",
}  # fmt: skip
_SCRIPTS = frozenset({"JavaScript", "TypeScript"})
_PROSE = frozenset({"Markdown", "HTML", "JSON", "YAML", "TOML"})
_SHARE = 0.8
"""Least share of the writes that have the form."""
_IMPORT = re.compile(r"\bfrom\s{0,4}[\"'](\.{1,2}/[^\"'\n]{1,200})[\"']|\b(?:require|import)\(\s{0,4}[\"'](\.{1,2}/[^\"'\n]{1,200})[\"']")  # fmt: skip
_DEFINED = re.compile(
    r"^[ \t]{0,40}(?:export\s{1,4})?(?:async\s{1,4})?(?:def|func|fn|function|const|let|var)\s{1,4}"
    r"([A-Za-z_$][\w$]{1,80})",
    re.MULTILINE,
)
_INDENT = re.compile(r"^([ \t]{1,40})(?=[^\s*])", re.MULTILINE)
_STEM = re.compile(r"(?:.*[/\\])?([^/\\.]{1,100})(?:\.[\w.-]{0,40}?)?\.(\w{1,8})\Z", re.DOTALL)
_MOST = 65_536
"""Characters of one write that are looked at."""


def styles(writes: Iterable[Write]) -> list[Style]:
    """The conventions that most of the writes share, in a fixed order.

    A form needs two writes, or two names, and 0.8 of all that could have had another form.

    >>> both = [Write(f"src/{name}.py", "", True, name) for name in ("read_rows", "to_text")]
    >>> [style.text for style in styles(both)]
    ['Python files are named in snake_case.']
    """
    forms: dict[tuple[str, str], Counter[str]] = {}
    turns: dict[tuple[str, str, str], dict[str, None]] = {}
    for write in writes:
        for theme, language, form in _forms(write):
            forms.setdefault((theme, language), Counter())[form] += 1
            turns.setdefault((theme, language, form), {})[write.key] = None
    found = []
    for (theme, language), counts in sorted(forms.items()):
        form, count = max(counts.items(), key=lambda item: (item[1], item[0]))
        if count >= 2 and count >= _SHARE * counts.total():
            text = _TEXTS[theme].format(language=language, form=_FORMS.get(form, form))
            key = f"style:{theme}:{language}:{form}".replace(" ", "-")
            found.append(Style(text, key, tuple(turns[theme, language, form])))
    return found


_TEXTS = {
    "files": "{language} files are named in {form}.",
    "names": "Identifiers in {language} files are written in {form}.",
    "indent": "{language} files are indented with {form}.",
    "imports": "Relative imports in {language} files are written {form}.",
}
_FORMS = {"suffix": "with the suffix .js", "bare": "without a suffix", "tab": "tabs"}


def _forms(write: Write) -> Iterator[tuple[str, str, str]]:
    """Yield theme, language and form of what a write shows."""
    named = _STEM.match(write.path)
    language = _LANGUAGES.get(named.group(2).lower()) if named else None
    if named is None or language is None:
        return
    text = write.text[:_MOST]
    if write.is_new and (form := name_form(named.group(1))):
        yield "files", language, form
    if language in _PROSE:
        return
    for match in _DEFINED.finditer(text):
        if form := name_form(match.group(1)):
            yield "names", language, form
    if form := _indent(text):
        yield "indent", language, form
    if language in _SCRIPTS:
        for match in _IMPORT.finditer(text):
            last = (match.group(1) or match.group(2)).rsplit("/", 1)[-1]
            if last.endswith(".js") or "." not in last:
                yield "imports", language, "suffix" if last.endswith(".js") else "bare"


def name_form(name: str) -> str | None:
    """How the words of a name are joined; None for a single word or a mixture.

    >>> [name_form(name) for name in ("read_rows", "readRows", "ReadRows", "read-rows", "read")]
    ['snake_case', 'camelCase', 'PascalCase', 'kebab-case', None]
    """
    name = name.strip("_$")
    for form, pattern in _NAME_FORMS:
        if pattern.fullmatch(name):
            return form
    return None


_NAME_FORMS = (
    ("snake_case", re.compile(r"[a-z][a-z0-9]*(?:_[a-z0-9]+)+")),
    ("kebab-case", re.compile(r"[a-z][a-z0-9]*(?:-[a-z0-9]+)+")),
    ("camelCase", re.compile(r"[a-z][a-z0-9]*[A-Z][A-Za-z0-9]*")),
    ("PascalCase", re.compile(r"[A-Z][a-z0-9]+[A-Z][A-Za-z0-9]*")),
)


def _indent(text: str) -> str | None:
    """The unit of indentation of a file: its least indent, where three lines are indented."""
    indents = _INDENT.findall(text)
    if len(indents) < 3:
        return None
    if all(indent[0] == "\t" for indent in indents):
        return "tab"
    widths = [len(indent) for indent in indents if "\t" not in indent]
    least = min(widths, default=0)
    regular = len(widths) == len(indents) and all(width % least == 0 for width in widths)
    return f"{least} spaces" if regular and least in {2, 3, 4, 8} else None
