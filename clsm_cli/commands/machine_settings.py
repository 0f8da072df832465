"""Settings of this machine, which concern things outside a store and are never read from one.

They are in ``config.toml`` in the user's configuration folder, by group as in
``config.MachineSettings``::

    [llm]
    base_url = "http://localhost:8080/v1"
    model = "qwen3-4b"

An environment variable (``CLSM_LLM_BASE_URL``) overrides the file, a command-line option both. Only
commands that may use one read them: a recall does not.
"""

import os
import stat
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from clsm_cli.config import MachineSettings, defaults, variable_of, with_changes
from clsm_cli.errors import BadInputError
from clsm_cli.store import device
from clsm_cli.store.layout import Store

NAME = "config.toml"
_MAX_BYTES = 1 << 20  # maximum bytes of the file
_NEXT_STEP = "mend it, see: docs/format.md"


def _settings_path() -> Path:
    import platformdirs

    return platformdirs.user_config_path("clsm") / NAME


def load_settings(root: Path | None, environment: Mapping[str, str]) -> MachineSettings:
    """Settings of this machine; variables override the file, which must not be in the store ``root``."""
    file = _settings_path()
    sources = [(str(file), _load_file(file, root))]
    for name, default in defaults(MachineSettings()).items():
        text = environment.get(variable_of(name))
        if text is not None:
            value: Any = text
            if not isinstance(default, str):
                with suppress(ValueError):  # the check of types refuses it
                    value = float(text)
            sources.append((variable_of(name), {name: value}))
    settings = MachineSettings()
    for where, changes in sources:
        try:
            settings = with_changes(settings, changes)
        except ValueError as error:
            raise BadInputError(where, str(error), _NEXT_STEP) from None
    return settings


def ignored_warnings(store: Store) -> list[str]:
    """Warnings about machine settings in a store, which are ignored, and about unknown settings."""
    found = []
    if store.misplaced:
        found.append(
            f"clsm.yaml sets {', '.join(store.misplaced)}: ignored, since what reaches outside the store"
            f" is never read from it; if that is yours, write it into {_settings_path()}"
        )
    if store.unknown:
        found.append(
            f"clsm.yaml has {', '.join(store.unknown)}: ignored, since this version of clsm has no such setting"
        )
    return found


def _load_file(file: Path, root: Path | None) -> dict[str, Any]:
    import tomllib

    try:
        with file.open("rb") as stream:
            found = os.fstat(stream.fileno())
            data = stream.read(_MAX_BYTES + 1) if stat.S_ISREG(found.st_mode) else b""
    except FileNotFoundError:
        return {}
    except OSError as error:
        reason = error.strerror or "cannot be read"
        raise BadInputError(str(file), reason, "let yourself read it") from None
    _refuse_others(file, found, root)
    if len(data) > _MAX_BYTES:
        raise BadInputError(str(file), f"is larger than {_MAX_BYTES >> 20} MiB", _NEXT_STEP)
    try:
        groups = tomllib.loads(data.decode())
    except (ValueError, RecursionError) as error:
        raise BadInputError(str(file), f"is no TOML: {error}", _NEXT_STEP) from None
    if loose := [name for name, group in groups.items() if not isinstance(group, dict)]:
        reason = f"{loose[0]!r} stands in no group"
        raise BadInputError(str(file), reason, "write it below one, like [llm]")
    return {f"{group}.{key}": v for group, keys in groups.items() for key, v in keys.items()}


def _refuse_others(file: Path, found: os.stat_result, root: Path | None) -> None:
    """Refuse a file that another user can change, or that is in the store."""
    if device.others_write(found):
        mode = stat.S_IMODE(found.st_mode)
        reason = f"others may write to it (mode {mode:04o})"
        raise BadInputError(str(file), reason, f"let nobody: chmod go-w {file}")
    places = (file.absolute(), file.resolve())
    if root is not None and any(place.is_relative_to(root) for place in places):
        raise BadInputError(str(file), f"lies in the memory {root}, which travels", "move it out")
