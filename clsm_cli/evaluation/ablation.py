"""Ablations: every mechanism of clsm that can be taken out, and how.

Most are a setting at the value that switches it off, as a user could write it into ``clsm.yaml``.
"""

from __future__ import annotations

from dataclasses import replace
from difflib import get_close_matches
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from clsm_cli.config import Settings, defaults, with_changes
from clsm_cli.errors import BadInputError, ModelMissingError
from clsm_cli.evaluation import benches
from clsm_cli.evaluation.systems import recall_system
from clsm_cli.startup.records import NamedTuple
from clsm_cli.store import yaml_text
from clsm_cli.text.terminal import safe

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from clsm_cli.evaluation.benches import Bench
    from clsm_cli.evaluation.systems import System


def parse(pairs: Sequence[str]) -> dict[str, Any]:
    """Settings given as ``KEY=VALUE`` by the rules of ``clsm.yaml``.

    Raises:
        BadInputError: No pair, an unknown setting, or a value of the wrong type.

    >>> parse(["recall.fold=1.1", "graph.top = 5"])
    {'recall.fold': 1.1, 'graph.top': 5}
    """
    found: dict[str, Any] = {}
    for pair in pairs:
        key, sign, text = (part.strip() for part in pair.partition("="))
        what = f"--set {safe(pair[:80])}"
        if not (key and sign and text):
            raise BadInputError(what, "is no KEY=VALUE", "write it like: --set recall.k=5")
        try:
            found[key] = yaml_text.load(text, 1 << 10)
            with_changes(Settings(), found)
        except ValueError as error:
            alike = "".join(get_close_matches(key, defaults(Settings()), 1))
            advice = f"did you mean {alike}?" if alike else "see the settings in docs/format.md"
            if key == alike:
                advice = "give one plain value of that kind"
            raise BadInputError(what, safe(str(error)), advice) from None
    return found


AS_INGESTED, NO_MODEL = "the store as it was ingested", "no embedding model"
"""Variations that no setting makes."""


class Mechanism(NamedTuple):
    """Something that clsm does and could leave."""

    name: str
    about: str
    off: Mapping[str, Any] | str

    def applies(self, bench: Bench) -> bool:
        """Whether it can be taken out of a bench: not everything can be done again on every store."""
        if isinstance(self.off, str):
            return self.off == NO_MODEL or bench.is_rebuildable
        return benches.stage_of(self.off) == benches.RECALL or bench.is_rebuildable

    def without(self, bench: Bench) -> Bench:
        """The bench without it."""
        if self.off == AS_INGESTED:
            return replace(bench, store=bench.raw)
        if self.off == NO_MODEL:
            return replace(bench, engine=_NoModel())
        assert not isinstance(self.off, str)
        return benches.with_settings(bench, self.off)

    def system(self) -> System:
        """Clsm without it."""
        return recall_system(f"clsm without {self.name}", self.without)


class _NoModel:
    """An engine whose model is not installed, so that words alone are searched."""

    name = "none"

    def _refuse(self, *_: object, **__: object) -> NoReturn:
        raise ModelMissingError(Path("none"))

    open = encode = products = _refuse


def _load() -> dict[str, Mechanism]:
    text = files("clsm_cli.evaluation").joinpath("mechanisms.yaml").read_text(encoding="utf-8")
    return {name: Mechanism(name, **row) for name, row in yaml_text.load(text, 1 << 16).items()}


MECHANISMS = _load()
"""By name, in the order of recall, then of the night, then of the ingest."""
