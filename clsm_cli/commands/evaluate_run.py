"""``clsm eval run``: labelled sets, published systems, mechanisms and probes, in one table."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from clsm_cli.commands import completion
from clsm_cli.commands.help import Command
from clsm_cli.commands.options import (
    JsonOption,
    QuietOption,
    StoreOption,
    VerboseOption,
    examples,
)
from clsm_cli.commands.output import Printer, plain
from clsm_cli.commands.runtime import UsageError, chosen_store
from clsm_cli.commands.workshop import (
    EvalNowOption,
    FreshOption,
    SeedOption,
    WorkOption,
    opened_engine,
    workshop,
)
from clsm_cli.errors import BadInputError, RegressionError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from clsm_cli.evaluation.dataset import Dataset
    from clsm_cli.evaluation.gate import Gate
    from clsm_cli.evaluation.result import Result

ALL = "all"
EXAMPLES = examples(
    "clsm eval run                                   # your own set, as clsm eval",
    "clsm eval run fixtures/sample --preset all --ablate all --out report",
    "clsm eval run ~/data/locomo10.json nodes=~/data/locomo10.json",
    "clsm eval run --probe all",
    "clsm eval run queries.yaml --json > before.json",
    "clsm eval run queries.yaml --set recall.k=20 --baseline before.json --fail-under 0",
)


def run(
    datasets: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[DATASET]...",
            help="Labelled sets: PATH, or KIND=PATH where the kind is not what the files show; see"
            " docs/evaluation.md. None: your own, in the store.",
            show_default=False,
        ),
    ] = None,
    *,
    preset: Annotated[
        list[str] | None,
        typer.Option(
            metavar="P",
            help="Compare a published system too; all: each of them.",
            autocompletion=completion.presets,
        ),
    ] = None,
    ablate: Annotated[
        list[str] | None,
        typer.Option(
            metavar="M", help="Measure without a mechanism too; all: each, one at a time."
        ),
    ] = None,
    probe: Annotated[
        list[str] | None,
        typer.Option(metavar="P", help="Run a probe too, or alone; all: each of them."),
    ] = None,
    unanswerable: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FILE",
            help="Put the questions of a file to the sets too, which they do not answer"
            " (fixtures/questions).",
        ),
    ] = None,
    changed: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Measure with another setting."),
    ] = None,
    baseline: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Compare with the report.json of an earlier run."),
    ] = None,
    fail_under: Annotated[
        float | None,
        typer.Option(
            metavar="POINTS",
            help="Exit with 18 where the headline figure is below; with --baseline, where the"
            " difference is (-1: a point may be lost).",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Write report.json, report.md and queries.jsonl there."),
    ] = None,
    limit: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help="Take the first N cases of each set only."),
    ] = None,
    work: WorkOption = None,
    fresh: FreshOption = False,
    seed: SeedOption = 0,
    store: StoreOption = None,
    now: EvalNowOption = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
) -> None:
    """Measure what recall finds: against plain searches, published systems, and itself without a part.

    Every set is taken in by the real ingest and consolidate, in stores of its own; what is known is
    found again by the next run, so an interrupted one goes on. Your store is read, never written.
    """
    from clsm_cli.evaluation.run import Request
    from clsm_cli.evaluation.run import run as measure

    printer = Printer(as_json=as_json, quiet=quiet, verbose=verbose)
    before = _before(baseline, fail_under)
    _check_folder(out)
    settings = _settings(changed or [])
    given = {
        "--preset": preset,
        "--ablate": ablate,
        "--probe": probe,
        "--unanswerable": [path.name for path in unanswerable or ()],
        "--set": changed,
    }
    try:
        request = Request(
            datasets=tuple(
                _datasets(datasets or [], limit, store, unanswerable or (), has_probes=bool(probe))
            ),
            presets=tuple(_named("--preset", preset or [], _presets())),
            mechanisms=_mechanisms(ablate or []),
            probes=tuple(_named("--probe", probe or [], _probes())),
            settings=settings,
            seed=seed,
            command=_typed(datasets or [], given, limit, seed),
        )
        shop = workshop(printer, work, now, fresh=fresh)
        result = measure(request, shop, opened_engine())
    finally:
        printer.end_progress()
    gated = _gate(result, before, fail_under)
    if out is not None:
        _write(printer, out, result)
    _show(printer, result, gated)
    if gated is not None and gated.failed:
        raise RegressionError(gated.sentences)


def register(app: typer.Typer) -> None:
    """Add it to the group."""
    app.command("run", cls=Command, epilog=EXAMPLES)(run)


def _before(baseline: Path | None, fail_under: float | None) -> Result | None:
    """The earlier run; a limit is looked at before any work is done."""
    from clsm_cli.evaluation import gate
    from clsm_cli.evaluation.result import load

    gate.check_limit(fail_under)
    return None if baseline is None else load(baseline)


def _check_folder(out: Path | None) -> None:
    if out is not None and out.expanduser().exists() and not out.expanduser().is_dir():
        raise BadInputError(str(out), "is no folder", "name another one with --out")


def _datasets(
    specs: Sequence[str],
    limit: int | None,
    store: str | None,
    unanswerable: Sequence[Path],
    *,
    has_probes: bool,
) -> list[Dataset]:
    """The sets that were named; none: the store's own, unless only probes are wanted."""
    from functools import reduce

    from clsm_cli.evaluation.loaders import locomo, queries, registry
    from clsm_cli.evaluation.own import sheet

    found = []
    if not specs and not has_probes:
        chosen = chosen_store(store)
        path = sheet.path(chosen)
        if not path.exists():
            raise BadInputError(str(path), *sheet.ADVICE)
        found.append(queries.load(path, chosen.root))
    for spec in specs:
        loaded = registry.load(spec)
        found.append(loaded if limit is None else registry.first(loaded, limit))
    return [reduce(locomo.with_unanswerable, unanswerable, each) for each in found]


def _presets() -> tuple[str, ...]:
    from clsm_cli.evaluation.presets.preset import PRESETS

    return PRESETS


def _probes() -> tuple[str, ...]:
    from clsm_cli.evaluation.probes.registry import PROBES

    return tuple(PROBES)


def _named(option: str, names: Sequence[str], known: Sequence[str]) -> list[str]:
    """The names that were given, each once; all: every one that is known."""
    found: dict[str, None] = {}
    for name in names:
        if name != ALL and name not in known:
            raise UsageError(option, f"{name!r} is none of {', '.join(known)}, {ALL}")
        found |= dict.fromkeys(known if name == ALL else [name])
    return list(found)


def _mechanisms(names: Sequence[str]) -> tuple[str, ...]:
    from clsm_cli.evaluation.ablation import chosen

    return tuple(mechanism.name for mechanism in chosen(names))


def _settings(changed: Sequence[str]) -> dict[str, Any]:
    from clsm_cli.evaluation import ablation

    return ablation.parse(changed)


def _typed(
    datasets: Sequence[str],
    given: Mapping[str, Sequence[str] | None],
    limit: int | None,
    seed: int,
) -> str:
    """The command, without the folders of this machine: what makes the same figures elsewhere.

    >>> _typed(["/home/me/sample", "nodes=/data/locomo"], {"--preset": ["all"]}, 2, 0)
    'clsm eval run sample nodes=locomo --preset all --limit 2'
    """
    words = ["clsm eval run", *(_without_folder(spec) for spec in datasets)]
    words += [f"{option} {value}" for option, values in given.items() for value in values or ()]
    words += [f"--limit {limit}"] if limit is not None else []
    words += [f"--seed {seed}"] if seed else []
    return " ".join(words)


def _without_folder(spec: str) -> str:
    kind, mark, path = spec.rpartition("=")
    return f"{kind}{mark}{Path(path).name}"


def _gate(result: Result, before: Result | None, fail_under: float | None) -> Gate | None:
    from clsm_cli.evaluation import gate

    if before is not None:
        return gate.against(result, before, fail_under)
    return None if fail_under is None else gate.alone(result, fail_under)


def _write(printer: Printer, out: Path, result: Result) -> None:
    from clsm_cli.evaluation.reporting import report

    for path in report.write(out.expanduser(), result):
        printer.warn(f"wrote {path}")


def _show(printer: Printer, result: Result, gated: Gate | None) -> None:
    from clsm_cli.commands import render_gate, render_run, tables
    from clsm_cli.evaluation.result import dump

    mapping = dump(result)
    found = render_run.tables(result, verbose=printer.verbose)
    if gated is not None:
        mapping["gate"] = plain(gated)
        found += render_gate.tables(gated)
    tables.show(printer, mapping, found)
