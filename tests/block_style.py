"""Records as a person would rewrite them: YAML in block style."""

from __future__ import annotations

import io
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.representer import SafeRepresenter


def dump_block(value: Any) -> str:
    """A value in block style, for a person to edit."""

    class Escaping(SafeRepresenter):
        """Quotes what YAML would fold or drop: control characters, other line ends."""

        def represent_str(self, data: Any) -> Any:
            style = '"' if not data.isprintable() else None
            return self.represent_scalar("tag:yaml.org,2002:str", data, style=style)

    Escaping.add_representer(str, Escaping.represent_str)
    out = io.StringIO()
    yaml = YAML(typ="safe", pure=True)
    yaml.Representer = Escaping
    yaml.default_flow_style = False
    yaml.allow_unicode = True
    yaml.sort_base_mapping_type_on_output = False  # type: ignore[assignment]  # keeps our key order
    yaml.dump(value, out)
    return out.getvalue()
