"""Inputs nobody thought of, into every reader: drawn by hypothesis, and grown by coverage (promise 8).

The short form and the first series of the long one let hypothesis put pieces of formats together.
The other series let atheris (libFuzzer) change inputs as long as that reaches new code, in a
process a target, which ends with the input that broke it. An input may take ``SECONDS``, and a
process ``MEMORY`` MiB more than it began with. What was ever found stands in ``hostile_inputs``.

``python -m faults.inputs.fuzz TARGET -runs=N`` is such a process; other options are libFuzzer's.
"""

from __future__ import annotations

import re
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from faults.inputs.fuzz_targets import SLOW, TARGETS
from faults.rig import Outcome, Rig

SECONDS, MEMORY = 2.0, 300
_TESTS = Path(__file__).parents[2]
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
_FIGURE = re.compile(r"stat::(\w+): +(\d+)")


def _drawn(
    name: str, target: Callable[[bytes], Any], count: int, *, smallest: bool = True
) -> Outcome:
    """Hypothesis on one target; what it found is the smallest input that breaks, if wanted."""
    from hypothesis import HealthCheck, Phase, given, settings
    from hypothesis import strategies as st

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


def _drawn_all(count: int, targets: Mapping[str, Callable[[bytes], Any]] = TARGETS) -> Outcome:
    """All targets as one series."""
    whole = Outcome(f"{len(targets)} readers", "drawn by hypothesis")
    for name, target in targets.items():
        part = _drawn(name, target, count)
        whole.planned += count
        whole.fired += part.fired
        whole.seconds += part.seconds
        whole.violations += [f"{name}: {text}" for text in part.violations]
    return whole


def _grown(name: str, runs: int, seconds: int) -> Outcome:
    """Atheris on one target, in a process of its own."""
    outcome = Outcome(name, "grown by coverage", planned=runs)
    begin = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        corpus = Path(folder, "corpus")
        corpus.mkdir()
        for number, piece in enumerate(PIECES):
            (corpus / str(number)).write_bytes(piece)
        words = ["-seed=1", "-max_len=400", f"-runs={runs}", f"-max_total_time={seconds}"]
        limits = [
            f"-timeout={int(SECONDS)}",
            "-rss_limit_mb=0",
            "-print_final_stats=1",
            f"-artifact_prefix={folder}/",
        ]
        done = subprocess.run(
            [sys.executable, "-m", "faults.inputs.fuzz", name, *words, *limits, str(corpus)],
            cwd=_TESTS, capture_output=True, check=False, timeout=seconds + 300,
        )  # fmt: skip
        told = done.stderr.decode(errors="replace")
        figures = {key: int(number) for key, number in _FIGURE.findall(told)}
        outcome.fired = figures.get("number_of_executed_units", 0)
        more = figures.get("peak_rss_mb", 0) - int(done.stdout or b"0")
        outcome.more = f"{more} MiB more than at its start"
        if more > MEMORY:
            outcome.violations.append(f"took {outcome.more}")
        if done.returncode:
            lines = [line for line in told.splitlines() if "Error" in line or "ERROR" in line]
            outcome.violations.append(f"ended with {done.returncode}: {' '.join(lines)[:300]}")
            for found in (*Path(folder).glob("crash-*"), *Path(folder).glob("timeout-*")):
                outcome.violations.append(f"input: {found.read_bytes()[:200]!r}")
    outcome.seconds = time.monotonic() - begin
    return outcome


def _serve(name: str, words: list[str]) -> None:
    """One target under libFuzzer, which ends the process."""
    import atheris  # type: ignore[import-untyped]

    with atheris.instrument_imports(include=["clsm_cli"]):
        target = {**TARGETS, **BROKEN}[name]
        for piece in PIECES:  # what is imported at first need is instrumented too
            target(piece)
    sys.stdout.write(str(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10))
    sys.stdout.flush()
    atheris.Setup([sys.argv[0], *words], target)
    atheris.Fuzz()


def short() -> Iterator[Outcome]:
    """Some inputs for each target."""
    yield _drawn_all(18)


def long() -> Iterator[Outcome]:
    """10,000 inputs by hypothesis, and some 1.7 million by coverage."""
    yield _drawn_all(10_000 // len(TARGETS) + 1)
    for name in TARGETS:
        yield _grown(name, 15_000 if name in SLOW else 175_000, 120)


def _naive(data: bytes) -> None:
    """A reader that believes YAML errors to be all that a YAML reader raises."""
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError

    try:
        YAML(typ="safe", pure=True).load(data.decode(errors="replace"))
    except YAMLError:
        return


def _by_line(data: bytes) -> None:
    """A reader of JSON that thinks of bad JSON alone."""
    import json

    for line in data.split(b"\n"):
        try:
            json.loads(line)["id"].encode()
        except json.JSONDecodeError:
            continue


BROKEN: Mapping[str, Callable[[bytes], Any]] = {"naive": _naive, "by_line": _by_line}


def control() -> Iterator[Outcome]:
    """Readers that catch what they were thought to raise."""
    for name, target in BROKEN.items():
        yield _drawn(name, target, 3000, smallest=False)


RIG = Rig("fuzz", (8,), short, long, control, long_needs=("atheris",))

if __name__ == "__main__":
    _serve(sys.argv[1], sys.argv[2:])
