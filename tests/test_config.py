"""The table of settings in the documentation is what the program says of itself."""

from __future__ import annotations

from scripts import make_settings


def test_the_page_has_every_setting_as_it_is() -> None:
    page = make_settings.PAGE.read_text("utf-8")
    assert page == make_settings.written(page), "run: python scripts/make_settings.py"
