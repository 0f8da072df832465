"""``clsm correct``: say what is true now."""

from datetime import datetime, tzinfo
from functools import partial

from clsm_cli.commands import disambiguation
from clsm_cli.commands.command_line import DRY_RUN, Common, UsageError, option, parse_moment
from clsm_cli.commands.disambiguation import Match, Matches
from clsm_cli.commands.options import command
from clsm_cli.commands.output import Printer, fields, span_text
from clsm_cli.curation import correction
from clsm_cli.ingestion import timestamps
from clsm_cli.inspection.item_lookup import FoundItem
from clsm_cli.model.ids import normalise_text
from clsm_cli.store.layout import Store
from clsm_cli.text.tokens import terms

_MOST = 6  # things that are listed: more of them would only be near
_SHORTEST = 3  # words of a sentence that says what is true now


@command(
    'clsm correct "The workshop moved to the harbour."   # what that ends is looked up',
    'clsm correct "Nina\'s birthday" "3 June"',
    'clsm correct f-3a9c12d08e41 "The archive uses SQLite."',
    "clsm correct bell '15 minutes' --since 2026-03-01",
    'clsm correct Mara "Mara lives in York." --never   # she never lived elsewhere',
)
def correct(
    wanted: str = option(
        "ID|WORDS",
        "A statement's id, what it is about, or what you remember of it; or, alone, the"
        " sentence that is true now.",
    ),
    said: tuple[str, ...] = option(
        "[VALUE]...", "The whole sentence that is true now, or its value alone."
    ),
    *,
    since: str | None = option("--since TIME", "Since when; default: now."),
    never: bool = option("--never", "The old statement was never true."),
    yes: bool = option("--yes", "Do not ask; take the match that stands out."),
    dry_run: bool = DRY_RUN,
    common: Common,
) -> None:
    """Say what is true now.

    What was known until then is closed, not deleted, unless it was never true. No consolidation
    undoes a correction. The statements that your words may mean are listed, and you are asked which
    one is no longer true.
    """
    printer, opened, now = common.start()
    if since is not None and never:
        raise UsageError("--since", "means nothing with --never")
    start = timestamps.normalise(parse_moment(since, now, opened.zone, "--since"), opened.zone)
    words, value = wanted, " ".join(said)
    if not value and len(words.split()) < _SHORTEST:
        raise UsageError("VALUE", "is missing; say in a whole sentence what is true now")
    correct_it = partial(correction.correct, opened, now=now, warn=printer.warn, dry_run=dry_run)
    correct_it = partial(correct_it, said=value or words, since=start, never=never)
    try:
        if not value:
            raise correction.NotCertainError(words, "names nothing", "name a statement by its id")
        done = correct_it(wanted=words)
    except correction.NotCertainError as error:
        if disambiguation.looks_like_id(words):
            raise
        fits = disambiguation.matches_of_ids(opened, error.ids)
        asked = frozenset[str]()
        if not fits.found:
            asked = terms(words) if value else asked
            fits = _fits(printer, opened, words, value, now)
        fits = _likeliest(opened, fits, words, value, now, asked)
        more = ", or end nothing: clsm note SENTENCE"
        how = {"yes": yes, "dry_run": dry_run}
        chosen = disambiguation.choose(printer, "clsm correct", words, fits, more=more, **how)
        if not chosen:
            return
        meant = _meant(chosen[0].thing, words)
        others = [fit.thing.id for fit in chosen[1:] if fit.thing.id.startswith("f-")]
        done = correct_it(wanted=meant, with_it=others, is_whole=not value)
    _show(printer, done, opened.zone, dry_run=dry_run)


def _fits(printer: Printer, store: Store, words: str, value: str, now: datetime) -> Matches:
    """The statements and passages that words may mean, without what is over or says so already.

    With a value, the words name what is told, so that a passage is shown by itself, and one that is
    less likely than a statement too where it has a word of theirs that no statement here has.
    """
    find = partial(disambiguation.find_matches, printer, store, words, now)
    fits = find(alone=True) if value else find(most=_MOST, share=1.0)
    said = normalise_text(value or words)
    others = [fit for fit in fits.found if normalise_text(fit.thing.text) != said]
    others = [fit for fit in others if not fit.is_over] or others
    if value:
        held = [fit for fit in others if fit.thing.kind == "statement"]
        named = frozenset().union(*(_held(fit, terms(words)) for fit in held))
        surest = max((fit.confidence for fit in held), default=0.0)
        others = [
            fit
            for fit in others
            if fit in held or fit.confidence >= surest or not _held(fit, terms(words)) <= named
        ]
    return fits._replace(found=tuple(others))


def _held(fit: Match, asked: frozenset[str]) -> frozenset[str]:
    """The search terms of some words that a thing, or the heading above it, has."""
    return asked & terms(f"{fit.thing.facts.get('heading', '')} {fit.thing.text}")


def _likeliest(
    store: Store, fits: Matches, words: str, value: str, now: datetime, asked: frozenset[str]
) -> Matches:
    """Those of which something is replaced, likeliest first; all where none is, and then none is clear.

    What lacks one of the search terms ``asked`` that another thing has is not meant.
    """
    found = [_meant(fit.thing, words) for fit in fits.found]
    chances = correction.update_probabilities(store, found, value or words, now, is_whole=not value)
    ranked = sorted(zip(chances, fits.found, strict=True), key=lambda each: -each[0])
    having = [_held(fit, asked) for fit in fits.found]
    kept = [
        fit
        for chance, fit in ranked
        if chance >= correction.MIN_UPDATE_P and all(has <= _held(fit, asked) for has in having)
    ]
    if not kept:
        others = sorted(fits.found, key=lambda fit: -len(_held(fit, asked)))
        kept = [fit._replace(confidence=0.0) for fit in others]
    return fits._replace(found=tuple(kept[:_MOST]))


def _meant(thing: FoundItem, words: str) -> str | correction.SourcePassage:
    if thing.kind == "statement":
        return thing.id
    turn = thing.told[0]
    return correction.SourcePassage(thing.id, thing.text, turn.time, thing.facts["trust"], words)


def _show(printer: Printer, done: correction.Correction, zone: tzinfo, *, dry_run: bool) -> None:
    def span(start: str | None, end: str | None) -> str:
        times = span_text(start, end, zone)
        return f"  ({times})" if times else ""

    lines = [f"known  {done.now.id}  {done.now.text}"]
    if done.is_new:
        ended = "never" if done.until is None else "was"
        lines = [
            f"{ended:5}  {row.id}  {row.text}{span(row.valid_from, done.until)}"
            for row in (done.was, *done.also)
        ]
        lines.append(f"is     {done.now.id}  {done.now.text}{span(done.now.valid_from, None)}")
        lines += ["nothing was written"] * dry_run
    names = "id text kind stream topic subject valid_from"
    old = [fields(row, names) | {"valid_until": done.until} for row in (done.was, *done.also)]
    mapping = {"schema": "clsm.correct/1", "dry_run": dry_run, **fields(done, "run is_new")}
    printer.show({**mapping, "was": old[0], "also": old[1:], "is": fields(done.now, names)}, lines)
