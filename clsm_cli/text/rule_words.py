"""What the patterns of rules and of tasks share: verbs of action, and a sentence without its marks."""

from __future__ import annotations

import re

_VERBS = """
accept add address adjust agree aim apologise apologize align allow answer apply approve archive arrange ask assign assume attach
avoid backup bake batch bind block book branch break bring brush build buy call cancel carry change
charge chase check choose cite clean clear clip clone close collect combine comment commit compare
compress configure confirm connect contact convert cook copy correct count create cut date decline
delete deliver deploy describe disable discard discuss document double-check download draft draw drink
drop eat edit email enable encrypt end escape evaluate explain export feed fetch file fill find finish
fix follow force-push format forward freeze generate give grade greet group guess hand hang hardcode hide hire
ignore implement import include increase indent inform insert inspect install interrupt invite keep label lead
leave limit link lint list load lock log look lower mail make mark measure mention merge message migrate
mix mock mount move name note notify number offer open optimise optimize order organise organize pack
paint paraphrase park pass paste pay phone pick pin place plan plant post prefer prefix prepare print prune publish pull
push put quote raise read rebase rebuild record refactor refer refill reformat register release reload
remove rename renew repair repeat replace reply report request reschedule reserve reset resolve
respect respond restart restore retry return review rewrite ring rinse rotate round run save scan
schedule seal select sell send separate serve set share ship show shut sign skip solder sort speak spell
split squash stage start state stop store store submit suffix summarise summarize switch tag take talk
target tell test text tidy track train transfer translate trim turn type unplug unsubscribe update
upgrade upload use validate verify version visit wait wake warn wash water wear wire wrap write
"""
ACTIONS: frozenset[str] = frozenset(_VERBS.split())
"""Base forms of verbs that somebody can be told to do."""
ACTION = rf"(?:{'|'.join(sorted(ACTIONS, key=lambda verb: (-len(verb), verb)))})(?![\w'’-])"
"""A pattern for one of :data:`ACTIONS`; to be compiled without regard to case."""

_MARKER = re.compile(
    r"\s*(?:>\s?){0,3}(?:(?:[-*+\u2022]|\d{1,4}[.)])\s+)?(?:\[[ xX!~/\-]\]\s+)?(?:#{1,6}\s+)?"
)
_LINK = re.compile(r"\[\[([^\[\]\n|#]{1,200})(?:#[^\[\]\n|]{0,200})?(?:\|([^\[\]\n]{1,200}))?\]\]")
_ADDRESS = re.compile(r"!?\[([^\[\]\n]{1,300})\]\([^()\s]{1,500}\)")
_STARS = re.compile(r"(?<![\w*`])(\*{1,3}|~~)(?=[^\s*~])([^*~\n]{1,400}?)(?<=[^\s*~])\1(?![\w*`])")
_SCORES = re.compile(r"(?<![\w`])(_{1,2})(?=[^\s_])([^\n`]{1,400}?)(?<=[^\s_])\1(?![\w`])")
_TAGS = re.compile(r"(?:\s#[^\W\d_][\w/-]{0,60}){1,12}\s*$")
_PICTURES = re.compile(r"\s?[\u2600-\u27bf\u2b50\ufe0f\u200d\U0001f000-\U0001faff]{1,20}")


def plain(text: str) -> str:
    """A sentence or a list item without Markdown: no marker, emphasis, link, closing tag or emoji.

    Code keeps its backticks, since they say that it is code.

    >>> plain("- [ ] Ask **[[Mara]]** about `a_b` #work")
    'Ask Mara about `a_b`'
    """
    text = _MARKER.sub("", text, count=1)
    text = _LINK.sub(lambda link: link.group(2) or link.group(1).rsplit("/", 1)[-1], text)
    text = _ADDRESS.sub(r"\1", text)
    text = _SCORES.sub(r"\2", _STARS.sub(r"\2", text))
    return " ".join(_TAGS.sub("", _PICTURES.sub("", text)).split())


def capital(text: str) -> str:
    """``text`` with a capital at its beginning, unless it begins with code.

    >>> capital("use tabs"), capital("`x` it is")
    ('Use tabs', '`x` it is')
    """
    return text[:1].upper() + text[1:]
