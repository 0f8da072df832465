"""All fault rigs, in the order of the promises that they test."""

from __future__ import annotations

import importlib
import shutil
from functools import cache
from importlib.util import find_spec

from faults.rig import Rig

MODULES = (
    "crashes.kill",
    "crashes.crashstates",
    "crowds.crowd",
    "crowds.locks",
    "crowds.merges",
    "inputs.hostile",
    "inputs.fuzz",
    "inputs.paths",
    "stores.cache",
    "stores.clocks",
    "stores.canary",
    "stores.mutate",
    "stores.modes",
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


def lacking(rig: Rig, *, long: bool) -> str:
    """Why a rig cannot run here; "" when it can."""
    needs = (*rig.needs, *(rig.long_needs if long else ()))
    missing = [n for n in needs if shutil.which(n) is None and find_spec(n) is None]
    if missing:
        return f"needs {' and '.join(missing)}"
    return ""
