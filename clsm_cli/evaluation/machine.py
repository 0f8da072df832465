"""What a measurement ran on, without anything that names the machine or its owner."""

from __future__ import annotations

import os
import platform
from pathlib import Path


def described() -> dict[str, str]:
    """Processor, architecture, cores, system and Python, by name."""
    return {
        "processor": _processor(),
        "architecture": platform.machine(),
        "cores": str(os.cpu_count()),
        "system": platform.system(),
        "Python": platform.python_version(),
    }


def _processor() -> str:
    """Its name as the kernel has it; on ARM, where that has none, the model of the board."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        lines = []
    for key in ("model name", "Model"):
        for line in lines:
            if line.startswith(key):
                return line.partition(":")[2].strip()
    return platform.processor() or "unknown"
