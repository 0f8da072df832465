"""A process that dies between two writes, without a process."""

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from clsm_cli.store import atomic


class Killed(BaseException):
    """As SIGKILL would: no handler of ours runs."""


def killed_at(monkeypatch: pytest.MonkeyPatch, step: int) -> None:
    """Die before the write number ``step`` of all that ``atomic`` does."""
    calls = 0

    def wrap(function: Callable[..., None]) -> Callable[..., None]:
        def wrapped(*args: object, **kwargs: object) -> None:
            nonlocal calls
            calls += 1
            if calls == step:
                raise Killed
            function(*args, **kwargs)

        return wrapped

    put_all = wrap(atomic.put_all)

    def put_each(files: Mapping[Path, bytes], **options: bool) -> None:
        for path, data in files.items():
            put_all({path: data}, **options)

    monkeypatch.setattr(atomic, "put_all", put_each)
    for name in ("append", "remove", "remove_folder"):
        monkeypatch.setattr(atomic, name, wrap(getattr(atomic, name)))
