"""Checks of what a store needs around it: settings, model, disk, lock, nightly runs."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from clsm_cli.config import MachineSettings, defaults, variable_of
from clsm_cli.embedding import weights
from clsm_cli.errors import ClsmError, DamagedStoreError, ModelDigestError, ModelMissingError
from clsm_cli.health.findings import list_names, make_finding
from clsm_cli.inspection import automation
from clsm_cli.model.ids import is_id
from clsm_cli.store import atomic, front_matter, labels, ontology
from clsm_cli.store.jsonlines import LineError
from clsm_cli.store.layout import CONFIG_NAME
from clsm_cli.store.lock import known_holder

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime
    from pathlib import Path

    from clsm_cli.health.findings import Finding
    from clsm_cli.health.store_snapshot import Snapshot

_VARIABLES = frozenset({"CLSM_STORE", "CLSM_DEVICE", "CLSM_MODEL_DIR"})
"""Those that clsm reads besides the settings of this machine."""
_NETWORK = frozenset(
    {"nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "afs", "ceph", "glusterfs", "lustre", "ncpfs"}
    | {"coda", "davfs", "beegfs", "gfs2", "ocfs2"}
)
_NO_MODES = frozenset({"vfat", "exfat", "msdos", "ntfs", "ntfs3", "fuseblk", "hfsplus"})
"""File systems of other systems, most of which keep no modes."""


def check_settings(snapshot: Snapshot) -> list[Finding]:
    """``clsm.yaml``, ``ontology.yaml`` and ``eval/queries.yaml``."""
    findings = _config(snapshot)
    if names := snapshot.store.misplaced:
        findings.append(make_finding("settings-ignored", CONFIG_NAME, f"sets {', '.join(names)}"))
    problems = ontology.load(snapshot.store)[1] if ontology.ONTOLOGY_NAME in snapshot.files else []
    for problem in problems:
        name = problem.path.relative_to(snapshot.store.root).as_posix()
        findings.append(make_finding("ontology-unusable", name, problem.reason, line=problem.line))
    path = labels.path_of(snapshot.store.root)
    try:
        data = atomic.read(path, labels.MAX_LABELS)
        if data is not None:
            labels.parse(labels.decode(data, str(path)), str(path))
    except ClsmError as error:
        name = path.relative_to(snapshot.store.root).as_posix()
        line = error.line if isinstance(error, DamagedStoreError) else None
        findings.append(make_finding("labels-unusable", name, _reason(error, path), line=line))
    return findings


def _config(snapshot: Snapshot) -> list[Finding]:
    """``clsm.yaml``: what is missing there would be something else from now on."""
    path = snapshot.store.root / CONFIG_NAME
    try:
        data = atomic.read(path, front_matter.MAX_FRONT_MATTER) or b""
        values = front_matter.parse_config(data.decode("utf-8", "replace"))
    except (ClsmError, LineError):
        return []  # told when it was opened
    missing = [name for name in ("store", "time_zone") if name not in values]
    if not missing:
        return []
    return [make_finding("settings-unusable", CONFIG_NAME, f"lacks {' and '.join(missing)}")]


def _reason(error: ClsmError, path: Path) -> str:
    return str(error).removeprefix(str(path)).lstrip(":, ").partition(";")[0]


def check_environment(snapshot: Snapshot, variables: Mapping[str, str]) -> list[Finding]:
    """Variables that clsm reads, and this machine's name in the store."""
    known = _VARIABLES | {variable_of(name) for name in defaults(MachineSettings())}
    strange = [n for n in sorted(variables) if n.startswith("CLSM_") and n not in known]
    findings = [
        make_finding("environment", "", f"{name} is none that clsm reads") for name in strange
    ]
    model = variables.get("CLSM_MODEL_DIR")
    if model and not os.path.isdir(os.path.expanduser(model)):
        findings.append(make_finding("environment", "", f"CLSM_MODEL_DIR names no folder: {model}"))
    flows = [flow.name for flow in snapshot.store.flows()]
    device = snapshot.store.device
    if flows and device not in flows and (snapshot.store.derived / "runs").is_dir():
        reason = f"is {device} here, which has no folder in flow/ ({list_names(flows)} have)"
        findings.append(make_finding("device-unknown", ".clsm/device", reason, mends=False))
    elif device in flows and _recorded(snapshot) not in (device, None):
        findings.append(
            make_finding("device-unknown", ".clsm/device", "does not name this machine")
        )
    return findings


def _recorded(snapshot: Snapshot) -> str | None:
    """The name that is written down; None where none needs to be, "" where it is none."""
    path = snapshot.store.derived / "device"
    try:
        data = atomic.read(path, _NAME)
    except ClsmError:
        return ""
    if data is None:
        return "" if (snapshot.store.derived / "runs").is_dir() else None
    name = data.decode(errors="replace").strip()
    return name if is_id(name) else ""


_NAME = 4096
"""Bytes of ``.clsm/device``."""


def check_model() -> list[Finding]:
    """The model's files, byte for byte."""
    folder = weights.default_folder()
    try:
        weights.verify(folder)
    except ModelMissingError:
        return [make_finding("model-missing", str(folder), "holds no model")]
    except ModelDigestError as error:
        path = str(error).partition(": sha256")[0]
        return [make_finding("model-damaged", path, "is not the file that clsm was built for")]
    except ClsmError as error:
        return [make_finding("model-damaged", str(folder), _reason(error, folder))]
    return []


def check_disk(snapshot: Snapshot) -> list[Finding]:
    """The file system that the store lies on, and whether it can be written to."""
    return [*_read_only(snapshot), *_kind_of_disk(snapshot)]


def _read_only(snapshot: Snapshot) -> list[Finding]:
    if os.access(snapshot.store.root, os.W_OK):
        return []
    return [make_finding("read-only", "", "cannot be written to: nothing new is remembered")]


def _kind_of_disk(snapshot: Snapshot) -> list[Finding]:
    try:
        with open("/proc/self/mounts", encoding="utf-8", errors="replace") as table:
            kind = file_system_type(snapshot.store.root.as_posix(), table.read())
    except OSError:
        return []  # no Linux
    base = kind.removeprefix("fuse.")
    if kind in _NETWORK or (kind.startswith("fuse") and base != "fuseblk"):
        return [make_finding("network-file-system", "", f"lies on a network or FUSE disk ({kind})")]
    if kind in _NO_MODES:
        reason = f"lies on a disk that may keep no modes ({kind})"
        return [make_finding("network-file-system", "", reason)]
    return []


def file_system_type(path: str, mounts: str) -> str:
    r"""The type of the file system that a path lies on.

    Args:
        path: Full, without links.
        mounts: As in /proc/self/mounts: device, place, type; the longest place that holds it
            counts, of equal ones the last.

    >>> file_system_type("/srv/memory", "/dev/a / ext4 rw 0 0\nbox:/x /srv nfs4 rw 0 0\n")
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


def check_lock(snapshot: Snapshot) -> list[Finding]:
    """Who is writing to the store now."""
    holder = known_holder(snapshot.store.root)
    return [make_finding("lock-held", "", f"{holder} is writing to it")] if holder else []


def check_nights(snapshot: Snapshot, now: datetime) -> list[Finding]:
    """When it was consolidated last, and whether that is too long ago (``status --check``)."""
    state = automation.automation_state(snapshot.store, now)
    if state.is_stale:
        return [make_finding("consolidation-old", "", state.sentence)]
    return [make_finding("consolidated", "", state.sentence)] if state.last is not None else []


def check_schedule(jobs: Mapping[str, Sequence[str]]) -> list[Finding]:
    """Nightly jobs whose program is gone, as after a Python was upgraded under it."""
    return [
        make_finding("schedule-broken", "", f"{name} starts {path}, which is not there")
        for name, words in sorted(jobs.items())
        for path in words[: words.index("schedule") if "schedule" in words else None]
        if os.path.isabs(path) and not os.access(path, os.X_OK)
    ]
