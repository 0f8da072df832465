"""Complete what a killed command began, as each command that writes does first."""

from __future__ import annotations

from clsm_cli.store import runs
from clsm_cli.store.layout import Store


def complete_interrupted(store: Store) -> list[str]:
    """Complete an interrupted run and an interrupted forget; the caller holds the lock.

    Returns warnings for the user.
    """
    if not any((store.derived / name).exists() for name in ("redo", "purge")):
        return []
    from clsm_cli.store import cleanup  # a capture waits for what it loads

    warnings = [
        f"{path}: was changed while a run was cut short; its new content was left out"
        for path in runs.recover(store)
    ]
    if cleanup.is_interrupted(store):
        cleanup.finish_interrupted(store)
        warnings.append("a forget that was cut short has been finished")
    return warnings
