"""Where the CPU time of one cold recall goes: a clock around the functions of each stage.

The table below is all that knows the code. :mod:`benchmarks.cold_start` calls :func:`trace`.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from benchmarks.measure import run

if TYPE_CHECKING:
    from collections.abc import Sequence


TRACED = Path(__file__).with_name("traced.py")


class Stage(NamedTuple):
    """A function, and the row that its time goes to; at least one function of a row must run."""

    label: str
    module: str
    function: str


STAGES = (
    Stage("store: find and read its settings", "clsm_cli.commands.command_line", "Common.opened"),
    Stage("index: open", "clsm_cli.store.index.opening", "open_index"),
    Stage("index: is it fresh", "clsm_cli.store.index.opening", "changes"),
    Stage("index: is it fresh", "clsm_cli.store.index.opening", "_is_ready"),
    Stage("model: are its files right", "clsm_cli.embedding.weights", "check"),
    Stage("model: load onnxruntime", "clsm_cli.embedding.onnx_session", "_load"),
    Stage("model: sessions", "clsm_cli.embedding.onnx_session", "Session"),
    Stage("query: understand", "clsm_cli.retrieval.question", "understand"),
    Stage("query: word pieces", "clsm_cli.startup.query_pieces", "cut_pieces"),
    Stage("query: encode", "clsm_cli.embedding.query_vectors", "QueryEncoder.encode"),
    Stage("rank: words", "clsm_cli.retrieval.lexical_search", "search"),
    Stage("rank: words", "clsm_cli.retrieval.lexical_search", "LexicalMatches.score_groups"),
    Stage("rank: meaning", "clsm_cli.retrieval.dense_search", "Meaning._products"),
    Stage("rank: meaning", "clsm_cli.retrieval.dense_search", "Meaning.nearest"),
    Stage("rank: late interaction", "clsm_cli.retrieval.dense_search", "Meaning.late_interaction"),
    Stage("rank: fuse", "clsm_cli.retrieval.ranking", "rank"),
    Stage("answer: concepts", "clsm_cli.retrieval.concepts", "rank_concepts"),
    Stage("answer: passages", "clsm_cli.retrieval.result_items", "build_items"),
    Stage("answer: pack", "clsm_cli.retrieval.recall", "_answer"),
    Stage("answer: remember the use", "clsm_cli.retrieval.recall", "touch"),
    Stage("answer: print", "clsm_cli.commands.output", "Printer.lines"),
)


def trace(arguments: Sequence[str], variables: dict[str, str], runs: int) -> dict[str, float]:
    """CPU seconds of each stage of a command, medians of ``runs`` processes, in order of the clock.

    The first stage is the interpreter's start, the last what happens after the command's end.

    Raises:
        RuntimeError: A stage of the table did not run: the table is older than the code.
    """
    seconds: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        table, out = Path(folder) / "table", Path(folder) / "out"
        table.write_text("".join("\t".join(stage) + "\n" for stage in STAGES))
        command = [sys.executable, str(TRACED), str(out), str(table), *arguments]
        run(command, variables)
        for _ in range(runs):
            whole = run(command, variables).cpu
            rows = [line.split("\t") for line in out.read_text().splitlines()]
            found = {label: float(value) for label, value in rows}
            for label, value in {**found, "exit": whole - sum(found.values())}.items():
                seconds.setdefault(label, []).append(value)
    if idle := {stage.label for stage in STAGES} - seconds.keys():
        raise RuntimeError(f"stages that did not run: {sorted(idle)}; mend the table")
    return {label: statistics.median(values) for label, values in seconds.items()}
