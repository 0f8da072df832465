"""``clsm eval run``, in reading order: each set tried, each probe run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import clsm_cli
from clsm_cli.evaluation import machine, trial
from clsm_cli.evaluation.probes.registry import PROBES
from clsm_cli.evaluation.remembering import Remembering
from clsm_cli.evaluation.result import SCHEMA, Result

if TYPE_CHECKING:
    from clsm_cli.evaluation.request import Request
    from clsm_cli.evaluation.stores import Workshop
    from clsm_cli.retrieval.meaning import Engine


def run(request: Request, shop: Workshop, engine: Engine) -> Result:
    """Measure all that was asked for; nothing but the work folder is written.

    Args:
        request: What.
        shop: Where stores are made; shared by all sets.
        engine: Makes the vectors of queries; open.

    Raises:
        BadInputError: A set cannot be ingested, or there is no mechanism of a name.
        DiskError: The work folder cannot be written.
    """
    engine = Remembering(engine)
    return Result(
        schema=SCHEMA,
        version=clsm_cli.__version__,
        command=request.command,
        machine=machine.described(),
        seed=request.seed,
        settings={name: str(value) for name, value in sorted(request.settings.items())},
        sets=tuple(trial.of_set(dataset, request, shop, engine) for dataset in request.datasets),
        probes=tuple(PROBES[name].run(shop, engine, request.seed) for name in request.probes),
    )
