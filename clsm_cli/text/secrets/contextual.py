"""Passwords and codes in running text, by their shape and the words around them.

"The wifi password is …", "gate 4471, then hash", "contraseña: …": of each value that may be a secret
(``values``) a logistic regression over its shape, its link to what stands before it, the nearest labels
(``labels.tsv``) and the words around gives the probability that it is one. ``scripts/fit_secrets.py``
fits the weights.
"""

import itertools
import math
import os
import re
import zlib
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cache

from clsm_cli.text.language_data import compiled
from clsm_cli.text.secrets import secret_values
from clsm_cli.text.secrets.labels import UNSPACED_CLASS, Label, fold, labels_in
from clsm_cli.text.secrets.secret_values import Secret
from clsm_cli.text.secrets.values import Value, values
from clsm_cli.text.tokens import STOP_WORDS

WEIGHTS = os.path.join(os.path.dirname(__file__), "contextual.bin")
SLOTS = 1 << 17  # number of weights; a feature has the one at its CRC-32 modulo this
SCALE = 16  # a weight is stored as a whole number of sixteenths, from -8 to 8
LEAST_P, LEAST_PHRASE_P = 0.75, 0.4
"""Of the secrets of an author who was left out of the fit, half to two thirds reach it (``fit_secrets``). Notes have
hardly any phrase that looks like a password, so that less is enough there."""
_REACH, _BEFORE, _AFTER = 160, 12, 6  # context of a value: characters on each side, words
_LABEL_REACH = 60  # characters after a value in which a label may stand
_MAX_GAP = 3  # words between a phrase and a label that are read as one
_MANY = 200  # values of a paragraph: above, it is a dump, where a label must name them
_WORD = rf"[^\W_{UNSPACED_CLASS}]+|[{UNSPACED_CLASS}]|[:=]"
_PARAGRAPH = re.compile(r"(?:(?!\n[ \t]*\n).)+", re.DOTALL)
_LATER_SENTENCE = r"(?<=[.!?] )(?:(?![.!?]\s).)+[.!?]?"
_MASK = re.compile(r"\[masked:[a-z-]*\]?")
_HAS_VALUE = re.compile(r"[^\n\x00]{0,30}\x00")  # a label whose value is masked
_KINDS = {
    "password": "password",
    "homonym": "password",
    "login": "password",
    "pin": "pin",
    "code": "pin",
    "key": "secret",
    "named key": "secret",
    "lone key": "secret",
    "secret": "secret",
    "words": "seed",
    "recovery": "recovery-code",
}
"""Kind of a secret by the class of the label before it."""


class Labels:
    """The labels of a paragraph by their place."""

    def __init__(self, labels: Iterable[Label]) -> None:
        self.all = sorted(labels, key=lambda label: label[2])
        self._ends = [end for _, _, end in self.all]

    def before(self, value: Value) -> Label | None:
        """The last label before a value."""
        place = bisect_right(self._ends, value.start)
        label = self.all[place - 1] if place else None
        return label if label and value.start - label[2] < _REACH else None

    def after(self, value: Value) -> Label | None:
        """The first label after a value."""
        place = bisect_right(self._ends, value.end)
        behind = (each for each in self.all[place : place + 3] if each[1] >= value.end)
        label = next(behind, None)
        return label if label and label[1] - value.end < _LABEL_REACH else None

    def is_named(self, text: str, value: Value) -> bool:
        """Whether a label stands right before a value, without a word between."""
        label = self.before(value)
        return label is not None and not any(map(str.isalnum, text[label[2] : value.start]))


def find(text: str) -> list[Secret]:
    """Passwords and codes of a text; each paragraph is read by itself, and a mask as no word."""
    bare = (
        _MASK.sub(lambda match: "\x00" * len(match.group()), text) if "[masked:" in text else text
    )
    found: list[Secret] = []
    for paragraph in _PARAGRAPH.finditer(bare):
        start = paragraph.start()
        found += (
            Secret(start + each.start, start + each.end, each.kind)
            for each in _in_paragraph(paragraph.group())
        )
    return found


def _in_paragraph(text: str) -> Iterator[Secret]:
    folded = fold(text)
    labels = Labels(each for each in labels_in(folded) if not _HAS_VALUE.match(text, each[2]))
    found = list(dict.fromkeys(values(text, labels.all)))
    is_dump = sum(each.form != "phrase" for each in found) > _MANY
    if is_dump:
        found = [each for each in found if each.form != "word" and labels.is_named(text, each)]
        found = [each for each in found if each.form != "phrase" or _ends_clause(text, each)]
    for value in found:
        least = LEAST_PHRASE_P if value.form == "phrase" else LEAST_P
        if chance(value_features(text, folded, value, labels)) >= least:
            yield Secret(value.start, value.end, _kind(value, labels))
    if not is_dump:
        yield from _in_later_sentences(text, labels)


def _ends_clause(text: str, value: Value) -> bool:
    return not text[value.end : value.end + 2].strip(" -")[:1].isalpha()


def _in_later_sentences(text: str, labels: Labels) -> Iterator[Secret]:
    """Read sentences with a label alone: a date or an amount before them speaks against a PIN."""
    starts = sorted(start for _, start, _ in labels.all)
    for sentence in compiled(_LATER_SENTENCE).finditer(text) if starts else ():
        begin, end = sentence.span()
        if bisect_left(starts, begin) < bisect_left(starts, end):
            for each in _in_paragraph(sentence.group()):
                yield Secret(begin + each.start, begin + each.end, each.kind)


def _kind(value: Value, labels: Labels) -> str:
    label = labels.before(value)
    usual = "pin" if value.form in ("digits", "spelled") else "password"
    return _KINDS.get(label[0], usual) if label else usual


def chance(names: Collection[str]) -> float:
    """Probability that a value is a secret: σ(Σ w), over the weights of its features."""
    weights = stored_weights()
    total = sum(weights[slot(name)] for name in {*names}) / SCALE
    return 1 / (1 + math.exp(-min(60.0, max(-60.0, total))))


def slot(name: str) -> int:
    """Place of a feature's weight (Weinberger et al., ICML 2009, "Feature hashing"); half an emoji is a "?"."""
    return zlib.crc32(name.encode(errors="replace")) % SLOTS


@cache
def stored_weights() -> memoryview:
    """The weights in sixteenths, ``SLOTS`` signed bytes."""
    with open(WEIGHTS, "rb") as stream:
        return memoryview(stream.read()).cast("b")


def value_features(text: str, folded: str, value: Value, labels: Labels) -> list[str]:
    """The names of a value's features.

    Args:
        text: The paragraph of the value; ``folded`` is the same by ``labels.fold``.
        value: The value.
        labels: The labels of the paragraph.
    """
    form, start = value.form, max(0, value.start - _REACH)
    link = _link(folded[start : value.start])
    ending = _ending(folded[value.end : value.end + 2])
    names = [f"form {form}", *(f"{form} {each}" for each in _shape(text, value))]
    names += f"link {link}", f"{form} link {link}", f"end {ending}", f"link {link} end {ending}"
    names.append(f"start {_opening(text, value.start)}")
    before = [each.group() for each in compiled(_WORD).finditer(folded, start, value.start)]
    after = [
        each.group() for each in compiled(_WORD).finditer(folded, value.end, value.end + _REACH)
    ]
    names += _words_before(before[-_BEFORE:], form)
    for place, word in enumerate(after[:_AFTER]):
        names += f"{word} >", f"{word[:4]}~ >"
        if place < 2:
            names.append(f"{form} {word} >{place}")
    names += _near_labels(folded, value, labels, f"{link} {ending}")
    if form != "phrase":
        return names
    # What makes a run of plain words a password says nothing about other values.
    return [f"phrase {name}" for name in (*names, *_between(folded, value, labels))]


def _between(folded: str, value: Value, labels: Labels) -> Iterator[str]:
    """What stands between a phrase and the label before it, and the one behind it."""
    before, after = labels.before(value), labels.after(value)
    gaps = (
        ("<", folded[before[2] : value.start] if before else None),
        (">", folded[value.end : after[1]] if after else None),
    )
    for side, gap in gaps:
        words = gap.split() if gap else ()
        yield f"gap {side} {' '.join(words) if len(words) <= _MAX_GAP else '…'}"
        yield from (f"gap has {word} {side}" for word in words)


def _words_before(words: Sequence[str], form: str) -> Iterator[str]:
    for place, word in enumerate(reversed(words)):
        distance = next(bound for bound in (1, 3, 6, _BEFORE) if place < bound)
        yield from (f"{word} <", f"{word} <{distance}", f"{word[:4]}~ <")
        if place < 2:
            yield f"{form} {word} <{place}"
    yield from (f"{one} {other} <" for one, other in itertools.pairwise(words))


def _opening(text: str, start: int) -> str:
    before = text[max(0, start - 1) : start]
    return "line" if before in ("", "\n") else "blank" if before.isspace() else before


def _link(before: str) -> str:
    """What stands between a value and the word before it: a mark, nothing but the word, or a line's start."""
    tail = before.rstrip(" \t\"'`*_([“„«")
    if not tail or tail[-1] == "\n":
        return "line"
    return "word" if tail[-1].isalnum() else tail[-1]


def _ending(after: str) -> str:
    if not after.strip(" ") or "\n" in after:
        return "line"
    return "word" if after[0].isalnum() else after[0]


def _shape(text: str, value: Value) -> Iterator[str]:
    said = text[value.start : value.end]
    kinds = re.sub(r"[^\W\d_]", "a", re.sub(r"[A-ZÀ-Þ]", "A", re.sub(r"\d", "9", said)))
    runs = re.sub(r"(.)\1+", r"\1", kinds)
    digits = [char for char in said if char.isdigit()]
    yield from (f"runs {runs[:8]}", f"length {min(len(said), 24) // 2}")
    yield f"digits {min(len(digits), 12)}"
    if value.form == "digits":
        yield from (f"full {kinds}", f"zero {digits[0] == '0'}", f"few {len({*digits}) <= 2}")
        yield from (f"round {digits[-2:] == ['0', '0']}", f"year {said[:2] in ('19', '20')}")
    elif value.form in ("quoted", "phrase", "list"):
        words = said.lower().split()
        yield from (f"words {min(len(words), 9)}", f"stops {sum(w in STOP_WORDS for w in words)}")
        yield from (f"begins {word}" for word in words[:2])
        yield from (f"has {word}" for word in (*words, f"{words[-1]} last"))
        yield f"marks {any(char in ',/=:()<>$' for char in said)}"
        yield f"password {secret_values.is_password(said)}"
    else:
        yield from _word_shape(said)
    if value.form == "word":
        yield f"says {said.lower()}"


def _word_shape(said: str) -> Iterator[str]:
    for test in (
        secret_values.is_strong,
        secret_values.is_password,
        secret_values.is_random,
        secret_values.is_named,
    ):
        yield f"{test.__name__} {test(said)}"
    letters = re.findall(r"[^\W\d_]+", said)
    yield from (f"stop {said.lower() in STOP_WORDS}", f"upper {said.isupper()}")
    yield from (f"hex {re.fullmatch('[0-9a-f-]+', said) is not None}", f"first {said[0].isdigit()}")
    yield f"longest {min(8, max(map(len, letters), default=0))}"
    yield f"parts {min(4, len(letters))}"
    inner = sum(char.isupper() and one.islower() for one, char in itertools.pairwise(said))
    vowels = sum(char in "aeiouyäöüáéíóúà" for char in said.lower())
    yield from (f"inner {min(4, inner)}", f"vowels {8 * vowels // len(said)}")
    yield from (f"has {char}" for char in {*said} if not char.isalnum())


def _near_labels(folded: str, value: Value, labels: Labels, link: str) -> Iterator[str]:
    if (label := labels.before(value)) is None:
        yield "label none <"
    else:
        gap = folded[label[2] : value.start]
        far, line = min(5, len(gap.split())), "next" if "\n" in gap else "same"
        yield from (f"label {label[0]} <", f"label {label[0]} <{far} {line}")
        near = f"label {label[0]} {value.form} {far} {line}"
        yield from (f"{near} {link.split(maxsplit=1)[0]}", f"{near} {link}")
    if label := labels.after(value):
        far = min(5, len(folded[value.end : label[1]].split()))
        yield from (f"label {label[0]} >", f"label {label[0]} >{far}")
