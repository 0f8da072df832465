"""How much a whole sentence is worth keeping: what it holds against what will not matter any more."""

from __future__ import annotations

import re

from clsm_cli.text.cues import decisions
from clsm_cli.text.names import NO_NAMES

_NUMBER = re.compile(r"\b\d[\d.,:]*\b|\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|hundred|thousand|million)\b")  # fmt: skip
_DATE = re.compile(
    r"\b(?:\d{4}-\d\d-\d\d|(?:January|February|March|April|May|June|July|August|September|October|November|December)\b"
    r"|(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days?\b|\d{1,2}:\d\d\b|in\s(?:19|20)\d\d\b|yesterday\b|last\s(?:year|month|week|summer|winter|spring|autumn|fall|night|weekend)\b"
    r"|next\s(?:year|month|week|summer|winter|spring)\b|\b(?:days?|weeks?|months?|years?)\sago\b|Easter\b|Christmas\b)",
)
_RULE = re.compile(
    r"\b(?:must|never|always|from\snow\son|no\slonger|not\sany\smore|only\sif|if\sand\sonly\sif|whenever|every\s(?:day|week|month|night|morning|\d+|first|second|year)|"
    r"each\s(?:day|week|month|night|morning|year|time)|"
    r"prefers?|would\s(?:sooner|rather)|wants?|insists?|rules?|convention|agreed|decided|promised|refuses|dislikes?|hates?|allowed|forbidden|required|requires|has\sto|have\sto)\b",
    re.IGNORECASE,
)
_CAUSE = re.compile(r"\b(?:because|since\s(?:he|she|it|they|the|we|I|[A-Z])|so\sthat|caused|due\sto|comes?\sfrom|came\sfrom|in\sorder\sto|the\sreason|therefore|failed|fails|broke|solved|fixed|works?\sby|means)\b")  # fmt: skip
_TRAIT = re.compile(
    r"\b(?:is|are|was|were)\s(?:an?|the|our|my|[A-Z][\w-]+'s|his|her|their|called|named|known\sas|born|married|allergic|afraid|based|located|due|in\scharge|responsible|from|vegan|vegetarian|retired|blocked|paused|scheduled|divorced|engaged|single|\d)\b"
    r"|\b(?:lives?|lived|works?|worked|owns?|studies|studied|teaches|taught|speaks|plays|collects|grew\sup|moved|married|adopted|inherited|belongs|measures|drinks|eats|loves?|likes?|enjoys?|keeps?|runs?|uses?|contains?|consists|stands\sfor|calls?|goes\sto|has\sbeen|have\sbeen|have\sa|has\s(?:an?|one|two|three|four|five|no)|was\scalled)\b"
)
_EVENT = re.compile(
    r"\b(?:bought|sold|built|made|painted|wrote|read|visited|met|joined|started|began|finished|won|lost|died|broke|found|got|received|learned|learnt|"
    r"signed\sup|opened|closed|switched|moved|arrived|came|went|took|gave|showed|told|said|says|asked|offered|invited|agreed|renewed|restored|corrected|installed|replaced|repaired|released|deployed|"
    r"passed|graduated|applied|travelled|traveled|hiked|ran|attended|hosted|performed|played|recorded|published|planted|cooked|baked|hired|launched|tried|created|designed|organi[sz]ed|volunteered|tested|"
    r"measured|weighed|counted|ordered|brought|sent|drew|proved|explained|described|caught|helped|raised|quit|left|stopped|changed|confirmed|mounted|hung|turned)\b"
)
_MOOD = re.compile(
    r"\b(?:happy|glad|excited|thrilled|sad|tired|proud|grateful|thankful|stoked|pumped|amazing|awesome|wonderful|great|incredible|nice|cool|lovely|fun|inspiring|special|important|meaningful|overwhelmed|nervous|"
    r"blessed|fulfilling|rewarding|awful|annoyed|upset|hopeful|motivated|lucky|beautiful|journey|vibe|vibes|awe|passion|feeling|feel|feels|felt|reminds?|reminder)\b",
    re.IGNORECASE,
)
_OPINION = re.compile(
    r"\b(?:I|we|who)\s(?:really\s|do\s|also\s|just\s|still\s)?(?:think|believe|guess|hope|wish|suppose|bet|wonder|mean|feel|felt|imagine|appreciate|totally\sagree|agree|can't\swait|know\sthat|understand|am\s(?:so|really|here|glad|happy|sorry|sure))\b"
    r"|\b(?:perhaps|maybe|probably|seems?|seemed|apparently|might|somehow|as\sif|as\sthough|would\shave|should\slike|could\shave|supposed|in\sa\ssense|of\scourse)\b",
    re.IGNORECASE,
)
_VAGUE = re.compile(r"\b(?:something|things?|stuff|somewhere|someone|somebody|everything|anything|lots?\sof|so\smuch|sort\sof|kind\sof|way|moment|today|tonight|this\smorning|one)\b", re.IGNORECASE)  # fmt: skip
_WORD = re.compile(r"[^\W\d_][\w'’-]*")
_CONTENT = re.compile(r"\b[a-z][\w-]{5,}\b")


def worth(text: str, *, names: int, is_subject_named: bool, is_rule: bool = False) -> float:
    """A number from 0 to 1 for a plain, whole sentence.

    Half of it is about what can be looked up later (who, when, how much), half about whether the
    sentence tells what somebody is, has, does, decided or must do. Moods and opinions take from it.

    Args:
        text: as it would stand in memory.
        names: how many names, titles and marked terms it holds.
        is_subject_named: whether its subject is one of them.
        is_rule: whether it stands as a rule.

    >>> worth("Ann Hart keeps forty hives in Leeds.", names=2, is_subject_named=True) > 0.5
    True
    >>> worth("It was a good day.", names=0, is_subject_named=False)
    0.0
    """
    score = 0.05
    score += 0.2 * is_subject_named + 0.1 * min(names, 2)
    score += 0.12 * (_NUMBER.search(text) is not None) + 0.1 * (_DATE.search(text) is not None)
    score += 0.3 * is_rule + 0.15 * (_RULE.search(text) is not None)
    score += 0.2 * bool(decisions(text)) + 0.1 * (_CAUSE.search(text) is not None)
    score += 0.2 * (_TRAIT.search(text) is not None)
    score += 0.1 * (_EVENT.search(text) is not None)
    score -= 0.2 * min(2, len(_OPINION.findall(text))) + 0.12 * min(2, len(_MOOD.findall(text)))
    score -= 0.08 * min(2, len(_VAGUE.findall(text)))
    words = len(_WORD.findall(text))
    score -= 0.25 * (words < 4) + 0.1 * (words < 6) + 0.1 * (words > 45)
    score -= 0.1 * (len(_CONTENT.findall(text)) < 1)
    return round(min(1.0, max(0.0, score)), 3)


def is_name(word: str) -> bool:
    """Whether a capitalised word names something by itself.

    >>> is_name("Ann"), is_name("Perhaps")
    (True, False)
    """
    return word[:1].isupper() and word not in NO_NAMES
