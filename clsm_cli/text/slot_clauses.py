"""A sentence in clauses, and the subject of a verb in one of them."""

from __future__ import annotations

import re

from clsm_cli.startup.records import NamedTuple
from clsm_cli.text.name_matching import NO_NAMES
from clsm_cli.text.relevance_gate import REGULAR_PASTS
from clsm_cli.text.slot_values import CLOSE, OPEN, unmarked
from clsm_cli.text.slot_words import MARK, NAME


class Clause(NamedTuple):
    """A stretch of a sentence between semicolons, colons, dashes and brackets.

    Attributes:
        text: prepared text.
        label: what stands before the colon of a "name: what holds" line, "" without one.
        aside: the text in brackets behind it.
        is_quoted: whether it lies within quotation marks.
        before: the text of the sentence before it.
        lead: the first name or pronoun of the sentence, for verbs without a subject of their own.
    """

    text: str
    label: str
    aside: str
    is_quoted: bool
    before: str
    lead: str


_MARKER = re.compile(r"^\s*(?:[-*+>]\s|\d{1,4}[.)]\s|#{1,6}\s|\|)?\s*(?:\[[ xX]\]\s)?\s*")
_LINK = re.compile(r"\[\[([^\[\]\n|#]{1,80})(?:#[^\[\]\n|]{0,80})?(?:\|([^\[\]\n]{1,80}))?\]\]")
_URL_LINK = re.compile(r"\[([^\[\]\n]{1,80})\]\([^()\s]{1,300}\)")
_BOLD = re.compile(r"\*\*([^*\n]{1,120})\*\*")
_SLANTED = re.compile(r"(?<![\w*])\*(?![\s*])([^*\n]{1,80})(?<!\s)\*(?![\w*])|(?<!\w)_(?![\s_])([^_\n]{1,80})(?<!\s)_(?!\w)")  # fmt: skip
_CODE = re.compile(r"`([^`\n]{1,80})`")
_CALLED = re.compile(r"[\"\u201c]([A-Z][\w'’]{0,30}(?: [\w'’:&-]{1,30}){0,8})[\"\u201d]")
_ANNOTATION = re.compile(r"\s\(\d{4}(?:-\d\d){0,2}(?: to \d{4}(?:-\d\d){0,2})?\)")
_TAG = re.compile(r"(?:^|\s)#[^\W\d_][\w/-]{1,60}")
_SPACE = re.compile(r"\s+")
_CONTRACTIONS = (
    (re.compile(r"\b(I)['’]m\b"), r"\1 am"),
    (re.compile(r"\b([Cc])an['’]t\b"), r"\1an not"),
    (re.compile(r"\b([Ww])on['’]t\b"), r"\1ill not"),
    (re.compile(r"\bcannot\b"), "can not"),
    (re.compile(r"(?<=[a-z])n['’]t\b"), " not"),
    (re.compile(r"\b([A-Za-z]+)['’]ve\b"), r"\1 have"),
    (re.compile(r"\b([A-Za-z]+)['’]re\b"), r"\1 are"),
    (re.compile(r"\b([A-Za-z]+)['’]ll\b"), r"\1 will"),
    (re.compile(r"\b(I|[Yy]ou|[Hh]e|[Ss]he|[Ww]e|[Tt]hey|[Ii]t)['’]d\b"), r"\1 would"),
    (re.compile(r"\b([Hh]e|[Ss]he|[Ii]t|[Tt]hat|[Tt]here|[Ww]hat|[Ww]ho)['’]s\b"), r"\1 is"),
)
_BREAK = re.compile(
    r";\s|:\s|:$|\s[\u2013\u2014-]{1,2}\s|\u2014|[()]|\.\.\.|\u2026|,\sbut\s|(?<!\bDr)(?<!\bMr)(?<!\bMrs)(?<!\bMs)(?<!\bSt)(?<!\bProf)(?<!\b[A-Z])[.!?][\"\u201d]?\s(?=[A-Z])"
)
_LABEL = re.compile(
    rf"(?:the |The )?(?:{MARK}|[\w'’.&/+-]{{1,40}})(?: (?:{MARK}|[\w'’.&/+-]{{1,40}})){{0,4}}"
)
_EMPTY = re.compile(rf"{OPEN}\s*{CLOSE}")  # no name: all else of a name has a word
_META_WORDS = """decision note notes rule todo open question result fix update fact reminder summary example
    warning tip lesson answer status plan idea goal correction log chat record done"""
_META = frozenset(_META_WORDS.split())
_VERBS_WORDS = """lost adopted joined finished switched migrated became reading visited moved retired upgraded updated
    bumped paid feels seems sounds looks reminds watched cooked worked spent slept drove flew rode walked"""
_VERBS = frozenset(_VERBS_WORDS.split())
_QUOTE = re.compile(r"[\"\u201c\u201d]")
_LEAD = re.compile(
    rf"(?:(?:and|but|so|also|yes|no|oh|well|then|however|today|now)[,]? )?"
    rf"(?:(?:the|The|our|Our|my|My|his|His|her|Her|their|Their) [a-z-]{{1,20}} (?=(?:has|is|was|will|had|moved|switched)\b)"
    rf"|(?:(?:our|Our|my|My|the|The) (?:[a-z-]{{1,20}} ){{0,2}})?(?P<name>{NAME})|I\b|[Hh]e\b|[Ss]he\b|[Tt]hey\b|[Ww]e\b)",
)


def clauses(sentence: str) -> list[Clause]:
    """Return the clauses of a sentence, its marks and contractions resolved.

    >>> [(each.text, each.aside) for each in clauses("It's due (was 20 May); we moved.")]
    [('It is due', 'was 20 May'), ('we moved.', '')]
    """
    text = _prepared(sentence)
    lead = _leading(text)
    found: list[Clause] = []
    label = ""
    inside = False
    start, depth = 0, 0
    for end, mark in [
        *((each.start(), each.group()) for each in _BREAK.finditer(text)),
        (len(text), ""),
    ]:
        piece = text[start:end].strip(" ,")
        quotes = len(_QUOTE.findall(text[start:end]))
        quoted = inside or piece[:1] in {'"', "\u201c"}
        if piece and depth and found:
            found[-1] = found[-1]._replace(aside=found[-1].aside or piece)
        elif piece and mark.startswith(":") and not found and _is_label(piece):
            label = "" if _is_meta(piece) else piece
        elif piece:
            found.append(Clause(piece, label, "", quoted, text[:start], lead))
        inside ^= bool(quotes % 2)
        depth = 1 if mark == "(" else 0 if mark == ")" else depth
        start = end + len(mark)
    return found


def _prepared(sentence: str) -> str:
    text = _MARKER.sub("", sentence[:2000], count=1)
    text = _ANNOTATION.sub("", text.replace(OPEN, "").replace(CLOSE, ""))
    text = _LINK.sub(lambda match: f"{OPEN}{match.group(2) or match.group(1)}{CLOSE}", text)
    text = _URL_LINK.sub(r"\1", text)
    text = _BOLD.sub(r"\1", text)
    text = _SLANTED.sub(lambda match: f"{OPEN}{match.group(1) or match.group(2)}{CLOSE}", text)
    text = _CODE.sub(f"{OPEN}\\1{CLOSE}", text)
    text = _CALLED.sub(_quoted_title, text)
    text = _EMPTY.sub(" ", _TAG.sub("", text))
    text = _SPACE.sub(" ", text).strip()
    for pattern, full in _CONTRACTIONS:
        text = pattern.sub(full, text)
    return text


def _quoted_title(match: re.Match[str]) -> str:
    words = match.group(1).split()
    capitals = sum(word[0].isupper() for word in words)
    if len(words) == 1 or capitals * 2 > len(words):
        return f"{OPEN}{match.group(1)}{CLOSE}"
    return match.group()


def _is_label(piece: str) -> bool:
    return _LABEL.fullmatch(piece) is not None and not re.search(
        r"\b(?:is|are|was|were|has|have|had|says?|said|wrote|asked|added|it|I)\b", piece
    )


def _is_meta(piece: str) -> bool:
    return unmarked(piece).split()[0].lower() in _META


def _leading(text: str) -> str:
    match = _LEAD.match(text)
    if match is None:
        return ""
    name = match.group("name")
    if _is_meta(match.group().strip() or "x"):
        return ""
    if name and (name.lower() in _VERBS | REGULAR_PASTS or name.endswith("ly")):
        return ""
    if name and name in NO_NAMES and name not in {"I", "He", "She", "They", "We"}:
        return ""
    return name or match.group().strip()


_ADVERB_TAIL = re.compile(
    r"(?:^| )(?:now|also|still|currently|just|recently|actually|finally|already|really|always|then|"
    r"therefore|only|both|usually|even|officially|has|have|had|since|was|all|used to|can|will|does|do|did|"
    r"not|never|no longer|apparently|of course|luckily|sadly|fortunately|unfortunately|thankfully|"
    r"meanwhile|himself|herself|themselves|itself|too|kinda|basically|generally|typically|mostly|mainly)$"
)
_CALENDAR = (
    r"(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sept?(?:ember)?|"
    r"Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?|(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day)"
)
_OPENING = re.compile(
    r"^(?:(?:and|but|so|also|yes|yeah|no|oh|well|then|because|as(?! of)|though|although|that|anyway|hey|wow|"
    r"however|meanwhile|besides|plus|ok|okay|hi|thanks|sorry|haha|sure|please|fyi|btw|by the way|"
    r"actually|honestly|luckily|unfortunately|fortunately|sadly|for now|right now|these days|nowadays|"
    r"currently|now|today|recently|lately|finally|in fact|guess what|good news|since then|from now on|"
    r"from today|as of (?:today|now)|until yesterday|from this (?:week|month|year)(?: on)?|this (?:week|month|year|morning)|"
    r"last (?:week|month|year|night|spring|summer|autumn|fall|winter)|yesterday|"
    r"(?:since|from|until|as of|at|on|in|by) (?:[\w:'’.-]{1,20},? ){1,4}?"
    rf"(?=(?:I|he|she|we|they|the|our|my|his|her|their|it|an?)\b|(?-i:(?!{_CALENDAR}\b)[A-Z\ue000])))(?:,|\b|(?=\ue000)),? ?){{1,4}}",
    re.IGNORECASE,
)
_STOP = (
    r"(?:who|which|that|and|or|but|is|are|was|were|be|been|has|have|had|to|in|on|at|with|from|for|by|under|over|"
    r"about|as|if|when|while|because|so|not|than|into|of|i|he|she|we|they|it|you|said|says|say|think|thinks|let|"
    r"lets|do|does|did|will|would|can|could|should|may|might|must)"
)
_PART = rf"(?:{MARK}['’]?s?|(?!(?i:{_STOP})\b)[\w'’/+&.-]{{1,40}})"
_DET = r"(?:the|The|an?|An?|my|My|our|Our|his|His|her|Her|its|Its|their|Their|this|This|that|That|these|These)"
_SUBJECT = re.compile(
    rf"(?:^|(?<=[\s,\"\u201c'(]))(?P<np>I|[Hh]e|[Ss]he|[Ww]e|[Tt]hey|[Ii]t|[Yy]ou|[Tt]his|[Tt]hat|[Tt]here|"
    rf"{_DET} {_PART}(?: (?:of {_DET} )?{_PART}){{0,4}}|"
    rf"{NAME}(?:['’]s)? {_PART}(?: {_PART}){{0,2}}|{NAME})$"
)
_BARE = re.compile(rf"{_PART}(?: {_PART}){{0,2}}")
_BEFORE = re.compile(
    r"\b(?:in|on|at|of|for|with|from|to|by|about|under|over|behind|near|into|onto|between|beside|than)$"
)
_ELIDED = re.compile(r"(?:^|,|\band|\bbut|\bthen)$", re.IGNORECASE)


def subject(left: str, lead: str) -> str | None:
    """Return the subject of a verb, as written.

    Args:
        left: the clause before the verb.
        lead: first name of the sentence: the subject of "…, and moved to Leeds".

    Returns:
        The noun phrase; ``None`` where none can be told.

    >>> subject("From today the old bell ", ""), subject("Mara did a thesis, ", "Mara")
    ('the old bell', 'Mara')
    """
    left = left.strip()
    for _ in range(4):
        shorter = _ADVERB_TAIL.sub("", left).rstrip()
        if shorter == left:
            break
        left = shorter
    if left.endswith(", which"):
        return last_phrase(left.removesuffix(", which"))
    if left.endswith(", who"):
        left = left.removesuffix(", who")
        named = last_phrase(left)
        if named and named[:1].isupper() and not left.endswith(f" of {named}"):
            return named
    elif left.endswith((" who", " which", " that")):
        return None  # "the man who lives in Leeds" says of which man, not that he does
    elif left.endswith(","):
        # "Noor, since spring, is": what stands between commas is no subject.
        head = left.rstrip(" ,").rsplit(", ", 1)[0] if left.count(",") > 1 else ""
        return _phrase_at_end(_OPENING.sub("", head)) or lead or None
    if _ELIDED.search(left):
        return lead or None
    return _phrase_at_end(_OPENING.sub("", left)) or _phrase_at_end(left)


def last_phrase(left: str) -> str | None:
    """Return the noun phrase that a text ends with: what "…, moored at" is said of.

    >>> last_phrase("Yusuf lives on the barge")
    'the barge'
    """
    found = _SUBJECT.search(left.strip())
    return found.group("np") if found else None


def _phrase_at_end(left: str) -> str | None:
    for _ in range(3):
        found = _SUBJECT.search(left)
        if found is None:
            bare = _BARE.fullmatch(left)
            return bare.group() if bare else None
        before = left[: found.start()].rstrip()
        preposition = _BEFORE.search(before)
        if preposition is None:
            return found.group("np")
        if preposition.group() == "of":
            head = _phrase_at_end(before[: preposition.start()].rstrip())
            return f"{head} of {found.group('np')}" if head else None
        left = before[: preposition.start()].rstrip()
    return None
