"""``clsm eval run``, in reading order: each set tried, each probe run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import clsm_cli
from clsm_cli.errors import BadInputError
from clsm_cli.evaluation import machine, trial
from clsm_cli.evaluation.answers.calls import Calls
from clsm_cli.evaluation.probes.registry import PROBES
from clsm_cli.evaluation.remembering import Remembering
from clsm_cli.evaluation.result import SCHEMA, Result
from clsm_cli.integrations.llm import Llm, LlmError

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
        BadInputError: A set cannot be ingested, there is no mechanism of a name, or no language
            model can be asked.
        DiskError: The work folder cannot be written.
    """
    calls = _calls(request, shop)
    engine = Remembering(engine)
    return Result(
        schema=SCHEMA,
        version=clsm_cli.__version__,
        command=request.command,
        machine=machine.described(),
        seed=request.seed,
        settings={name: str(value) for name, value in sorted(request.settings.items())},
        sets=tuple(
            trial.of_set(dataset, request, shop, engine, calls) for dataset in request.datasets
        ),
        probes=tuple(PROBES[name].run(shop, engine, request.seed) for name in request.probes),
    )


def _calls(request: Request, shop: Workshop) -> Calls | None:
    """The language model that answers, where one is wanted; refused before any work is done."""
    if request.llm is None:
        return None
    try:
        llm = Llm(request.llm, request.key)
    except LlmError as error:
        raise BadInputError(
            "--answer", f"needs a language model, but {error}", "or leave it out"
        ) from None
    return Calls(llm, request.llm.model, shop.folder, fresh=shop.fresh)
