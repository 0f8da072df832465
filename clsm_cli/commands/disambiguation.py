"""Resolve plain words to statements or turns by recall; list the candidates, or ask which is meant.

Ids and names stand for what has them. Words are for what a person remembers of it: nothing is done
to what they find unless that person says which of it is meant, or one thing stands out and ``--yes``
was given.
"""

import re
from collections.abc import Iterator, Sequence
from datetime import datetime

import typer

from clsm_cli.commands.output import Printer, dotted, has_person, location_text, plain, shorten
from clsm_cli.errors import RefusedError
from clsm_cli.inspection.item_lookup import FoundItem, look_up
from clsm_cli.retrieval.answer import Memory
from clsm_cli.startup.records import NamedTuple
from clsm_cli.store.index.ranking_queries import Filters
from clsm_cli.store.layout import Store
from clsm_cli.text.plain import to_plain

MOST = 12  # things that are listed
LEAST = 0.25  # share of the probability of what fits best that the others must have (own choice)
NEAREST = 3  # things that are named where none fits
LIKELY = 0.5  # probability from which a thing is rather meant than not
WIDTH = 100  # characters of a text that are shown
_BUDGET = 1_000_000
_SHAPE = re.compile(r"[defg]-[0-9a-f]{2,}|[0-9a-f]{12}(-[0-9]+)?")


class Match(NamedTuple):
    """A thing that may be meant, and the probability that it is: 1 where it was named.

    Attributes:
        is_over: A later passage replaces it; a statement is over only where the store closed it.
    """

    thing: FoundItem
    confidence: float = 1.0
    is_over: bool = False


class Matches(NamedTuple):
    """What fits, statements first and each kind best first; where nothing does, what is nearest."""

    found: tuple[Match, ...]
    nearest: tuple[Match, ...] = ()

    @property
    def clear(self) -> Match | None:
        """The one that stands out: it alone fits, and is more likely meant than not."""
        is_one = len(self.found) == 1 and self.found[0].confidence >= LIKELY
        return self.found[0] if is_one else None


def looks_like_id(words: str) -> bool:
    """Whether words have the form of an id, so that they name nothing else."""
    return _SHAPE.fullmatch(words) is not None


def matches_of_ids(store: Store, ids: Sequence[str]) -> Matches:
    """Matches for ids that are certain, all equally likely."""
    return Matches(tuple(Match(look_up(store, each)) for each in ids[:MOST]))


def find_matches(
    printer: Printer,
    store: Store,
    text: str,
    now: datetime,
    *,
    most: int = MOST,
    share: float = LEAST,
    alone: bool = False,
) -> Matches:
    """What words mean: statements, then the turns and blocks that none of these rests on.

    With ``alone`` each block is a thing by itself, where one would else stand for those around it.
    """
    from clsm_cli.commands import engine
    from clsm_cli.retrieval.question import Query
    from clsm_cli.retrieval.recall import recall

    engine.offer_install(printer)
    if alone:
        settings = store.settings._replace(recall=store.settings.recall._replace(window=0))
        store = store._replace(settings=settings)
    query = Query(text=text, now=now.isoformat(), k=MOST, budget=_BUDGET)
    queries = [query._replace(filters=Filters(kind=kind)) for kind in ("statement", "passage")]
    queries += [each._replace(k=NEAREST, min_score=0.0) for each in queries]
    answers = recall(store, queries, engine.QueryEngine(), engine.embedder())
    try:
        first = next(answers)
        printer.warn_all(first.warnings)
        found = list(_fits(store, first.memories, LEAST))
        found += _fits(store, next(answers).memories, share, found)
        if found:
            return Matches(tuple(found[:most]))
        near = sorted((m for each in answers for m in each.memories), key=lambda m: -m.confidence)
        return Matches((), tuple(_fits(store, near[:NEAREST], 0.0)))
    finally:
        answers.close()  # type: ignore[attr-defined]  # a generator, which holds the index open


def _fits(
    store: Store, found: Sequence[Memory], share: float, before: Sequence[Match] = ()
) -> Iterator[Match]:
    """Memories as things, those that are likely enough, without what something before rests on.

    They must have a share of the largest probability before them, and ``LEAST`` of their own.
    """
    covered = {turn.id for fit in before for turn in fit.thing.told}
    own = LEAST * max((memory.confidence for memory in found), default=0.0)
    least = max([own, *(share * fit.confidence for fit in before)]) if share else 0.0
    for memory in found:
        thing = look_up(store, memory.id) if memory.confidence >= least else None
        if thing is not None and thing.id not in covered:
            covered.add(thing.id)
            is_over = memory.until is not None and thing.kind != "statement"
            yield Match(thing, memory.confidence, is_over)


def _match_lines(found: Sequence[Match]) -> Iterator[str]:
    for number, fit in enumerate(found, 1):
        yield f"{number}. {shorten(to_plain(fit.thing.text), WIDTH)}"
        turn = fit.thing.told[0] if fit.thing.told else None
        place = ((turn.time or "")[:10], location_text(turn.file, turn.line)) if turn else ()
        yield f"   {dotted(*place, fit.thing.id)}"


def choose(
    printer: Printer,
    command: str,
    words: str,
    found: Matches,
    *,
    yes: bool,
    dry_run: bool,
    more: str = "",
) -> list[Match]:
    """The things that a person means, [] for an unclear dry run; ``more`` is what else can be done."""
    if not found.found:
        printer.lines(["nearest", *_match_lines(found.nearest)] if found.nearest else [])
        raise RefusedError(words, "nothing here fits that", "say it in other words, or by an id")
    if found.clear and (yes or dry_run):
        return [found.clear]
    if has_person() and not dry_run:
        return _asked(printer, words, found.found)
    _show(printer, command, found, dry_run=dry_run)
    if dry_run:
        return []
    things = f"one of {len(found.found)} things" if len(found.found) > 1 else "this"
    step = "say --yes, or name one by its id" if found.clear else f"name one by its id{more}"
    raise RefusedError(words, f"may mean {things}", step)


def _show(printer: Printer, command: str, found: Matches, *, dry_run: bool) -> None:
    listed = {
        name: [{**plain(fit.thing), "confidence": fit.confidence} for fit in part]
        for name, part in found._asdict().items()
    }
    lines = [*_match_lines(found.found), *["nothing was written"] * dry_run]
    printer.show({"schema": f"{command.replace(' ', '.')}/1", **listed}, lines)


def _asked(printer: Printer, words: str, found: Sequence[Match]) -> list[Match]:
    """Those of a list that the person at the terminal names by their numbers."""
    printer.tell(_match_lines(found))
    choices = {str(number): fit for number, fit in enumerate(found, 1)}
    count = len(found)
    question = "Is it meant? [1, Enter for no]" if count == 1 else f"Which? [1-{count}, all, none]"
    while True:
        answer = typer.prompt(question, default="none", show_default=False, err=True).lower()
        if answer in {"none", "no", "n", "0"}:
            raise RefusedError(words, "nothing was done", "run it again if you want to")
        if answer == "all":
            return list(found)
        picked = dict.fromkeys(answer.replace(",", " ").split())
        if picked and picked.keys() <= choices.keys():
            return [choices[each] for each in picked]
