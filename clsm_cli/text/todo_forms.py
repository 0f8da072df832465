"""Patterns of tasks: items of lists, and what is said to be done."""

from __future__ import annotations

import re

from clsm_cli.text.rule_words import ACTION

_A = r"['\u2019]"
_DO = rf"(?:{ACTION}|(?:get|go\sto|see|meet|attend|host|bake)\s)"
ITEM = re.compile(
    r"[ \t]*(?:[-*+\u2022]|\d{1,4}[.)])[ \t]+(?:\[(?P<box>[ xX!~/\-\u2713])\][ \t]*)?(?P<body>\S.*)"
)
"""An item of a list, with its box where it has one."""
LABEL = re.compile(
    r"[ \t]*(?:[-*+][ \t]+|//[ \t]*)?\**(?:(?:TODO|[Tt]o[ -]?do|FIXME)\b(?:\([\w@. -]{1,40}\))?\**[ \t]*:\**|TODO\b)[ \t]*(?P<body>\S.*)"
)
"""A line that says that it is a task."""
HEADING = re.compile(r" {0,3}#{1,6}[ \t]+(?P<words>.{1,120}?)[ \t#]*$")
"""A Markdown heading."""
TITLE = re.compile(r"[ \t]*\**(?P<words>[A-Za-z][A-Za-z -]{2,30}?)\**[ \t]*:\**[ \t]*$")
"""A line that names the list below it."""
TASKS = re.compile(
    r"(?:(?:my|our|open|today['\u2019]?s|the|remaining|current|pending|next|outstanding)\s){0,2}"
    r"(?:to[ -]?dos?|todo[ -]list|to-do\slist|tasks?|task\slist|next\ssteps?|action\sitems?|follow[ -]?ups?|open\sloops)"
    r"(?:\s(?:for|this|today|tomorrow|next)\b.{0,40})?",
    re.IGNORECASE,
)
"""A heading above tasks."""
WAITING = re.compile(r"(?:blocked|waiting(?:\s(?:for|on))?|on\shold)", re.IGNORECASE)
"""A heading above tasks that wait."""
FENCE = re.compile(r" {0,3}(?:```|~~~)")
"""A line that opens or closes code."""
DONE = re.compile(
    r"^~~.{1,400}~~\W{0,4}$|^(?:\u2705|\u2714|\u2611)|^done\s?:|\((?:done|finished|completed)\)\W{0,3}$",
    re.IGNORECASE,
)
"""An item that is marked as done without a box."""
BLOCKED = re.compile(
    r"(?:^|[\s,;:(\u2013\u2014-]{1,4})\b(?:(?:is|are|still|currently)\s){0,2}"
    r"(?:(?:blocked|on\shold)(?=\s(?:until|by|on|because|for|since|as)\b|\s?[,;:.()\u2013\u2014-]|\s?$)|"
    r"(?:waits|waiting)(?=\s(?:until|for|on)\b))(?P<why>.{0,300})",
    re.IGNORECASE,
)
"""That an item waits, and for what."""
NEEDED = re.compile(
    rf"\b(?:(?:please\s)?(?:remind\s(?:me|us)|set\s(?:me\s)?a\sreminder)\s(?P<day>[\w\s]{{3,24}}?\s)?to|"
    rf"^\W{{0,3}}(?:please\s)?(?:(?:do\snot|don{_A}t)\sforget|remember|(?:still\s|also\s)?need)\sto|"
    rf"\b(?:I|we)(?:{_A}(?:ve|d))?\s(?:(?:really|still|also|just|definitely)\s)?(?:need\sto|have\sto|got\sto|must|gotta))\s"
    rf"(?:(?:also|still|really|go\sand|quickly|first)\s)?(?P<task>{_DO}[^.!?;\n]{{2,200}})",
    re.IGNORECASE,
)
"""What somebody has to do: a task, also without a day."""
PLANNED = re.compile(
    rf"\b(?:I|we)(?:{_A}ll|\swill|\sshall|\sshould|{_A}m\sgoing\sto|{_A}re\sgoing\sto|\sam\sgoing\sto|\sare\sgoing\sto|"
    rf"\spromised?\sto|\sneed\syou\sto)\s"
    rf"(?:(?:also|still|then|just|definitely)\s)?(?P<task>{ACTION}[^.!?;\n]{{2,200}})",
    re.IGNORECASE,
)
"""What somebody is going to do: a task where there is a day."""
REQUEST = re.compile(
    r"\W{0,3}(?:\w{1,20},?\s){0,2}(?:can|could|will|would)\syou\s(?:please\s)?(?:remind\s(?:me|us)|set\s(?:me\s)?a\sreminder)\b",
    re.IGNORECASE,
)
"""A question that asks to be reminded."""
NOT_MEANT = re.compile(
    rf"\b(?:if|when|whenever|before|after|until|unless|whether|not|never|\w{{2,6}}n{_A}t|once|since|because|what|how|why|that|think|"
    rf"guess|suppose|maybe|perhaps|probably|might)\b"
    rf"[^,;:]{{0,60}}$",
    re.IGNORECASE,
)
"""Before a task in its sentence: it is denied, or depends on something."""
TAIL = re.compile(
    r",?\s(?:but|because|since|so\s(?:that|I|we)|which|whenever|and\s(?:then\s)?(?:I|we|she|he|they|it|that))\b.*|\s[-\u2013\u2014]\s.*|,\s(?:haha|lol|though|right|ok)\b.*",
    re.IGNORECASE,
)
"""What follows a task in its sentence and belongs to it no more."""
TALK = re.compile(
    r"(?:say|share|show|accept|respect|try|keep)\b|tell\s(?:you|ya|him|her|them)\b(?!\s(?:to|that\s(?:the|we)))|"
    r"(?:wait|stop|start|run|make|give|take|plan|get)\s(?:and|for|to|until|till|it|care|sure|sense|time|some|"
    r"(?:a\s)?(?:breaks?|breath|moment|step|look|good)|myself|yourself|ahead|away|\w{2,20}ing)\b|"
    r"give\sup\b|get\s(?:up|out|going|back|better|used|ready|through|over|into|started)\b|see\s(?:you|what|how|if)\b|"
    r"find\s(?:(?:a|some|the)\s)?(?:better\s|new\s|good\s)?(?:ways?|time|balance|out|myself|courage|strength)\b|"
    r"(?:work|push|catch|check)\s(?:hard|harder|on\s\w{2,4}self|through|together|up|it\sout|them\sout|that\sout)\b|"
    r".{0,60}\b(?:enough|ourselves|myself|yourself|emotionally|things\sup|my\spassion|when\syou\s)",
    re.IGNORECASE,
)
"""What sounds like a task and is none."""
PAST_WORDS = re.compile(
    r"\b(?:since|from|after|of|asked|last|until|till|was|were)\s(?:the\s)?$", re.IGNORECASE
)
"""Before a day: it is not the day by which a task is due."""
DAY_OF_MONTH = re.compile(
    r"\b(?:by|before|on|until|due)\sthe\s(\d{1,2})(?:st|nd|rd|th)\b", re.IGNORECASE
)
"""A day without its month."""
UNDONE = re.compile(
    r"\b(?:not|cannot|\w{2,6}n['\u2019]t|will|shall|need(?:s|ed)?\sto|ha(?:ve|s)\sto|going\sto|should|must|yet|plan(?:s|ned)?\sto|"
    r"want(?:s|ed)?\sto|remind|forgot|failed\sto|blocked|if|tomorrow)\b|['\u2019]ll\b|\?\s*$",
    re.IGNORECASE,
)
"""That a sentence speaks of what is not done."""
