"""Change one setting of ``clsm.yaml`` in place, keeping a person's comments and order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from clsm_cli.errors import RefusedError
from clsm_cli.store import front_matter, yaml_text
from clsm_cli.store.jsonlines import dump

if TYPE_CHECKING:
    from pathlib import Path

_GROUP = "settings"


def with_setting(data: bytes, name: str, value: float, path: Path) -> bytes:
    r"""The file with one setting changed or added, all else to the byte.

    Args:
        data: The file.
        name: Dotted name of the setting.
        value: What it becomes.
        path: Of the file, for what is wrong with it.

    Raises:
        RefusedError: The file is written in a way that this cannot change.

    >>> from pathlib import Path
    >>> data = b"format: 1\n# mine\nsettings:\n  recall.k: 5  # few\n"
    >>> print(with_setting(data, "recall.floor", 0.2, Path("x")).decode(), end="")
    format: 1
    # mine
    settings:
      recall.floor: 0.2
      recall.k: 5  # few
    """
    text = data.decode("utf-8")
    try:
        made = _changed(text, name, dump(value))
        wanted = front_matter.parse_config(_plain(text))
        wanted[_GROUP] = {**(wanted.get(_GROUP) or {}), name: value}
        is_right = front_matter.parse_config(_plain(made)) == wanted
    except ValueError:
        is_right = False
    if not is_right:
        reason = f"its {_GROUP} are written in a way that clsm cannot change"
        raise RefusedError(str(path), reason, f"write there by hand {name}: {dump(value)}")
    return made.encode()


def _plain(text: str) -> str:
    return text.removeprefix("\ufeff").replace("\r\n", "\n")


def _changed(text: str, name: str, value: str) -> str:
    mark = "\ufeff" if text.startswith("\ufeff") else ""
    text = text.removeprefix(mark)
    end = "\r\n" if "\r\n" in text else "\n"
    root = yaml_text.compose(text, front_matter.MAX_FRONT_MATTER)
    key, group = _entry(root, _GROUP)
    if key is None:
        text += "" if not text or text.endswith("\n") else end
        return f"{mark}{text}{_GROUP}:{end}  {name}: {value}{end}"
    if group.id == "scalar" and group.start_mark.index == group.end_mark.index:  # nothing is set
        line = text.find("\n", key.end_mark.index)
        at = len(text) if line < 0 else line + 1
        before = text[:at] + ("" if line >= 0 else end)
        return f"{mark}{before}  {name}: {value}{end}{text[at:]}"
    _, old = _entry(group, name)
    if old is not None:
        first, last = old.start_mark.index, old.end_mark.index
        return f"{mark}{text[:first]}{value}{text[last:]}"
    at = group.start_mark.index
    if group.flow_style:
        more = ", " if group.value else ""
        return f"{mark}{text[: at + 1]}{dump(name)}: {value}{more}{text[at + 1 :]}"
    blanks = " " * int(group.start_mark.column)
    return f"{mark}{text[:at]}{name}: {value}{end}{blanks}{text[at:]}"


def _entry(node: Any, name: str) -> tuple[Any, Any]:
    """Key and value of an entry of a mapping; None twice where there is none."""
    if node is None:
        return None, None
    if node.id != "mapping":
        raise ValueError("is not a mapping")
    for key, value in node.value:
        if key.id == "scalar" and key.value == name:
            return key, value
    return None, None
