"""All fault rigs, in the order of the promises that they test."""

from __future__ import annotations

import importlib
import shutil
from functools import cache

from faults.rig import Rig

MODULES = (
    "crashes.kill",
    "crashes.crashstates",
    "crowds.crowd",
    "crowds.locks",
    "crowds.merges",
    "inputs.hostile",
    "inputs.paths",
    "stores.cache",
    "stores.clocks",
    "stores.canary",
    "stores.mutate",
    "inputs.terminal",
    "inputs.injection",
    "inputs.secrets_found",
    "stores.massloss",
)
"""Modules of this package; each has one rig, ``RIG``, or several, ``RIGS``."""


@cache
def rigs() -> tuple[Rig, ...]:
    """Every rig; imported only when asked for."""
    found: list[Rig] = []
    for name in MODULES:
        module = importlib.import_module(f"faults.{name}")
        found += getattr(module, "RIGS", None) or [module.RIG]
    return tuple(found)


def lacking(rig: Rig) -> str:
    """Why a rig cannot run here; "" when it can."""
    missing = [name for name in rig.needs if shutil.which(name) is None]
    return f"needs {' and '.join(missing)}" if missing else ""
