"""What somebody wants to have measured."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from clsm_cli.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    from clsm_cli.evaluation.dataset import Dataset


class Request(NamedTuple):
    """What to measure.

    Attributes:
        presets: Names of published systems that are compared too.
        mechanisms: Names of mechanisms that are taken out, one at a time.
        probes: Names of probes.
        settings: Settings that differ from the shipped ones, by dotted name.
        seed: Of bootstraps, permutations and probes.
        command: As it was typed, for the report.
    """

    datasets: tuple[Dataset, ...]
    presets: tuple[str, ...]
    mechanisms: tuple[str, ...]
    probes: tuple[str, ...]
    settings: Mapping[str, Any]
    seed: int
    command: str
