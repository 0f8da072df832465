"""How people name a place among conversations: pieces of patterns for ``ordinals``."""

from __future__ import annotations

ORDINALS = (
    "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth",
    "eleventh", "twelfth",
)  # fmt: skip
COUNTS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")

NTH = rf"(?:{'|'.join(ORDINALS)}|[0-9]{{1,9}}(?:st|nd|rd|th))"
NEWEST = "last|latest|newest|final|previous|prior|most recent"
POSITION = (
    rf"(?P<nth>(?:{NTH}|next)[ -](?:to[ -]|from the )?last|last but one|penultimate"
    rf"|(?:very )?(?:{NTH}|{NEWEST}|earliest|oldest|initial))"
)
NOUN = r"(?:conversation|session|chat|talk|discussion|dialog(?:ue)?|exchange)s?\b"
MANY = rf"(?P<many>[0-9]{{1,9}}|{'|'.join(COUNTS)}|few|couple of)"
WE = r"(?:we|i|you|you and i)"
SAY = (
    r"(?:talk(?:ed)?|sp(?:oke|eak)|chat(?:ted)?|discuss(?:ed)?|mention(?:ed)?|cover(?:ed)?|told|tell"
    r"|said|say|asked|ask|brought up|bring up|complain(?:ed)?|wrote|refer(?:red)?)\b"
)
OF = (
    r"(?: (?:to|with) (?:you|me|each other))?(?: (?:you|me|us))?(?: (?:about|of|on|to|that|for))?\b"
)
RAISED = (
    r"(?:came up|(?:was|were|got) (?:mentioned|discussed|brought up|raised|talked about|a topic))\b"
)
ABOUT = r"(?:about|on|of|regarding|concerning|(?:where|in which|when) (?:we|i|you) \w{1,20}(?: (?:about|of))?)"
PART = r"(?!(?:when|where|what|that|was|were|did|we|i|you) )[^\s?!.,;:]{1,40}"
NAME = rf"(?P<subject>{PART}(?: {PART}){{0,7}}?)"
THE = r"(?:(?:the|our|my|your) )?"
SIDE = r"(?:(?P<near>right|just|immediately|directly|straight|shortly) )?(?P<side>before|after|since|until|till|prior to|following|preceding) "

NOUNS = ("conversation", "session", "chat", "talk", "discussion", "dialog", "exchange")
PLACES = (
    ("", NOUNS, rf"{THE}{POSITION} (?:{MANY} )?{NOUN}(?P<rear> from the end)?(?P<open>(?: that)?(?: we had)? {ABOUT} )?"),
    ("said", ("time",), rf"{THE}{POSITION} (?:{MANY} )?times? (?:that )?{WE} (?:\w{{1,20}} )?{SAY}(?P<open>{OF})"),
    ("said", ("time",), rf"{THE}{POSITION} (?:{MANY} )?times? (?:that )?{NAME} {RAISED}"),
    ("said", ("mention", "discussion", "reference"), rf"{THE}{POSITION} (?:mention|discussion|reference)s? (?P<open>(?:of|to) )"),
    ("said", ("first", "last"), rf"(?:did|have|had|when|since|before|after|until) {WE} (?:ever )?(?P<nth>first|last) {SAY}(?P<open>{OF})"),
    ("said", ("first", "last"), rf"(?:was|were|did|has|have) {NAME} (?:been )?(?P<nth>first|last) (?:mentioned|discussed|raised|brought up|talked about|come up)\b"),
    ("said", ("first", "last"), rf"(?:when|where|since|before|after|until) {NAME} (?:was|were|got) (?P<nth>first|last) (?:mentioned|discussed|raised|brought up|talked about)\b"),
    ("said", ("before last",), rf"{THE}time (?P<nth>before last) (?:that |when )?{WE} (?:\w{{1,20}} )?{SAY}(?P<open>{OF})"),
    ("", ("thing", "topic", "subject", "question", "message"), rf"{THE}{POSITION} (?:{MANY} )?(?:thing|topic|subject|question|message)s? (?:that )?{WE} (?:\w{{1,20}} )?{SAY}{OF}"),
    ("", ("before last",), rf"{THE}{NOUN} (?P<nth>before last)\b"),
    ("ago", ("ago", "back", "earlier"), rf"(?P<many>[0-9]{{1,9}}|{'|'.join(COUNTS)}|an?) {NOUN} (?:ago|back|earlier)\b"),
    ("", ("last time",), r"(?P<nth>last) time(?= ?(?:$|[?.!,;]))"),
)  # fmt: skip
"""Forms of a place that stands for itself: how its subject is counted, what it needs, the words."""
TOPICS = (
    rf"(?:the|our|that) (?:{NOUN}|one) (?P<open>{ABOUT} )",
    rf"{WE} {SAY}(?P<open>{OF})",
    r"(?:talking|speaking|chatting|discussing|mentioning) (?P<open>(?:about |of )?)",
)
"""Places by what they are about alone; they need a relation before them."""
ANCHORS = (
    ("", ("one",), rf"{THE}{POSITION} ones?\b"),
    ("", ("and",), rf"{THE}{POSITION}(?= and )"),
    ("said", ("first", "last"), rf"{WE} (?P<nth>first|last) {SAY}(?P<open>{OF})"),
)
"""Forms that stand for a place behind a relation alone."""
EVENT = r"(?P<open>)(?=(?:the|my|our|his|her|their|that) |[A-Z]|\w{2,20}ing )"
RELATION = (
    rf"(?:(?P<all>(?:the|our|my|your) )?(?:(?:{POSITION}|{MANY}) )?(?P<noun>{NOUN}) "
    rf"(?:that came |we had )?)?{SIDE}"
)
ONE = rf" (?:{NOUN}|one)$"
BETWEEN = r"between "
STOP = (
    r"[?!;,:\n]|\.(?:\s|$)| (?:(?:and|but|so) )?(?:what|which|who|whom|where|when|how|why|did|do|does"
    r"|was|were|is|are|can|could|would)\b| in (?:our|the|my|these|those) (?:conversation|session|chat"
    r"|talk)s?\b| (?:came|come) up\b"
)
OURS = rf"\b(?:we|you and i) (?:\w{{1,20}} )?(?:talk|spoke|speak|chat|discuss|cover)|(?:\bour (?:\w{{1,20}} )?|['’]s ){NOUN}"
TOLD = r"\b(?:did|have|had) (?:i|we) (?:\w{1,20} )?(?:tell|told|ask|asked) you\b|\bi (?:told|asked) you\b"
TALK = rf"{OURS}|\b(?:i|we|you) (?:\w{{1,20}} )?{SAY}|\b{SAY} (?:you|me)\b|\bcame (?:up|\w{{1,12}} ?(?:before|after))|\bcame (?:before|after)"
