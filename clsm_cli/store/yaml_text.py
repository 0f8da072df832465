"""Parse untrusted YAML written by people.

clsm's own files are both YAML and JSON lines, which ``jsonlines`` reads. Files that a person rewrote
in block style are parsed here, by ruamel.yaml's pure Python parser (the C loader crashes on deep
nesting) with limits on size, depth, anchors and tags.
"""

from __future__ import annotations

import json
from functools import cache
from math import isfinite
from typing import Any

from clsm_cli.config import MAX_DEPTH
from clsm_cli.store.jsonlines import LineError

_MAX_VALUES = 50_000
"""Keys, values, lists and mappings of an untrusted text: more than a full shard has; two seconds."""


def load(text: str, limit: int, values: int | None = _MAX_VALUES) -> Any:
    """Parse a YAML text of at most ``limit`` characters: the YAML 1.2 core types; times stay text.

    ``values`` limits the number of keys, values, lists and mappings; None is no limit.

    Raises:
        LineError: Too large, too deep, an anchor or a tag, a duplicate key, or not YAML. If the line
            is known, the text ends with ``(line N)``, from 1.
    """
    if len(text) > limit:
        raise LineError(f"is longer than {limit >> 10} KiB")
    from ruamel.yaml import YAML
    from ruamel.yaml.error import MarkedYAMLError, YAMLError

    reader: Any = YAML(typ="safe", pure=True)
    reader.Composer, reader.Constructor = _classes()
    reader.composer.max_values = values
    try:
        return _as_json(reader.load(text))
    except MarkedYAMLError as error:
        mark = error.problem_mark
        where = "" if mark is None else f" (line {mark.line + 1})"
        problem = (error.problem or "syntax").strip().split("\n", 1)[0][:200]
        raise LineError(f"is not YAML: {problem}{where}") from None
    except LineError:
        raise
    except (YAMLError, RecursionError, *_LEAKED) as error:
        raise LineError(f"is not YAML ({type(error).__name__})") from None


_LEAKED = (ArithmeticError, AssertionError, AttributeError, LookupError, TypeError, ValueError)
"""Other errors that ruamel.yaml raises for some invalid texts."""


@cache
def _classes() -> tuple[type[Any], type[Any]]:
    """The composer and the constructor; not defined at import, as ruamel.yaml takes 30 ms to load."""
    from ruamel.yaml.composer import Composer
    from ruamel.yaml.constructor import SafeConstructor

    class Bounded(Composer):
        """Refuses anchors, aliases, tags, depth and number of values before building them."""

        level = 0
        count = 0
        max_values: int | None = None

        def compose_node(self, parent: Any, index: Any) -> Any:
            event = self.parser.peek_event()
            line = event.start_mark.line + 1
            if getattr(event, "anchor", None) is not None:
                what = "an anchor or an alias"
                raise LineError(f"uses {what}, which clsm does not read (line {line})")
            if getattr(event, "tag", None) is not None:
                raise LineError(f"uses a tag, which clsm does not read (line {line})")
            self.count += 1
            if self.max_values is not None and self.count > self.max_values:
                raise LineError(f"holds more than {self.max_values:,} values (line {line})")
            self.level += 1
            if self.level > MAX_DEPTH:
                raise LineError(f"is nested deeper than {MAX_DEPTH} (line {line})")
            node = super().compose_node(parent, index)
            self.level -= 1
            return node

    class PlainTimes(SafeConstructor):
        """Keeps dates as text; their meaning is decided where they are used."""

    PlainTimes.add_constructor("tag:yaml.org,2002:timestamp", SafeConstructor.construct_yaml_str)
    return Bounded, PlainTimes


def _as_json(value: Any) -> Any:
    """Convert to a JSON value: keys become text; numbers must be finite."""
    if isinstance(value, dict):
        pairs = {_as_key(key): _as_json(item) for key, item in value.items()}
        if len(pairs) != len(value):
            raise LineError("has two keys that read the same")
        return pairs
    if isinstance(value, list):
        return [_as_json(item) for item in value]
    if isinstance(value, float) and not isfinite(value):
        raise LineError(f"holds {value}, which is no number")
    if value is None or isinstance(value, (str, int, float)):
        return value
    raise LineError(f"holds a {type(value).__name__}, which clsm does not read")


def _as_key(key: Any) -> str:
    if isinstance(key, str):
        return key
    if key is None or isinstance(key, (int, float)):
        return json.dumps(key)
    raise LineError("has a key that is not text")
