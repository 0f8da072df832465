"""Words by which a question asks for a slot: plain tables, so that reading them costs nothing."""

from __future__ import annotations


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


BE = _set("is are was were am")
DO = _set("do does did")
MAY = _set("may can should must could")
DETERMINERS = _set("the a an our my your his her its their this that these those")
TALKERS = _set("i we you us me")
PREPOSITIONS = _set("at in on to from for by with under behind inside beside of near")
LINKS = _set("that which who whom whose when while because if and but so")
"""Where these go on, the question is about more than one slot."""

GATHERINGS = _set(
    """club group class band team choir meeting circle society committee course seminar workshop standup
    stand-up market league lesson practice rehearsal session training game council orchestra lecture call
    sync review retro"""
)
DATA = _set(
    """backup backups repository repo repositories data database archive archives copy copies snapshot
    snapshots logs site website blog app code mirror photos dump dumps exports reports"""
)
BACKUPS = _set("backup backups repository repo snapshot snapshots")
DISKS = _set("disk drive server machine host box card volume storage computer board node")
FEES = _set("rent fee salary subscription premium budget allowance deposit wage tuition")
SETTINGS = _set(
    """limit threshold quota timeout capacity maximum minimum cap retention code temperature setpoint level
    volume delay ttl resolution"""
)
PARTS_OF_DAY = _set("morning breakfast lunch dinner supper evening bedtime weekend nightly daily")
PARTICIPLES = _set(
    """kept stored moored parked located berthed docked anchored filed installed mounted buried housed
    hidden stowed"""
)
SENT = _set(
    "sent written saved copied synced deployed pushed uploaded hosted mirrored backed stored kept"
)
STATES = _set(
    """paused blocked live disabled enabled closed cancelled canceled retired suspended archived deprecated
    offline online decommissioned discontinued completed resolved merged deployed postponed abandoned done
    finished broken dead frozen approved rejected down off running"""
)
"""States of one word; see the forms for "status"."""
STATE_PAIRS = {
    "switched": "off on", "turned": "off on", "shut": "down", "on": "hold", "in": "production beta review service",
}  # fmt: skip
"""First word of a state of two, and what goes on."""
DIETS = _set("vegetarian vegan pescatarian teetotal diabetic")
WEDDED = _set("married engaged divorced widowed")
GENERIC_TOOLS = _set("tool tools software program programs app service services system product")
UNITS = _set(
    "second seconds minute minutes hour hours day days week weeks month months sec min hr secs mins hrs"
)

NOUNS: dict[str, str] = {
    "interval": "interval", "frequency": "interval", "deadline": "due", "due date": "due",
    "port": "port", "version": "version", "price": "price", "cost": "price", "dose": "dose",
    "dosage": "dose", "status": "status", "state": "status", "venue": "venue",
    "location": "location", "mooring": "location", "owner": "owner", "maintainer": "owner",
    "job": "occupation", "occupation": "occupation", "profession": "occupation",
    "employer": "employer", "age": "age", "birthday": "birthday", "phone": "phone",
    "phone number": "phone", "telephone number": "phone", "mobile number": "phone",
    "email": "email", "e-mail": "email", "email address": "email", "name": "name",
    "office days": "workdays", "working days": "workdays", "work days": "workdays",
    "teaching days": "workdays", "start time": "time", "starting time": "time", "target": "target",
    "destination": "target", "weight": "weight", "partner": "partner", "residence": "residence",
    "home town": "residence", "origin": "origin", "expiry date": "expires",
}  # fmt: skip
"""What is asked of something: "the deadline of", "Anna's job"."""

WHERE: dict[str, str] = {
    "live": "residence", "reside": "residence", "work": "employer", "meet": "venue",
    "gather": "venue", "rehearse": "venue", "practise": "venue", "train": "venue",
    "go": "target", "run": "runs on", "boot": "runs on", "lie": "location", "stand": "location",
    "hang": "location", "sync": "target", "deploy": "target", "point": "target",
}  # fmt: skip
"""Verbs of "where does it …"."""

WHAT: dict[str, str] = {
    "run": "runs on", "boot": "runs on", "start": "runs on", "use": "uses", "cost": "price",
    "like": "likes", "love": "likes", "enjoy": "likes", "hate": "dislikes", "dislike": "dislikes",
    "own": "owns", "play": "plays", "speak": "language", "prefer": "prefers", "weigh": "weight",
    "belong": "owner", "drink": "diet", "listen": "port", "live": "residence", "work": "employer",
}  # fmt: skip
"""Verbs of "what does it …" and of "does it … that"."""

REPEATS = _set(
    """run come knock fire poll sync repeat update beat wake check trigger execute refresh rotate happen
    ring tick ping report save start measure write send log read water feed clean empty go appear back"""
)
"""Verbs of "how often does it …"."""
TAKES = _set("get take need receive have")
RATES = _set("risk pay charge take use earn yield cost stake bet trade")
MONTHS = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september",
    "october", "november", "december",
)  # fmt: skip
WEEKDAYS = _set("monday tuesday wednesday thursday friday saturday sunday")
NOW = _set(
    "now today yesterday tomorrow tonight currently nowadays then anymore still again recently lately"
)
POINTING = _set("he it one she that there these they this those him her them to")
"""Subjects that only another sentence names."""
LOOSE = _set("in for with from about by after before at")
"""Prepositions that lead on from a name."""
COUNTS = _set(
    """one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
    seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety"""
)
PERIODS = (
    _set("week month year spring summer autumn winter fall night weekend morning evening")
    | WEEKDAYS
)
BEFORE_TIME = _set(
    "on in at of by since until during before after around as seen back the from till"
)
"""Words that lead to a time and go with it."""
