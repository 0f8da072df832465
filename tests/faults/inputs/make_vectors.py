"""Makes ``vectors/secrets.tsv``: strings that the rules of two public scanners are meant to catch.

``cd tests && python -m faults.inputs.make_vectors CREDSWEEPER/rules/config.yaml`` with detect-secrets
installed. The scanners' own test strings come with their sources only; their rules come with the
packages, and say what a key of a kind looks like. So for each rule some strings are made that
match it, with a fixed seed, each character drawn from the class that the rule allows there. Nothing
in the file was ever a key of anybody.
"""

from __future__ import annotations

import base64
import random
import re
import string
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from faults.inputs.secret_vectors import FILE, LEFT_OUT

if TYPE_CHECKING:
    from collections.abc import Iterator

EACH = 4
"""Strings a rule."""
_ALPHABET = string.ascii_letters + string.digits + "-_.+/="
_SECRET_PART = "value"


class Maker:
    """Strings that match a pattern; of an open end as few characters as it asks for, and some."""

    def __init__(self, seed: str) -> None:
        self._random = random.Random(seed)
        self._groups: dict[int, str] = {}

    def of(self, parsed: Any) -> str:
        """A string for a parsed pattern."""
        return "".join(self._one(name, value) for name, value in parsed)

    def _one(self, op: Any, value: Any) -> str:  # noqa: C901, PLR0911  # one case a kind of node
        name = str(op)
        if name == "LITERAL":
            return chr(value)
        if name == "NOT_LITERAL":
            return self._random.choice([c for c in _ALPHABET if c != chr(value)])
        if name == "ANY":
            return self._random.choice(_ALPHABET)
        if name == "IN":
            return self._random.choice(_members(value))
        if name == "BRANCH":
            return self.of(self._random.choice(value[1]))
        if name in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
            low, high, inner = value
            most = min(int(high), max(int(low), 80))
            if "SPACE" in str(inner) and "NEGATE" not in str(inner):
                most = max(int(low), 1)
            if int(low) == 0:  # what is optional adds nothing to a key
                return ""
            return "".join(self.of(inner) for _ in range(self._random.randint(int(low), most)))
        if name == "SUBPATTERN":
            text = self.of(value[3])
            if value[0] is not None:
                self._groups[value[0]] = text
            return text
        if name == "GROUPREF":
            return self._groups.get(value, "")
        if name == "GROUPREF_EXISTS":
            return self.of(value[1] if self._groups.get(value[0]) else value[2] or [])
        return ""  # places, looks ahead and back


def _members(items: Any) -> str:
    chosen = ""
    for name, value in items:
        if str(name) == "LITERAL":
            chosen += chr(value)
        elif str(name) == "RANGE":
            chosen += "".join(map(chr, range(value[0], min(value[1], 126) + 1)))
        elif str(name) == "CATEGORY":
            chosen += {"CATEGORY_DIGIT": string.digits, "CATEGORY_SPACE": " "}.get(
                str(value), string.ascii_letters + string.digits
            )
    if str(items[0][0]) == "NEGATE":
        return "".join(c for c in _ALPHABET if c not in chosen)
    printable = "".join(c for c in chosen if c.isprintable())
    return printable or chosen


def _detect_secrets() -> Iterator[tuple[str, str]]:
    from detect_secrets.core.plugins.util import get_mapping_from_secret_type_to_class
    from detect_secrets.plugins.base import RegexBasedDetector

    for kind, plugin in sorted(get_mapping_from_secret_type_to_class().items()):
        if issubclass(plugin, RegexBasedDetector):
            for rule in plugin().denylist:
                yield kind, rule.pattern


def _credsweeper(path: Path) -> Iterator[tuple[str, str]]:
    import yaml  # type: ignore[import-untyped]

    for rule in yaml.safe_load(path.read_text()):
        if rule["type"] == "pattern" and "code" in rule["target"] and len(rule["values"]) == 1:
            yield rule["name"], rule["values"][0]


def _made(scanner: str, kind: str, pattern: str) -> list[str]:
    parsed = re._parser.parse(pattern)  # type: ignore[attr-defined]
    found: list[str] = []
    for number in range(50):
        maker = Maker(f"{scanner} {kind} {pattern} {number}")
        text = maker.of(parsed)
        match = re.search(pattern, text)
        if match is None:
            continue
        names = match.groupdict()
        if _SECRET_PART in names and "variable" not in names:
            text = names[_SECRET_PART] or text
        text = text.strip()
        if kind == "Private Key" and text.startswith("BEGIN"):
            text = f"-----{text}-----"  # its rule looks for the words alone
        if text not in found:
            found.append(text)
        if len(found) == EACH:
            break
    return found


def main() -> None:
    """Write the file."""
    rules = [("detect-secrets 1.5.0", *each) for each in _detect_secrets()]
    rules += [("credsweeper 1.19.5", *each) for each in _credsweeper(Path(sys.argv[1]))]
    rows = []
    for scanner, kind, pattern in rules:
        if (scanner.split()[0], kind) in LEFT_OUT:
            continue
        made = _made(scanner, kind, pattern)
        if not made:
            sys.stderr.write(f"nothing made for {scanner}: {kind}\n")
        rows += [
            f"{scanner}\t{kind}\t{base64.b64encode(text.encode()).decode()}\n" for text in made
        ]
    head = "".join(f"# {line}".rstrip() + "\n" for line in _HEAD.splitlines())
    FILE.write_text(head + "".join(rows))


_HEAD = """\
Strings that look like keys, a line each: scanner, kind, base64 of the string.
Made by make_vectors.py from the rules of detect-secrets (Yelp, Apache License 2.0) and
CredSweeper (Samsung, MIT License), as PyPI has them; drawn at random, none was ever a key.
Base64, so that neither clsm nor a scanner of repositories takes them for real ones."""

if __name__ == "__main__":
    main()
