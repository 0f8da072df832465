"""Inputs nobody thought of, into every reader: drawn by hypothesis (promise 8).

Hypothesis puts pieces of formats together, and tells the smallest input that breaks a reader. An
input may take ``SECONDS``. What was ever found stands in ``hostile_inputs``.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from faults.inputs.fuzz_targets import TARGETS
from faults.rig import Outcome, Rig
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

SECONDS = 2.0
PIECES = (
    b"---\n", b"\n---\n", b"id: a\n", b"&a ", b"*a", b"<<: ", b"[", b"{", b"]", b"}", b"- ", b": ",
    b"\r\n", b"\r", b"\0", b"\xef\xbb\xbf", b"\xff", b"\xed\xa0\x80", b"<<<<<<< HEAD\n", b"=======\n",
    b'{"id": "a", "record": "node", "rev": [1, "pi"], "label": "A"}', b'"id"', b"NaN", b"1e999",
    b"9" * 400, b"!!python/name:os.system ", b"%YAML 1.1\n", b"? ", b"| \n", b"> ", b"\t", b"'", b'"',
    b"\\ud800", b"\xe2\x80\xae", b"\x1b]0;x\x07", b"2026-13-45", b"2026-02-24", b"\xc2\x85",
    b"\xe2\x80\xa8", b"```\n", b"# ", b"## A\n", b"- [ ] ", b"^0f3a9c12d08e", b"\n", b" ", b"    ",
    b'{"role": "user", "content": "x", "timestamp": "2026-02-24T08:00:00Z"}\n', b'{"type": "message"',
    b'"session"', b"true", b"null", b"-1", b"Mara ", b"moved to ", b"Leeds", b"last ", b"Monday ",
    b"not ", b"if ", b"because ", b"I ", b"prefer ", b". ", b"? ", b", ", b"and ", b"the day after ",
    b"12:30", b"in three weeks ", b"password = ", b"eyJ", b"https://a:b@c/", b"queries:\n", b"- query: ",
    b"### user ^0f3a9c12d08e\n", b"turns:\n", b'- {"key": "0f3a9c12d08e"}\n', b"key: ", b"\xf0\x9f\x98\x80",
    b"\xcc\x81", b"\xe6\x97\xa5", b"\xd9\xa2", b"1/2/2026 ", b"`", b"` `: ", b"**", b"[[", b"]] ", b"is ", b"the ",
)  # fmt: skip
"""Pieces of the formats and of what people write."""


def _drawn(
    name: str, target: Callable[[bytes], Any], count: int, *, smallest: bool = True
) -> Outcome:
    """Hypothesis on one target; what it found is the smallest input that breaks, if wanted."""
    outcome = Outcome(name, "drawn by hypothesis", planned=count)
    piece = st.sampled_from(PIECES)
    blobs = st.one_of(
        st.binary(max_size=200),
        st.lists(st.one_of(piece, st.binary(max_size=4)), max_size=30).map(b"".join),
        st.text(max_size=100).map(lambda text: text.encode(errors="replace")),
    )
    slowest = 0.0

    @settings(
        max_examples=count, deadline=None, database=None, derandomize=True,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.generate, Phase.shrink] if smallest else [Phase.generate],
    )  # fmt: skip
    @given(blobs)
    def attempt(data: bytes) -> None:
        nonlocal slowest
        outcome.fired += 1
        begin = time.process_time()
        target(data)
        slowest = max(slowest, time.process_time() - begin)

    begin = time.monotonic()
    try:
        attempt()
    except Exception as error:  # noqa: BLE001  # whatever it is, it is what is looked for
        notes = " ".join(getattr(error, "__notes__", []))
        outcome.violations.append(f"{type(error).__name__}: {error} {notes}"[:400])
    if slowest > SECONDS:
        outcome.violations.append(f"an input took {slowest:.1f} s")
    outcome.seconds = time.monotonic() - begin
    outcome.more = f"slowest {1000 * slowest:.0f} ms"
    return outcome


def short() -> Iterator[Outcome]:
    """Some inputs for each target."""
    return (_drawn(name, target, 18) for name, target in TARGETS.items())


def long() -> Iterator[Outcome]:
    """A thousand for each."""
    return (_drawn(name, target, 1000) for name, target in TARGETS.items())


def _naive(data: bytes) -> None:
    """A reader that believes YAML errors to be all that a YAML reader raises."""
    try:
        YAML(typ="safe", pure=True).load(data.decode(errors="replace"))
    except YAMLError:
        return


def _by_line(data: bytes) -> None:
    """A reader of JSON that thinks of bad JSON alone."""
    for line in data.split(b"\n"):
        try:
            json.loads(line)["id"].encode()
        except json.JSONDecodeError:
            continue


BROKEN: Mapping[str, Callable[[bytes], Any]] = {"naive": _naive, "by_line": _by_line}


def control() -> Iterator[Outcome]:
    """Readers that catch what they were thought to raise."""
    return (_drawn(name, target, 3000, smallest=False) for name, target in BROKEN.items())


RIG = Rig("fuzz", (8,), short, long, control)
