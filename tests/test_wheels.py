"""Everything that clsm needs installs on a Raspberry Pi without a compiler.

pip itself chooses, from the package index, what it would install on 64-bit Raspberry Pi OS; it
takes wheels alone. What the extras of development need is left out.
"""

import json
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

PROJECT = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())["project"]
NOT_ON_A_PI = {"dev", "faults", "fit"}
SYSTEMS = {"bookworm": ("3.11", 36), "trixie": ("3.13", 41)}
"""Release → its Python, and the minor version of its glibc."""
OFFLINE = ("NewConnectionError", "NameResolutionError", "Temporary failure in name resolution")


def requirements() -> list[str]:
    """What a user may install: the program with its extras."""
    extras = PROJECT["optional-dependencies"]
    chosen = [list(extras[name]) for name in extras if name not in NOT_ON_A_PI]
    return sum(chosen, list(PROJECT["dependencies"]))


@pytest.mark.parametrize("release", SYSTEMS)
def test_there_is_a_wheel_for_everything(release: str, tmp_path: Path) -> None:
    python, glibc = SYSTEMS[release]
    tags = [f"manylinux_2_{minor}_aarch64" for minor in range(17, glibc + 1)]
    done = subprocess.run(
        [
            *(sys.executable, "-m", "pip", "install", "--dry-run", "--quiet", "--report", "-"),
            *("--ignore-installed", "--only-binary", ":all:", "--python-version", python),
            *("--target", str(tmp_path), "--platform", "manylinux2014_aarch64"),
            *(word for tag in tags for word in ("--platform", tag)),
            *requirements(),
        ],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    if any(sign in done.stderr for sign in OFFLINE):
        pytest.skip("needs the package index")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    urls = [str(each["download_info"]["url"]) for each in report["install"]]
    assert len(urls) > len(PROJECT["dependencies"])
    assert [url for url in urls if not url.endswith(("-any.whl", "aarch64.whl"))] == []
