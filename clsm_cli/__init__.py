"""clsm: a memory for a persistent LLM agent, in plain files on one small computer."""

from __future__ import annotations


def version() -> str:
    """The installed version."""
    from importlib.metadata import version as installed

    return installed("clsm")
