"""``clsm eval``: how good recall is, measured; ``clsm eval label``: make a labelled set of your own."""

from collections.abc import Iterator
from datetime import datetime

import typer

from clsm_cli.commands import editor, evaluate_run, evaluate_shadow
from clsm_cli.commands.command_line import Common, UsageError, named_text, option
from clsm_cli.commands.options import Command, command, examples
from clsm_cli.commands.output import Printer, count_noun
from clsm_cli.config import MAX_FILE
from clsm_cli.evaluation import own_labels
from clsm_cli.evaluation.own_labels import Proposal
from clsm_cli.store import labels
from clsm_cli.store.layout import Store

app = typer.Typer(
    help="How good recall is, measured.",
    invoke_without_command=True,
    add_completion=False,
    rich_markup_mode=None,
    epilog=examples(
        "clsm eval                          # your own labelled set",
        "clsm eval label                    # make one",
        "clsm eval run ~/data/locomo10.json",
        "clsm eval shadow start --static MEMORY.md",
    ),
)


@app.callback()
@command()
def evaluate(context: typer.Context, *, common: Common) -> None:
    """How good recall is, measured: on your own labelled set, or on a public one.

    Alone it asks the queries of eval/queries.yaml in the store, and says how well clsm and plain
    searches answer them; "clsm eval label" makes that file.
    """
    if context.invoked_subcommand is None:
        evaluate_run.run(**common._asdict())


app.command("run", cls=Command, epilog=vars(evaluate_run.run)["epilog"])(evaluate_run.run)
app.add_typer(evaluate_shadow.group, name="shadow")

NUMBER = 20  # queries of one call: about a quarter of an hour
MOST = 500
_MAKE = "make it with: clsm eval label --print > FILE"


@command(
    "clsm eval label                    # in $EDITOR",
    "clsm eval label --number 50",
    "clsm eval label --print > list.txt   # for scripts and agents",
    "clsm eval label --from list.txt",
    group=app,
)
def label(
    *,
    number: int = option("--number -n N", "Queries proposed.", least=1, most=MOST, default=NUMBER),
    printed: bool = option("--print", "Print the list instead of opening an editor."),
    marked: str | None = option(
        "--from FILE", "Take the marks of a list that --print gave; - reads standard input."
    ),
    common: Common,
) -> None:
    """Say which memories answer queries of your own, for "clsm eval" to measure by.

    Queries are proposed from the store: what you asked before, facts that changed, concepts, and some
    that should find nothing. To each the first items of clsm, BM25 and MiniLM are listed, mixed, in
    a file that opens in $VISUAL or $EDITOR. What you mark is saved in eval/queries.yaml, and the
    next call goes on.
    """
    if common.as_json and marked is None:
        raise UsageError("--json", "goes with --from; take the list with --print")
    printer, opened, moment = common.start()
    if marked is not None:
        _save(printer, opened, named_text(marked, MAX_FILE, _MAKE, "strict"))
        return
    blank = _blank(printer, opened, moment, number)
    if printed:
        printer.utf8([blank.removesuffix("\n")] if blank else [])
    elif blank:
        folder = opened.derived / "edit"
        editor.edit_text(folder, "queries", blank, lambda t: _save(printer, opened, t), printer)


def _save(printer: Printer, store: Store, text: str) -> None:
    rows, left = own_labels.read_todo(text, own_labels.NameLookup(store))
    printer.warn_all(own_labels.save_labels(store, rows) if rows else ())
    if left:
        printer.warn(f"queries without a mark were passed over: {left}")
    path = labels.path_of(store.root)
    total = len(labels.load(store.root)[-1].rows)
    told = {"schema": "clsm.label/2", "saved": len(rows), "labelled": total, "path": path}
    saved = f"{count_noun(len(rows), 'label')} saved, {count_noun(total, 'label')} in {path}"
    printer.show(told, [saved, *(["measure with: clsm eval"] if total else [])])


def _blank(printer: Printer, store: Store, now: datetime, number: int) -> str:
    """The list of some queries with their items; empty where there is nothing to ask."""
    known = [row.text for row in labels.load(store.root)[-1].rows]
    proposals = own_labels.propose(own_labels.whole_memory(store), known, number)
    if not proposals:
        printer.warn("nothing new to propose; ingest more, or write queries by hand")
        return ""
    factory = evaluate_run.make_factory(printer, store.derived, now.isoformat(), fresh=False)
    pool = own_labels.open_pools(store, factory, evaluate_run.open_engine())

    def listed() -> Iterator[Proposal]:
        for done, each in enumerate(proposals):
            printer.progress("proposals", done, len(proposals))
            yield each

    return own_labels.todo_list(listed(), pool)
