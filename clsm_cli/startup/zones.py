"""Time zones by IANA name; UTC does not need ``zoneinfo``, which takes 2 ms to load."""

from __future__ import annotations

import os
from datetime import tzinfo

from clsm_cli.errors import BadInputError


def zone_of(name: str) -> tzinfo:
    """The zone of a known name."""
    if name == "UTC":
        from datetime import UTC

        return UTC
    from zoneinfo import ZoneInfo

    return ZoneInfo(name)


def is_zone(name: str) -> bool:
    """Whether a time zone is known."""
    if name == "UTC":
        return True
    from zoneinfo import ZoneInfoNotFoundError

    try:
        zone_of(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return False
    return True


def check_zone(name: str) -> None:
    """Raise BadInputError for an unknown time zone."""
    if not is_zone(name):
        raise BadInputError(
            "--time-zone", f"{name!r} is no IANA zone", "name one like Europe/Amsterdam"
        )


def system_zone(environment: dict[str, str]) -> str:
    """The IANA name of this machine's zone, ``UTC`` if there is none."""
    named = environment.get("TZ", "").lstrip(":")
    target = os.path.realpath("/etc/localtime")
    names = (named, target.partition("zoneinfo/")[2])
    return next((name for name in names if is_zone(name)), "UTC")
