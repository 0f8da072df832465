"""Presets: the retrieval of published systems as settings, one file each in ``presets/``.

A group that a file leaves out is a mechanism that its system does not have. ``published`` does what
they say; the default pipeline does not read them.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Any, get_args

from clsm_cli.retrieval import preset_settings as settings
from clsm_cli.retrieval.preset_settings import Preset
from clsm_cli.scoring.activation import Spreading

PRESETS = ("cls-m", "nemori", "caim", "smriti", "cma")
"""Names of the shipped ones."""
_LARGEST = 64 << 10
"""Characters of a file."""

_GROUPS: dict[str, type[Any]] = {
    "fusion": settings.Fusion,
    "seeds": settings.Seeds,
    "spreading": Spreading,
    "tags": settings.Tags,
    "filter": settings.Filter,
    "graph": settings.GraphScore,
    "reliability": settings.Reliability,
    "rounds": settings.Rounds,
    "diversity": settings.Diversity,
    "episodes": settings.Episodes,
    "gain": settings.Gain,
    "pack": settings.Pack,
}
_NEEDED = {"activation": ("seeds", "spreading"), "tags": ("tags",), "graph": ("graph",)}
"""Groups that a channel cannot do without."""


@cache
def load(name: str) -> Preset:
    """A shipped preset.

    Raises:
        ValueError: There is none of that name.

    >>> load("cls-m").spreading
    Spreading(hops=3, decay=0.5, threshold=0.15, damping=0.2, dormant=1.5)
    """
    if name not in PRESETS:
        raise ValueError(f"{name!r} is no preset; there are: {', '.join(PRESETS)}")
    return parse(name, text(name))


def text(name: str) -> str:
    """The file of a shipped preset, with its comments."""
    path = files("clsm_cli.retrieval").joinpath("presets", f"{name}.yaml")
    return path.read_text(encoding="utf-8")


def parse(name: str, content: str) -> Preset:
    r"""A preset from the text of its file.

    Raises:
        ValueError: It is no YAML, names a group or a setting that there is not, lacks one, or has
            a value of the wrong type; the text says which.

    >>> parse("mine", "units: [{kinds: [turn], k: 5}]\nchannels: {meaning: {least: 0.2}}").channels
    {'meaning': Channel(weight=1.0, fetch=0, least=0.2)}
    """
    from clsm_cli.store import yaml_text

    given = yaml_text.load(content, _LARGEST)
    if not isinstance(given, dict) or not {"units", "channels"} <= given.keys():
        raise ValueError(f"preset {name}: it must name its units and channels")
    made: dict[str, Any] = {"name": name}
    for key, value in given.items():
        if key == "units":
            made[key] = tuple(_group(name, key, settings.Units, each) for each in value)
        elif key == "channels":
            made[key] = {each: _group(name, each, settings.Channel, value[each]) for each in value}
        elif key == "recency":
            made[key] = tuple((float(days), float(weight)) for days, weight in value.items())
        elif key == "controller":
            made[key] = _checked(name, key, value, wanted="bool")
        elif key in _GROUPS:
            made[key] = _group(name, key, _GROUPS[key], value)
        else:
            raise ValueError(f"preset {name}: unknown group {key!r}")
    return _whole(Preset(**made))


def _group(name: str, key: str, kind: type[Any], value: object) -> Any:
    """A group of settings as its type."""
    if not isinstance(value, dict):
        raise ValueError(f"preset {name}: {key} must hold settings")
    hints = kind.__annotations__
    made = {}
    for setting, item in value.items():
        field = "lambda_" if setting == "lambda" else setting  # a word of Python
        if field not in hints:
            raise ValueError(f"preset {name}: unknown setting {key}.{field}")
        made[field] = _checked(name, f"{key}.{field}", item, wanted=_type(hints[field]))
    try:
        return kind(**made)
    except TypeError as error:
        raise ValueError(f"preset {name}: {key}: {error}") from None


def _type(hint: object) -> str:
    """The name of a field's type; ``typing.NamedTuple`` may wrap it."""
    return str(getattr(hint, "__forward_arg__", None) or getattr(hint, "__name__", hint))


def _checked(name: str, key: str, value: Any, wanted: str) -> Any:
    """A value, if it has the type that its field is annotated with."""
    if wanted.startswith("tuple"):
        inner = "float" if "float" in wanted else "str"
        if isinstance(value, list):
            return tuple(_checked(name, key, each, inner) for each in value)
    elif wanted == "float":
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            return float(value)
    elif type(value).__name__ == wanted:
        return value
    raise ValueError(f"preset {name}: {key} must be of type {wanted}, not {value!r}")


def _whole(preset: Preset) -> Preset:
    """The preset, if its words are known and every channel has what it needs."""
    for channel in preset.channels:
        if channel not in get_args(settings.ChannelName):
            raise ValueError(f"preset {preset.name}: unknown channel {channel!r}")
        for group in _NEEDED.get(channel, ()):
            if getattr(preset, group) is None:
                raise ValueError(f"preset {preset.name}: channel {channel} needs {group}")
    words = {kind: settings.UnitKind for each in preset.units for kind in each.kinds}
    words |= {preset.fusion.rule: settings.Rule, preset.episodes.read: settings.Reading}
    for word, known in words.items():
        if word not in get_args(known):
            raise ValueError(f"preset {preset.name}: {word!r} is none of {get_args(known)}")
    if preset.fusion.rule == "single" and len(preset.channels) != 1:
        raise ValueError(f"preset {preset.name}: several channels need a rule of fusion")
    return preset
