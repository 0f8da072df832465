"""clsm without a mechanism, and the choice of mechanisms by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clsm_cli.errors import BadInputError
from clsm_cli.evaluation.ablation import overrides
from clsm_cli.evaluation.ablation.mechanisms import MECHANISMS
from clsm_cli.text.terminal import safe

if TYPE_CHECKING:
    from collections.abc import Sequence

    from clsm_cli.evaluation.ablation.mechanisms import Mechanism
    from clsm_cli.evaluation.bench import System

ALL = "all"
"""The name that means every mechanism."""


def without(name: str) -> System:
    """The system that is clsm without a mechanism.

    Raises:
        BadInputError: There is none of that name.
    """
    return _named(name).system()


def chosen(names: Sequence[str]) -> list[Mechanism]:
    """The mechanisms of some names, each once, in the order in which they are named.

    Args:
        names: As they were given; "all" is every one.

    Raises:
        BadInputError: There is none of a name.

    >>> [each.name for each in chosen(["echo", "words", "echo"])]
    ['echo', 'words']
    """
    found: dict[str, Mechanism] = {}
    for name in names:
        found |= MECHANISMS if name == ALL else {name: _named(name)}
    return list(found.values())


def _named(name: str) -> Mechanism:
    found = MECHANISMS.get(name)
    if found is None:
        alike = overrides.nearest(name, MECHANISMS)
        raise BadInputError(
            f"--ablate {safe(name[:80])!r}",
            f"is no mechanism of clsm; there are {', '.join(MECHANISMS)}",
            f"did you mean {alike}?" if alike else "name one of them, or all",
        )
    return found
