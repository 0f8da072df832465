"""Fit how sure a recall is (``clsm_cli/scoring/confidence.py``), and tell what that is worth.

Questions with and without an answer are put to many memories; of the items that a question finds, the
surest stands for it (multiple instances: Andrews et al., NIPS 2002), and a logistic regression tells
the two kinds apart. All figures are of memories that had no part in the fit. Every memory counts as
one: half of it the questions with an answer, a quarter those near the topic, a quarter those off it.

    python -m scripts.fit_verdict --work DIR --locomo DIR --gvd DIR --workspaces DIR

The workspaces are clones of the repositories that ``fixtures/questions`` names, at ``owner+name``.
What was found is kept in the work folder while the program that finds it stays as it is.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import shutil
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from ruamel.yaml import YAML

from clsm_cli.commands import engine as engines
from clsm_cli.commands.evaluate import open_engine
from clsm_cli.evaluation import stores
from clsm_cli.evaluation.dataset import Case, Chat, Dataset, Folders, LabelledQuery
from clsm_cli.evaluation.loaders import gvd, locomo, own_memory
from clsm_cli.evaluation.stores import StoreFactory
from clsm_cli.heads import answer_head
from clsm_cli.retrieval import ranking
from clsm_cli.retrieval.question import Query
from clsm_cli.retrieval.recall import retrieve_passages
from clsm_cli.scoring import confidence
from clsm_cli.store.index.opening import open_index
from scripts.fitting import logistic

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from clsm_cli.retrieval.dense_search import Engine

ROOT = Path(__file__).parents[1]
QUESTIONS = ROOT / "fixtures" / "questions"
WITH, OWN = "with an answer", "same, no names"
NEAR, EVERYDAY, NAMED, BARE, WRONG, LATER = (
    "near topic",
    "everyday",
    "of others, names kept",
    "of others, no names",
    "wrong person",
    "told only later",
)
KINDS = (WITH, OWN, NEAR, EVERYDAY, NAMED, BARE, WRONG, LATER)
PARTS = {(WITH, OWN): 0.5, (NEAR, WRONG, LATER): 0.25, (EVERYDAY, NAMED, BARE): 0.25}
"""What the questions of some kinds count together, in each memory."""
YOUNG = ("D1:12", "D2:0", "D5:0")
"""Turns before which a conversation makes a memory of its own: a young one has few passages. The first
eleven turns, one session, four."""
ALONE, LEAST = 2, 3
"""Files of a workspace that make a memory alone, and the questions that each of them answers, at least."""
DRAWN = 40
"""Questions of each kind that are drawn for a memory, at most; four times that of those with an answer and
of those near the topic."""
SILENCED = 0.022
"""Share of the questions with an answer that may get none, mean over memories."""
_ENDING = 60
"""Characters of the end of a text by which it is known."""
ROUNDS = 6
"""Times that the item which stands for a question is chosen anew."""

Floats = NDArray[np.float64]


class Asked(NamedTuple):
    """A question, and the first items that it found.

    Attributes:
        rows: The evidence of each, without the bias.
        sure: How likely each answers by that, under the weights of today.
        shown: Each as ``heads/answer_head`` reads it.
        answers: Whether each answers; None where nobody labelled that, and of one whose other part does.
    """

    memory: str
    group: str
    kind: str
    question: str
    rows: Floats
    sure: Sequence[float] = ()
    shown: Sequence[str] = ()
    answers: Sequence[bool | None] | None = None


class Memory(NamedTuple):
    """A memory, the name of what is left out with it, and the questions to it, by kind.

    Attributes:
        gold: Question → the lines of notes that answer it.
    """

    name: str
    group: str
    case: Case
    questions: dict[str, list[str]]
    gold: dict[str, list[str]] = {}  # noqa: RUF012  # never changed


def memories(arguments: argparse.Namespace) -> Iterator[Memory]:
    """All memories with their questions."""
    chats, everyday = _yaml("chats"), _yaml("everyday")["off topic"]
    talks = locomo.as_published(arguments.locomo)
    people = {case.name: case.source.participants for case in talks.cases}  # type: ignore[union-attr]
    known = {case.name: [q.text for q in case.queries if not q.negative] for case in talks.cases}

    def others(name: str) -> dict[str, list[str]]:
        kept = [(text, at) for at, texts in known.items() if at != name for text in texts]
        bare = [locomo.without_names(text, people[at]) for text, at in kept]
        return {NAMED: [text for text, _ in kept], BARE: bare, EVERYDAY: list(everyday)}

    for name in sorted({path.stem for path in QUESTIONS.glob("*.yaml")} - {"chats", "everyday"}):
        found = _yaml(name)
        root = _copied(arguments, name, found)
        case = Case(name, Folders(root, (name,)), ())
        rows = found.get("labelled", [])
        texts = [*found.get("answerable", ()), *(row["query"] for row in rows)]
        own = {WITH: texts, NEAR: found["near topic"]} | others("")
        gold = {row["query"]: _lines(root / name, row["evidence"]) for row in rows}
        yield Memory(name, name, case, own, gold)
        for file, told in _alone(root / name, rows):
            folder = f"{name}-{file.stem}".casefold()
            _copy(file, root / folder / file.name)
            asked = {WITH: told, LATER: [row["query"] for row in rows if row["query"] not in told]}
            yield Memory(
                folder, name, Case(folder, Folders(root, (folder,)), ()), own | asked, gold
            )
    sets: list[tuple[str, Dataset]] = [
        ("sample", own_memory.load(ROOT / "fixtures" / "sample")),
        ("gvd", gvd.load(arguments.gvd)),
        ("locomo", talks),
    ]
    for kind, dataset in sets:
        for case in dataset.cases:
            name = case.name if kind == "sample" else f"{kind}/{case.name}"
            group = name if kind == "locomo" else kind
            own = {
                WITH: _texts(case.queries, ""),
                NEAR: [*_texts(case.queries, "near topic"), *chats.get(name, ())],
                WRONG: _texts(case.queries, "wrong person"),
            }
            beside = others(case.name if kind == "locomo" else "")
            if kind == "locomo":  # those of others without names are known by that otherwise
                beside[OWN] = [locomo.without_names(t, people[case.name]) for t in own[WITH]]
            yield Memory(name, group, case, own | beside)
            if kind == "locomo":
                yield from (_young(case, group, end, own | beside) for end in YOUNG)


def _lines(folder: Path, places: Sequence[str]) -> list[str]:
    """The lines at some places of files, as ``FILE:LINE``."""
    parts = (place.rpartition(":") for place in places)
    return [
        (folder / _seen(name)).read_text("utf-8").split("\n")[int(n) - 1] for name, _, n in parts
    ]


def _alone(folder: Path, rows: Sequence[Any]) -> list[tuple[Path, list[str]]]:
    """The shortest files that answer several questions alone, with these."""
    told: dict[str, list[str]] = {}
    for row in rows:
        held = {each.rpartition(":")[0] for each in row["evidence"]}
        if len(held) == 1:
            told.setdefault(held.pop(), []).append(row["query"])
    found = [(folder / _seen(name), texts) for name, texts in told.items() if len(texts) >= LEAST]
    return sorted(found, key=lambda each: (each[0].stat().st_size, each[0]))[:ALONE]


def _young(case: Case, group: str, end: str, questions: dict[str, list[str]]) -> Memory:
    """A conversation as it was before a turn; what was asked of the rest has no answer yet."""
    assert isinstance(case.source, Chat)
    turns = tuple(turn for turn in case.source.turns if _place(turn.id) < _place(end))
    begin = {turn.id for turn in turns}
    asked: dict[bool, list[str]] = {False: [], True: []}
    for query in case.queries:
        held = {each in begin for each in query.gold}
        if len(held) == 1:
            asked[held.pop()].append(query.text)
    name = f"{case.name}-{len(turns)}"
    young = case._replace(name=name, source=case.source._replace(turns=turns))
    bare = [locomo.without_names(text, case.source.participants) for text in asked[True]]
    kept = {kind: texts for kind, texts in questions.items() if kind != WRONG}
    told_of = {WITH: asked[True], OWN: bare, LATER: asked[False]}
    return Memory(f"locomo/{name}", group, young, kept | told_of)


def _place(turn: str) -> tuple[int, int]:
    """Session and number of a turn.

    >>> _place("D4:12")
    (4, 12)
    """
    session, number = turn[1:].split(":")
    return int(session), int(number)


def _texts(queries: Sequence[LabelledQuery], negative: str) -> list[str]:
    return [query.text for query in queries if query.negative == negative]


def _yaml(name: str) -> Any:
    return YAML(typ="safe").load((QUESTIONS / f"{name}.yaml").read_text("utf-8"))


def _copied(arguments: argparse.Namespace, name: str, found: Any) -> Path:
    """A folder that holds the files of a workspace which its questions were written for."""
    source = arguments.workspaces / found["memory"].replace("/", "+")
    root: Path = arguments.work / "workspaces"
    for pattern in found["files"]:
        for file in sorted(source.glob(pattern)):
            _copy(file, root / name / _seen(str(file.relative_to(source))))
    return root


def _seen(name: str) -> str:
    """A path without hidden folders, which ingest passes over."""
    return "/".join(part.lstrip(".") for part in name.split("/"))


def _copy(file: Path, place: Path) -> None:
    if not place.exists():
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, place)


def ask(each: Memory, factory: StoreFactory, engine: Engine, work: Path) -> list[Asked]:
    """Put the drawn questions to a memory, or read what they found before."""
    drawn = [
        (kind, text)
        for kind in KINDS
        for text in sorted(set(each.questions.get(kind, ())), key=partial(_hash, each.name))[
            : DRAWN * (4 if kind in (WITH, NEAR) else 1)
        ]
    ]
    parts = (*stores.SLEEP, "retrieval")
    kept = (
        work / f"{each.name.replace('/', '-')}-{_hash(stores.code_digest(parts), repr(drawn))}.json"
    )
    if not kept.exists():
        kept.write_text(json.dumps(_find(each, drawn, factory, engine)), "utf-8")
    found = json.loads(kept.read_text("utf-8"))
    return [
        Asked(each.name, each.group, kind, text, np.array(rows, np.float64), sure, shown, answers)
        for (kind, text), (rows, sure, shown, answers) in zip(drawn, found, strict=True)
        if rows
    ]


def _find(
    each: Memory, drawn: Sequence[tuple[str, str]], factory: StoreFactory, engine: Engine
) -> list[tuple[Any, ...]]:
    raw = stores.make_store(each.case, factory)
    store = stores.cached_copy(raw, "consolidated", lambda one: _sleep(factory, one, raw.now))
    gold = each.gold | {query.text: _gold(each.case, query) for query in each.case.queries}
    found = []
    with open_index(store, factory.embedder) as opened:
        index = opened.index.with_archive()
        for kind, text in drawn:
            query = Query(text, raw.now.isoformat(), ranking.CONFIDENCE_SIZE, 1 << 30)
            _, ranked = retrieve_passages(index, query, engine, store.settings.recall)
            first = ranked.candidates[: ranking.CONFIDENCE_SIZE]
            told = index.passages([one.row for one in first])
            passages = [told[one.row] for one in first]
            answering = gold.get(text) if kind == WITH else None
            shown = [answer_head.passage_text(text, p.text, p.speaker, p.heading) for p in passages]
            found.append(
                (
                    [list(confidence.features(one.evidence)[:-1]) for one in first],
                    [one.confidence for one in first],
                    shown,
                    [
                        _holds(part, answering) or (None if _holds(p.text, answering) else False)
                        for part, p in zip(shown, passages, strict=True)
                    ]
                    if answering
                    else None,
                )
            )
    return found


def _gold(case: Case, query: LabelledQuery) -> list[str]:
    """What answers a question: turns, or quotes of notes."""
    if not isinstance(case.source, Chat):
        return list(query.gold)
    said = {turn.id: turn.text for turn in case.source.turns}
    return [said[each] for each in query.gold if each in said]


def _plain(text: str) -> str:
    return re.sub(r"\W+", " ", text.lower()).strip()


def _holds(passage: str, answering: Sequence[str]) -> bool:
    """Whether a passage and one of some texts end alike: one may be a part of the other."""
    plain = _plain(passage)
    ends = (_plain(each) for each in answering)
    return any(
        end and plain and (end[-_ENDING:] in plain or plain[-_ENDING:] in end) for end in ends
    )


def _sleep(factory: StoreFactory, store: Any, now: Any) -> None:
    stores.run_consolidation(factory, store, now)


def _hash(name: str, text: str) -> str:
    return hashlib.sha256(f"{name}\n{text}".encode()).hexdigest()[:12]


class Fit:
    """The questions of all memories, to be fitted on some of them.

    Args:
        asked: All questions.
        counts: What each counts; without them all groups count the same (``PARTS``).
    """

    def __init__(self, asked: Sequence[Asked], counts: Floats | None = None) -> None:
        self.groups = np.array([each.group for each in asked])
        self.memories = np.array([each.memory for each in asked])
        self.kinds = np.array([each.kind for each in asked])
        self.has = np.isin(self.kinds, (WITH, OWN)).astype(np.float64)
        self._rows = np.concatenate([each.rows for each in asked])
        sizes = np.array([len(each.rows) for each in asked])
        self._starts = np.cumsum(sizes) - sizes
        self.counts = self._weights() if counts is None else counts

    def _weights(self) -> Floats:
        """What each question counts: all groups the same, and in a group all memories."""
        found = np.zeros(len(self.groups))
        for name in set(self.memories):
            inside = self.memories == name
            beside = len(set(self.memories[self.groups == self.groups[inside][0]]))
            for kind in set(self.kinds[inside]):
                chosen = inside & (self.kinds == kind)
                alike = next(part for part in PARTS if kind in part)
                share = PARTS[alike] / len(set(self.kinds[inside]) & {*alike})
                found[chosen] = share / beside / chosen.sum()
        scaled: Floats = found * len(found) / found.sum()
        return scaled

    def weights(self, chosen: NDArray[np.bool_]) -> Floats:
        """The weights that tell some questions apart, the bias last; at first the nearest item stands."""
        sure = self._rows[:, 0]
        for _ in range(ROUNDS):
            stands = self._rows[self._surest(sure)]
            found = logistic(stands[chosen], self.has[chosen], self.counts[chosen])
            sure = self._rows @ found[:-1] + found[-1]
        return found

    def chances(self, weights: Floats) -> Floats:
        """How sure each question is answered under some weights."""
        sure = self._rows @ weights[:-1] + weights[-1]
        chances: Floats = 1 / (1 + np.exp(-sure[self._surest(sure)]))
        return chances

    def left_out(self) -> Floats:
        """The same of each question under the weights that all other memories give."""
        found = np.zeros(len(self.groups))
        for group in set(self.groups):
            inside = self.groups == group
            found[inside] = self.chances(self.weights(~inside))[inside]
        return found

    def _surest(self, sure: Floats) -> NDArray[np.int64]:
        ends = [*self._starts[1:], len(sure)]
        best = [s + int(np.argmax(sure[s:e])) for s, e in zip(self._starts, ends, strict=True)]
        return np.array(best)

    def mean(self, kind: str, value: Callable[[NDArray[np.bool_]], float]) -> float:
        """A figure of the questions of one kind: mean over groups of the mean over their memories."""
        found: dict[str, list[float]] = {}
        for name in sorted(set(self.memories)):
            place = (self.memories == name) & (self.kinds == kind)
            if place.any():
                found.setdefault(self.groups[place][0], []).append(value(place))
        return float(np.mean([np.mean(values) for values in found.values()]))

    def calibration_error(self, sure: Floats) -> float:
        """Expected calibration error in ten bins (Naeini et al., AAAI 2015), questions as they count."""
        bins = np.minimum((10 * sure).astype(int), 9)
        error = 0.0
        for place in range(10):
            chosen = bins == place
            if chosen.any():
                counts = self.counts[chosen]
                gap = np.average(sure[chosen] - self.has[chosen], weights=counts)
                error += abs(gap) * counts.sum() / self.counts.sum()
        return error


class Left(NamedTuple):
    """How sure each question is under the weights that all other memories give."""

    fit: Fit
    sure: Floats

    def silent(self, kind: str, floor: float) -> float:
        """Share of the questions of a kind that a floor silences, mean over memories."""
        return self.fit.mean(kind, lambda place: float((self.sure[place] < floor).mean()))

    def floor(self) -> float:
        """The highest floor that silences no more of what has an answer than it may."""
        return max(f for f in np.arange(0.0, 1.0, 0.005) if self.silent(WITH, f) <= SILENCED)

    def row(self, name: str, floor: float) -> str:
        """What a floor silences, by kind, in percent."""
        cells = "".join(f"{100 * self.silent(kind, floor):23.1f}" for kind in KINDS)
        return f"{name:10} {floor:.3f}{cells}"


def report(asked: Sequence[Asked]) -> Iterator[str]:
    """The weights, and what they are worth on memories left out."""
    fit = Fit(asked)
    weights = fit.weights(np.ones(len(fit.has), bool))
    for field, weight in zip(confidence.Weights._fields, weights, strict=True):
        yield f"    {field}={weight:.3f},"
    left = Left(fit, fit.left_out())
    yield f"calibration error {fit.calibration_error(left.sure):.3f}"
    yield "silent (%), mean over memories"
    yield f"           floor{''.join(f'{kind:>23}' for kind in KINDS)}"
    for floor in np.arange(0.08, 0.31, 0.02):
        yield left.row("", floor)
    yield left.row("chosen", left.floor())
    for place, field in enumerate(confidence.Weights._fields[:-1]):
        rows = [np.delete(each.rows, place, 1) for each in asked]
        less = Fit([each._replace(rows=kept) for each, kept in zip(asked, rows, strict=True)])
        without = Left(less, less.left_out())
        yield without.row(f"- {field}", without.floor())
    yield from _by_memory(left)


def _by_memory(left: Left) -> Iterator[str]:
    """How many the chosen floor silences in each memory."""
    fit, silenced = left.fit, left.sure < left.floor()
    for name in sorted(set(fit.memories)):
        cells = []
        for kind in KINDS:
            at = (fit.memories == name) & (fit.kinds == kind)
            cells.append(f"{silenced[at].sum():16} of {at.sum():3}" if at.any() else " " * 23)
        yield f"{name:16}" + "".join(cells)


def ask_all(arguments: argparse.Namespace, chosen: Iterable[Memory]) -> list[Asked]:
    """Put every question to its memory."""
    arguments.work.mkdir(parents=True, exist_ok=True)
    factory = StoreFactory(arguments.work, engines.embedder(), lambda *_: None)
    engine = open_engine()
    return [one for each in chosen for one in ask(each, factory, engine, arguments.work)]


def parser_of(about: str | None) -> argparse.ArgumentParser:
    """Where the memories are, and where to keep what was found."""
    parser = argparse.ArgumentParser(description=about)
    for name in ("work", "locomo", "gvd", "workspaces"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    return parser


def main() -> None:
    """Ask, fit, tell."""
    given = parser_of(__doc__).parse_args()
    for line in report(ask_all(given, memories(given))):
        print(line)


if __name__ == "__main__":
    main()
