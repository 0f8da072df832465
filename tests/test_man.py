"""The man pages are what the commands say of themselves, and groff has nothing against them."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from scripts import make_man

ROOT = Path(__file__).parents[1]
MAN = ROOT / "man"
PAGES = sorted(MAN.glob("*.1"))


def test_pages_are_up_to_date() -> None:
    stored = {page.name: page.read_text(encoding="utf-8") for page in PAGES}
    assert stored == make_man.pages(), "run: python scripts/make_man.py"


@pytest.mark.skipif(shutil.which("groff") is None, reason="groff is not installed")
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_is_set_without_a_warning(page: Path) -> None:
    done = subprocess.run(
        ["groff", "-man", "-Tutf8", "-ww", "-P-cbou", str(page)],
        capture_output=True,
        check=True,
        text=True,
    )
    assert done.stderr == ""
    assert "EXIT STATUS" in done.stdout
