"""Which memory a message needs: none, earlier conversations, the current one, or both.

The controller of CAIM (Westhäußer et al., 2025, section 3.3.1) without a language model: it looks for three
kinds of cue words. A cue against memory (such as small talk) counts only if no cue speaks for it: wrongly
hidden memory costs more than memory read in vain.
"""

import re
from functools import cache
from pathlib import Path
from typing import Literal

from clsm_cli.model.grouping import grouped
from clsm_cli.startup.records import NamedTuple
from clsm_cli.text.language_data import compiled, table_rows

_WORD = re.compile(r"\w+(?:'\w+)*")
_FILE = Path(__file__).with_name("small_talk.txt")


Route = Literal["none", "ltm", "stm", "both"]


class RouteDecision(NamedTuple):
    """A decision and its reasons."""

    route: Route
    cues: tuple[
        str, ...
    ]  # names of the deciding ones, in the order of the tables; empty: by default

    @property
    def is_doubtful(self) -> bool:
        """Whether a request was judged by its form alone, so that the memory may have its answer yet."""
        return self.route == "none" and _NOTHING_ASKED.isdisjoint(self.cues)


_NOTHING_ASKED = frozenset(
    {"small talk", "goes on", "machine", "arithmetic", "translation", "general knowledge"}
)
"""Cues of messages that no memory answers, however near it comes."""
_WEAK_CUES = frozenset({"again"})  # cues of the past that also occur in "repeat that"
_CANCELLED_CUES = frozenset({"told", "past", "first person", "again"})
"""Cues of the past that "just" and "above" turn into cues of the current conversation."""


@cache
def _cue_patterns() -> dict[str, list[tuple[str, str]]]:
    return grouped((kind, (name, f"(?i){form}")) for kind, name, form in table_rows("route"))


_EDGE_CHARS = 1000  # read at each end of a longer message: people say there what they want


def choose_route(text: str, *, has_current: bool, known: bool = False) -> RouteDecision:
    """Decide which memory a message needs: none only if a cue is against memory and none for it.

    Text that it only hands over ("translate this: ...") is ignored, and so is the middle of more than 2,000
    characters. Whether it names something in the store (``known``) is a cue for memory.

    >>> choose_route("What did I say about the barge last time?", has_current=False)
    RouteDecision(route='ltm', cues=('past', 'first person', 'date', 'remember'))
    >>> choose_route("What is the capital of France?", has_current=False)
    RouteDecision(route='none', cues=('general knowledge',))
    >>> choose_route("and the second one?", has_current=True).route
    'stm'
    """
    if len(text) > 2 * _EDGE_CHARS:
        text = f"{text[:_EDGE_CHARS]}\n{text[-_EDGE_CHARS:]}"
    goes_on, payloads = (compiled(form) for _, form in _cue_patterns()["only"])
    payload = payloads.search(text) if ":" in text else None
    text = text[: payload.end()] if payload else text
    if is_small_talk(text):
        return RouteDecision("none", ("small talk",))
    if not has_current and (goes_on.fullmatch(text) or (not known and _only_points_back(text))):
        return RouteDecision("none", ("goes on",))
    here = _matching_cues("here", text) if has_current else []
    past = _matching_cues("past", text)
    if here:
        undone = _CANCELLED_CUES if "just said" in here else _WEAK_CUES
        past = [name for name in past if name not in undone] + _matching_cues("named", text)
    if known:
        past.append("known")
    if here:
        return RouteDecision("both" if past else "stm", (*past, *here))
    if past:
        return RouteDecision("ltm", tuple(past))
    against = _matching_cues("against", text)
    return RouteDecision("none" if against else "ltm", tuple(against))


def points_back(text: str) -> bool:
    """Whether a message refers to what was said before it."""
    text = text[-_EDGE_CHARS:]
    return _matching_cues("here", text) not in ([], ["just said"]) and not is_small_talk(text)


def _only_points_back(text: str) -> bool:
    """Whether a message asks nothing, and is small talk but for what points back.

    >>> _only_points_back("no, the other one"), _only_points_back("no, the other gauge")
    (True, False)
    """
    if "?" in text:
        return False
    rest = compiled(dict(_cue_patterns()["here"])["points back"]).sub(" ", text)
    return rest != text and bool(_WORD.search(rest)) and is_small_talk(rest)


def _matching_cues(kind: str, text: str) -> list[str]:
    return [name for name, form in _cue_patterns()[kind] if compiled(form).search(text)]


def is_small_talk(text: str) -> bool:
    """Whether a message consists of small-talk phrases only, or has no words.

    >>> is_small_talk("Thanks, that's perfect!"), is_small_talk("Thanks to Mara it works")
    (True, False)
    >>> is_small_talk("👍")
    True
    """
    words = _WORD.findall(text.casefold().replace("\N{RIGHT SINGLE QUOTATION MARK}", "'"))
    phrases, longest = _phrases()
    furthest, reached = 0, {0}
    for start in range(len(words)):
        if start > furthest:
            return False
        if start in reached:
            ends = range(start + 1, min(start + longest, len(words)) + 1)
            reached.update(end for end in ends if " ".join(words[start:end]) in phrases)
            furthest = max(furthest, *reached)
    return len(words) in reached


@cache
def _phrases() -> tuple[frozenset[str], int]:
    lines = _FILE.read_text("utf-8").casefold().splitlines()
    found = frozenset(line for line in lines if line and not line.startswith("#"))
    return found, max(len(phrase.split()) for phrase in found)
