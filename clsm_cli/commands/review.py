"""``clsm review``: decide what only a person can decide, in a list or in an editor."""

import sys
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import tzinfo
from functools import partial
from typing import Any

from clsm_cli.commands import editor
from clsm_cli.commands.command_line import DRY_RUN, Common, UsageError, option
from clsm_cli.commands.options import command
from clsm_cli.commands.output import LinkedLine, fields, is_terminal
from clsm_cli.consolidation.active_learning import STILL_WORTH, WORTH
from clsm_cli.consolidation.statement_selection import KEPT_VERDICTS
from clsm_cli.consolidation.store_state import NEAR_NAMES
from clsm_cli.curation import review_queue, selection_reasons
from clsm_cli.curation.review_queue import Outcome, State
from clsm_cli.curation.selection_reasons import Explanation
from clsm_cli.errors import BadInputError
from clsm_cli.inspection.item_lookup import QuestionSources, question_sources
from clsm_cli.startup.records import NamedTuple
from clsm_cli.store.logs import ReviewItem
from clsm_cli.text.terminal import safe


@command(
    "clsm review                       # decide in $EDITOR",
    "clsm review --json                # what is open, as data",
    "clsm review --accept v-3a9c12d08e41 --reject v-91ab",
    "clsm review --why f-3a9c12d08e41  # what made this sentence a statement",
)
def review(
    *,
    accept: tuple[str, ...] = option(
        "--accept ID", "Accept this item, or keep this statement; repeat for more."
    ),
    reject: tuple[str, ...] = option(
        "--reject ID", "Reject this item, or take this statement out; repeat for more."
    ),
    why: str | None = option(
        "--why ID", "Say how a statement, or a sentence of the list, was weighed."
    ),
    everything: bool = option("--all", "List also what expired or was decided."),
    dry_run: bool = DRY_RUN,
    common: Common,
) -> None:
    """Decide what only a person can decide.

    Contradictions, sentences that may be worth keeping, names that may mean one thing, statements that
    may say the same. At a terminal the list opens in $VISUAL or $EDITOR; else it is printed,
    the most important first. Any statement can be accepted or rejected by its id too. What you decide
    about sentences, and what you pin, correct or delete, changes how similar ones are judged.
    """
    printer, opened, moment = common.start()
    if why is not None:
        if accept or reject:
            reason = "explains, and decides nothing; leave out --accept and --reject"
            raise UsageError("--why", reason)
        if not why.strip():
            raise UsageError("--why", "is empty; name a statement or a sentence of the list")
        explanation = selection_reasons.explain(opened, why, moment)
        decisions = [
            {"share": round(share, 4), "id": each.name, "text": each.text, "is_kept": each.is_kept}
            for share, each in explanation.shares
        ]
        shown = {"schema": "clsm.review.why/1", **fields(explanation, _EXPLANATION_FIELDS)}
        printer.show({**shown, "decisions": decisions}, explanation_lines(explanation))
        return
    decide = partial(review_queue.decide, opened, now=moment, warn=printer.warn, dry_run=dry_run)
    wanted: list[tuple[str, State]] = [(each, "accepted") for each in accept]
    wanted += [(each, "rejected") for each in reject]
    items = [] if wanted else review_queue.list_items(opened, moment, everything=everything)
    sources = question_sources(opened, items) if items else {}
    outcome = decide(wanted) if wanted else None
    is_asked = bool(items) and not everything and not common.as_json and printer.is_terminal
    if is_asked and is_terminal(sys.stdin):

        def take(text: str) -> Outcome:
            found = read_todo(text, items)
            return decide(found.items()) if found else Outcome()

        text = todo_file(items, sources, opened.zone)
        outcome = editor.edit_text(opened.derived / "edit", "review", text, take, printer)
    if outcome is not None:
        lines = decision_lines(outcome, dry_run=dry_run)
    else:
        lines = review_lines(items, sources, opened.zone)
    printer.show(review_mapping(items, sources, outcome, dry_run=dry_run), lines)
    if outcome is not None and outcome.problems:
        printer.warn_all(str(problem) for problem in outcome.problems[1:])
        raise outcome.problems[0]


_EXPLANATION_FIELDS = "id text reason chance keep worth noise noise_limit is_held"
_WIDTH = 96
_MAX_TEXT = 2000  # characters shown of a text


class Question(NamedTuple):
    """A review item in plain words; each quoted sentence is on its own line."""

    what: str
    accept: str
    reject: str


_QUESTIONS = {
    review_queue.LOST: Question(
        "You set values of a statement, and another machine wrote it later.\nYours were: {other}",
        "your values are set again, and pinned",
        "the newer values stay",
    ),
    review_queue.TWO_TEXTS: Question(
        "One statement has two texts, perhaps after a merge.\nIt says: {kept}\nThe other text: {other}",
        "it says what the other text says",
        "it says what it says now, and the other text is withdrawn",
    ),
    review_queue.CONTRADICTION: Question(
        "Two things may not both be true.\nMemory says: {kept}\nSomething else says: {other}",
        "the other one takes its place; what memory says is closed, not deleted",
        "both stay",
    ),
    NEAR_NAMES: Question(
        "Two names may mean one thing: {kept} and {other}",
        "they are one thing from the next consolidation on",
        "they are kept apart for ever",
    ),
    WORTH: Question(
        "Is this worth keeping? (No statement yet; memory thinks so with a probability of {other}.)\n{kept}",
        "it becomes a statement, and sentences like it are likelier kept",
        "it stays in its source alone, and sentences like it are less likely kept",
    ),
    STILL_WORTH: Question(
        "Is this still worth keeping? (It is a statement; probability {other}.)\n{kept}",
        "it stays, no run changes it, and sentences like it are likelier kept",
        "it is taken out, its source stays, and sentences like it are less likely kept",
    ),
}
_UNKNOWN = Question("{reason}: {kept} {other}", "noted", "noted")
_ON_STATEMENTS = (review_queue.TWO_TEXTS, review_queue.CONTRADICTION)
_QUOTING = (*_ON_STATEMENTS, WORTH, STILL_WORTH)  # of questions about sentences, which have sources

_STATES: dict[str, State | None] = {"accept": "accepted", "reject": "rejected", "leave": None}
_STATES |= {word[0]: state for word, state in _STATES.items()}


def as_question(item: ReviewItem) -> Question:
    """A review item as a question in plain words, on one line."""
    asked = _question(item)
    return asked._replace(what=asked.what.replace("\n", " "))


def _question(item: ReviewItem) -> Question:
    kept, other = (" ".join(text.split())[:_MAX_TEXT] for text in (item.kept, item.other))
    form, reason = _QUESTIONS.get(item.reason, _UNKNOWN), " ".join(item.reason.split())
    return form._replace(what=form.what.format(kept=kept, other=other, reason=reason).strip())


def question_lines(
    item: ReviewItem, sources: QuestionSources | None, zone: tzinfo
) -> Iterator[str]:
    """The question, one sentence per line, each followed by its source."""
    form = _QUESTIONS.get(item.reason, _UNKNOWN).what
    for shown, line in zip(_question(item).what.split("\n"), form.split("\n"), strict=False):
        yield f"  {shown}"
        turn = sources and (
            sources.kept if "{kept}" in line else sources.other if "{other}" in line else None
        )
        if turn and turn.file and item.reason in _QUOTING:
            yield LinkedLine.of(turn, turn.time, zone, indent=4)


_HOW = (
    "# Change the word before an id: accept, reject, or leave (a, r, l). Then save and close.\n"
    "# Lines that begin with # are not read; a line that is missing leaves its item open.\n"
)


def review_lines(
    items: Sequence[ReviewItem], sources: Mapping[str, QuestionSources], zone: tzinfo
) -> Iterator[str]:
    """The review list as text."""
    if not items:
        yield "nothing to decide"
    for item in items:
        asked = as_question(item)
        state = "" if item.state == "open" else f"  {item.state}"
        yield f"{item.id}  {item.reason}{state}  ({item.at[:10]})"
        yield from question_lines(item, sources.get(item.id), zone)
        yield f"  accept: {asked.accept}"
        yield f"  reject: {asked.reject}"


def review_mapping(
    items: Sequence[ReviewItem],
    sources: Mapping[str, QuestionSources],
    outcome: Outcome | None,
    *,
    dry_run: bool,
) -> dict[str, Any]:
    """The review list and decisions as a JSON object."""
    done = outcome or Outcome()
    listed = [
        {**item._asdict(), **as_question(item)._asdict()}
        | {"sources": sources[item.id] if item.reason in _QUOTING else None}
        for item in items
    ]
    return {
        "schema": "clsm.review/1",
        "dry_run": dry_run,
        "run": done.run,
        "items": listed,
        "decisions": [
            {"id": each.item.id, **fields(each, "state effect is_new")} for each in done.decisions
        ],
        "problems": [str(problem) for problem in done.problems],
    }


_REASONS = {
    "kept": "{keep:.0%} in all; what reaches {worth:.0%} is kept, so this is kept",
    "worth": "{keep:.0%} in all; what reaches {worth:.0%} is kept, so this is not kept",
    "noise": "{keep:.0%} in all, and {worth:.0%} would do; but it is junk with {noise:.0%}, and what passes"
    " {noise_limit:.0%} is not kept",
    "unclear": "not kept: it cannot be understood alone, or the reply says otherwise",
    "untold": "not kept, however likely: it asks, or gives an idea, a rumour or what its speaker denies",
    "document": "not kept: its document is a template, or a text of others",
    "gone": "not kept: its document does not have it any more",
    "unsaid": "not kept: a tool or a page says it, not a person or the agent",
    "noted": "kept: it was noted by itself",
    "heir": "kept: it takes the place of what was kept, in a line that was rewritten",
    "task": "is a task, an item with a box; those are not weighed as sentences are",
    "gist": "is a summary that clsm works out anew from what it is about",
    "pinned": "kept: a person keeps it, and no run changes it",
    "withdrawn": "not kept: it was taken out, and no run writes it again",
    "ended": "was kept, until something else took its place or its source went",
    "by hand": "was not weighed: a person wrote it",
    "adviser": "was not weighed: its source does not have it in these words, so an adviser put it like that",
}
"""``Explanation.reason`` → what decided about a sentence, in words."""
_STAYS = "; it is a statement already, and stays one"
_NO_STATEMENT = (
    "; it is no statement, as it was read before, or memory has it already or says otherwise"
)


def explanation_lines(explanation: Explanation) -> Iterator[str]:
    """How a sentence was scored, in words; the deciding reason comes last."""
    yield f"{explanation.id}  {explanation.text}"
    if explanation.chance is not None:
        yield f"  {explanation.chance:.0%} likely to be of use weeks later, by where it stands and how it is put"
    for share, each in explanation.shares:
        verb = "more" if share > 0 else "less"
        done = "kept" if each.is_kept else "rejected"
        yield f"  {verb} likely by {abs(share):.2f}, as you {done} {each.name}: {each.text}"
    decided = _REASONS[explanation.reason].format(**explanation._asdict())
    is_kept = explanation.reason in KEPT_VERDICTS
    is_odd = explanation.chance is not None and is_kept != explanation.is_held
    since = explanation.reason in ("pinned", "withdrawn", "ended", "task")
    yield f"  {decided}" + ("" if since or not is_odd else _NO_STATEMENT if is_kept else _STAYS)


def decision_lines(outcome: Outcome, *, dry_run: bool) -> Iterator[str]:
    """The results of decisions, one per line."""
    for each in outcome.decisions:
        state = f"{each.state} before" if not each.is_new else each.state
        yield f"{each.item.id}  {state}" + (f": {each.effect}" if each.is_new else "")
    if dry_run:
        yield "nothing was written"


def todo_file(
    items: Iterable[ReviewItem], sources: Mapping[str, QuestionSources], zone: tzinfo
) -> str:
    """The list as an editable file; ``read_todo`` parses it."""
    parts = [_HOW]
    for item in items:
        asked = as_question(item)
        lines = question_lines(item, sources.get(item.id), zone)
        notes = (item.reason, *lines, f"accept: {asked.accept}", f"reject: {asked.reject}")
        wrapped = (textwrap.wrap(safe(n), _WIDTH, break_on_hyphens=False) for n in notes)
        parts.append(f"leave {item.id}\n" + "".join(f"#   {x}\n" for w in wrapped for x in w))
    return "\n".join(parts)


def read_todo(text: str, items: Iterable[ReviewItem]) -> dict[str, State]:
    """Id → decision, from an edited file."""
    known = {item.id for item in items}
    found: dict[str, State] = {}
    for number, line in enumerate(text.split("\n"), 1):
        words = line.split()
        if not words or words[0].startswith("#"):
            continue
        if len(words) != 2 or words[0] not in _STATES or words[1] not in known:
            raise BadInputError(
                "the list",
                f"line {number} is not accept, reject or leave with an id of the list",
                "mend it and save again",
            )
        state = _STATES[words[0]]
        if words[1] in found and found[words[1]] != state:
            raise BadInputError("the list", f"line {number} decides an item again", "mend it")
        if state is not None:
            found[words[1]] = state
    return found
