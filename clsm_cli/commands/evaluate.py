"""``clsm eval``: how good recall is, measured on labelled sets, by probes, and beside an agent's files."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path

from clsm_cli.commands import engine
from clsm_cli.commands.command_line import Common, UsageError, option, parse_start
from clsm_cli.commands.engine import QueryEngine
from clsm_cli.commands.options import command, command_group
from clsm_cli.commands.output import Printer, Table, count_noun, plain, table_lines
from clsm_cli.evaluation import benches, grids, shadow_mode
from clsm_cli.evaluation.grids import Grid
from clsm_cli.evaluation.presets.published import PRESETS
from clsm_cli.evaluation.result import Result
from clsm_cli.evaluation.shadow_mode import Report
from clsm_cli.evaluation.stores import StoreFactory

app = command_group(
    "How good recall is, measured.",
    "clsm eval run ~/data/locomo10.json",
    "clsm eval shadow --static MEMORY.md",
)


@command(
    "clsm eval run fixtures/sample --preset all --ablate all --verbose",
    "clsm eval run ~/data/locomo10.json nodes=~/data/locomo10.json",
    "clsm eval run --probe all",
    "clsm eval run fixtures/sample --set recall.k=20 --json",
    group=app,
    no_effect=("store", "now"),
)
def run(
    datasets: tuple[str, ...] = option(
        "[DATASET]...",
        "Labelled sets: PATH, or KIND=PATH where the kind is not what the files show; see"
        " docs/evaluation.md.",
    ),
    *,
    preset: tuple[str, ...] = option(
        "--preset P", "Compare a published system too; all: each of them."
    ),
    ablate: tuple[str, ...] = option(
        "--ablate M", "Measure without a mechanism too; all: each, one at a time."
    ),
    probe: tuple[str, ...] = option("--probe P", "Run a probe too, or alone; all: each of them."),
    changed: tuple[str, ...] = option("--set KEY=VALUE", "Measure with another setting."),
    limit: int | None = option("--limit N", "Take the first N cases of each set only.", least=1),
    work: Path | None = option(
        "--work DIR",
        "Folder for the stores it makes and finds again; default: clsm/eval in the user's cache.",
    ),
    seed: int = option("--seed N", "Of intervals and samples.", least=0, default=0),
    common: Common,
) -> None:
    """Measure what recall finds: against plain searches, published systems, and itself without a part.

    Every set is taken in by the real ingest and consolidate, in stores of its own; what is known is
    found again by the next run, so an interrupted one goes on. Your own store is not touched.
    """
    from clsm_cli.evaluation.loaders import dataset_registry
    from clsm_cli.evaluation.probes.probe_registry import PROBES
    from clsm_cli.evaluation.run import Request
    from clsm_cli.evaluation.run import run as measure

    printer = common.printer()
    given = {"--preset": preset, "--ablate": ablate, "--probe": probe, "--set": changed}
    if not datasets and not probe:
        raise UsageError("DATASET", "name a labelled set, or a probe with --probe")
    sets = map(dataset_registry.load_dataset, datasets)
    request = Request(
        datasets=tuple(dataset_registry.limit_cases(each, limit) for each in sets),
        presets=_named("--preset", preset, tuple(PRESETS)),
        mechanisms=_named("--ablate", ablate, tuple(benches.MECHANISMS)),
        probes=_named("--probe", probe, tuple(PROBES)),
        settings=benches.parse(changed),
        seed=seed,
        command=_typed(datasets, given, limit, seed),
    )
    result = measure(request, make_factory(printer, work), open_engine())
    printer.show(dict(result), table_lines(run_tables(result, verbose=printer.verbose)))


def make_factory(printer: Printer, work: Path | None) -> StoreFactory:
    """Where stores of an evaluation are made; a missing model is offered at a terminal."""
    import platformdirs

    engine.offer_install(printer)
    folder = (work or platformdirs.user_cache_path("clsm") / "eval").expanduser().absolute()
    return StoreFactory(folder, engine.embedder(), printer.progress)


def open_engine() -> QueryEngine:
    """The engine of queries, opened; it remembers what it encoded, as all systems are asked the same."""
    opened = engine.QueryEngine()
    opened.open()
    opened.encode = cache(opened.encode)
    return opened


def _named(option: str, names: Sequence[str], known: Sequence[str]) -> tuple[str, ...]:
    """The names that were given, each once; all: every one that is known."""
    found: dict[str, None] = {}
    for name in names:
        if name not in (*known, "all"):
            raise UsageError(option, f"{name!r} is none of {', '.join(known)}, all")
        found |= dict.fromkeys(known if name == "all" else [name])
    return tuple(found)


def _typed(
    datasets: Sequence[str], given: Mapping[str, Sequence[str]], limit: int | None, seed: int
) -> str:
    """The command, without the folders of this machine: what makes the same figures elsewhere.

    >>> _typed(["/home/me/sample", "nodes=/data/locomo"], {"--preset": ["all"]}, 2, 0)
    'clsm eval run sample nodes=locomo --preset all --limit 2'
    """
    split = (spec.rpartition("=") for spec in datasets)
    words = ["clsm eval run", *(f"{kind}{mark}{Path(path).name}" for kind, mark, path in split)]
    words += [f"{option} {value}" for option, values in given.items() for value in values]
    words += [f"--limit {limit}"] if limit is not None else []
    words += [f"--seed {seed}"] if seed else []
    return " ".join(words)


def run_tables(result: Result, *, verbose: bool) -> Iterator[Table]:
    """What a person reads; shares in per cent; with ``verbose`` also all measures and groups."""
    for found in result["sets"]:
        sizes = grids.size_rows(found)
        yield Table(f"{found['name']} ({found['kind']})", ("it holds", ""), sizes)
        for grid in grids.set_grids(found, is_full=verbose):
            yield from _tables(grid)
        if verbose:
            yield from _tables(grids.full_grid(found))
        yield from (Table(f"- {note}") for note in found["notes"])
    for each in result["probes"]:
        yield from _tables(grids.probe_grid(each), grids.weakness_note(each))
    digests = ", ".join(f"{each['name']} {each['digest'][:12]}" for each in result["sets"])
    yield Table(f"clsm {result['version']}, seed {result['seed']}; {digests}")


def _tables(grid: Grid, *remarks: str) -> Iterator[Table]:
    yield Table(grid.title, grid.headings, grid.rows)
    yield from (Table(remark) for remark in (grid.note, *remarks) if remark)


@command(
    "clsm eval shadow --static ~/.openclaw/workspace",
    "clsm eval shadow --static SOUL.md --static MEMORY.md --since 2026-03-01",
    group=app,
)
def shadow(
    *,
    static: tuple[str, ...] = option(
        "--static FILE",
        "A file your agent loads at every start, or its workspace: SOUL.md, USER.md,"
        " MEMORY.md and the last two daily notes.",
    ),
    since: str = option("--since TIME", "Of the conversations that began since.", default="2w"),
    common: Common,
) -> None:
    """Say whether memory would have been better than the files your agent loads.

    Past conversations are replayed with what was known before each. Your agent is given nothing, and
    nothing is written. --json has each session.
    """
    if not all(each.strip() for each in static):  # the working folder is not what was meant
        raise UsageError("--static", "it is empty; name a file or a workspace")
    printer, opened, now = common.start()
    start = parse_start(since, now, opened.zone)
    engines = engine.QueryEngine(), engine.embedder()
    found = shadow_mode.report(opened, static, start, now, *engines, printer.progress)
    printer.warn_all(f"not loaded beside memory: {each}" for each in found.missing)
    printer.show(
        {"schema": "clsm.eval-shadow/5", **plain(found)}, table_lines(shadow_tables(found))
    )


def shadow_tables(report: Report) -> Iterator[Table]:
    """What a person reads; shares in per cent."""
    if report.clsm is not None:
        headings = ("", "tokens at a prompt", "in a session", "used %", "replies %")
        rows = []
        for name, side in (("clsm", report.clsm), ("files", report.static)):
            if side is not None:
                sizes = (f"{side.prompt:,.0f}", f"{side.tokens:,.0f}")
                shares = (f"{100 * side.relevance:.1f}", f"{100 * side.retention:.1f}")
                rows.append((name, *sizes, *shares))
        yield Table(f"{count_noun(len(report.rows), 'session')} in shadow mode", headings, rows)
        if report.efficiency is not None:
            yield Table(f"{100 * report.efficiency:.1f} % of the context is saved at a prompt")
    yield Table(report.verdict)
