"""One ``clsm`` command with a clock around its stages; :mod:`benchmarks.stages` starts it.

``python benchmarks/traced.py OUT TABLE ARGUMENT...``: TABLE holds lines ``label module function``
separated by tabs, OUT gets lines ``label seconds``, CPU time of the process. A stage's time is its
own, without the stages inside it. Only modules that every Python process has loaded at its start
are used here, so that no import of the command becomes cheaper by the measuring.
"""

import os
import sys
import time

TYPE_CHECKING = False  # the name that type checkers know, without importing typing
if TYPE_CHECKING:
    from typing import Any

_start = time.process_time()


class Clock:
    """CPU seconds by label; always exactly one label runs."""

    def __init__(self, first: str) -> None:
        self.seconds = {"interpreter start": _start, first: 0.0}
        self.stack = [first]
        self._since = _start

    def push(self, label: str) -> None:
        """Begin a stage inside the present one."""
        self._charge()
        self.stack.append(label)

    def pop(self) -> None:
        """End the present stage."""
        self._charge()
        self.stack.pop()

    def _charge(self) -> None:
        now = time.process_time()
        label = self.stack[-1]
        self.seconds[label] = self.seconds.get(label, 0.0) + now - self._since
        self._since = now

    def write(self, path: str) -> None:
        """Write what has been charged so far."""
        self._charge()
        with open(path, "w", encoding="utf-8") as file:
            file.writelines(f"{label}\t{value}\n" for label, value in self.seconds.items())


clock = Clock("other Python")
NAMED = frozenset({"numpy", "onnxruntime", "tokenizers", "typer", "rich"})
"""Packages whose imports are a stage each, with all that they import which is not named here."""
OURS, STANDARD, OTHER = "import clsm", "import standard library", "import other packages"


def label_of(name: str, inside: str) -> str:
    """The stage that an import belongs to.

    Args:
        name: Of the module.
        inside: The stage in which it is imported.
    """
    root = name.partition(".")[0]
    if root == "clsm_cli":
        return OURS
    if root in NAMED:
        return f"import {root}"
    if inside.startswith("import ") and inside not in {OURS, STANDARD}:
        return inside
    return STANDARD if root in sys.stdlib_module_names else OTHER


def timed(function: "Any", label: str) -> "Any":
    """The function with a clock around it; a ``with`` block gets one around both its ends."""

    def call(*args: "Any", **kwargs: "Any") -> "Any":
        clock.push(label)
        try:
            found = function(*args, **kwargs)
        finally:
            clock.pop()
        # By name: other things have an entry too, and must stay what they are.
        is_block = type(found).__name__ == "_GeneratorContextManager"
        return Ends(found, label) if is_block else found

    return call


class Ends:
    """A ``with`` block whose entry and exit are timed."""

    def __init__(self, manager: "Any", label: str) -> None:
        self._manager, self._label = manager, label

    def __getattr__(self, name: str) -> "Any":
        return getattr(self._manager, name)

    def __enter__(self) -> "Any":
        clock.push(self._label)
        try:
            return self._manager.__enter__()
        finally:
            clock.pop()

    def __exit__(self, *error: object) -> "Any":
        clock.push(self._label)
        try:
            return self._manager.__exit__(*error)
        finally:
            clock.pop()


def wrap(module: "Any", path: str, label: str) -> None:
    """Put the clock around ``path`` (``function`` or ``Class.method``) of a module."""
    *owners, name = path.split(".")
    owner = module
    for part in owners:
        owner = getattr(owner, part)
    found = vars(owner)[name]
    if isinstance(found, (classmethod, staticmethod)):
        setattr(owner, name, type(found)(timed(found.__func__, label)))
    else:
        setattr(owner, name, timed(found, label))


def watch_imports(table: dict[str, list[tuple[str, str]]]) -> None:
    """Time imports by package, and wrap the functions of the table as their modules arrive."""
    bootstrap: Any = sys.modules["_frozen_importlib"]
    # What the import statement calls for a module that is not loaded yet.
    find_and_load = bootstrap._find_and_load  # noqa: SLF001

    def call(name: str, import_: "Any") -> "Any":
        clock.push(label_of(name, clock.stack[-1]))
        try:
            module = find_and_load(name, import_)
        finally:
            clock.pop()
        # A name may be loaded twice at once; whoever is first wraps.
        for path, label in table.pop(name, ()):
            wrap(module, path, label)
        return module

    bootstrap._find_and_load = call  # noqa: SLF001


def main() -> None:
    """Run the command; write the table when it ends, however it ends."""
    _, out, table_path, *arguments = sys.argv
    table: dict[str, list[tuple[str, str]]] = {}
    with open(table_path, encoding="utf-8") as file:
        for line in file:
            label, module, path = line.rstrip("\n").split("\t")
            table.setdefault(module, []).append((path, label))
    leave = os._exit

    def leave_at_once(code: int) -> None:
        clock.write(out)
        leave(code)

    os._exit = leave_at_once  # type: ignore[assignment]
    # As for ``python -m``: not the folder of this file.
    sys.path[0] = os.getcwd()
    sys.argv = ["clsm", *arguments]
    watch_imports(table)
    try:
        from clsm_cli.__main__ import main as clsm

        clsm()
    finally:
        clock.write(out)


if __name__ == "__main__":
    main()
