"""Optional features of clsm: how to install their packages."""


def how_to_get(extra: str) -> str:
    """The command that installs the packages of an extra for the running clsm.

    Under ``pipx``, the shell's pip belongs to another environment.

    Args:
        extra: A name from ``[project.optional-dependencies]``.

    >>> how_to_get("mcp").partition(" -m ")[2]
    "pip install 'mcp<3,>=2.3'"
    """
    import shlex
    import sys
    from importlib.metadata import requires

    needed = [need.partition(";") for need in requires("clsm") or ()]
    packages = [name.strip() for name, _, when in needed if when.strip("' \"").endswith(extra)]
    return shlex.join([sys.executable, "-m", "pip", "install", *packages])
