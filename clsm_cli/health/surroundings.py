"""Checks of what a store needs around it: settings, model, disk, lock, a night now and then."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from clsm_cli.config import MachineSettings, defaults, variable_of
from clsm_cli.embedding import weights
from clsm_cli.errors import ClsmError, DamagedStoreError, ModelDigestError, ModelMissingError
from clsm_cli.health.findings import found, listed
from clsm_cli.inspection import automation
from clsm_cli.model.ids import is_id
from clsm_cli.store import atomic, front_matter, labels, ontology
from clsm_cli.store.jsonlines import LineError
from clsm_cli.store.layout import CONFIG_NAME
from clsm_cli.store.lock import held_by

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime
    from pathlib import Path

    from clsm_cli.health.findings import Finding
    from clsm_cli.health.store_snapshot import Held

_VARIABLES = frozenset({"CLSM_STORE", "CLSM_DEVICE", "CLSM_MODEL_DIR"})
"""Those that clsm reads besides the settings of this machine."""
_NETWORK = frozenset(
    {"nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "afs", "ceph", "glusterfs", "lustre", "ncpfs"}
    | {"coda", "davfs", "beegfs", "gfs2", "ocfs2"}
)
_NO_MODES = frozenset({"vfat", "exfat", "msdos", "ntfs", "ntfs3", "fuseblk", "hfsplus"})
"""File systems of other systems, most of which keep no modes."""


def settings(held: Held) -> list[Finding]:
    """``clsm.yaml``, ``ontology.yaml`` and ``eval/queries.yaml``."""
    findings = _config(held)
    if names := held.store.misplaced:
        findings.append(found("settings-ignored", CONFIG_NAME, f"sets {', '.join(names)}"))
    problems = ontology.load(held.store)[1] if ontology.ONTOLOGY_NAME in held.files else []
    for problem in problems:
        name = problem.path.relative_to(held.store.root).as_posix()
        findings.append(found("ontology-unusable", name, problem.reason, line=problem.line))
    path = labels.path_of(held.store.root)
    try:
        data = atomic.read(path, labels.MAX_LABELS)
        if data is not None:
            labels.parse(labels.decoded(data, str(path)), str(path))
    except ClsmError as error:
        name = path.relative_to(held.store.root).as_posix()
        line = error.line if isinstance(error, DamagedStoreError) else None
        findings.append(found("labels-unusable", name, _reason(error, path), line=line))
    return findings


def _config(held: Held) -> list[Finding]:
    """``clsm.yaml``: what is missing there would be something else from now on."""
    path = held.store.root / CONFIG_NAME
    try:
        data = atomic.read(path, front_matter.MAX_FRONT_MATTER) or b""
        values = front_matter.parse_config(data.decode("utf-8", "replace"))
    except (ClsmError, LineError):
        return []  # told when it was opened
    missing = [name for name in ("store", "time_zone") if name not in values]
    if not missing:
        return []
    return [found("settings-unusable", CONFIG_NAME, f"lacks {' and '.join(missing)}")]


def _reason(error: ClsmError, path: Path) -> str:
    return str(error).removeprefix(str(path)).lstrip(":, ").partition(";")[0]


def environment(held: Held, variables: Mapping[str, str]) -> list[Finding]:
    """Variables that clsm reads, and this machine's name in the store."""
    known = _VARIABLES | {variable_of(name) for name in defaults(MachineSettings())}
    strange = [n for n in sorted(variables) if n.startswith("CLSM_") and n not in known]
    findings = [found("environment", "", f"{name} is none that clsm reads") for name in strange]
    model = variables.get("CLSM_MODEL_DIR")
    if model and not os.path.isdir(os.path.expanduser(model)):
        findings.append(found("environment", "", f"CLSM_MODEL_DIR names no folder: {model}"))
    flows = [flow.name for flow in held.store.flows()]
    device = held.store.device
    if flows and device not in flows and (held.store.derived / "runs").is_dir():
        reason = f"is {device} here, which has no folder in flow/ ({listed(flows)} have)"
        findings.append(found("device-unknown", ".clsm/device", reason, mends=False))
    elif device in flows and _recorded(held) not in (device, None):
        findings.append(found("device-unknown", ".clsm/device", "does not name this machine"))
    return findings


def _recorded(held: Held) -> str | None:
    """The name that is written down; None where none needs to be, "" where it is none."""
    path = held.store.derived / "device"
    try:
        data = atomic.read(path, _NAME)
    except ClsmError:
        return ""
    if data is None:
        return "" if (held.store.derived / "runs").is_dir() else None
    name = data.decode(errors="replace").strip()
    return name if is_id(name) else ""


_NAME = 4096
"""Bytes of ``.clsm/device``."""


def model() -> list[Finding]:
    """The model's files, byte for byte."""
    folder = weights.default_folder()
    try:
        weights.verify(folder)
    except ModelMissingError:
        return [found("model-missing", str(folder), "holds no model")]
    except ModelDigestError as error:
        path = str(error).partition(": sha256")[0]
        return [found("model-damaged", path, "is not the file that clsm was built for")]
    except ClsmError as error:
        return [found("model-damaged", str(folder), _reason(error, folder))]
    return []


def disk(held: Held) -> list[Finding]:
    """The file system that the store lies on, and whether it can be written to."""
    return [*_read_only(held), *_kind_of_disk(held)]


def _read_only(held: Held) -> list[Finding]:
    if os.access(held.store.root, os.W_OK):
        return []
    return [found("read-only", "", "cannot be written to: nothing new is remembered")]


def _kind_of_disk(held: Held) -> list[Finding]:
    try:
        with open("/proc/self/mounts", encoding="utf-8", errors="replace") as table:
            kind = file_system(held.store.root.as_posix(), table.read())
    except OSError:
        return []  # no Linux
    base = kind.removeprefix("fuse.")
    if kind in _NETWORK or (kind.startswith("fuse") and base != "fuseblk"):
        return [found("network-file-system", "", f"lies on a network or FUSE disk ({kind})")]
    if kind in _NO_MODES:
        reason = f"lies on a disk that may keep no modes ({kind})"
        return [found("network-file-system", "", reason)]
    return []


def file_system(path: str, mounts: str) -> str:
    r"""The type of the file system that a path lies on.

    Args:
        path: Full, without links.
        mounts: As in /proc/self/mounts: device, place, type; the longest place that holds it
            counts, of equal ones the last.

    >>> file_system("/srv/memory", "/dev/a / ext4 rw 0 0\nbox:/x /srv nfs4 rw 0 0\n")
    'nfs4'
    """
    best, kind = -1, "unknown"
    for line in mounts.splitlines():
        words = line.split(" ")
        if len(words) < 3:
            continue
        place = words[1].replace("\\040", " ").rstrip("/")
        if (path == place or path.startswith(f"{place}/")) and len(place) >= best:
            best, kind = len(place), words[2]
    return kind


def lock(held: Held) -> list[Finding]:
    """Who is writing to the store now."""
    holder = held_by(held.store.root)
    return [found("lock-held", "", f"{holder} is writing to it")] if holder else []


def nights(held: Held, now: datetime) -> list[Finding]:
    """When it was consolidated last, and whether that is too long ago (``status --check``)."""
    state = automation.state(held.store, now)
    if state.is_stale:
        return [found("consolidation-old", "", state.sentence)]
    return [found("consolidated", "", state.sentence)] if state.last is not None else []


def schedule(jobs: Mapping[str, Sequence[str]]) -> list[Finding]:
    """Nightly jobs whose program is gone, as after a Python was upgraded under it."""
    return [
        found("schedule-broken", "", f"{name} starts {path}, which is not there")
        for name, words in sorted(jobs.items())
        for path in words[: words.index("schedule") if "schedule" in words else None]
        if os.path.isabs(path) and not os.access(path, os.X_OK)
    ]
