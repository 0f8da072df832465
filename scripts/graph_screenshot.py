"""Draw a store's graph as a PNG: ``python scripts/graph_screenshot.py STORE docs/graph.png``.

``clsm graph --format html`` writes the page, a headless Chromium (Debian: ``apt install chromium``)
shows and photographs it. Further options go to ``clsm graph``: ``... --limit 80 "delegation defect"``.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def main() -> None:
    """Read the command line, write the picture."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("store", type=Path)
    parser.add_argument("picture", type=Path)
    parser.add_argument("--size", default="1440x900", help="width x height in CSS pixels")
    parser.add_argument("--scale", type=float, default=2.0, help="pixels for each CSS pixel")
    parser.add_argument("--dark", action="store_true", help="as on a dark desktop")
    options, words = parser.parse_known_args()
    browser = next((found for name in BROWSERS if (found := shutil.which(name))), None)
    if browser is None:
        sys.exit("no Chromium here; install one with: apt install chromium")
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder, "graph.html")
        command = ["graph", *words, "--store", options.store, "--format", "html", "--out", page]
        done = subprocess.run([sys.executable, "-m", "clsm_cli", *command, "--quiet"], check=False)
        if done.returncode:
            sys.exit(done.returncode)
        photograph(browser, page, options)


def photograph(browser: str, page: Path, options: argparse.Namespace) -> None:
    """Open a page in a headless browser and write what it shows as a PNG."""
    width, _, height = options.size.partition("x")
    dark = ["--blink-settings=preferredColorScheme=0"] if options.dark else []
    subprocess.run(
        [
            browser,
            "--headless=new",
            "--no-sandbox",  # a container has no user namespaces; the page is our own
            "--disable-gpu",
            "--hide-scrollbars",
            "--virtual-time-budget=3000",
            f"--user-data-dir={page.parent / 'profile'}",
            f"--force-device-scale-factor={options.scale:g}",
            f"--window-size={width},{height}",
            f"--screenshot={options.picture.absolute()}",
            *dark,
            page.as_uri(),
        ],
        check=True,
        capture_output=True,
    )


if __name__ == "__main__":
    main()
