"""``clsm eval label``: make a labelled set of your own, in your editor or by a sheet for scripts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clsm_cli.commands import editor
from clsm_cli.commands.command_line import Common, Option
from clsm_cli.commands.environment import standard_input
from clsm_cli.commands.options import command
from clsm_cli.commands.output import Printer, count_noun
from clsm_cli.errors import BadInputError
from clsm_cli.text.terminal import safe

if TYPE_CHECKING:
    from datetime import datetime

    from clsm_cli.evaluation.own_labels import PoolItem, Proposal
    from clsm_cli.store.layout import Store

NUMBER = 20
"""Queries of one call: about a quarter of an hour."""
MOST = 500
LONGEST = 300
"""Characters of an item that are shown."""
_HOW = """\
# Put an x between the brackets of every item that answers its query, or before "none of these".
# A query without an x is passed over. You may write other words behind "query:". Then save and close.
"""


@command(
    "clsm eval label                    # in $EDITOR",
    "clsm eval label --number 50",
    "clsm eval label --json > sheet.json   # for scripts and agents",
    "clsm eval label --from sheet.json",
    number=Option("--number -n", "N", "Queries proposed.", least=1, most=MOST),
    marked=Option(
        "--from",
        "FILE",
        "Take marks from what --json printed, with relevant and none filled in; - reads"
        " standard input.",
    ),
)
def label(*, number: int = NUMBER, marked: str | None = None, common: Common) -> None:
    """Say which memories answer queries of your own, for "clsm eval" to measure by.

    Queries are proposed from the store: what you asked before, facts that changed, concepts, and some
    that should find nothing. To each the first items of clsm, BM25 and MiniLM are listed,
    mixed, in a file that opens in $VISUAL or $EDITOR. What you mark is saved in eval/queries.yaml,
    and the next call goes on.
    """
    printer, opened, moment = common.start()
    if marked is not None:
        _end(printer, opened, _save(printer, opened, _text(marked), marked))
        return
    blank = _blank(printer, opened, moment, number)
    if not blank["queries"]:
        printer.warn("nothing new to propose; ingest more, or write queries by hand")
        _end(printer, opened, 0)
        return
    if common.as_json:
        printer.json(blank)
        return
    saved = editor.edit_text(
        opened.derived / "edit",
        "queries",
        todo_file(blank),
        lambda text: _save(printer, opened, json.dumps(read_todo(text, blank)), "the list"),
        printer,
    )
    _end(printer, opened, saved)


def _save(printer: Printer, store: Store, text: str, name: str) -> int:
    """Save the labels of a sheet; their number."""
    from clsm_cli.evaluation import own_labels

    rows, left = own_labels.read_sheet(text, name, own_labels.NameLookup(store))
    printer.warn_all(own_labels.save_labels(store, rows) if rows else ())
    if left:
        printer.warn(f"{name}: queries without a mark were passed over: {left}")
    return len(rows)


def _text(name: str) -> str:
    from clsm_cli.config import MAX_FILE
    from clsm_cli.evaluation.dataset import read_bytes

    if name == "-":
        return standard_input(MAX_FILE, "make it with: clsm eval label --json > FILE")
    return read_bytes(Path(name)).decode("utf-8-sig", "replace")


def _blank(printer: Printer, store: Store, now: datetime, number: int) -> dict[str, Any]:
    """The sheet of some queries with their items."""
    from clsm_cli.commands.evaluate_run import make_factory, open_engine
    from clsm_cli.evaluation import own_labels

    known = [row.text for row in own_labels.read_labels(store).rows]
    proposals = own_labels.propose(own_labels.whole_memory(store), known, number)
    if not proposals:
        return {"queries": []}
    factory = make_factory(printer, store.derived, now.isoformat(), fresh=False)
    pools = own_labels.Pools(store, factory, open_engine())
    done = iter(range(len(proposals)))

    def items(proposal: Proposal) -> list[PoolItem]:
        printer.progress("proposals", next(done), len(proposals))
        return pools.items_for(proposal.text, proposal.hidden)

    return own_labels.blank_sheet(proposals, items)


def todo_file(blank: dict[str, Any]) -> str:
    """A sheet as a file to mark in; ``read_todo`` reads it back."""
    parts = [_HOW]
    for query in blank["queries"]:
        lines = [f"# {query['about']}", f"query: {query['query']}"]
        for item in query["items"]:
            text = item["text"][:LONGEST]
            lines.append(f"[ ] {item['id']}  {item['day']}  {text}")
        parts.append("\n".join(map(safe, (*lines, "[ ] none of these", ""))))
    return "\n".join(parts)


def read_todo(text: str, blank: dict[str, Any]) -> dict[str, Any]:
    """The sheet with the marks of a file."""
    known = {safe(query["query"]): (query["query"], query["kind"]) for query in blank["queries"]}
    found: list[dict[str, Any]] = []
    for number, line in enumerate(text.split("\n"), 1):
        box, words = line[:3].lower(), line[3:].split()
        if not line.strip() or line.startswith("#"):
            continue
        if line.startswith("query:"):
            asked = line.removeprefix("query:").strip()
            query, kind = known.get(asked, (asked, "asked"))
            found.append({"query": query, "kind": kind, "items": []})
        elif found and words and box in ("[ ]", "[x]"):
            if words == ["none", "of", "these"]:
                found[-1]["none"] = box == "[x]" or None
            elif box == "[x]":
                found[-1]["items"].append({"id": words[0], "relevant": True})
        else:
            raise BadInputError("the list", f"line {number} is no query and no item", "mend it")
    return {"queries": found}


def _end(printer: Printer, store: Store, saved: int) -> None:
    from clsm_cli.evaluation import own_labels

    path = own_labels.labels_path(store)
    total = len(own_labels.read_labels(store).rows)
    if printer.as_json:
        told = {"schema": own_labels.SCHEMA, "saved": saved, "labelled": total}
        printer.json({**told, "path": path, "queries": []})
        return
    printer.lines([f"{count_noun(saved, 'label')} saved, {count_noun(total, 'label')} in {path}"])
    printer.lines(["measure with: clsm eval"] if total else [])
