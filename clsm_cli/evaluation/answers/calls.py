"""Calls of a language model, each made once: what was answered is kept in the work folder."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from clsm_cli.errors import DiskError
from clsm_cli.model.ids import digest
from clsm_cli.store import atomic

if TYPE_CHECKING:
    from pathlib import Path

    from clsm_cli.integrations.llm import Llm

FOLDER = "calls"
"""Folder of the answers, in the work folder."""
MAX_KEPT = 1 << 20
"""Bytes of one."""


class Calls:
    """A model that is not asked the same twice.

    Attributes:
        sent: Questions that were put to the model.
        found: Questions whose answer was there.
    """

    def __init__(self, llm: Llm, model: str, work: Path, *, fresh: bool) -> None:
        self.sent = 0
        self.found = 0
        self._llm = llm
        self._model = model
        self._folder = work / FOLDER
        self._fresh = fresh

    def ask(self, prompt: tuple[str, str], schema: dict[str, Any], name: str) -> Any:
        """The checked value for a prompt.

        Raises:
            LlmError: The endpoint failed or answered nonsense; nothing is kept then.
        """
        system, user = prompt
        key = digest(self._model, system, user, json.dumps(schema), name)
        place = self._folder / key[:2] / f"{key}.json"
        if not self._fresh and (kept := self._kept(place)) is not None:
            self.found += 1
            return kept
        self.sent += 1
        value = self._llm.ask(system, user, schema, name)
        atomic.make_folder(place.parent)
        atomic.put(place, json.dumps(value).encode())
        return value

    def _kept(self, place: Path) -> Any:
        try:
            data = atomic.read(place, MAX_KEPT)
            return None if data is None else json.loads(data)
        except (DiskError, ValueError):
            return None
